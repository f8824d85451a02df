package fdskl

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// random is a job on random features between two holders of columns.
func random(t testing.TB, protocol, learner string) *job.Job {
	t.Helper()
	text := fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: random}
spec:
  data: {source: own, label: label, partition: {by: columns, parties: [guest, host, third], coverage: 0.9}, scale: standard}
  protocol: {name: fdskl, directions: 256%s}
  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}
  learner: {name: %s}
`, protocol, learner)
	return read(t, text)
}

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	return methodtest.Read(t, Protocol(), text)
}

type federated struct {
	*methodtest.Typed[*server, *party]
}

// federate makes everybody ready for a job.
func federate(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	return &federated{methodtest.Join[*server, *party](t, Protocol(), j, tables)}
}

// runSteps runs all steps of a job between parties with these tables.
func runSteps(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	f := federate(t, j, tables)
	f.Finish(t)
	return f
}

// federatedPhases runs a job on wdbc.
func federatedPhases(t *testing.T, protocol, learner string, rows int) (*federated, *dataset.Set) {
	t.Helper()
	j := random(t, protocol, learner)
	set := columnstest.Numbered(t, "wdbc", rows)
	return runSteps(t, j, columnstest.Share(t, j, set)), set
}

// In every training and mode the label holder learns, the coordinator receives its figures, and no
// other member learns or sends anything. No message has a coefficient.
func TestFDSKL(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		protocol, learner string
		least             float64
	}{
		{"", "logistic, lambda: 1e-3", 0.9},
		{", bits: 8, tree: star", "smooth-hinge, lambda: 1e-3", 0.9},
		{", mode: paper, bits: 32", "logistic, lambda: 1e-3", 0.9},
		{", training: block", "smooth-hinge, iterations: 16, batch: 64", 0.8},
		{", training: precond", "logistic, iterations: 8", 0.85},
		{", training: faithful", "logistic", 0.7},
	} {
		t.Run(strings.TrimPrefix(c.protocol+", "+c.learner, ", "), func(t *testing.T) {
			f, set := federatedPhases(t, c.protocol, c.learner, 300)
			f.JudgedBy(t, "guest", columnstest.Labels(set))
			m := f.Server.learned.Metrics
			t.Log(m)
			if m["accuracy"] < c.least || len(m) != 4 {
				t.Errorf("metrics %v", m)
			}
			for name, p := range f.Parties {
				if (p.solver != nil) != (name == "guest") {
					t.Errorf("%s learns: %v", name, p.solver != nil)
				}
			}
			checkCoefficientsStay(t, f)
			if o := f.Federation.Server.Outcome(); o.Classes != nil || o.Decisions.Rows != 0 {
				t.Errorf("the coordinator has %+v", o)
			}
		})
	}
}

// With common directions and all columns in one place the same is learnt: what
// the protocol adds to a direction turns its two features, which changes no
// decision.
func TestFDSKLEqualsPooled(t *testing.T) {
	f, set := federatedPhases(t, ", mode: paper, bits: 32", "squared, lambda: 1e-2", 120)
	guest := f.Parties["guest"]
	got, err := guest.solver.Learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	j, ids, source := guest.Job, guest.Aligned(), pooledPhases(t, f, set.X.Cols())
	train := len(ids) - got.Decisions.Cols
	pooled, err := NewSolver(j, guest.Set.Labels, train, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if err := AnswerAll(t.Context(), pooled, source, 4); err != nil {
		t.Fatal(err)
	}
	want, err := pooled.Learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.Decisions.Row(0) {
		if math.Abs(v-got.Decisions.Row(0)[i]) > 1e-4 {
			t.Errorf("decision %d is %v, pooled %v", i, got.Decisions.Row(0)[i], v)
		}
	}
}

// pooledPhases returns the phases of all columns in one place, under the directions of mode
// paper.
func pooledPhases(t *testing.T, f *federated, width int) fdskl.Source {
	t.Helper()
	guest := f.Parties["guest"]
	all, at := linalg.New[float64](len(guest.Aligned()), width), 0
	for _, name := range guest.Job.Parties() {
		p := f.Parties[name]
		for i := range all.Rows {
			p.Rows.ReadRow(i, all.Row(i)[at:at+p.Width()])
		}
		at += p.Width()
	}
	gamma, err := Gamma(guest.Job, jointUnit(guest.Declared))
	if err != nil {
		t.Fatal(err)
	}
	d := DirectionsOf(guest.Job, columns.Directions{Gamma: gamma, Key: guest.parent, Common: guest.parent})
	source, err := d.Phases(all, keysOf(guest.Job).Bits)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// The session in which phases are added up has the job's mode, tree, bits and directions.
func TestSessionsHaveTheJobsTree(t *testing.T) {
	one := columns.Declaration{Rows: 60}
	all := columns.Declared{List: []columns.Declaration{one, one, one}, Digest: [32]byte{7}}
	for _, want := range []fdskl.Spec{
		{Mode: fdskl.Hardened, Topology: fdskl.Binary}, {Mode: fdskl.Hardened, Topology: fdskl.Star}, {Mode: fdskl.Hardened, Topology: fdskl.Chain},
		{Mode: fdskl.Paper, Topology: fdskl.Binary}, // the paper's trees, which a job cannot change
	} {
		keys := ", bits: 32, mode: paper"
		if want.Mode == fdskl.Hardened {
			keys = ", bits: 32, tree: " + string(want.Topology)
		}
		p, err := paramsOf(random(t, keys, "logistic"), all)
		if err != nil {
			t.Fatal(err)
		}
		want.Bits, want.Rows, want.Directions, want.Alignment = 32, 60, 256, all.Digest
		if got := p.Spec(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A party's directions are its secret; in mode paper they are common to all parties and follow from
// the session.
func TestDirectionsArePrivate(t *testing.T) {
	for protocol, common := range map[string]bool{"": false, ", mode: paper": true} {
		f, _ := federatedPhases(t, protocol, "logistic", 60)
		keys := make(map[[32]byte]bool)
		for name, p := range f.Parties {
			keys[p.directions.Key] = true
			secret := prg.Derive(sha256.Sum256([]byte("seed of "+name)), "fdskl/directions") // of the party's own seed of the session
			if is := p.directions.Key == secret; is == common {
				t.Errorf("%q: %s derives the key of its directions from its secret seed: %v", protocol, name, is)
			}
			if is := p.directions.Key == [32]byte(p.parent); is != common {
				t.Errorf("%q: the key of the directions is the session's: %v", protocol, is)
			}
		}
		if (len(keys) == 1) != common || !common && len(keys) != len(f.Parties) {
			t.Errorf("%q: %d keys of %d parties", protocol, len(keys), len(f.Parties))
		}
	}
}

// A schedule requests no phase twice, the phases of a row in ascending order, and no more than a
// message can hold. By default, and with training cached, one request has all phases of all rows. With
// training faithful each iteration requests one row, in the directions up to its own new one.
func TestTrainingsAskOnce(t *testing.T) {
	labels := strings.Split(strings.Repeat("a b ", 50)+"a", " ")
	for _, training := range []string{"", "cached", "block", "precond", "faithful"} { // the first one is the default
		keys, once := ", training: "+training, training == "" || training == "cached"
		if training == "" {
			keys = ""
		}
		s, err := NewSolver(random(t, keys, "logistic"), labels, 75, [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		seen, asked := make([]int, len(labels)), 0
		if err := AnswerAll(t.Context(), watched{s, func(q fdskl.Request) {
			asked++
			if training == "faithful" && asked <= 256 && (len(q.Rows) != 1 || q.Rows[0].Count != 1 || q.Rows[0].First >= 75 || q.Directions.First+q.Directions.Count != asked) {
				t.Fatalf("iteration %d of training faithful requests rows %v in directions %v", asked, q.Rows, q.Directions)
			}
			for _, span := range q.Rows {
				for r := span.First; r < span.First+span.Count; r++ {
					if q.Directions.First != seen[r] || q.Directions.Count < 1 {
						t.Fatalf("%s: row %d in directions %v after %d", training, r, q.Directions, seen[r])
					}
					seen[r] += q.Directions.Count
				}
			}
		}}, noise{}, 2); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Learn(nil); err != nil {
			t.Fatal(err)
		}
		for r, directions := range seen {
			if directions != 256 && (once || r >= 75) {
				t.Errorf("%q: row %d, of which those from 75 on are held out, in %d directions", training, r, directions)
			}
		}
		if (asked == 1) != once {
			t.Errorf("%q: %d requests", training, asked)
		}
	}
}

// watched shows the requests of a schedule.
type watched struct {
	fdskl.Schedule
	show func(fdskl.Request)
}

func (w watched) Next() (fdskl.Request, bool) {
	q, more := w.Schedule.Next()
	if more {
		w.show(q)
	}
	return q, more
}

// noise is phases that depend on rows and directions only.
type noise struct{}

func (noise) Block(dst []byte, rows []int, first, count int) {
	for i := range dst {
		dst[i] = byte(31*rows[i/(2*count)] + 17*(first+i%(2*count)))
	}
}

// A worker has released something in a direction only if it adds to a sum that another worker
// learns.
func TestPhasesReleased(t *testing.T) {
	f, _ := federatedPhases(t, "", "logistic", 60)
	if r := f.Releases(t, "guest", "protocol"); len(r) != 1 || r[0].Directions != 0 {
		t.Errorf("the label holder lets out %+v", r)
	}
	r := f.Releases(t, "host", "protocol")
	if len(r) != 1 || r[0].Kind != method.ReleasePhases || r[0].Set.X.Cols() != 10 || r[0].Directions == 0 || r[0].Set.X.Rows() != len(f.Parties["host"].Aligned()) {
		t.Errorf("host lets out %+v", r)
	}
}

// Gamma is measured by the sum of the parties' declarations, to a few percent of the median
// over all columns.
func TestUnitOfGamma(t *testing.T) {
	f, _ := federatedPhases(t, "", "logistic", 300)
	guest := f.Parties["guest"]
	gamma, err := Gamma(guest.Job, jointUnit(guest.Declared))
	if err != nil {
		t.Fatal(err)
	}
	var list []linalg.Rows
	for _, name := range guest.Job.Parties() {
		list = append(list, f.Parties[name].Training())
	}
	want := 0.5 / Unit(columnstest.Beside(list), job.Median)
	t.Logf("gamma %v, by all columns %v", gamma, want)
	if r := gamma / want; r < 0.7 || r > 1.5 {
		t.Errorf("gamma is %v, by all columns %v", gamma, want)
	}
	if _, err := Gamma(guest.Job, jointUnit(columns.Declared{List: []columns.Declaration{{}, {}}})); err == nil {
		t.Error("equal rows have a unit")
	}
	if v := roundCoarsely(10); v < 9.4 || v > 10.6 || roundCoarsely(0) != 0 {
		t.Errorf("10 is told as %v, 0 as %v", v, roundCoarsely(0))
	}
	if v := Unit(list[0], job.Norm); v < 9 || v > 11 { // ten standardised columns
		t.Errorf("mean squared norm %v", v)
	}
	if v := Unit(linalg.New[float64](1, 3), job.Median); v != 0 {
		t.Errorf("median distance of one row: %v", v)
	}
}

// The result reports a training that has used up its passes, with the gradient that is left.
func TestTrainingThatHasNotConverged(t *testing.T) {
	f, _ := federatedPhases(t, "", "logistic, lambda: 1e-6", 120)
	guest := f.Parties["guest"]
	if r := f.Result(t); r.Warnings != nil {
		t.Errorf("a training that ended by itself: %q", r.Warnings)
	}
	guest.solver.(*cached).passes = 1
	v, err := guest.learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Server.learned, err = decodeFinding(job.Classes(), v.encode(job.Classes()))
	if err != nil || !(v.Left > linear.DefaultTol) {
		t.Fatalf("what is left of the gradient: %v, %v", v.Left, err)
	}
	w := f.Result(t).Warnings
	if len(w) != 1 || !strings.HasPrefix(w[0], "the training has not converged: after 100 passes the gradient is still at ") {
		t.Errorf("warnings %q", w)
	}
}

func TestFinding(t *testing.T) {
	v := learned{Learned{learner.Metrics{"accuracy": 0.5, "f1_micro": 0.25}, 0.125}, [32]byte{7}}
	b := v.encode(job.Classes())
	back, err := decodeFinding(job.Classes(), b)
	if err != nil || len(back.Metrics) != 2 || back.Metrics["f1_micro"] != 0.25 || back.Left != 0.125 || back.model != v.model || len(b) != learnedBytes(job.Classes()) {
		t.Errorf("%+v, %v", back, err)
	}
	v.Left = -1
	if _, err := decodeFinding(job.Classes(), v.encode(job.Classes())); err == nil {
		t.Error("less than nothing of a gradient is accepted")
	}
	v.Left, v.Metrics["accuracy"] = 0, math.NaN()
	if _, err := decodeFinding(job.Classes(), v.encode(job.Classes())); err == nil {
		t.Error("an accuracy that is no number is accepted")
	}
}

func FuzzDecodeFinding(f *testing.F) {
	f.Add(learned{Learned{learner.Metrics{"rmse": 1}, 0.5}, [32]byte{1}}.encode(job.Numbers()))
	f.Add(learned{}.encode(job.Classes()))
	hidden := learned{}.encode(job.Classes())
	hidden[1] = 1 // of a figure that is not there
	f.Add(hidden)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, l := range []job.Task{job.Numbers(), job.Classes()} {
			v, err := decodeFinding(l, b)
			if err != nil {
				continue
			}
			if again := v.encode(l); !bytes.Equal(again, b) {
				t.Errorf("%v comes back as %v", b, again)
			}
		}
	})
}
