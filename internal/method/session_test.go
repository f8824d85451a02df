package method_test

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// A descriptor is a function of job id, stage, attempt, roster and salt, and
// differs in each.
func TestDescriptorNonce(t *testing.T) {
	c := method.Instance{Coordinator: "hub", Parties: []string{"north", "south"}}
	s := &method.Session{Protocol: "any", Version: 1, Members: c.AllMembers(), Purpose: "train"}
	salted := *s
	salted.Salt = []byte{1}
	id := func(d protocol.Descriptor) string { return string(d.Encode()) }
	base := id(s.Descriptor(job.ID{1}, 0, [32]byte{}, 0))
	if again := id(s.Descriptor(job.ID{1}, 0, [32]byte{}, 0)); again != base {
		t.Error("the same stage has two descriptors")
	}
	for name, other := range map[string]protocol.Descriptor{
		"job": s.Descriptor(job.ID{2}, 0, [32]byte{}, 0), "stage": s.Descriptor(job.ID{1}, 1, [32]byte{}, 0),
		"roster": s.Descriptor(job.ID{1}, 0, [32]byte{1}, 0), "attempt": s.Descriptor(job.ID{1}, 0, [32]byte{}, 1),
		"salt": salted.Descriptor(job.ID{1}, 0, [32]byte{}, 0),
	} {
		if id(other) == base {
			t.Errorf("another %s has the same descriptor", name)
		}
	}
}
