package bench

import (
	"crypto/ed25519"
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

// federation is a session of protocol fdskl with all of its workers.
type federation struct {
	meeting
	session *protocol.Session
}

// federate seats workers who have the given parts of all columns; the kernel is exp(-gamma
// |x-z|^2).
func federate(parts []linalg.Rows, gamma float64, p fdskl.Params, s fdskl.Schedule) (*federation, error) {
	d := protocol.Descriptor{Protocol: fdskl.Name, Version: fdskl.Version, Params: p.Encode(), Purpose: "bench"}
	for w := range parts {
		role := protocol.RoleParty
		if w == 0 {
			role = protocol.RoleLeader
		}
		d.Members = append(d.Members, protocol.Member{Name: fmt.Sprintf("worker %d", w), Role: role})
	}
	session, err := protocol.NewSession(d)
	if err != nil {
		return nil, err
	}
	f := &federation{session: session}
	seed := seedOf("active", 0)
	key := ed25519.NewKeyFromSeed(seed[:])
	public := []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
	for w, rows := range parts {
		setup := protocol.Setup{Session: session, Self: d.Members[w].Name, Seed: seedOf("worker", w)}
		in := fdskl.Input{Source: phasesOf(rows, gamma, w, p.Spec().Bits), Hash: seedOf("columns", w), Rows: p.Spec().Rows}
		var m protocol.Machine
		if w == 0 {
			sign := func(m []byte) []byte { return ed25519.Sign(key, m) }
			m, err = fdskl.NewActive(setup, in, fdskl.Identity{Sign: sign, Keys: public}, s)
		} else {
			m, err = fdskl.NewPassive(setup, in, fdskl.Identity{Keys: public})
		}
		if err != nil {
			return nil, err
		}
		f.join(setup.Self, m, in.Hash)
	}
	return f, nil
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

// parts cuts columns into as even parts as can be, one for each worker.
func parts(x linalg.Matrix[float64]) []linalg.Rows {
	list := make([]linalg.Rows, fdsklWorkers)
	for w := range list {
		lo, hi := w*x.Cols/fdsklWorkers, (w+1)*x.Cols/fdsklWorkers
		list[w] = linalg.Matrix[float64]{Rows: x.Rows, Cols: hi - lo, Stride: x.Stride, Data: x.Data[lo:]}
	}
	return list
}

// asPlanned compares the sent bytes with the bytes that the requests must take.
func (f *federation) asPlanned(name string, p fdskl.Params, requests []fdskl.Request) ([]Row, error) {
	plan, err := fdskl.Plan(f.session, requests...)
	if err != nil {
		return nil, err
	}
	var words, planned, sent int64
	for _, q := range requests {
		words += p.RequestBytes(q)
	}
	var rows []Row
	for _, e := range plan {
		got := f.sent[route{e.From, e.To}]
		if got.messages != e.Messages {
			return nil, fmt.Errorf("bench: %d messages from %s to %s, %d were planned", got.messages, e.From, e.To, e.Messages)
		}
		planned += e.Bytes
		if e.Bytes >= words {
			rows = append(rows, figure(fmt.Sprintf("%s, bytes from %s to %s", name, e.From, e.To), float64(got.bytes), "bytes").agrees("the formula", float64(e.Bytes)).atMost(0))
		}
	}
	for _, a := range f.sent {
		sent += a.bytes
	}
	return append(rows, figure(name+", bytes on all edges", float64(sent), "bytes").agrees("the formula", float64(planned)).atMost(0)), nil
}
