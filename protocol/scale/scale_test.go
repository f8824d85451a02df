package scale

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// table returns a matrix of the given rows, all of the same length.
func table(rows ...[]float64) linalg.Matrix[float64] {
	m := linalg.New[float64](len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

// random returns n x f values around mean.
func random(r *rand.Rand, n, f int, mean float64) linalg.Matrix[float64] {
	m := linalg.New[float64](n, f)
	for i := range m.Data {
		m.Data[i] = mean + r.NormFloat64()
	}
	return m
}

// pool stacks tables.
func pool(tables ...linalg.Matrix[float64]) linalg.Matrix[float64] {
	var all linalg.Matrix[float64]
	for _, t := range tables {
		all.Cols, all.Stride = t.Cols, t.Cols
		all.Rows += t.Rows
		for i := range t.Rows {
			all.Data = append(all.Data, t.Row(i)...)
		}
	}
	return all
}

func summary(t testing.TB, rows linalg.Matrix[float64], m Method) Statistics {
	t.Helper()
	s, err := Summarize(rows, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// descriptor is a session of the parties p0, p1, ... of which the one at
// position lead is the leader.
func descriptor(method Method, parties, lead int) protocol.Descriptor {
	p, err := NewParams(Spec{Method: method})
	if err != nil {
		panic(err)
	}
	d := protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Purpose: "train"}
	for i := range parties {
		role := protocol.RoleParty
		if i == lead {
			role = protocol.RoleLeader
		}
		d.Members = append(d.Members, protocol.Member{Name: fmt.Sprintf("p%d", i), Role: role})
	}
	return d
}

func session(t testing.TB, d protocol.Descriptor) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// nodes gives member i of s the statistics all[i]; messages are cut by size.
func nodes(s *protocol.Session, all []Statistics, size sizing) []sim.Node {
	var list []sim.Node
	for i, m := range s.Members {
		setup := protocol.Setup{Session: s, Self: m.Name}
		list = append(list, sim.Node{
			Name: m.Name, InputHash: all[i].Hash(),
			Timers: map[protocol.Timer]int64{TimerStatistics: 1000, TimerCombined: 2000},
			New: func() (protocol.Machine, error) {
				if m.Role == protocol.RoleLeader {
					return newLeader(setup, all[i], size)
				}
				return newParty(setup, all[i], size)
			},
		})
	}
	return list
}

// agree runs a session over the tables and returns all members' scalings.
func agree(t testing.TB, method Method, lead int, size sizing, tables ...linalg.Matrix[float64]) []Scaling {
	t.Helper()
	s := session(t, descriptor(method, len(tables), lead))
	var all []Statistics
	for _, rows := range tables {
		all = append(all, summary(t, rows, method))
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, all, size)})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	var results []Scaling
	for _, o := range r.Nodes {
		results = append(results, result(o.Machine))
	}
	return results
}

func result(m protocol.Machine) Scaling { return m.(interface{ Result() Scaling }).Result() }

func equal(a, b Scaling) bool {
	return slices.Equal(a.Offset, b.Offset) && slices.Equal(a.Factor, b.Factor)
}

// pooledMinMax computes the scaling from the pooled rows, by its definition.
func pooledMinMax(all linalg.Matrix[float64]) Scaling {
	s := Scaling{Offset: make([]float64, all.Cols), Factor: make([]float64, all.Cols)}
	for j := range all.Cols {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range all.Rows {
			low, high = math.Min(low, all.Row(i)[j]), math.Max(high, all.Row(i)[j])
		}
		s.Offset[j] = low
		if high > low {
			s.Factor[j] = 1 / (high - low)
		}
	}
	return s
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, method := range []Method{MinMax, Standard} {
		for _, columns := range []int{3, 200} { // 1 and 8 messages a party
			protocoltest.Run(t, protocoltest.Protocol{Name: fmt.Sprintf("%s %d", method, columns), New: func(t testing.TB) protocoltest.Case {
				return propertyCase(t, method, columns)
			}})
		}
	}
}

func propertyCase(t testing.TB, method Method, f int) protocoltest.Case {
	const parties = 3
	size := sizing{chunk: 32, batch: 2}
	s := session(t, descriptor(method, parties, 1))
	var all []Statistics
	for i := range parties {
		all = append(all, summary(t, random(rand.New(rand.NewPCG(uint64(i), 7)), 5+i, f, 3), method))
	}
	list := nodes(s, all, size)
	r, err := sim.Run(sim.Config{Session: s, Nodes: list})
	if err != nil {
		t.Fatal(err)
	}
	want := result(r.Outcome("p1").Machine)
	body := int64(headingBytes + columnBytes*size.chunk)
	return protocoltest.Case{
		Session: s, Nodes: list,
		// For each receiver there may be a window less one and a whole step.
		InFlight: 2 * int64(protocoltest.Window-1+size.batch) * body,
		Check: func(_ string, m protocol.Machine) error {
			if got := result(m); !equal(got, want) {
				return fmt.Errorf("scaling %v, want %v", got, want)
			}
			return nil
		},
		// Nobody can verify a party's statement about its rows, or the leader's scaling of
		// them.
		Trusts: func(protocol.Header) bool { return true },
		Runs:   100,
	}
}
