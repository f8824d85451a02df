package fdsvrg

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/attack/lattice"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: svrg}
spec:
  data: {source: wdbc, label: label, partition: {by: columns, parties: [%s]}, test: {every: 4}, scale: standard}
  protocol: {name: fd-svrg, mode: paper}
  kernel: {name: linear}
  learner: {name: logistic, lambda: %g, iterations: %d, batch: %d%s}
`

type federated = methodtest.Typed[*server, *party]

// trained runs a job over the first rows of wdbc.
func trained(t *testing.T, parties string, lambda float64, epochs, batch int, more string) (*job.Job, *federated) {
	t.Helper()
	j := methodtest.Read(t, Protocol(), fmt.Sprintf(file, parties, lambda, epochs, batch, more))
	f := methodtest.Join[*server, *party](t, Protocol(), j, columnstest.Share(t, j, columnstest.Numbered(t, "wdbc", 200)))
	f.Finish(t)
	return j, f
}

// pooled returns all columns in one place and all weights.
func pooled(j *job.Job, f *federated) (x linalg.Matrix[float64], w []float64) {
	var rows []linalg.Rows
	for i, name := range j.Parties() {
		if i == 0 {
			rows = append(rows, WithOnes{f.Parties[name].Rows})
		} else {
			rows = append(rows, f.Parties[name].Rows)
		}
		w = append(w, f.Parties[name].weights.w...)
	}
	return columnstest.Beside(rows), w
}

// objective is the mean loss with the penalty, over the training rows.
func objective(x linalg.Matrix[float64], y, w []float64, lambda float64) float64 {
	sum := 0.0
	for i, target := range y {
		sum += linear.Logistic{}.Value(linalg.Dot(x.Row(i), w), target)
	}
	return sum/float64(len(y)) + lambda/2*linalg.Dot(w, w)
}

// The training ends in the optimum of the regularised logistic regression that learn/linear fits
// on the pooled columns: objectives are equal to 1e-6, and so are the weights to 1e-3.
func TestOptimumIsThePooledOne(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const lambda = 0.1
	for _, parties := range []string{"guest, host", "guest, host, third, fourth, fifth"} {
		j, f := trained(t, parties, lambda, 400, 4, ", rate: 0.03")
		x, w := pooled(j, f)
		y := f.Parties["guest"].trainer.y
		features := linalg.New[float64](x.Cols, len(y))
		for i := range y {
			for c, v := range x.Row(i) {
				features.Row(c)[i] = v
			}
		}
		best, err := linear.Fit(linear.Dense[float64]{M: features}, f.Parties["guest"].outputs.Y, linear.Params{Loss: linear.Logistic{}, Lambda: lambda, Tol: 1e-9, MaxPasses: 10000})
		if err != nil {
			t.Fatal(err)
		}
		want := best.Coefficients.Row(0)
		if d := objective(x, y, w, lambda) - objective(x, y, want, lambda); math.Abs(d) > 1e-6 {
			t.Errorf("%s: the objective is %g above the best", parties, d)
		}
		for c := range w {
			if math.Abs(w[c]-want[c]) > 1e-3 {
				t.Errorf("%s: weight %d is %g, want %g", parties, c, w[c], want[c])
			}
		}
		f.JudgedBy(t, "guest", columnstest.Labels(columnstest.Numbered(t, "wdbc", 200)))
		if a := f.Result(t).Metrics["accuracy"]; a < 0.8 || len(f.Result(t).Warnings) > 0 {
			t.Errorf("%s: accuracy %v, warnings %v", parties, a, f.Result(t).Warnings)
		}
	}
}

// Without a rate in the job, the rate is 1/(4 b): b is the curvature of the loss times the squared norm of
// a row over all parties' columns, and lambda.
func TestRateFollowsFromTheColumns(t *testing.T) {
	d := columns.Declared{List: []columns.Declaration{{Unit: 3}, {Unit: 5}}}
	for more, want := range map[string]float64{"": 1 / (4 * (.25*8 + .1)), ", rate: 0.03": .03} {
		j := methodtest.Read(t, Protocol(), fmt.Sprintf(file, "guest, host", .1, 3, 4, more))
		if got := rateOf(j, linear.Logistic{}, d); math.Abs(got-want) > 1e-15 {
			t.Errorf("%q: rate %v, want %v", more, got, want)
		}
	}
}

// The naive twin, SVRG on all columns in one place with the same batches and without fixed-point
// words, gives the same weights.
func TestTrainingIsTheTwins(t *testing.T) {
	j, f := trained(t, "guest, host, third", 1e-2, 3, 16, ", rate: 0.02")
	x, w := pooled(j, f)
	y := f.Parties["guest"].trainer.y
	_, intercept := f.Parties["guest"].Rows.Shape()
	for i := range y {
		if v := x.Row(i)[intercept]; v != 1 {
			t.Fatalf("row %d has %v in the column of ones", i, v)
		}
	}
	got := twin(t, f, x, y, 1e-2, 0.02, 3, 16)
	for c := range w {
		if math.Abs(w[c]-got[c]) > 1e-7 {
			t.Errorf("weight %d is %g, the twin's %g", c, w[c], got[c])
		}
	}
	if len(f.Result(t).Warnings) != 1 || !strings.Contains(f.Result(t).Warnings[0], "has not converged") {
		t.Errorf("warnings %v of three epochs", f.Result(t).Warnings)
	}
}

// twin is the published algorithm in plain loops. It takes the batches from the protocol, by a
// worker that only listens.
func twin(t *testing.T, f *federated, x linalg.Matrix[float64], y []float64, lambda, rate float64, epochs, batch int) []float64 {
	t.Helper()
	w, snapshot, mean := make([]float64, x.Cols), make([]float64, x.Cols), make([]float64, x.Cols)
	slope := func(row int, w []float64) float64 { return linear.Logistic{}.Slope(linalg.Dot(x.Row(row), w), y[row]) }
	for _, s := range stepsOf(t, f, len(y), epochs, batch) {
		if s.Kind == fdsvrg.Full {
			copy(snapshot, w)
			clear(mean)
			for _, row := range s.Rows {
				linalg.Axpy(slope(row, w)/float64(len(y)), x.Row(row), mean)
			}
			continue
		}
		gradient := make([]float64, x.Cols)
		for c := range gradient {
			gradient[c] = mean[c] + lambda*w[c]
			for _, row := range s.Rows {
				gradient[c] += (slope(row, w) - slope(row, snapshot)) * x.Row(row)[c] / float64(len(s.Rows))
			}
		}
		linalg.Axpy(-rate, gradient, w)
	}
	return w
}

// listener notes the steps of a session.
type listener struct{ steps []fdsvrg.Step }

func (*listener) Hash() [sha256.Size]byte                   { return [sha256.Size]byte{} }
func (*listener) Margins(s fdsvrg.Step) []int64             { return make([]int64, len(s.Rows)) }
func (l *listener) Learn(s fdsvrg.Step, _ []float64)        { l.steps = append(l.steps, s) }
func (*listener) Slopes(_ fdsvrg.Step, m []int64) []float64 { return make([]float64, len(m)) }
func (*listener) Decide([]int64)                            {}

// stepsOf lists the steps of the federation's training.
func stepsOf(t *testing.T, f *federated, rows, epochs, batch int) []fdsvrg.Step {
	t.Helper()
	i := f.Index(t, "protocol")
	described, err := f.Plan[i].Session.After(f.Federation.Server.Public(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(described.Descriptor(f.ID, i, [sha256.Size]byte{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	ear := new(listener)
	if err := play(s, ear, ear, new(listener)); err != nil {
		t.Fatal(err)
	}
	if want := epochs * (1 + (rows+batch-1)/batch); len(ear.steps) != want {
		t.Fatalf("%d steps, want %d", len(ear.steps), want)
	}
	return ear.steps
}

// play runs a session between a leader and others.
func play(s *protocol.Session, w fdsvrg.Worker, j fdsvrg.Judge, other fdsvrg.Worker) error {
	var nodes []sim.Node
	for i, member := range s.Members {
		m, err := fdsvrg.NewLeader(protocol.Setup{Session: s, Self: member.Name}, w, j)
		if i > 0 {
			m, err = fdsvrg.NewWorker(protocol.Setup{Session: s, Self: member.Name}, other)
		}
		if err != nil {
			return err
		}
		nodes = append(nodes, sim.Node{Name: member.Name, InputHash: m.InputHash(), New: func() (protocol.Machine, error) { return m, nil }})
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes})
	if err == nil {
		err = r.Err()
	}
	return err
}

// prober is a leader that chooses its slopes: 1 for one row, and then 0 for all.
type prober struct {
	listener
	row      int
	products map[int]float64 // with the row, of the rows of the second batch
	rate     float64
}

func (p *prober) Slopes(s fdsvrg.Step, margins []int64) []float64 {
	slopes := make([]float64, len(margins))
	if s.Index == 0 {
		slopes[p.row] = 1
	}
	for i, row := range s.Rows {
		if s.Index == 2 {
			p.products[row] = -margin(margins[i]) / p.rate
		}
	}
	return slopes
}

// The attack: a leader that sends slopes of its choice reads the products of a row with others
// over the other party's columns.
func TestAttackChosenSlopesReadProducts(t *testing.T) {
	const rate = 0.125
	rng := rand.New(rand.NewPCG(3, 3))
	x := linalg.New[float64](40, 5)
	for i := range x.Data {
		x.Data[i] = 2*rng.Float64() - 1
	}
	params, err := fdsvrg.NewParams(fdsvrg.Spec{Rows: 40, Outputs: 1, Batch: 20, Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: fdsvrg.Name, Version: fdsvrg.Version, Params: params.Encode(),
		Members: []protocol.Member{{Name: "guest", Role: protocol.RoleLeader}, {Name: "host", Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &prober{row: 7, products: make(map[int]float64), rate: rate}
	if err := play(s, p, p, newWeights(x, rate, 0.01)); err != nil {
		t.Fatal(err)
	}
	if len(p.products) != 20 {
		t.Fatalf("%d products are read", len(p.products))
	}
	for row, got := range p.products {
		if want := linalg.Dot(x.Row(row), x.Row(7)); math.Abs(got-want) > 1e-8 {
			t.Errorf("the product with row %d is read as %v, it is %v", row, got, want)
		}
	}
}

// watcher is an honest leader that notes the margins of a worker with one column.
type watcher struct {
	listener
	trainer
	second float64   // margin of row in the second inner step
	row    int       // a row of that step
	first  []float64 // mean slopes of the first full step
	whole  []float64 // margins of the second full step, by row
	inner  int
}

func (w *watcher) Slopes(s fdsvrg.Step, margins []int64) []float64 {
	slopes := w.trainer.Slopes(s, margins)
	switch {
	case s.Kind != fdsvrg.Full:
		if w.inner++; w.inner == 2 {
			w.row, w.second = s.Rows[0], margin(margins[0])
		}
	case w.first == nil:
		w.first = make([]float64, len(slopes))
		for i, row := range s.Rows {
			w.first[row] = slopes[i]
		}
	case w.whole == nil:
		w.whole = make([]float64, len(margins))
		for i, row := range s.Rows {
			w.whole[row] = margin(margins[i])
		}
	}
	return slopes
}

func (w *watcher) Decide(margins []int64) { w.trainer.Decide(margins) }

// The attack: an honest leader that only watches reads the column of a worker with one column, up to its
// sign. The margins of a full step are the column times a weight. The first inner step moves the weight
// from 0 by the rate times the column's product with slopes that the leader has computed, and the margins of
// the second inner step show the result.
func TestAttackMarginsReadOneColumn(t *testing.T) {
	const rate, rows = 0.25, 40
	rng := rand.New(rand.NewPCG(4, 4))
	x, y := linalg.New[float64](rows, 1), make([]float64, rows)
	for i := range x.Data {
		x.Data[i], y[i] = 2*rng.Float64()-1, float64(2*rng.IntN(2)-1)
	}
	params, err := fdsvrg.NewParams(fdsvrg.Spec{Rows: rows, Outputs: 1, Batch: 10, Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: fdsvrg.Name, Version: fdsvrg.Version, Params: params.Encode(),
		Members: []protocol.Member{{Name: "guest", Role: protocol.RoleLeader}, {Name: "host", Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{trainer: trainer{loss: linear.Logistic{}, y: y}}
	if err := play(s, w, w, newWeights(x, rate, 0.01)); err != nil {
		t.Fatal(err)
	}
	size := math.Sqrt(-w.second / (rate * w.whole[w.row] * linalg.Dot(w.whole, w.first)))
	sign := math.Copysign(1, x.Data[0]*w.whole[0])
	for i, want := range x.Data {
		if got := sign * size * w.whole[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("row %d is read as %v, it is %v", i, got, want)
		}
	}
}

// walker is a leader that sends the slope 1 for one row in each epoch, for every row in turn. The
// full steps show what each adds to all margins: a row of the Gram matrix.
type walker struct {
	listener
	rate float64
	last []float64
	gram linalg.Matrix[float64]
	row  int // the row whose products the next full step shows
}

func (w *walker) Slopes(s fdsvrg.Step, margins []int64) []float64 {
	slopes := make([]float64, len(margins))
	if s.Kind != fdsvrg.Full {
		return slopes
	}
	now := make([]float64, len(margins))
	for i, row := range s.Rows {
		now[row] = margin(margins[i])
	}
	if w.last != nil {
		for i, m := range now {
			w.gram.Row(w.row)[i] = (w.last[i] - m) / w.rate
		}
		w.row++
	}
	w.last = now
	if w.row < len(slopes) {
		slopes[slices.Index(s.Rows, w.row)] = 1
	}
	return slopes
}

// The attack: a leader that sends slopes of its choice has the Gram matrix of all rows over the other
// party's columns, and lattice reduction gives the columns, if their values are on a grid.
func TestAttackChosenSlopesReadColumns(t *testing.T) {
	const rate, rows = 0.125, 24
	rng := rand.New(rand.NewPCG(5, 5))
	x := linalg.New[float64](rows, 5)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(9))
	}
	params, err := fdsvrg.NewParams(fdsvrg.Spec{Rows: rows, Outputs: 1, Batch: rows, Epochs: rows + 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: fdsvrg.Name, Version: fdsvrg.Version, Params: params.Encode(),
		Members: []protocol.Member{{Name: "guest", Role: protocol.RoleLeader}, {Name: "host", Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{rate: rate, gram: linalg.New[float64](rows, rows)}
	if err := play(s, w, w, newWeights(x, rate, 0)); err != nil {
		t.Fatal(err)
	}
	if got := lattice.Read(w.gram).Recovered(x, 1./8); len(got) != x.Cols {
		t.Errorf("columns %v are read, want all %d", got, x.Cols)
	}
}

// TestExposures: whoever has another party's margins counts as a reader of its rows.
func TestExposures(t *testing.T) {
	for n, party := range map[int]protocol.Reach{2: protocol.ReachPart, 3: protocol.ReachPart, 4: protocol.ReachAll} {
		list := exposures([]string{"a", "b", "c", "d"}[:n])
		want := map[string]protocol.Reach{"active": protocol.ReachAll, "party": party, "server": protocol.ReachNone, "coalition": protocol.ReachAll}
		for role, reach := range want {
			if list[role].Reach != reach {
				t.Errorf("%d parties, %s: %+v, want %s", n, role, list[role], reach)
			}
		}
	}
}

// Every party learns the labels from the first slopes.
func TestAttackSlopesAreLabels(t *testing.T) {
	y := []float64{1, -1, -1, 1, 1}
	slopes := (&trainer{loss: linear.Logistic{}, y: y}).Slopes(fdsvrg.Step{Kind: fdsvrg.Full, Rows: []int{0, 1, 2, 3, 4}}, make([]int64, 5))
	for i, v := range slopes {
		if linear.Sign(-v) != y[i] {
			t.Errorf("slope %d is %g, the label %g", i, v, y[i])
		}
	}
}

func TestFindings(t *testing.T) {
	v := outcome{metrics: learner.Metrics{"accuracy": 0.5, "auc": 0.75}, lossChange: 0.1, model: [32]byte{1}}
	task := job.Classes()
	b := v.encode(task)
	got, err := decodeFinding(task, b)
	if err != nil || len(b) != outcomeBytes(task) || got.lossChange != v.lossChange || got.model != v.model || len(got.metrics) != 2 || got.metrics["auc"] != 0.75 {
		t.Errorf("%+v, %d bytes, %v", got, len(b), err)
	}
	for _, bad := range [][]byte{b[1:], append(bytes.Clone(b), 0), nil} {
		if _, err := decodeFinding(task, bad); err == nil {
			t.Errorf("%d bytes are taken", len(bad))
		}
	}
}

func FuzzDecodeFinding(f *testing.F) {
	f.Add(outcome{metrics: learner.Metrics{"accuracy": 0.5}}.encode(job.Classes()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decodeFinding(job.Classes(), b); err == nil && !bytes.Equal(v.encode(job.Classes()), b) {
			t.Errorf("%x is a second encoding of %+v", b, v)
		}
	})
}
