package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// meeting is a session of which all members are in this process.
type meeting struct {
	names    []string
	machines []protocol.Machine
	inputs   [][sha256.Size]byte
	ended    []bool
	resume   []bool
	queue    []protocol.Message
	sent     map[route]amount
}

// A route leads from one member to another; an amount counts its traffic.
type (
	route  struct{ from, to string }
	amount struct {
		messages int
		bytes    int64 // of bodies
	}
)

// join adds a member.
func (m *meeting) join(name string, machine protocol.Machine, input [sha256.Size]byte) {
	m.names, m.machines, m.inputs = append(m.names, name), append(m.machines, machine), append(m.inputs, input)
	m.ended, m.resume = append(m.ended, false), append(m.resume, false)
}

// run lets everybody do a step in turns, after the messages that have come.
func (m *meeting) run(ctx context.Context) error {
	m.sent = make(map[route]amount)
	for i := range m.machines {
		if err := m.step(i, protocol.Start{InputHash: m.inputs[i]}); err != nil {
			return err
		}
	}
	for busy := true; busy; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if busy, err = m.turn(); err != nil {
			return err
		}
	}
	for i, ended := range m.ended {
		if !ended {
			return fmt.Errorf("bench: %s waits for something that does not come", m.names[i])
		}
	}
	return nil
}

// turn delivers the messages on their way, and then everybody resumes once.
func (m *meeting) turn() (busy bool, err error) {
	came := m.queue
	m.queue = nil
	for _, message := range came {
		if err := m.deliver(message); err != nil {
			return false, err
		}
		busy = true
	}
	for i := range m.machines {
		if m.resume[i] && !m.ended[i] {
			m.resume[i], busy = false, true
			if err := m.step(i, protocol.Resumed{}); err != nil {
				return false, err
			}
		}
	}
	return busy, nil
}

func (m *meeting) deliver(message protocol.Message) error {
	for i, name := range m.names {
		if name != message.Receiver {
			continue
		}
		err := m.step(i, protocol.Received{Message: message})
		if errors.Is(err, protocol.ErrLater) {
			m.queue = append(m.queue, message)
			return nil
		}
		return err
	}
	return fmt.Errorf("bench: nobody is called %q", message.Receiver)
}

func (m *meeting) step(i int, e protocol.Event) error {
	effects, err := m.machines[i].Step(e)
	if err != nil {
		return err
	}
	for _, message := range effects.Send {
		r := route{message.Sender, message.Receiver}
		m.sent[r] = amount{m.sent[r].messages + 1, m.sent[r].bytes + int64(len(message.Body))}
	}
	m.queue = append(m.queue, effects.Send...)
	m.resume[i] = m.resume[i] || effects.Resume
	if effects.End != nil {
		m.ended[i] = true
		return effects.End.Err
	}
	return nil
}
