package moments

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// random is a table of n rows with classes.
func random(seed uint64, n, width, classes int) (linalg.Matrix[float64], []int) {
	r := rand.New(rand.NewPCG(seed, 2))
	x, codes := linalg.New[float64](n, width), make([]int, n)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	for i := range codes {
		codes[i] = r.IntN(classes)
	}
	return x, codes
}

// featuresOf returns features of the rbf kernel.
func featuresOf(seed byte, m, width int, gamma float64) feature.Map {
	w := linalg.New[float64](m/2, width)
	feature.Gaussian(w, 0, gamma, func(i int) feature.Normals {
		return prg.New([32]byte{seed}, "moments", binary.LittleEndian.AppendUint64(nil, uint64(i)))
	})
	return feature.Map{Directions: w}
}

func summarize(t testing.TB, m feature.Map, rows linalg.Rows, codes []int, classes int) *Sums {
	t.Helper()
	s, err := Summarize(m, rows, Classes{codes, classes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The sums equal sums of whole numbers, number for number, for any distribution of the
// rows, and survive being read as entries of vectors in pieces of any length.
func TestSumsAreExact(t *testing.T) {
	const n, width, classes = 5000, 3, 3 // more than two panels
	x, codes := random(1, n, width, classes)
	m := featuresOf(1, 14, width, 0.7)
	all := summarize(t, m, x, codes, classes)
	phi := linalg.New[float64](n, m.Len())
	m.Rows(phi, x)
	outer, cross := make([]int64, Triangle(m.Len())), make([]int64, classes*m.Len())
	for i := range n {
		k := 0
		q := make([]int64, m.Len())
		for a, v := range phi.Row(i) {
			q[a] = int64(math.RoundToEven(v * One))
		}
		for a := range q {
			for b := a; b < len(q); b++ {
				outer[k] += q[a] * q[b]
				k++
			}
			for c := range classes {
				y := int64(-1)
				if codes[i] == c {
					y = 1
				}
				cross[c*len(q)+a] += q[a] * y * One
			}
		}
	}
	gotOuter, gotCross := make([]int64, len(outer)), make([]int64, len(cross))
	for _, cut := range []int{0, 1700, n} {
		for _, part := range [][2]int{{0, cut}, {cut, n}} {
			p := accumulate(t, m, x.Panel(part[0], part[1]), codes[part[0]:part[1]], classes)
			addEntries(gotOuter, p.Outer)
			addEntries(gotCross, p.Cross)
		}
		if !slices.Equal(gotOuter, outer) || !slices.Equal(gotCross, cross) {
			t.Errorf("cut after %d rows: other sums than those of all rows", cut)
		}
		clear(gotOuter)
		clear(gotCross)
	}
	back, err := FromEntries(m.Len(), classes, outer, cross, n)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(all, back); d != "" {
		t.Errorf("sums from entries: %s", d)
	}
}

func addEntries(sum, more []int64) {
	for i, v := range more {
		sum[i] += v
	}
}

func accumulate(t testing.TB, m feature.Map, rows linalg.Rows, codes []int, classes int) *Partial {
	t.Helper()
	a := NewAccumulator(m, classes)
	if err := a.Add(rows, Classes{codes, classes}); err != nil {
		t.Fatal(err)
	}
	return a.Partial
}

// Regressions on the sums are kernel ridge regressions with the kernel 2/M
// phi.phi; rounding the features changes the decisions by some 2^-16.
func TestSolveIsKernelRidge(t *testing.T) {
	const n, classes, alpha = 150, 3, 0.3
	x, codes := random(3, n+20, 4, classes)
	m := featuresOf(1, 60, 4, 0.2)
	s := summarize(t, m, x.Panel(0, n), codes[:n], classes)
	solution, err := Solve(s, alpha)
	if err != nil {
		t.Fatal(err)
	}
	got := solution.Decisions(m, x.Panel(n, n+20))
	phi := linalg.New[float64](n+20, m.Len())
	m.Rows(phi, x)
	gram := linalg.New[float64](n+20, n+20)
	linalg.Syrk(gram, phi)
	for i := range gram.Data {
		gram.Data[i] *= 2 / float64(m.Len())
	}
	linear, err := kernel.New(kernel.Spec{Name: "linear"})
	if err != nil {
		t.Fatal(err)
	}
	training := make([]int, n)
	for i := range training {
		training[i] = i
	}
	cross := linalg.New[float64](20, n)
	for i := range 20 {
		copy(cross.Row(i), gram.Row(n + i)[:n])
	}
	targets := linalg.New[float64](classes, n)
	Classes{codes[:n], classes}.Columns(targets, 0)
	for c := range classes {
		y := targets.Row(c)
		model, err := ridge.Fit(kernel.Subset(kernel.Of(gram, linear), training), y, alpha)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range model.Predict(cross) {
			if d := math.Abs(got.Row(i)[c] - want); d > 1e-3 {
				t.Errorf("class %d, row %d: %v, want %v", c, i, got.Row(i)[c], want)
			}
		}
	}
}

func TestCorrect(t *testing.T) {
	x, codes := random(5, 300, 4, 3)
	m := featuresOf(1, 20, 4, 0.2)
	one, err := Solve(summarize(t, m, x, codes, 3), 0.1)
	if err != nil {
		t.Fatal(err)
	}
	want, f := 0, one.Decisions(m, x)
	for i := range f.Rows {
		if slices.Index(f.Row(i), slices.Max(f.Row(i))) == codes[i] {
			want++
		}
	}
	if got, err := Correct(m, one, x, codes); err != nil || got != want || want < 120 {
		t.Errorf("%d of 300 rows, want %d (%v)", got, want, err)
	}
}

// What a party tells of its held-out rows has three digits, or is in fives, whatever they hold.
func TestRounding(t *testing.T) {
	for _, tt := range []struct {
		count, n int
		share    float64
	}{{0, 100, 0}, {77, 100, .75}, {78, 100, .8}, {98, 100, 1}, {103, 103, 100. / 103}, {7777, 10000, .778}, {1, 10000, 0}, {6, 10000, .001}, {10000, 10000, 1}, {0, 0, 0}} {
		if got := float64(RoundShare(tt.count, tt.n)) / Thousand; math.Abs(got-tt.share*float64(tt.n)) > 1e-6 {
			t.Errorf("%d of %d: %v rows, want %v of all", tt.count, tt.n, got, tt.share)
		}
	}
	for _, tt := range []struct {
		sum, mean int64
	}{{123456789, 123000000}, {-98765, -98800}, {12, 12}, {0, 0}} {
		if got := RoundMean(tt.sum*40, 40); got != tt.mean*40 {
			t.Errorf("a mean of %d is told as %v, want %d", tt.sum, float64(got)/40, tt.mean)
		}
	}
	if RoundMean(5, 0) != 0 {
		t.Error("no rows have a mean")
	}
}

// Scores from sums are those from every row: the trace of the matrix that makes
// outputs of targets, and the squared error of the training rows.
func TestCrossValidationFromSums(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n, classes = 200, 3
	x, codes := random(3, n, 4, classes)
	m := featuresOf(1, 30, 4, 0.2)
	phi := linalg.New[float64](n, m.Len())
	m.Rows(phi, x)
	numbers := Numbers{make([]float64, n), Range{-4, 4}}
	for i := range n {
		numbers.Values[i] = min(max(x.Row(i)[0]+math.Sin(3*x.Row(i)[1]), -4), 4)
	}
	sums, err := Summarize(m, x, numbers)
	if err != nil {
		t.Fatal(err)
	}
	s := summarize(t, m, x, codes, classes)
	for _, alpha := range []float64{0.01, 1, 50} {
		var targets [][]float64
		all := linalg.New[float64](classes, n)
		Classes{codes, classes}.Columns(all, 0)
		for c := range classes {
			targets = append(targets, all.Row(c))
		}
		got, err := ClassScore(s, alpha)
		if want := scoreOf(t, phi, alpha, false, targets); err != nil || math.Abs(got-want) > 1e-3*want {
			t.Errorf("alpha %v: classes have %v, want %v (%v)", alpha, got, want, err)
		}
		y := make([]float64, n)
		for i, v := range numbers.Values {
			y[i] = numbers.Range.toUnit(v)
		}
		got, err = NumberScore(sums, alpha)
		if want := scoreOf(t, phi, alpha, true, [][]float64{y}); err != nil || math.Abs(got-want) > 1e-3*want {
			t.Errorf("alpha %v: numbers have %v, want %v (%v)", alpha, got, want, err)
		}
	}
}

// scoreOf is generalised cross-validation by the matrix H of n x n, whose columns
// are the outputs for units.
func scoreOf(t *testing.T, phi linalg.Matrix[float64], alpha float64, centred bool, targets [][]float64) float64 {
	t.Helper()
	n := phi.Rows
	gram := linalg.New[float64](n, n)
	linalg.Syrk(gram, phi)
	for i := range gram.Data {
		gram.Data[i] *= 2 / float64(phi.Cols)
	}
	k := gram
	linear, err := kernel.New(kernel.Spec{Name: "linear"})
	if err != nil {
		t.Fatal(err)
	}
	outputs := func(y []float64) []float64 {
		mean := 0.0
		if centred {
			for _, v := range y {
				mean += v / float64(n)
			}
		}
		z := make([]float64, n)
		for i, v := range y {
			z[i] = v - mean
		}
		model, err := ridge.Fit(kernel.Of(k, linear), z, alpha)
		if err != nil {
			t.Fatal(err)
		}
		out := model.Predict(k)
		for i := range out {
			out[i] += mean
		}
		return out
	}
	trace, squared := 0.0, 0.0
	for i := range n {
		unit := make([]float64, n)
		unit[i] = 1
		trace += outputs(unit)[i]
	}
	for _, y := range targets {
		for i, f := range outputs(y) {
			squared += (f - y[i]) * (f - y[i]) / float64(n*len(targets))
		}
	}
	left := 1 - trace/float64(n)
	return squared / (left * left)
}

// Leverages follow their formula, and with a shift they are the variances of a
// Gaussian process.
func TestLeverages(t *testing.T) {
	x, codes := random(7, 100, 3, 2)
	m := featuresOf(2, 10, 3, 0.3)
	s := summarize(t, m, x, codes, 2)
	for _, shift := range []float64{0, 2.5} {
		got, err := Leverages(s, shift, m, x)
		if err != nil {
			t.Fatal(err)
		}
		l, err := factor(s.Outer, shift)
		if err != nil {
			t.Fatal(err)
		}
		phi := linalg.New[float64](100, m.Len())
		m.Rows(phi, x)
		solved := linalg.New[float64](100, m.Len())
		copy(solved.Data, phi.Data)
		linalg.SolveCholesky(l, solved)
		total := 0.0
		for i := range 100 {
			want := 0.0
			for j, v := range phi.Row(i) {
				want += v * solved.Row(i)[j]
			}
			total += got[i]
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("shift %v, row %d: %v, want %v", shift, i, got[i], want)
			}
		}
		// The trace of A^-1 A, up to the rounding of the features.
		if shift == 0 && math.Abs(total-float64(m.Len())) > 0.01 {
			t.Errorf("leverages add up to %v, want the %d features", total, m.Len())
		}
	}
}

func TestErrors(t *testing.T) {
	x, codes := random(9, 10, 3, 2)
	m := featuresOf(1, 4, 3, 1)
	s := summarize(t, m, x, codes, 2)
	var pivot *linalg.PivotError
	for name, f := range map[string]func() error{
		"codes":       func() error { _, err := Summarize(m, x, Classes{codes[1:], 2}); return err },
		"width":       func() error { _, err := Summarize(featuresOf(1, 4, 2, 1), x, Classes{codes, 2}); return err },
		"many rows":   func() error { _, err := Summarize(m, many{}, Classes{nil, 2}); return err },
		"alpha 0":     func() error { _, err := Solve(s, 0); return err },
		"alpha NaN":   func() error { _, err := ClassScore(s, math.NaN()); return err },
		"no solution": func() error { _, err := Correct(m, Solution{}, x, codes); return err },
		"entries":     func() error { _, err := FromEntries(4, 2, make([]int64, 9), make([]int64, 8), 1); return err },
		"no rows":     func() error { _, err := FromEntries(4, 2, make([]int64, 10), make([]int64, 8), 0); return err },
		"infinite": func() error {
			huge := linalg.New[float64](1, 3)
			huge.Data[0] = math.MaxFloat64
			_, err := Summarize(featuresOf(1, 4, 3, 1e9), huge, Classes{[]int{0}, 2})
			return err
		},
		"no outsiders": func() error { _, err := Membership(s, m, x, x.Panel(0, 0)); return err },
		"negative": func() error {
			bad := NewSums(2, 1)
			bad.Outer.Data[0] = -1
			_, err := Solve(bad, 1e-12)
			if !errors.As(err, &pivot) {
				t.Errorf("sums of no rows: %v", err)
			}
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// many is a table of too many rows that exists nowhere.
type many struct{}

func (many) Shape() (rows, cols int)      { return MaxRows + 1, 3 }
func (many) ReadRow(i int, dst []float64) {}

// Membership is the area under the curve of the leverages.
func TestMembership(t *testing.T) {
	x, codes := random(11, 80, 3, 2)
	m := featuresOf(2, 30, 3, 0.3)
	s := summarize(t, m, x.Panel(0, 40), codes[:40], 2)
	got, err := Membership(s, m, x.Panel(0, 40), x.Panel(40, 80))
	if err != nil {
		t.Fatal(err)
	}
	h, err := Leverages(s, 0, m, x)
	if err != nil {
		t.Fatal(err)
	}
	outside := make([]bool, 80)
	for i := 40; i < 80; i++ {
		outside[i] = true
	}
	want, err := metrics.ROCAUC(outside, h)
	if err != nil || got != want || got < 0.6 {
		t.Errorf("%v, want %v (%v), which should show with 40 rows for 30 features", got, want, err)
	}
}
