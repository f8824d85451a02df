package sealed

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// table holds training rows and held-out rows, with their class codes.
type table struct {
	rows, held   linalg.Matrix[float64]
	codes, truth []int
	classes      int
	gamma        float64
}

// digits is the bundled data set: 1,347 training rows and 450 others, with pixels from 0 to 1.
func digits(t *testing.T) table {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	_, codes := dataset.Classes(set.Labels)
	all := linalg.New[float64](set.X.Rows(), set.X.Cols())
	linalg.Gather(all, dataset.RowsOf(set.X), 0)
	d := table{rows: linalg.New[float64](1347, 64), held: linalg.New[float64](450, 64), classes: 10, gamma: .05}
	for to, from := range rand.New(rand.NewPCG(1, 2)).Perm(all.Rows) {
		dst := d.held
		if to < d.rows.Rows {
			dst, d.codes = d.rows, append(d.codes, codes[from])
		} else {
			d.truth = append(d.truth, codes[from])
		}
		for k, v := range all.Row(from) {
			dst.Row(to % d.rows.Rows)[k] = v / 16
		}
	}
	return d
}

// adults is a9a of the project's real data, or the test is skipped.
func adults(t *testing.T) table {
	t.Helper()
	d := table{classes: 2, gamma: .01}
	d.rows, d.codes = adultRows(t, "a9a")
	d.held, d.truth = adultRows(t, "a9a.t")
	return d
}

func adultRows(t *testing.T, name string) (linalg.Matrix[float64], []int) {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "a9a", name))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real data (set MERCER_DATA): %v", err)
	}
	defer f.Close() //nolint:errcheck // read only
	set, err := dataset.ReadLIBSVM(f, dataset.LIBSVMOptions{Name: name, Columns: 123})
	if err != nil {
		t.Fatal(err)
	}
	_, codes := dataset.Classes(set.Labels)
	x := linalg.New[float64](set.X.Rows(), set.X.Cols())
	linalg.Gather(x, dataset.RowsOf(set.X), 0)
	return x, codes
}

// instance is a problem with its sums.
type instance struct {
	table
	Problem
	of           feature.Mapping
	outer, cross []int64
	exact        linalg.Matrix[float64] // targets x features: the ridge of features that are not rounded
}

// problemOf makes the sums of a table with features as package moments draws them.
func problemOf(t *testing.T, d table, features int, ratio float64) *instance {
	t.Helper()
	return repeated(t, d, features, ratio, 1)
}

// repeated makes the sums of a table of which each row occurs so many times.
func repeated(t *testing.T, d table, features int, ratio float64, times int) *instance {
	t.Helper()
	in := &instance{table: d}
	var err error
	if in.of, err = moments.Features(kernel.Spec{Name: "rbf", Gamma: d.gamma}, [32]byte{5}, features, d.rows.Cols); err != nil {
		t.Fatal(err)
	}
	targets := d.classes
	if targets == 2 {
		targets = 1
	}
	if in.Problem, err = NewProblem(d.rows.Rows*times, features, targets, ratio); err != nil {
		t.Fatal(err)
	}
	in.sum(t, times)
	return in
}

// sum adds up the moments of blocks of rows, each so many times: as whole numbers, and as they are.
func (in *instance) sum(t *testing.T, times int) {
	p := in.Problem
	whole, err := NewAccumulator(p)
	if err != nil {
		t.Fatal(err)
	}
	a, b := linalg.New[float64](p.Features, p.Features), linalg.New[float64](p.Targets, p.Features)
	for lo := 0; lo < in.rows.Rows; lo += 2048 {
		hi := min(lo+2048, in.rows.Rows)
		phi, y := in.features(in.rows.Panel(lo, hi)), in.targets(in.codes[lo:hi])
		if err := whole.Add(phi, y); err != nil {
			t.Fatal(err)
		}
		for k := range phi.Data {
			phi.Data[k] *= p.RowScale()
		}
		add(a, b, phi, y)
	}
	in.outer, in.cross = whole.Sums()
	for _, sums := range [][]int64{in.outer, in.cross} {
		for k := range sums {
			sums[k] *= int64(times)
		}
	}
	for _, m := range []linalg.Matrix[float64]{a, b} {
		for k := range m.Data {
			m.Data[k] *= float64(times)
		}
	}
	for i := range p.Features {
		a.Row(i)[i] += p.Ratio() * float64(p.Bound())
	}
	if err := linalg.Cholesky(a); err != nil {
		t.Fatal(err)
	}
	linalg.SolveCholesky(a, b)
	in.exact = b
}

// features maps rows to features x rows, of norm at most 1 a row.
func (in *instance) features(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	phi := linalg.New[float64](in.of.Len(), x.Rows)
	in.of.Columns(phi, x)
	if _, linear := in.of.(feature.Linear); linear {
		return phi
	}
	for k := range phi.Data {
		phi.Data[k] /= math.Sqrt(float64(in.of.Len()) / 2)
	}
	return phi
}

// targets are 1 in the row of a class, and of two classes +1 and -1, as targets x rows.
func (in *instance) targets(codes []int) linalg.Matrix[float64] {
	y := linalg.New[float64](in.Targets, len(codes))
	for i, c := range codes {
		if in.Targets == 1 {
			y.Row(0)[i] = float64(2*c - 1)
		} else {
			y.Row(c)[i] = 1
		}
	}
	return y
}

func add(a, b, phi, y linalg.Matrix[float64]) {
	block := linalg.New[float64](a.Rows, a.Cols)
	linalg.Syrk(block, phi)
	for k, v := range block.Data {
		a.Data[k] += v
	}
	cross := linalg.New[float64](b.Rows, b.Cols)
	linalg.MulTransB(cross, y, phi)
	for k, v := range cross.Data {
		b.Data[k] += v
	}
}

// predictions are the classes of the held-out rows by weights, as targets x features.
func (in *instance) predictions(w linalg.Matrix[float64]) []int {
	phi := linalg.New[float64](in.held.Rows, in.of.Len())
	in.of.Rows(phi, in.held)
	f, list := linalg.New[float64](in.held.Rows, in.Targets), []int{}
	linalg.MulTransB(f, phi, w)
	for i := range f.Rows {
		if in.Targets == 1 {
			class := 0
			if f.Row(i)[0] > 0 {
				class = 1
			}
			list = append(list, class)
			continue
		}
		list = append(list, moments.Predict(f.Row(i)))
	}
	return list
}

// compare counts the predictions that are right, those of the exact ridge that are, and those that differ.
func (in *instance) compare(w linalg.Matrix[float64]) (right, exact, differ int) {
	one, other := in.predictions(w), in.predictions(in.exact)
	for i, c := range in.truth {
		if one[i] == c {
			right++
		}
		if other[i] == c {
			exact++
		}
		if one[i] != other[i] {
			differ++
		}
	}
	return right, exact, differ
}
