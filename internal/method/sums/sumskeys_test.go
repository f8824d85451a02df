package sums

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Clients withstand the server, the colluding clients and the dropouts that the job names.
func TestSumsHaveTheJobsAdversary(t *testing.T) {
	entries := secagg.Group{Entries: 7, Bound: 9}
	for adversary, same := range map[Adversary]secagg.Adversary{Active: secagg.Active, SemiHonest: secagg.SemiHonest} {
		k := &Keys{Adversary: adversary, Corrupted: .2, Dropped: .3}
		want := secagg.Spec{Adversary: same, Corrupted: .2, Dropped: .3, Minimum: 4, Epoch: "once", Groups: []secagg.Group{entries}}
		if d := cmp.Diff(want, k.Spec(4, "once", entries)); d != "" {
			t.Error(d)
		}
	}
}
