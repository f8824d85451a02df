package svm

import (
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// The conditions of Karush, Kuhn and Tucker, which a trained machine must meet,
// from the definitions: kernel values read again, every sum formed again. The
// Check functions are exported for the tests outside of the package. They are
// called on every machine that a test trains; the Must functions do both.

// checker is the part that *testing.T, *testing.B and *rapid.T share.
type checker interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// MustSVC trains a C-SVC and checks it.
func MustSVC(t checker, src kernel.Source, codes []int, classes []string, p Params) *Classifier {
	t.Helper()
	c, err := TrainSVC(src, codes, classes, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	CheckSVC(t, src, codes, p, c)
	return c
}

// MustSVCFrom trains a C-SVC from another and checks it.
func MustSVCFrom(t checker, start *Classifier, src kernel.Source, codes []int, classes []string, p Params) *Classifier {
	t.Helper()
	c, err := TrainSVCFrom(start, src, codes, classes, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	CheckSVC(t, src, codes, p, c)
	return c
}

// MustNuSVC trains a nu-SVC and checks it.
func MustNuSVC(t checker, src kernel.Source, codes []int, classes []string, p NuParams) *Classifier {
	t.Helper()
	c, err := TrainNuSVC(src, codes, classes, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	CheckNuSVC(t, src, codes, p, c)
	return c
}

// MustSVR trains a regression and checks it.
func MustSVR(t checker, src kernel.Source, targets []float64, p SVRParams) *Machine {
	t.Helper()
	m, err := TrainSVR(src, targets, p)
	if err != nil {
		t.Fatal(err)
	}
	CheckSVR(t, src, targets, p, m)
	return m
}

// MustNuSVR trains a regression and checks its bounds. Its other conditions cannot be seen, because a
// coefficient is a difference of two that need not be zero.
func MustNuSVR(t checker, src kernel.Source, targets []float64, p NuSVRParams) *Machine {
	t.Helper()
	m, err := TrainNuSVR(src, targets, p)
	if err != nil {
		t.Fatal(err)
	}
	sum, bounded := 0.0, 0
	for a, b := range m.Coef {
		bound := p.C * weight(p.RowWeights, m.Support[a])
		if sum += b; math.Abs(b) > bound {
			t.Errorf("coefficient %d is %v, above %v", a, b, bound)
		}
		if math.Abs(b) == bound {
			bounded++
		}
	}
	if math.Abs(sum) > 1e-9*p.C {
		t.Errorf("the coefficients add up to %v", sum)
	}
	if m.Report.Bounded != bounded || m.Report.Support != len(m.Coef) {
		t.Errorf("%d support vectors, %d at a bound; reported %+v", len(m.Coef), bounded, m.Report)
	}
	return m
}

// MustOneClass trains a one-class machine and checks it.
func MustOneClass(t checker, src kernel.Source, p NuParams) *Machine {
	t.Helper()
	m, err := TrainOneClass(src, p)
	if err != nil {
		t.Fatal(err)
	}
	CheckOneClass(t, src, p, m)
	return m
}

// mustSolve solves a problem over k and checks it.
func mustSolve(t checker, p problem, k gram, stop stopping, cache int64) solution {
	t.Helper()
	s, err := solve(p, stop, cache)
	if err != nil {
		t.Fatal(err)
	}
	checkOptimal(t, p, k, s, stop.tol)
	return s
}

// optimum is a machine as its conditions see it, a minimum of
//
//	1/2 b'Kb + q'b,  lower_i <= b_i <= upper_i,  sum of b_i over each group = total of the group.
type optimum struct {
	k            linalg.Matrix[float64]
	b            []float64
	linear       func(i int) float64
	lower, upper func(i int) float64
	group        func(i int) int
	totals       []float64
	rho          float64
	tol          float64
	report       Report
}

// matrixOf reads all values of the rows of src.
func matrixOf(src kernel.Source, rows []int) linalg.Matrix[float64] {
	k := linalg.New[float64](len(rows), len(rows))
	src.Block(rows, rows, k)
	return k
}

func everyRow(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func zeroOf(int) int { return 0 }

// weight returns the weight of a row: 1 without weights, 0 if it is negative.
func weight(weights []float64, row int) float64 {
	if weights == nil {
		return 1
	}
	return max(weights[row], 0)
}

// gradient returns f = Kb + q and the sum of |K_ij b_j| in it, by which its
// rounding is judged.
func (o optimum) gradient() (f, size []float64) {
	f, size = make([]float64, len(o.b)), make([]float64, len(o.b))
	for i := range f {
		f[i] = o.linear(i)
		for j, v := range o.k.Row(i) {
			f[i] += v * o.b[j]
			size[i] += math.Abs(v * o.b[j])
		}
	}
	return f, size
}

// check wants: every coefficient in its box and every sum kept; in every group no
// coefficient that can grow whose gradient is below the gradient of one that can
// shrink, by more than tol; a report that is true.
func (o optimum) check(t checker, what string) (low, high []float64) {
	t.Helper()
	f, size := o.gradient()
	sums, weight := make([]float64, len(o.totals)), 0.0
	low, high = make([]float64, len(o.totals)), make([]float64, len(o.totals))
	for g := range low {
		low[g], high[g] = math.Inf(1), math.Inf(-1)
	}
	rounding, objective := 0.0, 0.0
	for i, b := range o.b {
		g := o.group(i)
		if !(b >= o.lower(i) && b <= o.upper(i)) {
			t.Errorf("%s: coefficient %d is %v, outside [%v, %v]", what, i, b, o.lower(i), o.upper(i))
		}
		sums[g] += b
		weight += math.Abs(b)
		if b < o.upper(i) {
			low[g] = min(low[g], f[i])
		}
		if b > o.lower(i) {
			high[g] = max(high[g], f[i])
		}
		rounding = max(rounding, size[i]*1e-13)
		objective += b * (f[i] + o.linear(i)) / 2
	}
	gap := 0.0
	for g, total := range o.totals {
		if math.Abs(sums[g]-total) > 1e-11*(weight+math.Abs(total)) {
			t.Errorf("%s: the coefficients add up to %v, not %v", what, sums[g], total)
		}
		gap = max(gap, high[g]-low[g])
	}
	if gap > o.tol*1.0001+rounding {
		t.Errorf("%s: the gap is %v, tol %v", what, gap, o.tol)
	}
	if math.Abs(gap-o.report.Gap) > o.tol/4+rounding {
		t.Errorf("%s: the gap is %v, reported %v", what, gap, o.report.Gap)
	}
	if math.Abs(objective-o.report.Objective) > 1e-9*math.Abs(objective)+rounding*(1+weight) {
		t.Errorf("%s: the objective is %v, reported %v", what, objective, o.report.Objective)
	}
	return low, high
}

// checkRho wants rho between the gradients of those that can shrink and those
// that can grow.
func (o optimum) checkRho(t checker, what string, low, high float64) {
	t.Helper()
	slack := o.tol*1.0001 + 1e-12*(1+math.Abs(o.rho))
	if o.rho > low+slack || o.rho < high-slack {
		t.Errorf("%s: rho is %v, not from %v to %v", what, o.rho, high, low)
	}
}

// checkCounts wants the reported numbers of coefficients that are not zero, and
// of those at a bound that is not zero.
func (o optimum) checkCounts(t checker, what string) {
	t.Helper()
	support, bounded := 0, 0
	for i, b := range o.b {
		if b != 0 {
			support++
			if b <= o.lower(i) || b >= o.upper(i) {
				bounded++
			}
		}
	}
	if o.report.Support != support || o.report.Bounded != bounded {
		t.Errorf("%s: %d support vectors, %d at a bound; reported %+v", what, support, bounded, o.report)
	}
}

// spreadPair returns the rows of pair p of c, and one coefficient for each.
func spreadPair(c *Classifier, p Pair, codes []int) (rows []int, b []float64) {
	all := make([]float64, len(codes))
	for a, s := range p.Index {
		all[c.Support()[s]] = p.Coef[a]
	}
	for r, code := range codes {
		if code == p.First || code == p.Second {
			rows, b = append(rows, r), append(b, all[r])
		} else if all[r] != 0 {
			b = append(b, math.NaN()) // a coefficient of a third class: fails every comparison
			rows = append(rows, r)
		}
	}
	return rows, b
}

// CheckSVC checks every pair of a trained C-SVC.
func CheckSVC(t checker, src kernel.Source, codes []int, p Params, c *Classifier) {
	t.Helper()
	p = p.filled()
	for _, q := range c.Pairs {
		rows, b := spreadPair(c, q, codes)
		first := func(i int) bool { return codes[rows[i]] == q.First }
		o := optimum{
			k: matrixOf(src, rows), b: b, rho: q.Rho, tol: p.Tol, report: q.Report, group: zeroOf, totals: []float64{0},
			linear: func(i int) float64 { return choose(first(i), -1, 1) },
			lower: func(i int) float64 {
				return choose(first(i), 0, -p.bound(c.Classes[q.Second])*weight(p.RowWeights, rows[i]))
			},
			upper: func(i int) float64 {
				return choose(first(i), p.bound(c.Classes[q.First])*weight(p.RowWeights, rows[i]), 0)
			},
		}
		what := c.Classes[q.First] + " and " + c.Classes[q.Second]
		low, high := o.check(t, what)
		o.checkRho(t, what, low[0], high[0])
		o.checkCounts(t, what)
	}
}

// CheckNuSVC checks every pair of a trained nu-SVC, after undoing the scaling by
// the margin, which the sum of the coefficients gives.
func CheckNuSVC(t checker, src kernel.Source, codes []int, p NuParams, c *Classifier) {
	t.Helper()
	for _, q := range c.Pairs {
		rows, b := spreadPair(c, q, codes)
		first := func(i int) bool { return codes[rows[i]] == q.First }
		total, sum := 0.0, 0.0
		for i, v := range b {
			total += weight(p.RowWeights, rows[i])
			sum += max(v, 0)
		}
		half := p.Nu * total / 2
		margin := half / sum
		for i := range b {
			bound := weight(p.RowWeights, rows[i])
			if b[i] *= margin; math.Abs(math.Abs(b[i])-bound) < 1e-14*bound { // rounding by the scaling
				b[i] = math.Copysign(bound, b[i])
			}
		}
		report := q.Report
		report.Objective *= margin * margin
		o := optimum{
			k: matrixOf(src, rows), b: b, rho: q.Rho * margin, tol: p.shared().Tol, report: report, totals: []float64{half, -half},
			linear: func(int) float64 { return 0 },
			lower:  func(i int) float64 { return choose(first(i), 0, -weight(p.RowWeights, rows[i])) },
			upper:  func(i int) float64 { return choose(first(i), weight(p.RowWeights, rows[i]), 0) },
			group:  func(i int) int { return int(choose(first(i), 0, 1)) },
		}
		what := c.Classes[q.First] + " and " + c.Classes[q.Second]
		low, high := o.check(t, what)
		// The levels of both sides are rho + margin and rho - margin.
		o.rho += margin
		o.checkRho(t, what+", first", low[0], high[0])
		o.rho -= 2 * margin
		o.checkRho(t, what+", second", low[1], high[1])
		o.checkCounts(t, what)
	}
}

// CheckSVR checks a trained regression. Its coefficients are differences of two,
// at most one of which need not be zero: the conditions belong to a gradient that jumps
// by 2 Epsilon where the coefficient is zero.
func CheckSVR(t checker, src kernel.Source, targets []float64, p SVRParams, m *Machine) {
	t.Helper()
	n := len(targets)
	b := make([]float64, 2*n)
	for a, r := range m.Support {
		b[r], b[n+r] = max(m.Coef[a], 0), min(m.Coef[a], 0)
	}
	once := everyRow(n)
	o := optimum{
		k: matrixOf(src, append(once, once...)), b: b, rho: m.Rho, tol: p.shared().Tol, report: m.Report, group: zeroOf, totals: []float64{0},
		linear: func(i int) float64 { return choose(i < n, p.Epsilon, -p.Epsilon) - targets[i%n] },
		lower:  func(i int) float64 { return choose(i < n, 0, -p.C*weight(p.RowWeights, i%n)) },
		upper:  func(i int) float64 { return choose(i < n, p.C*weight(p.RowWeights, i%n), 0) },
	}
	low, high := o.check(t, "regression")
	o.checkRho(t, "regression", low[0], high[0])
	o.checkCounts(t, "regression")
}

// CheckOneClass checks a trained one-class machine.
func CheckOneClass(t checker, src kernel.Source, p NuParams, m *Machine) {
	t.Helper()
	n := src.Len()
	b, total := make([]float64, n), 0.0
	for a, r := range m.Support {
		b[r] = m.Coef[a]
	}
	for r := range n {
		total += weight(p.RowWeights, r)
	}
	o := optimum{
		k: matrixOf(src, everyRow(n)), b: b, rho: m.Rho, tol: p.shared().Tol, report: m.Report, group: zeroOf, totals: []float64{p.Nu * total},
		linear: func(int) float64 { return 0 },
		lower:  func(int) float64 { return 0 },
		upper:  func(i int) float64 { return weight(p.RowWeights, i) },
	}
	low, high := o.check(t, "one class")
	o.checkRho(t, "one class", low[0], high[0])
	o.checkCounts(t, "one class")
}

// checkOptimal checks what the solver made of a problem over k.
func checkOptimal(t checker, p problem, k gram, s solution, tol float64) {
	t.Helper()
	o := optimum{
		k: k.Matrix, b: s.coef, rho: s.rho, tol: tol, report: s.report(), totals: []float64{0, 0},
		linear: func(i int) float64 { return p.linear[i] },
		lower:  func(i int) float64 { return p.lower[i] },
		upper:  func(i int) float64 { return p.upper[i] },
		group:  func(i int) int { return int(choose(i < p.split, 1, 0)) },
	}
	for i, b := range p.start {
		o.totals[o.group(i)] += b
	}
	low, high := o.check(t, "solver")
	if p.split == 0 {
		o.checkRho(t, "solver", low[0], high[0])
	}
	o.checkCounts(t, "solver")
}

func choose(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}
