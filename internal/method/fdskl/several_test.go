package fdskl

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Several active workers learn in turns, and the first one reports how well all do together.
// Each worker is shown phases over the others' columns, and discloses the phases that it lets
// out.
func TestSeveralActive(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		protocol, learner, metric string
		least                     float64
	}{
		{", mode: paper, active: 2, training: faithful", "logistic", "accuracy", 0.7},
		{", active: 2, training: faithful, tree: chain", "smooth-hinge", "accuracy", 0.7},
		{", active: 2, training: faithful", "huber, rate: 0.05", "r2", 0.1},
	} {
		f, set := federatedPhases(t, c.protocol, c.learner, 300)
		f.JudgedBy(t, "guest", columnstest.Labels(set))
		t.Log(f.Server.learned.Metrics)
		if m := f.Server.learned.Metrics; m[c.metric] < c.least {
			t.Errorf("%s: metrics %v", c.protocol, m)
		}
		for name, p := range f.Parties {
			if active := name != "third"; (p.solver != nil) != active || (p.Set.Labels != nil) != active {
				t.Errorf("%s learns: %v", name, p.solver != nil)
			}
			if r := f.Releases(t, name, "protocol"); len(r) != 1 || r[0].Kind != method.ReleasePhases {
				t.Errorf("%s lets out %+v", name, r)
			}
		}
		checkCoefficientsStay(t, f)
		active := strings.Join(f.Result(t).Leakage["active"], " ")
		if !strings.Contains(active, "The active workers are guest, host, which hold the labels.") || !strings.Contains(active, "in up to 128 directions") {
			t.Error(active)
		}
	}
}

// checkCoefficientsStay demands that no message to a member has a coefficient of a worker, or two that
// follow each other rounded to float32.
func checkCoefficientsStay(t *testing.T, f *federated) {
	t.Helper()
	held := make(map[uint64]string)
	for name, p := range f.Parties {
		if p.solver == nil {
			continue
		}
		got, err := p.solver.Learn(nil)
		if err != nil {
			t.Fatal(err)
		}
		before := 0.
		for _, a := range got.Coefficients.Row(0) {
			if a != 0 {
				held[math.Float64bits(a)] = name
			}
			if a*before != 0 {
				held[uint64(math.Float32bits(float32(before)))|uint64(math.Float32bits(float32(a)))<<32] = name
			}
			before = a
		}
	}
	if len(held) < 100 {
		t.Fatalf("%d coefficients", len(held))
	}
	everybody := maps.Clone(f.Received)
	everybody[f.Coordinator] = f.Sent
	for receiver, steps := range everybody {
		for step, list := range steps {
			for _, m := range list {
				for at := range max(0, len(m.Body)-7) {
					if owner, is := held[binary.LittleEndian.Uint64(m.Body[at:])]; is {
						t.Fatalf("%s: a message from %s to %s has a coefficient of %s", step, m.Sender, receiver, owner)
					}
				}
			}
		}
	}
}

// Several workers learn the same function as with all columns in one place. So, over all rows
// drawn in turns, they learn one learner's function.
func TestSeveralActiveEqualPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, set := federatedPhases(t, ", mode: paper, bits: 32, active: 2, training: faithful", "logistic, lambda: 1e-3", 120)
	guest := f.Parties["guest"]
	got, err := guest.solver.Learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []*partner
	for i, name := range guest.Job.Active() {
		train := len(guest.Aligned()) - got.Decisions.Cols
		p, err := newPartner(guest.Job, guest.Set.Labels, train, i, methodtest.Setup(nil, name).Seed)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	takeTurns(all, pooledPhases(t, f, set.X.Cols()))
	want, err := all[0].Learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Coefficients.Row(0)) != 256 || got.Decisions.Cols < 20 {
		t.Errorf("%d coefficients, %d decisions", len(got.Coefficients.Row(0)), got.Decisions.Cols)
	}
	for i, v := range want.Decisions.Row(0) {
		if math.Abs(v-got.Decisions.Row(0)[i]) > 1e-6 {
			t.Errorf("decision %d is %v, in one place %v", i, got.Decisions.Row(0)[i], v)
		}
	}
	other := *got
	other.Decisions = want.Decisions
	if got.hash() == other.hash() {
		t.Error("the model's name does not depend on what others hold of it")
	}
}

// takeTurns makes all iterations in one place.
func takeTurns(all []*partner, source fdskl.Source) {
	takeTurnsWatched(all, source, func(*partner, []int, []float64) {})
}

// takeTurnsWatched passes the requests of the worker whose turn it is, and the sum of the others'
// parts of the model's value, to watch.
func takeTurnsWatched(all []*partner, source fdskl.Source, watch func(p *partner, rows []int, sum []float64)) {
	answer := func(p *partner, q fdskl.Request) {
		for _, span := range q.Rows {
			rows := linalg.Range(span.First, span.First+span.Count)
			words := make([]byte, len(rows)*q.Directions.Count*keysOf(p.job).Bits/8)
			source.Block(words, rows, q.Directions.First, q.Directions.Count)
			p.Answer(rows, words)
		}
	}
	share := func(p *partner, rows []int) []float64 {
		for {
			values, q, complete := p.Share(rows)
			if complete {
				return values
			}
			answer(p, q)
		}
	}
	for resting := 0; resting < len(all); {
		resting = 0
		for _, p := range all {
			q, more := p.Next()
			if !more {
				resting++
				continue
			}
			answer(p, q)
			var rows []int
			for _, span := range q.Rows {
				rows = append(rows, linalg.Range(span.First, span.First+span.Count)...)
			}
			sum := make([]float64, len(rows))
			for _, other := range all {
				if other != p {
					for i, v := range share(other, rows) {
						sum[i] += v
					}
				}
			}
			watch(p, rows, sum)
			p.Shares(sum)
		}
	}
}

// The worker that evaluates requests many held-out rows in parts, and receives each once.
func TestJudgeAsksInParts(t *testing.T) {
	labels := strings.Split(strings.Repeat("a b ", judgedAtOnce)+"a b", " ")
	j := random(t, ", active: 2, training: faithful", "logistic")
	keysOf(j).Directions = 4
	var all []*partner
	for i := range 2 {
		p, err := newPartner(j, labels, 20, i, [32]byte{byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	takeTurns(all, noise{})
	if all[0].judged != len(labels)-20 || len(all[0].decisions) != all[0].judged || slices.Contains(all[0].decisions, 0) {
		t.Errorf("%d of %d held-out rows are judged", all[0].judged, len(labels)-20)
	}
}

// Labels of more than two classes are for one active worker.
func TestSeveralActiveOfManyClasses(t *testing.T) {
	j := random(t, ", active: 2, training: faithful", "logistic")
	if _, err := newPartner(j, []string{"a", "b", "c", "a"}, 3, 0, [32]byte{}); err == nil || !strings.Contains(err.Error(), "need two classes") {
		t.Errorf("three classes: %v", err)
	}
}
