package moments

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// waves are rows in a square and a smooth function of them with noise.
func waves(seed uint64, n int) (linalg.Matrix[float64], Numbers) {
	r := rand.New(rand.NewPCG(seed, 3))
	x, y := linalg.New[float64](n, 2), Numbers{make([]float64, n), Range{-20, 60}}
	for i := range n {
		a, b := 4*r.Float64()-2, 4*r.Float64()-2
		copy(x.Row(i), []float64{a, b})
		y.Values[i] = 20 + 15*math.Sin(2*a)*math.Cos(b) + 0.5*r.NormFloat64()
	}
	return x, y
}

// span is the rows and numbers from lo to hi-1.
func (n Numbers) span(lo, hi int) Numbers { return Numbers{n.Values[lo:hi], n.Range} }

// gramOf is the kernel 2/M phi.phi of rows; its inner products are kernel
// values.
func gramOf(m feature.Map, x linalg.Matrix[float64]) linalg.Matrix[float64] {
	phi, gram := linalg.New[float64](x.Rows, m.Len()), linalg.New[float64](x.Rows, x.Rows)
	m.Rows(phi, x)
	linalg.Syrk(gram, phi)
	for i := range gram.Data {
		gram.Data[i] *= 2 / float64(m.Len())
	}
	return gram
}

// exactOf is the rbf kernel of rows.
func exactOf(t *testing.T, gamma float64, x linalg.Matrix[float64]) linalg.Matrix[float64] {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: gamma})
	if err != nil {
		t.Fatal(err)
	}
	return kernel.Materialize(kernel.Of(kernel.LinearGram(x), k)).K
}

// corner copies a part of a kernel matrix.
func corner(k linalg.Matrix[float64], rows, from, cols int) linalg.Matrix[float64] {
	out := linalg.New[float64](rows, cols)
	for i := range rows {
		copy(out.Row(i), k.Row(from + i)[:cols])
	}
	return out
}

// far is the largest difference.
func far(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	return worst
}

// process is a Gaussian process on n rows of a kernel matrix, and what it says
// of the others.
func process(t *testing.T, k linalg.Matrix[float64], y []float64, noise float64) (mean, deviation []float64, evidence float64) {
	t.Helper()
	n := len(y)
	mu, unit := 0.0, 0.0
	for _, v := range y {
		mu += v / float64(n)
	}
	for _, v := range y {
		unit += (v - mu) * (v - mu) / float64(n)
	}
	unit = math.Sqrt(unit)
	z := make([]float64, n)
	for i, v := range y {
		z[i] = (v - mu) / unit
	}
	gp, err := ridge.FitGP(kernel.Dense{K: corner(k, n, 0, n)}, z, ridge.GPParams{Noise: noise})
	if err != nil {
		t.Fatal(err)
	}
	held := k.Rows - n
	cross, prior := corner(k, held, n, n), make([]float64, held)
	for i := range prior {
		prior[i] = k.Row(n + i)[n+i]
	}
	mean, deviation = gp.Predict(cross), gp.Deviations(cross, prior)
	for i := range mean {
		mean[i], deviation[i] = mu+unit*mean[i], unit*deviation[i]
	}
	return mean, deviation, gp.LogMarginalLikelihood
}

// Regressions, deviations and likelihood from sums equal the results of a Gaussian
// process with the features' kernel, up to the rounding of features. The results with
// the exact kernel are near, the nearer the more features there are.
func TestProcessFromSums(t *testing.T) {
	const n, held, gamma, noise = 400, 50, 0.8, 0.02
	x, y := waves(1, n+held)
	wantMean, wantDeviation, _ := process(t, exactOf(t, gamma, x), y.Values[:n], noise)
	for _, features := range []int{60, 600} {
		m := featuresOf(7, features, 2, gamma)
		s, err := Summarize(m, x.Panel(0, n), y.span(0, n))
		if err != nil {
			t.Fatal(err)
		}
		one, err := Regress(s, y.Range, noise)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewProcess(s.Outer, noise, Unit(s, y.Range))
		if err != nil {
			t.Fatal(err)
		}
		evidence, err := LogMarginalLikelihood(s, noise)
		if err != nil {
			t.Fatal(err)
		}
		phi := linalg.New[float64](held, m.Len())
		m.Rows(phi, x.Panel(n, n+held))
		got, deviation := one.Decisions(m, x.Panel(n, n+held)).Data, p.Deviations(phi)
		twinMean, twinDeviation, twinEvidence := process(t, gramOf(m, x), y.Values[:n], noise)
		if a, b, c := far(got, twinMean), far(deviation, twinDeviation), math.Abs(evidence-twinEvidence); a > 1e-2 || b > 1e-3 || c > 0.2 {
			t.Errorf("%d features: means differ by %v, deviations by %v, evidence %v by %v", features, a, b, twinEvidence, c)
		}
		// Kernel values are off by sqrt(1/h), h directions; the numbers span 30.
		limit := 30 * math.Sqrt(2/float64(features))
		t.Logf("%d features: %.2f off the exact kernel's means, %.3f off its deviations", features, far(got, wantMean), far(deviation, wantDeviation))
		if a := far(got, wantMean); a > limit {
			t.Errorf("%d features: means are %v off the exact kernel's, want %v", features, a, limit)
		}
		if b := far(deviation, wantDeviation); b > limit {
			t.Errorf("%d features: deviations are %v off the exact kernel's, want %v", features, b, limit)
		}
	}
}

// Sums of numbers do not depend on who holds which rows.
func TestSumsOfNumbersAreExact(t *testing.T) {
	x, y := waves(2, 300)
	m := featuresOf(3, 8, 2, 1)
	all, err := Summarize(m, x, y)
	if err != nil {
		t.Fatal(err)
	}
	total, power := 0.0, 0.0
	for _, part := range [][2]int{{0, 130}, {130, 300}} {
		s, err := Summarize(m, x.Panel(part[0], part[1]), y.span(part[0], part[1]))
		if err != nil {
			t.Fatal(err)
		}
		total, power = total+s.Total, power+s.Power
	}
	if total != all.Total || power != all.Power {
		t.Errorf("sums %v and %v, want %v and %v", total, power, all.Total, all.Power)
	}
	mean, r2 := 0.0, 0.0
	for _, v := range y.Values {
		mean += v / 300
	}
	for _, v := range y.Values {
		r2 += (v - mean) * (v - mean) / 300
	}
	if got := y.Range.middle() + y.Range.half()*all.mean(); math.Abs(got-mean) > 1e-3 {
		t.Errorf("mean %v, want %v", got, mean)
	}
	if got := Unit(all, y.Range); math.Abs(got-math.Sqrt(r2)) > 1e-3 {
		t.Errorf("standard deviation %v, want %v", got, math.Sqrt(r2))
	}
}

func TestMeasureNumbers(t *testing.T) {
	x, y := waves(4, 500)
	m := featuresOf(1, 100, 2, 0.8)
	s, err := Summarize(m, x.Panel(0, 400), y.span(0, 400))
	if err != nil {
		t.Fatal(err)
	}
	held, heldRows := y.span(400, 500), x.Panel(400, 500)
	for _, noise := range []float64{1e-3, 0.01, 100} {
		one, err := Regress(s, y.Range, noise)
		if err != nil {
			t.Fatal(err)
		}
		e, err := MeasureNumbers(m, one, heldRows, held)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewProcess(s.Outer, noise, Unit(s, y.Range))
		if err != nil {
			t.Fatal(err)
		}
		if e.Deviation, e.Within, err = p.Measure(m, one, heldRows, held); err != nil {
			t.Fatal(err)
		}
		phi := linalg.New[float64](heldRows.Rows, m.Len())
		m.Rows(phi, heldRows)
		want := figuresOf(one.Decisions(m, heldRows), p.Deviations(phi), held.Values)
		checkFigures(t, noise, e, y.Range, want, 1e-3)
		checkFigures(t, noise, e.Rounded(), y.Range, want, 0.05)
		same := Numbers{make([]float64, 100), y.Range}
		if e, err = MeasureNumbers(m, one, heldRows, same); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*NumberErrors{e, e.Rounded()} {
			if _, ok := e.R2(); ok {
				t.Error("numbers that are all the same have a variance to explain")
			}
		}
	}
}

// figures holds the measures that [NumberErrors] gives of one solution.
type figures struct{ rmse, r2, deviation, within float64 }

// figuresOf computes them from every held-out row.
func figuresOf(f linalg.Matrix[float64], deviations, truths []float64) figures {
	n := float64(len(truths))
	mean := 0.0
	for _, v := range truths {
		mean += v / n
	}
	var g figures
	squared, spread := 0.0, 0.0
	for i, truth := range truths {
		squared += math.Pow(f.Row(i)[0]-truth, 2)
		spread += (truth - mean) * (truth - mean)
		g.deviation += deviations[i] / n
		if math.Abs(f.Row(i)[0]-truth) <= 1.96*deviations[i] {
			g.within += 1 / n
		}
	}
	g.rmse, g.r2 = math.Sqrt(squared/n), 1-squared/spread
	return g
}

func checkFigures(t *testing.T, noise float64, e *NumberErrors, r Range, want figures, most float64) {
	t.Helper()
	r2, ok := e.R2()
	deviation, share := e.Process(r)
	for name, d := range map[string]float64{
		"rmse": e.RMSE(r) - want.rmse, "r2": r2 - want.r2, "share": share - want.within,
		"deviation": deviation - min(want.deviation, Clip*r.half()),
	} {
		if math.Abs(d) > most || !ok {
			t.Errorf("noise %v: %s is %v off", noise, name, d)
		}
	}
}

// Components from sums equal the components of kernel PCA with the features' kernel,
// and are near the components with the exact kernel.
func TestComponentsFromSums(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n, held, gamma, count = 300, 40, 0.5, 3
	x, _ := waves(5, n+held)
	for _, features := range []int{40, 700} { // dense, and by Lanczos
		m := featuresOf(9, features, 2, gamma)
		s, err := Summarize(m, x.Panel(0, n), Unlabelled(n))
		if err != nil {
			t.Fatal(err)
		}
		got, values, err := Components(s, count)
		if err != nil {
			t.Fatal(err)
		}
		k := gramOf(m, x)
		twin, err := kpca.Fit(kernel.Dense{K: corner(k, n, 0, n)}, count)
		if err != nil {
			t.Fatal(err)
		}
		want := twin.Transform(corner(k, held, n, n))
		scores := got.Decisions(m, x.Panel(n, n+held))
		for c := range count {
			sign := math.Copysign(1, scores.Row(0)[c]*want.Row(0)[c])
			for i := range held {
				if d := math.Abs(scores.Row(i)[c] - sign*want.Row(i)[c]); d > 1e-3 {
					t.Errorf("%d features, row %d, component %d: score %v, want %v", features, i, c, scores.Row(i)[c], sign*want.Row(i)[c])
				}
			}
		}
		exact, err := kpca.Fit(kernel.Dense{K: corner(exactOf(t, gamma, x), n, 0, n)}, count)
		if err != nil {
			t.Fatal(err)
		}
		for c, v := range values {
			if d := math.Abs(v - twin.Eigenvalues[c]); d > 1e-3*v {
				t.Errorf("%d features: eigenvalue %v, want %v", features, v, twin.Eigenvalues[c])
			}
			// Kernel values are off by sqrt(1/h), and with them the matrix of n x n.
			if d := math.Abs(v - exact.Eigenvalues[c]); d > n*math.Sqrt(2/float64(features)) {
				t.Errorf("%d features: eigenvalue %v, of the exact kernel %v", features, v, exact.Eigenvalues[c])
			}
		}
		explained(t, m, s, got, x.Panel(n, n+held), scores)
	}
}

// explained checks the sums over held-out rows.
func explained(t *testing.T, m feature.Map, s *Sums, got Solution, held, scores linalg.Matrix[float64]) {
	t.Helper()
	sum, err := MeasureComponents(m, got, held)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0.0
	for _, v := range scores.Data {
		kept += v * v
	}
	if share := Explained(s, sum, int64(held.Rows)); share <= 0 || share > 1.1 || math.Abs(float64(sum)/SquaredOne-kept) > 1e-4 {
		t.Errorf("sum %d, kept %v, share %v", sum, kept, share)
	}
	all, values, err := Components(s, 2)
	if err != nil || all.Weights.Rows != 2 || !(Spread(s) > values[0]+values[1]) {
		t.Errorf("eigenvalues %v of %v, error %v", values, Spread(s), err)
	}
}

func TestNumberErrors(t *testing.T) {
	x, y := waves(6, 20)
	m := featuresOf(1, 4, 2, 1)
	s, err := Summarize(m, x, y)
	if err != nil {
		t.Fatal(err)
	}
	path, err := Regress(s, y.Range, 1)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Summarize(m, x.Panel(0, 1), Unlabelled(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"empty range":     func() error { return Range{1, 1}.Check() },
		"no range":        func() error { return Range{math.NaN(), 1}.Check() },
		"infinite range":  func() error { return Range{-math.MaxFloat64, math.MaxFloat64}.Check() },
		"other rows":      func() error { _, err := MeasureNumbers(m, path, x, y.span(1, 20)); return err },
		"other features":  func() error { _, err := MeasureNumbers(featuresOf(1, 6, 2, 1), path, x, y); return err },
		"alpha":           func() error { _, err := Regress(s, y.Range, -1); return err },
		"no component":    func() error { _, _, err := Components(s, 0); return err },
		"many components": func() error { _, _, err := Components(s, 5); return err },
		"of one row":      func() error { _, _, err := Components(one, 1); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if d := cmp.Diff([]bool{true, true, false}, []bool{y.Range.Holds(-20), y.Range.Holds(60), y.Range.Holds(60.01)}); d != "" {
		t.Error(d)
	}
}
