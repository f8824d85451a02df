package fdskl

import (
	"fmt"
	"math"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/scale"
)

const (
	sameGamma  = 0.02
	sameLambda = 1e-2
)

// sameKernel is a job with this kernel over unscaled columns.
func sameKernel(t *testing.T, directions int) *job.Job {
	t.Helper()
	j := read(t, fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: same}
spec:
  data: {source: own, label: label, partition: {by: columns, parties: [guest, host, third]}, test: {every: 4}, scale: none}
  protocol: {name: fdskl, bits: 16, directions: %d}
  kernel: {name: rbf, gamma: %v}
  learner: {name: squared, lambda: %v}
`, directions, sameGamma, sameLambda))
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
	own.X = dataset.NewDense(columnstest.Beside([]linalg.Rows{s.Rows(rows)}))
	return &own
}

// With many directions the kernel and the decisions of FDSKL approach the results from the
// Gram matrix that protocol gram adds up over the same rows. The errors fall as one over the
// root of the number of directions.
func TestFDSKLApproachesGram(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set := standardised(t, columnstest.Numbered(t, "wdbc", 200))
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: sameGamma})
	if err != nil {
		t.Fatal(err)
	}

	const few, many = 64, 4096
	decisions := make(map[int]float64)
	for _, directions := range []int{few, many} {
		j := sameKernel(t, directions)
		f := runSteps(t, j, columnstest.Share(t, j, set))
		guest := f.Parties["guest"]
		truth := kernel.Of(f.gram(t), k)
		// The mean of cosines with this many terms deviates by (1 - K^2) / sqrt(2 D).
		off := kernelError(guest.solver.(*cached), truth) * math.Sqrt(2*float64(directions))
		decisions[directions] = decisionError(t, guest, truth)
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
func kernelError(c *cached, truth kernel.Source) float64 {
	place := linalg.Range(0, c.table.Rows())
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

// decisionError returns the error of the decisions about held-out rows, measured against
// kernel ridge regression, which minimises the same function.
func decisionError(t *testing.T, guest *party, truth kernel.Source) float64 {
	t.Helper()
	place := linalg.Range(0, len(guest.Aligned()))
	got, err := guest.solver.Learn(nil)
	if err != nil {
		t.Fatal(err)
	}
	train := len(place) - got.Decisions.Cols
	y := guest.solver.Outputs().Y.Row(0)
	m, err := ridge.Fit(kernel.Subset(truth, place[:train]), y, float64(train)*sameLambda/2)
	if err != nil {
		t.Fatal(err)
	}
	cross := linalg.New[float64](got.Decisions.Cols, train)
	truth.Block(place[train:], place[:train], cross)
	sum := 0.0
	for i, want := range m.Predict(cross) {
		d := got.Decisions.Row(0)[i] - want
		sum += d * d
	}
	return math.Sqrt(sum / float64(got.Decisions.Cols))
}

// gram is the Gram matrix that protocol gram adds up over the parties' rows.
func (f *federated) gram(t *testing.T) linalg.Matrix[float64] {
	t.Helper()
	var holders []gram.Holder
	for _, name := range f.Instance.Parties {
		_, width := f.Parties[name].Rows.Shape()
		holders = append(holders, gram.Holder{Columns: width, Exponent: 5}) // no value of these is larger
	}
	layout, err := gram.NewParams(holders, len(f.Parties["guest"].Aligned()), 0)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([][]int64, len(layout.Groups()))
	for i, name := range f.Instance.Parties {
		part, err := layout.Part(f.Parties[name].Rows, i)
		if err != nil {
			t.Fatal(err)
		}
		for group, entries := range layout.Groups() {
			term := make([]int64, entries)
			part.Read(group, 0, term)
			if sums[group] == nil {
				sums[group] = make([]int64, entries)
			}
			for k, v := range term {
				sums[group][k] += v
			}
		}
	}
	m, err := layout.Matrix(sums)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
