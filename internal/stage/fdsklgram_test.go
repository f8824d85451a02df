package stage

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

const (
	sameGamma  = 0.02
	sameLambda = 1e-2
)

// sameKernel is a job of protocol gram or fdskl with the same kernel over columns
// that nobody scales.
func sameKernel(t *testing.T, protocol, test, learner string) *job.Job {
	t.Helper()
	j := read(t, fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: same}
spec:
  data: {source: own, label: label, partition: {by: columns, parties: [guest, host, third]}, %s, scale: none}
  protocol: {%s}
  kernel: {name: rbf, gamma: %v}
  learner: {%s}
`, test, protocol, sameGamma, learner))
	return j
}

// standardised is a set whose columns have mean 0 and variance 1.
func standardised(t *testing.T, set *dataset.Set) *dataset.Set {
	t.Helper()
	rows := dataset.RowsOf(set.X)
	s, err := scale.Pooled(rows, scale.Method(random(t, "", "logistic").Data.Scale))
	if err != nil {
		t.Fatal(err)
	}
	own := *set
	own.X = dataset.NewDense(sideBySide([]linalg.Rows{s.Rows(rows)}))
	return &own
}

// By many directions FDSKL's kernel and decisions come to those of the Gram matrix
// that protocol gram adds up over the same rows, with errors that fall as one over
// the root of the directions.
func TestFDSKLApproachesGram(t *testing.T) {
	set := standardised(t, numbered(t, "wdbc").Subset(every(0, 200)))
	exact := sameKernel(t, "name: gram", "folds: 2", "name: ridge")
	g := runStages(t, exact, shareColumns(t, exact, set))
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: sameGamma})
	if err != nil {
		t.Fatal(err)
	}
	truth := kernel.Of(g.server.vertical.task.Gram, k)
	order := g.parties["guest"].Aligned()

	const few, many = 64, 4096
	decisions := make(map[int]float64)
	for _, directions := range []int{few, many} {
		j := sameKernel(t, fmt.Sprintf("name: fdskl, bits: 16, directions: %d", directions), "test: {every: 4}", fmt.Sprintf("name: squared, lambda: %v", sameLambda))
		f := runStages(t, j, shareColumns(t, j, set))
		guest := f.parties["guest"]
		place := make([]int, len(order)) // of FDSKL's rows among gram's
		for i, id := range guest.Aligned() {
			place[i] = slices.Index(order, id)
		}
		// The mean of cosines with this many terms deviates by (1 - K^2) / sqrt(2 D).
		off := kernelError(guest.vertical.training.(*cached), truth, place) * math.Sqrt(2*float64(directions))
		decisions[directions] = decisionError(t, guest, truth, place)
		t.Logf("%d directions: kernel off by %.3f / sqrt(2 D), decisions by %.4f", directions, off, decisions[directions])
		if off < 0.3 || off > 1 {
			t.Errorf("%d directions: kernel values are off by %v / sqrt(2 D)", directions, off)
		}
	}
	if ratio := decisions[few] / decisions[many] / math.Sqrt(many/few); ratio < 0.4 || ratio > 2.5 {
		t.Errorf("decisions are off by %v: %v times what the directions say", decisions, ratio)
	}
}

// kernelError is the root of the mean squared difference of two kernel matrices.
func kernelError(c *cached, truth kernel.Source, place []int) float64 {
	z := linalg.New[float32](c.table.Features(), c.table.Rows())
	c.table.Read(z, 0, 0)
	rows := linalg.New[float32](z.Cols, z.Rows)
	for i := range rows.Rows {
		for j := range z.Rows {
			rows.Row(i)[j] = z.Row(j)[i]
		}
	}
	all := linalg.New[float64](len(place), len(place))
	truth.Block(place, place, all)
	sum, n := 0.0, 0
	for i := range place {
		for k := range i {
			d := float64(linalg.Dot(rows.Row(i), rows.Row(k))) - all.Row(i)[k]
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}

// decisionError is that of the decisions about held-out rows and those of kernel
// ridge regression, which minimises the same.
func decisionError(t *testing.T, guest *Party, truth kernel.Source, place []int) float64 {
	t.Helper()
	got, err := guest.vertical.training.learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	train := len(place) - got.decisions.Cols
	y := guest.vertical.training.outputs().Y.Row(0)
	m, err := ridge.Fit(kernel.Subset(truth, place[:train]), y, float64(train)*sameLambda/2)
	if err != nil {
		t.Fatal(err)
	}
	cross := linalg.New[float64](got.decisions.Cols, train)
	truth.Block(place[train:], place[:train], cross)
	sum := 0.0
	for i, want := range m.Predict(cross) {
		d := got.decisions.Row(0)[i] - want
		sum += d * d
	}
	return math.Sqrt(sum / float64(got.decisions.Cols))
}
