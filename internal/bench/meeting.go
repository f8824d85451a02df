package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// meeting is a session of which all members are in this process.
type meeting struct {
	names    []string
	machines []protocol.Machine
	inputs   [][sha256.Size]byte
	ended    []bool
	resume   []bool
	queue    []protocol.Message
	sent     []int // bytes of bodies
	peak     float64
	common   int // rows
}

func meet(tables [][][]byte) (meeting, error) {
	params, err := psi.NewParams(psi.Spec{MaxIDs: len(tables[0])})
	if err != nil {
		return meeting{}, err
	}
	d := protocol.Descriptor{Protocol: psi.Name, Version: psi.Version, Params: params.Encode(), Purpose: "bench"}
	for i := range tables {
		d.Members = append(d.Members, protocol.Member{Name: fmt.Sprintf("party %d", i), Role: protocol.RoleParty})
	}
	if len(tables) > 2 {
		d.Members = append(d.Members, protocol.Member{Name: "comparer", Role: protocol.RoleServer})
	}
	session, err := protocol.NewSession(d)
	if err != nil {
		return meeting{}, err
	}
	m := meeting{sent: make([]int, len(d.Members)), ended: make([]bool, len(d.Members)), resume: make([]bool, len(d.Members)), common: len(tables[0]) / 2}
	for i, member := range d.Members {
		setup := protocol.Setup{Session: session, Self: member.Name, Seed: sha256.Sum256([]byte(member.Name))}
		if err := m.join(setup, params, tables, i); err != nil {
			return meeting{}, err
		}
	}
	return m, nil
}

func (m *meeting) join(s protocol.Setup, params psi.Params, tables [][][]byte, i int) error {
	m.names = append(m.names, s.Self)
	if i == len(tables) {
		comparer, err := psi.NewServer(s, params)
		m.machines, m.inputs = append(m.machines, comparer), append(m.inputs, [sha256.Size]byte{})
		return err
	}
	party, err := psi.NewParty(s, params, tables[i])
	if err != nil {
		return err
	}
	m.machines, m.inputs = append(m.machines, party), append(m.inputs, party.InputHash())
	return nil
}

// run lets everybody do a step in turns, after the messages that have come.
func (m *meeting) run(ctx context.Context) error {
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
	return m.check()
}

// turn delivers what is on its way, and then everybody resumes once.
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
		m.sent[i] += len(message.Body)
	}
	m.queue = append(m.queue, effects.Send...)
	m.resume[i] = m.resume[i] || effects.Resume
	if effects.End != nil {
		m.ended[i] = true
		return effects.End.Err
	}
	return nil
}

// check makes sure that what was timed is an alignment.
func (m *meeting) check() error {
	for i, machine := range m.machines {
		party, isParty := machine.(*psi.Party)
		if !m.ended[i] || isParty && len(party.Order()) != m.common {
			return fmt.Errorf("bench: %s did not end with %d common rows", m.names[i], m.common)
		}
	}
	return nil
}
