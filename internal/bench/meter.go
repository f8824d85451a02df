package bench

import (
	"sync"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// spending holds the resources that machines have spent: on segments of vectors, and on all
// else, which does not depend on a vector's length.
type spending struct {
	fixed, segments span
	sent, received  int // bytes of bodies
}

func (s *span) add(more span) { s.wall, s.cpu = s.wall+more.wall, s.cpu+more.cpu }

func (s span) less(part span) span       { return span{s.wall - part.wall, s.cpu - part.cpu} }
func (s span) times(factor float64) span { return span{s.wall * factor, s.cpu * factor} }

// meter is a machine whose steps are timed. Those that share turns compute one
// at a time, so that the processor time of the process is that machine's.
type meter struct {
	protocol.Machine
	turns *sync.Mutex
	spent *spending
	long  func(protocol.Event) bool // is the event about segments?
}

// Step implements [protocol.Machine].
func (m *meter) Step(e protocol.Event) (effects protocol.Effects, err error) {
	m.turns.Lock()
	defer m.turns.Unlock()
	took, err := stopwatch(func() (err error) {
		effects, err = m.Machine.Step(e)
		return err
	})
	if m.long(e) {
		m.spent.segments.add(took)
	} else {
		m.spent.fixed.add(took)
	}
	if err != nil {
		return protocol.Effects{}, err
	}
	if r, ok := e.(protocol.Received); ok {
		m.spent.received += len(r.Message.Body)
	}
	for _, out := range effects.Send {
		m.spent.sent += len(out.Body)
	}
	return effects, nil
}

// timedMasks adds up the time that masks take.
type timedMasks struct {
	secagg.AESCTR
	spent span
}

// Add implements [secagg.Masker].
func (t *timedMasks) Add(dst []uint64, first int, masks []secagg.Mask) {
	took, _ := stopwatch(func() error {
		t.AESCTR.Add(dst, first, masks)
		return nil
	})
	t.spent.add(took)
}
