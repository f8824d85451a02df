package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// fdsklWorkers counts the workers that share the columns; the first has the labels.
const fdsklWorkers = 4

// federate seats workers who have the given parts of all columns; the kernel is exp(-gamma
// |x-z|^2).
func federate(parts []linalg.Rows, gamma float64, p fdskl.Params, s fdskl.Schedule) meeting {
	const active = "worker 0"
	members := protocol.Members(protocol.RoleLeader, active)
	for w := range len(parts) - 1 {
		members = append(members, protocol.Members(protocol.RoleParty, fmt.Sprintf("worker %d", w+1))...)
	}
	m := newMeeting(protocol.Descriptor{Protocol: fdskl.Name, Version: fdskl.Version, Params: p.Encode(), Members: members, Purpose: "bench"})
	id := fdskl.Identity{Sign: m.Sign(active), Keys: m.Keys(protocol.RoleLeader)}
	for w, rows := range parts {
		name := members[w].Name
		in := fdskl.Input{Source: phasesOf(rows, gamma, w, p.Spec().Bits), Hash: seedOf("columns", w), Rows: p.Spec().Rows}
		if w == 0 {
			worker, err := fdskl.NewActive(m.Setup(name), in, id, s)
			m.Add(name, worker, err)
			continue
		}
		worker, err := fdskl.NewPassive(m.Setup(name), in, fdskl.Identity{Keys: id.Keys})
		m.Add(name, worker, err)
	}
	return m
}

// phasesOf are a worker's, under directions by a key of its own.
func phasesOf(rows linalg.Rows, gamma float64, worker, bits int) *feature.Phases {
	_, columns := rows.Shape()
	key := seedOf("directions", worker)
	return feature.NewPhases(rows, feature.Directions{
		Spectrum: feature.RBF(gamma), Columns: columns,
		Entries: func(block, column int) feature.Numbers {
			at := binary.LittleEndian.AppendUint64(nil, uint64(block))
			return prg.New(key, "bench/entries", binary.LittleEndian.AppendUint64(at, uint64(column)))
		},
	}, bits)
}

// asPlanned compares the sent bytes with the bytes that the requests must take.
func (m meeting) asPlanned(name string, p fdskl.Params, requests []fdskl.Request) ([]Row, error) {
	plan, err := fdskl.Plan(m.Session.Session, requests...)
	if err != nil {
		return nil, err
	}
	var words, planned, sent int64
	for _, q := range requests {
		words += p.RequestBytes(q)
	}
	var rows []Row
	for _, e := range plan {
		got := m.sent[route{e.From, e.To}]
		if got.messages != e.Messages {
			return nil, fmt.Errorf("bench: %d messages from %s to %s, %d were planned", got.messages, e.From, e.To, e.Messages)
		}
		planned += e.Bytes
		if e.Bytes >= words {
			rows = append(rows, figure(fmt.Sprintf("%s, bytes from %s to %s", name, e.From, e.To), float64(got.bytes), "bytes").agrees("the formula", float64(e.Bytes)).atMost(0))
		}
	}
	for _, a := range m.sent {
		sent += a.bytes
	}
	return append(rows, figure(name+", bytes on all edges", float64(sent), "bytes").agrees("the formula", float64(planned)).atMost(0)), nil
}
