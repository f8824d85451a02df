package driver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// worker is a machine that does everything a machine may ask for: it sends
// rows in pieces (Resume), claims a name for each piece, holds back a peer's
// bulk until it has sent its own (ErrLater), refuses junk, and ends with a
// message. What it sends depends on its seed and on the answers, never on
// their order.
type worker struct {
	session *protocol.Session
	seed    byte
	sent    int
	answers map[uint32][]byte
	bulk    map[uint32][]byte
}

const (
	rows  = 6
	bulks = 3
)

func newWorker(s *protocol.Session) protocol.Machine { return newSeeded(s, 7) }

func newSeeded(s *protocol.Session, seed byte) protocol.Machine {
	return &worker{session: s, seed: seed, answers: make(map[uint32][]byte), bulk: make(map[uint32][]byte)}
}

func (w *worker) Step(e protocol.Event) (protocol.Effects, error) {
	switch e := e.(type) {
	case protocol.Start:
		return protocol.Effects{Send: w.message("Hello", 0), Resume: true, Arm: []protocol.Timer{"round"}}, nil
	case protocol.Resumed:
		return w.resume(), nil
	case protocol.Received:
		return w.receive(e.Message)
	}
	return protocol.Effects{}, fmt.Errorf("worker: %T", e)
}

func (w *worker) resume() protocol.Effects {
	e := protocol.Effects{Claim: []string{fmt.Sprintf("block/%d", w.sent/2)}}
	for range 2 {
		e.Send = append(e.Send, w.message("Rows", w.sent)...)
		w.sent++
	}
	e.Resume = w.sent < rows
	return e
}

func (w *worker) receive(m protocol.Message) (protocol.Effects, error) {
	e := protocol.Effects{Resume: w.sent < rows}
	switch m.Kind {
	case "Answer":
		w.answers[m.Sequence] = m.Body
	case "Bulk":
		if w.sent < rows {
			return protocol.Effects{}, protocol.ErrLater
		}
		w.bulk[m.Sequence] = m.Body
	default:
		return protocol.Effects{}, protocol.Blame(m.Sender, protocol.KindUnexpected, errors.New("no such kind"))
	}
	if w.sent == rows && len(w.answers) == rows && len(w.bulk) == bulks {
		e.Send = w.message("Bye", 0)
		e.End = &protocol.End{}
	}
	return e, nil
}

func (w *worker) message(kind string, n int) []protocol.Message {
	h := sha256.New()
	h.Write([]byte{w.seed, byte(n)})
	h.Write([]byte(kind))
	for _, list := range []map[uint32][]byte{w.answers, w.bulk} {
		for _, k := range slices.Sorted(maps.Keys(list)) {
			if kind == "Bye" {
				h.Write(list[k])
			}
		}
	}
	return []protocol.Message{numbered(w.session, self, peer, kind, n, h.Sum(nil))}
}

// hub answers a worker: each row once, and to its greeting bulk, junk, and a
// message twice.
func hub(m protocol.Message) []protocol.Message {
	reply := func(kind string, n int) protocol.Message {
		h := m.Header
		h.Sender, h.Receiver, h.Kind, h.Sequence = m.Receiver, m.Sender, kind, uint32(n)
		body := sha256.Sum256(append([]byte(kind), m.Body...))
		return protocol.Message{Header: h, Body: body[:]}
	}
	switch m.Kind {
	case "Hello":
		list := []protocol.Message{reply("Junk", 0)}
		for n := range bulks {
			list = append(list, reply("Bulk", n))
		}
		return append(list, reply("Bulk", 0))
	case "Rows":
		return []protocol.Message{reply("Answer", int(m.Sequence))}
	}
	return nil
}
