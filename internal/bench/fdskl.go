package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime/debug"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// MaxFDSKLRows is the largest number of rows that the benchmark accepts.
const MaxFDSKLRows = fdskl.MaxRows

// grownRows is the largest number of rows at which growth is measured.
const grownRows = 20_000

// FDSKL returns a benchmark of training on columns that four workers hold. All workers run in this
// process, without a network between them. The benchmark measures how the cost of training "cached" grows
// with rows, directions and columns. It also measures one training on the given number of rows. It
// compares the cost of this training with the cost allowed for a million rows.
func FDSKL(rows int) Benchmark {
	most, whole := wholeTask, wholeTask
	most.rows, whole.rows = grownRows, rows
	return fdsklOf(most, whole)
}

// fdsklOf returns a benchmark of how the cost of training grows, and of one whole training. The
// growth ends at maxSize. The whole training has trainingSize.
func fdsklOf(maxSize, trainingSize cachedSize) Benchmark {
	var b Benchmark
	for _, g := range growths(maxSize) {
		b.cases = append(b.cases, sceneOf("growth with "+g.what, g, growth.race))
	}
	b.cases = append(b.cases, sceneOf(trainingSize.String(), trainingSize, raceWhole))
	return b
}

// growths returns three series of sizes, in each of which one dimension doubles twice. In the
// series of columns, all numbers of columns are multiplied by 16, and the rows divided by 4, because
// products of few columns take only a small part of the time.
func growths(full cachedSize) []growth {
	const passes = 5
	rows, directions, columns := growth{"rows", nil, passes}, growth{"directions", nil, passes}, growth{"columns", nil, passes}
	for _, part := range []int{4, 2, 1} {
		s := full
		s.rows /= part
		rows.sizes = append(rows.sizes, s)
		s = full
		s.directions /= part
		directions.sizes = append(directions.sizes, s)
		s = full
		s.rows, s.columns = full.rows/4, 16*full.columns/part
		columns.sizes = append(columns.sizes, s)
	}
	return []growth{rows, directions, columns}
}

// raceWhole measures one training of the given size.
func raceWhole(size cachedSize) (race, error) {
	c, err := newClouds(size.rows, size.columns)
	if err != nil {
		return race{}, err
	}
	var last cachedFigures
	var edges []Row
	train := func(context.Context) error {
		defer debug.SetGCPercent(debug.SetGCPercent(percent))
		r, err := c.train(size, linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6})
		if err != nil {
			return err
		}
		last = r.cachedFigures
		edges, err = r.measuredSession.asPlanned(size.String(), r.params, r.schedule.requests)
		return err
	}
	return race{runs: []run{train}, rows: func(best []span) []Row { return append(last.rows(best[0]), edges...) }}, nil
}

// growth is a series of sizes in which one dimension grows. Each training makes the given number
// of passes, so that all trainings do equal work for each value.
type growth struct {
	what   string
	sizes  []cachedSize
	passes int
}

func (g growth) race() (race, error) {
	var r race
	for _, size := range g.sizes {
		c, err := newClouds(size.rows, size.columns)
		if err != nil {
			return race{}, err
		}
		r.runs = append(r.runs, func(context.Context) error {
			p := linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6, Tol: 1e-12, MaxPasses: g.passes}
			_, err := c.train(size, p)
			return err
		})
	}
	r.rows = func(best []span) []Row {
		var rows []Row
		for i, size := range g.sizes {
			row := figure(fmt.Sprintf("growth with %s: %v, processor time", g.what, size), best[i].cpu, "s")
			if times := 1 << i; i > 0 {
				row = row.beside(fmt.Sprintf("%d times the figure of 1/%d of the %s", times, times, g.what), float64(times)*best[0].cpu).atMost(linearly)
			}
			rows = append(rows, row)
		}
		return rows
	}
	return r, nil
}

// linearly is the largest allowed ratio of a measured cost to the cost under linear growth.
const linearly = 1.15

// fdsklWorkers is the number of workers that share the columns. The first worker has the labels.
const fdsklWorkers = 4

// federate creates a session whose workers hold the given parts of the columns. The kernel is
// exp(-gamma |x-z|^2).
func federate(parts []linalg.Rows, gamma float64, p fdskl.Params, s fdskl.Schedule) measuredSession {
	const active = "worker 0"
	members := protocol.Members(protocol.RoleLeader, active)
	for w := range len(parts) - 1 {
		members = append(members, protocol.Members(protocol.RoleParty, fmt.Sprintf("worker %d", w+1))...)
	}
	m := newMeasuredSession(protocol.Descriptor{Protocol: fdskl.Name, Version: fdskl.Version, Params: p.Encode(), Members: members, Purpose: "bench"})
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

// phasesOf returns the source of a worker's phases. Each worker draws its directions with its
// own key.
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

// asPlanned compares the bytes that members sent with the bytes that the requests need.
func (m measuredSession) asPlanned(name string, p fdskl.Params, requests []fdskl.Request) ([]Row, error) {
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
			return nil, fmt.Errorf("bench: %d messages went from %s to %s; the plan has %d", got.messages, e.From, e.To, e.Messages)
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

// measuredSession is a session whose members all run in this process. It counts their messages.
type measuredSession struct {
	*memory.Session
	sent map[route]amount
}

// route is a pair of sender and receiver. amount counts the messages on a route.
type (
	route  struct{ from, to string }
	amount struct {
		messages int
		bytes    int64 // total size of the message bodies
	}
)

func newMeasuredSession(d protocol.Descriptor) measuredSession {
	m := measuredSession{memory.New(d), make(map[route]amount)}
	m.Sent = func(message protocol.Message) {
		r := route{message.Sender, message.Receiver}
		m.sent[r] = amount{m.sent[r].messages + 1, m.sent[r].bytes + int64(len(message.Body))}
	}
	return m
}
