package sim

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// ContractError reports that a machine broke the rules of package protocol. The
// run is void.
type ContractError struct {
	Node  string
	Event int // index of the event, from 0
	Err   error
}

func (e *ContractError) Error() string {
	return fmt.Sprintf("sim: %s breaks the contract at event %d: %v", e.Node, e.Event, e.Err)
}

func (e *ContractError) Unwrap() error { return e.Err }

// checkEffects holds one step's effects against the limits of the contract.
func (s *simulation) checkEffects(n *node, e protocol.Effects) error {
	total := 0
	step := make(map[protocol.Header]bool, len(e.Send))
	for _, m := range e.Send {
		if err := s.checkMessage(n, m); err != nil {
			return err
		}
		if step[m.Header] {
			return fmt.Errorf("message %v: its header is used twice in one step", m.Header)
		}
		step[m.Header] = true
		total += len(m.Body)
	}
	if total > protocol.MaxStepBytes {
		return fmt.Errorf("one step sends %d bytes, at most %d are allowed", total, protocol.MaxStepBytes)
	}
	return nil
}

func (s *simulation) checkMessage(n *node, m protocol.Message) error {
	if err := s.checkHeader(n, m.Header); err != nil {
		return fmt.Errorf("message %v: %w", m.Header, err)
	}
	if len(m.Body) > protocol.MaxChunkBytes {
		return fmt.Errorf("message %v: a body of %d bytes, at most %d are allowed", m.Header, len(m.Body), protocol.MaxChunkBytes)
	}
	if _, twice := s.result.Sent[m.Header]; twice {
		return fmt.Errorf("message %v: its header was used before", m.Header)
	}
	return nil
}

func (s *simulation) checkHeader(n *node, h protocol.Header) error {
	session := s.config.Session
	switch {
	case h.Session != session.ID() || h.Protocol != session.Protocol:
		return fmt.Errorf("it is of session %v of %q", h.Session, h.Protocol)
	case h.Sender != n.Name:
		return fmt.Errorf("its sender is not %q", n.Name)
	case h.Receiver == n.Name || session.Index(h.Receiver) < 0:
		return fmt.Errorf("its receiver is not another member")
	case h.Kind == "" || len(h.Kind) > protocol.MaxNameBytes:
		return fmt.Errorf("its kind has %d bytes, 1 to %d are allowed", len(h.Kind), protocol.MaxNameBytes)
	case h.Chunk >= h.Chunks:
		return fmt.Errorf("it is chunk %d of %d", h.Chunk, h.Chunks)
	}
	return nil
}
