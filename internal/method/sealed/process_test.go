package sealed

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/randommodel"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// unitFeatures returns the features of a table's rows, with squares that add up to 1, as rows x features.
func (f *federated) unitFeatures(t *testing.T, sets ...*dataset.Set) linalg.Matrix[float64] {
	t.Helper()
	set, err := dataset.Append(sets...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := directions(f.Job, f.Server.drawn, f.Parties["north"].solution.Weights.Cols, set.X.Cols())
	if err != nil {
		t.Fatal(err)
	}
	x, phi := linalg.New[float64](set.X.Rows(), set.X.Cols()), linalg.New[float64](set.X.Rows(), m.Len())
	linalg.Gather(x, dataset.RowsOf(set.X), 0)
	m.Rows(phi, x)
	for i := range phi.Data {
		phi.Data[i] *= math.Sqrt(2 / float64(m.Len()))
	}
	return phi
}

// The model of learner gp is the mean of a plain Gaussian process on the same features, rounded as the sums have them. The
// process has the learner's noise, and the middle of the labels' range as its prior mean.
func TestProcessMean(t *testing.T) {
	const noise, middle = .3, 1. // the range is [-3, 5]
	j := read(t, strings.Replace(fmt.Sprintf(wavesFile, "gp, noise: 0.3"), "[-3, 3]", "[-3, 5]", 1))
	tables := waves()
	f := federate(t, j, tables)
	f.Finish(t)
	training := []*dataset.Set{tables["north"].Set, tables["south"].Set}
	problem, err := f.Server.public().problem(j)
	if err != nil {
		t.Fatal(err)
	}
	y, err := dataset.Targets(slices.Concat(training[0].Labels, training[1].Labels))
	if err != nil {
		t.Fatal(err)
	}
	cells, scale := math.Ldexp(1, problem.CellBits()), problem.RowScale()
	phi := f.unitFeatures(t, training...)
	for i, v := range phi.Data { // rounded as in the sums
		phi.Data[i] = math.Trunc(v*scale*cells) / cells / scale
	}
	for i, v := range y {
		y[i] = 4 * math.Trunc((v-middle)/4*cells) / cells
	}
	gp, err := ridge.FitGP(kernel.Dense{K: kernel.LinearGram(phi)}, y, ridge.GPParams{Noise: noise})
	if err != nil {
		t.Fatal(err)
	}
	held := tables["north"].HeldOut
	cross := linalg.New[float64](held.X.Rows(), phi.Rows)
	linalg.MulTransB(cross, f.unitFeatures(t, held), phi)
	found := f.predict(t, "south", held)
	worst := 0.
	for i := range held.X.Rows() {
		want := middle
		for k, v := range cross.Row(i) {
			want += v * gp.Dual[k]
		}
		worst = max(worst, math.Abs(found.Row(i)[0]-want))
	}
	if worst > 1e-4 {
		t.Errorf("means differ by %v from those of a plain Gaussian process", worst)
	}
	t.Logf("means differ by %.1g", worst)
	m := f.Result(t).Metrics
	if m["rmse"] > .2 || m["r2"] < .95 || len(m) != 2 {
		t.Errorf("%v", m)
	}
}

// predict returns what a party predicts with the state that it keeps, as rows x outputs.
func (f *federated) predict(t *testing.T, party string, set *dataset.Set) linalg.Matrix[float64] {
	t.Helper()
	if m, err := f.Parties[party].model(); err != nil || m.Output.Kind != model.Ridge {
		t.Errorf("%s keeps a model of kind %s: %v", party, m.Output.Kind, err)
	}
	k, err := f.Parties[party].retainedState(method.Closing{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := randommodel.Open(k).Predict(set)
	if err != nil {
		t.Fatal(err)
	}
	return found.Decisions
}

// A noise that is too small for the rows is refused before anything is shared. The error says that it is a noise.
func TestNoiseOfManyRows(t *testing.T) {
	c := methodtest.Instance(read(t, fmt.Sprintf(wavesFile, "gp, noise: 0.1")))
	if _, err := (public{rows: []int{2000, 2000}, columns: 2}).params(c); err != nil {
		t.Errorf("4,000 rows: %v", err)
	}
	_, err := (public{rows: []int{2001, 2000}, columns: 2}).params(c)
	if err == nil || !strings.Contains(err.Error(), "the noise of learner gp is its alpha") {
		t.Errorf("4,001 rows: %v", err)
	}
}
