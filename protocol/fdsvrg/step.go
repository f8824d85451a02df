package fdsvrg

import (
	"encoding/binary"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Kind names the kind of a step.
type Kind int

// The kinds.
const (
	Full  Kind = iota // over all training rows: an epoch begins
	Inner             // over a batch
	Last              // over all rows, to decide: no slopes follow
)

// Step is one step with its rows.
type Step struct {
	Index int
	Kind  Kind
	Rows  []int
}

// schedule lists the steps of a session, one after the other.
type schedule struct {
	params Params
	id     protocol.SessionID
	epoch  int   // of the order
	order  []int // of the training rows in an epoch
}

func newSchedule(p Params, id protocol.SessionID) schedule {
	return schedule{params: p, id: id, epoch: -1}
}

// step returns a step by its index.
func (s *schedule) step(index int) Step {
	spec, per := s.params.spec, s.params.perEpoch()
	epoch, k := index/per, index%per
	switch {
	case epoch == spec.Epochs:
		return Step{index, Last, linalg.Range(0, spec.Rows+spec.HeldOut)}
	case k == 0:
		return Step{index, Full, linalg.Range(0, spec.Rows)}
	}
	if s.epoch != epoch {
		var place [4]byte
		binary.LittleEndian.PutUint32(place[:], uint32(epoch))
		s.epoch, s.order = epoch, prg.New(s.id, "fdsvrg/order", place[:]).Perm(spec.Rows)
	}
	return Step{index, Inner, s.order[(k-1)*spec.Batch : min(k*spec.Batch, spec.Rows)]}
}

// words counts the numbers of a step.
func (s *schedule) words(t Step) int { return len(t.Rows) * s.params.spec.Outputs }
