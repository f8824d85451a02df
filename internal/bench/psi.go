package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/ristretto"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// MaxPSIRows bounds what a party brings to the benchmark.
const MaxPSIRows = psi.MaxIDs

// PSI measures the intersection of sets of that many ids each, half of which
// are in all: between two parties, and among three with a comparer. All run in
// this process, without a network between them.
func PSI(rows int) Benchmark {
	var b Benchmark
	for _, parties := range []int{2, 3} {
		b.cases = append(b.cases, scene{fmt.Sprintf("%d parties", parties), func(context.Context) (race, error) {
			return racePSI(parties, rows)
		}})
	}
	return b
}

// What two parties with a million ids each may take.
const (
	fullRows        = 1_000_000
	fullWall        = 180 // seconds on two cores
	fullCPU         = 300 // seconds
	multiplications = 4096
)

func racePSI(parties, rows int) (race, error) {
	tables := make([][][]byte, parties)
	for i := range tables {
		tables[i] = idsOf(i, rows)
	}
	var last meeting
	runs := []run{multiplyAlone(), func(ctx context.Context) (err error) {
		if err := resetPeak(); err != nil {
			return err
		}
		if last, err = meet(tables); err != nil {
			return err
		}
		if err := last.run(ctx); err != nil {
			return err
		}
		last.peak, err = peakMemory()
		return err
	}}
	return race{runs: runs, rows: func(best []span) []Row { return psiRows(parties, rows, best[0], best[1], last) }}, nil
}

// psiRows are the figures of a session, beside its multiplications: each set is
// multiplied by each party.
func psiRows(parties, rows int, alone, whole span, m meeting) []Row {
	name := fmt.Sprintf("%d parties, %d ids each", parties, rows)
	share := float64(parties*parties*rows) / multiplications
	sent := 0
	for _, n := range m.sent {
		sent = max(sent, n)
	}
	list := []Row{
		figure(name+", wall", whole.wall, "s").beside("multiplications alone", share*alone.wall).byCPU(whole.cpu / (share * alone.cpu)),
		figure(name+", cpu", whole.cpu, "s"),
		figure(name+", sent by a party", float64(sent)/(1<<20), "MiB"),
		figure(name+", peak memory of all", m.peak/(1<<20), "MiB"),
	}
	if parties != 2 {
		return list
	}
	full := float64(fullRows) / float64(rows)
	as := fmt.Sprintf("2 parties, %d ids each", fullRows)
	if rows != fullRows {
		as += ", extrapolated"
	}
	return append(list, figure(as+", target of wall", full*whole.wall, "s").within(fullWall), figure(as+", target of cpu", full*whole.cpu, "s").within(fullCPU))
}

// idsOf are the ids of a party: the first half is everybody's, the order its own.
func idsOf(party, rows int) [][]byte {
	ids := make([][]byte, rows)
	for i := range ids {
		n := (i*7919 + party) % rows
		if n >= rows/2 {
			n += rows * (party + 1)
		}
		ids[i] = fmt.Appendf(nil, "customer-%09d", n)
	}
	return ids
}

// multiplyAlone multiplies elements on all cores, and encodes them.
func multiplyAlone() run {
	key := ristretto.NewKey(&[64]byte{1})
	elements := make([]ristretto.Element, multiplications)
	for i := range elements {
		elements[i] = ristretto.Hash("bench", binary.LittleEndian.AppendUint32(nil, uint32(i)))
	}
	dst := make([]byte, ristretto.Size*len(elements))
	return pure(func() {
		linalg.For(len(elements), 64, func(lo, hi int) { key.Multiply(dst[lo*ristretto.Size:], elements[lo:hi]) })
	})
}

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
