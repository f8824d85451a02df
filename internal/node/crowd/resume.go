package crowd

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// maxSnapshot bounds what a server keeps of itself beside a session.
const maxSnapshot = 1 << 30

// note describes the state of a server before a step: where it can resume, that is all a new
// process needs, so that the sessions of earlier steps can be erased.
type note struct {
	step     int
	resumes  bool
	snapshot []byte
}

func (n note) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(n.step))
	w.Bool(n.resumes)
	w.Bytes32(n.snapshot)
	return w.Bytes()
}

// decodeNote decodes what encode wrote.
func decodeNote(b []byte) (note, error) {
	r := wire.NewReader(b)
	n := note{step: int(r.Uint32()), resumes: r.Bool(), snapshot: r.Bytes32(maxSnapshot)}
	return n, r.Close("crowd: note of a session")
}

// note returns the server's note for a session of a step.
func (s *Service) note(step int) (note, error) {
	n := note{step: step}
	if s.hub.Snapshot != nil {
		var err error
		n.resumes = true
		if n.snapshot, err = s.hub.Snapshot(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// resume restores the server from its last session, and erases what an earlier process had no
// time to erase. It returns the step that comes next.
func (s *Service) resume() (int, error) {
	if s.hub.Restore == nil {
		return 0, nil
	}
	var last note
	var of vault.Session
	for _, k := range s.kept {
		b, err := k.Get(vault.Proposal)
		if err != nil {
			return 0, err
		}
		n, err := decodeNote(b)
		if err != nil {
			return 0, err
		}
		if of == nil || n.step > last.step {
			last, of = n, k
		}
	}
	if of == nil {
		return 0, nil
	}
	if last.step >= len(s.plan) || !last.resumes {
		return 0, fmt.Errorf("crowd: a note of step %d, the job has %d", last.step, len(s.plan))
	}
	if err := s.hub.Restore(last.snapshot); err != nil {
		return 0, err
	}
	return last.step, s.kept.destroyAllBut(of.ID(), ended)
}
