package fdsvrg

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// counter is a worker whose margins are numbers of its own, which slopes move.
type counter struct {
	own    int64
	moved  int64
	params Params
}

func (c *counter) Hash() [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, c.own)) }

func (c *counter) Margins(s Step) []int64 {
	var list []int64
	for _, row := range s.Rows {
		for k := range c.params.spec.Outputs {
			list = append(list, c.own*int64(row+1)-int64(k)+c.moved)
		}
	}
	return list
}

func (c *counter) Learn(s Step, slopes []float64) {
	for i, v := range slopes {
		c.moved = c.moved*3 + int64(v)*int64(i+1) + c.own*int64(s.Index)
	}
}

// teller is a judge whose slopes follow from the margins.
type teller struct{ decided []int64 }

func (*teller) Slopes(s Step, margins []int64) []float64 {
	slopes := make([]float64, len(margins))
	for i, m := range margins {
		slopes[i] = float64(m%7) + float64(s.Kind)
	}
	return slopes
}

func (j *teller) Decide(margins []int64) { j.decided = margins }

// federation is a session of counters.
type federation struct {
	session *protocol.Session
	params  Params
	names   []string
	most    int
}

func newFederation(t testing.TB, workers int, s Spec, most int) *federation {
	t.Helper()
	p, err := NewParams(s)
	if err != nil {
		t.Fatal(err)
	}
	f := &federation{params: p, most: most}
	for i := range workers {
		f.names = append(f.names, fmt.Sprintf("worker%d", i))
	}
	members := protocol.Members(protocol.RoleParty, f.names...)
	members[0].Role = protocol.RoleLeader
	f.session, err = protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Purpose: "train", Members: members})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *federation) member(at int) (*Member, error) {
	setup, w := protocol.Setup{Session: f.session, Self: f.names[at]}, &counter{own: int64(at + 2), params: f.params}
	if at == 0 {
		return newMember(setup, w, new(teller), protocol.RoleLeader, f.most)
	}
	return newMember(setup, w, nil, protocol.RoleParty, f.most)
}

func (f *federation) nodes(t testing.TB) []sim.Node {
	t.Helper()
	var list []sim.Node
	for at, name := range f.names {
		m, err := f.member(at)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sim.Node{Name: name, InputHash: m.InputHash(), Timers: map[protocol.Timer]int64{TimerStep: 1000}, New: func() (protocol.Machine, error) { return f.member(at) }})
	}
	return list
}

// alone trains all counters without a network.
func (f *federation) alone() []int64 {
	var all []*counter
	for at := range f.names {
		all = append(all, &counter{own: int64(at + 2), params: f.params})
	}
	s, judge := newSchedule(f.params, f.session.ID()), new(teller)
	for index := range f.params.Steps() {
		step := s.step(index)
		margins := make([]int64, s.words(step))
		for _, c := range all {
			for i, v := range c.Margins(step) {
				margins[i] += v
			}
		}
		if step.Kind == Last {
			return margins
		}
		for _, c := range all {
			c.Learn(step, judge.Slopes(step, margins))
		}
	}
	return nil
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	protocoltest.Run(t, protocoltest.Protocol{Name: Name, New: func(t testing.TB) protocoltest.Case {
		spec := Spec{Rows: 7, HeldOut: 3, Outputs: 2, Batch: 3, Epochs: 2}
		f := newFederation(t, 5, spec, 5)
		want := f.alone()
		return protocoltest.Case{
			Session: f.session, Nodes: f.nodes(t), Runs: 60,
			// Each worker's margins and each worker's slopes of one step, and a step ahead.
			InFlight: int64(2 * 2 * len(f.names) * (spec.Rows + spec.HeldOut) * spec.Outputs * wordBytes),
			Trusts:   func(protocol.Header) bool { return true }, // nobody can verify margins or slopes
			Check: func(name string, m protocol.Machine) error {
				if j, leads := m.(*Member).judge.(*teller); leads && !slices.Equal(j.decided, want) {
					return fmt.Errorf("%s decides %v, want %v", name, j.decided, want)
				}
				return nil
			},
		}
	}})
}

// Every training row is in one batch of an epoch, and epochs have orders of their own.
func TestBatchesCoverTheRows(t *testing.T) {
	f := newFederation(t, 2, Spec{Rows: 10, HeldOut: 2, Outputs: 1, Batch: 4, Epochs: 3}, 100)
	s := newSchedule(f.params, f.session.ID())
	var orders [][]int
	for index := range f.params.Steps() {
		switch step := s.step(index); step.Kind {
		case Full:
			orders = append(orders, nil)
			if len(step.Rows) != 10 {
				t.Errorf("a full step over %v", step.Rows)
			}
		case Inner:
			orders[len(orders)-1] = append(orders[len(orders)-1], step.Rows...)
		case Last:
			if index != f.params.Steps()-1 || len(step.Rows) != 12 {
				t.Errorf("step %d of %d decides about %v", index, f.params.Steps(), step.Rows)
			}
		}
	}
	for _, order := range orders {
		sorted := slices.Sorted(slices.Values(order))
		if len(sorted) != 10 || len(slices.Compact(sorted)) != 10 {
			t.Errorf("an epoch over %v", order)
		}
	}
	if len(orders) != 3 || slices.Equal(orders[0], orders[1]) || slices.Equal(orders[1], orders[2]) {
		t.Errorf("orders %v", orders)
	}
}

func TestTranscript(t *testing.T) {
	f := newFederation(t, 4, Spec{Rows: 5, HeldOut: 1, Outputs: 1, Batch: 3, Epochs: 1}, 4)
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(t)})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Golden(t, "epoch.txt", r.Transcript())
}
