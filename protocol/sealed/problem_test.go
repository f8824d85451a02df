package sealed

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
)

// The bounds and the ratio are those of the two measured data sets.
func TestProblemsOfDigitsAndA9a(t *testing.T) {
	for _, c := range []struct {
		rows, targets, steps, bound int
		weightBits                  uint
		remainder, rounding         float64 // rows
	}{{1347, 10, 592, 2048, 26, .119, .01237}, {32561, 1, 752, 32768, 30, .095, .004046}} {
		p, err := NewProblem(c.rows, 512, c.targets, 1e-4)
		if err != nil {
			t.Fatal(err)
		}
		if p.Bound() != c.bound || math.Abs(p.Ratio()-1e-4) > 1e-12 || math.Abs(p.RowScale()*p.RowScale()*float64(c.rows)-float64(c.bound)) > 1e-9 {
			t.Errorf("%d rows: N %d, alpha/n %v, scale %v", c.rows, p.Bound(), p.Ratio(), p.RowScale())
		}
		if p.WeightBits() != c.weightBits || p.VectorBits() != c.weightBits+8 {
			t.Errorf("%d rows: %d bits of weights, %d of vectors", c.rows, p.WeightBits(), p.VectorBits())
		}
		p.Plan = chebyshev.Plan{Steps: c.steps, Block: 8}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		b, err := p.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(b.Remainder-c.remainder) > .002 || math.Abs(b.Rounding-c.rounding) > .001*c.rounding {
			t.Errorf("%d rows: bounds %+v", c.rows, b)
		}
	}
}

// The bounds are those of the package's comment.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		rows, features, targets int
		ratio                   float64
	}{{1347, 512, 10, 1e-4}, {32561, 512, 1, 1e-4}, {100, 5, 2, .05}, {33, 1, 1, 1}, {MaxRows, 512, 10, leastRatio}, {MaxRows/2 + 1, 64, 2, 1e-3}} {
		p, err := NewProblem(c.rows, c.features, c.targets, c.ratio)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		n, bound, words := float64(c.rows), float64(p.Bound()), math.Sqrt(float64(c.features*c.targets))
		alpha, s := p.Ratio()*bound, math.Max(26, 15+math.Log2(bound))
		kappa := math.Cosh(float64(p.Plan.Steps) * math.Acosh(1+2*alpha/bound))
		remainder := 7 / math.Sqrt2 * math.Sqrt(bound*n) / kappa
		rounding := 7 / math.Sqrt2 * ((bound+alpha)*words/math.Exp2(s) + bound*words*float64(p.Plan.Steps)/16/math.Exp2(s+8))
		weights := 7 / math.Sqrt2 * ((1+1/kappa)*math.Sqrt(n/(4*alpha)) + words/math.Exp2(s))
		for name, v := range map[string][2]float64{
			"remainder": {got.Remainder, remainder}, "rounding": {got.Rounding, rounding},
			"residual": {got.Residual, remainder + rounding}, "weights": {got.Weights, weights},
		} {
			if math.Abs(v[0]-v[1]) > 1e-8*v[1] {
				t.Errorf("%+v: %s %v, want %v", c, name, v[0], v[1])
			}
		}
		residual := uint(2*p.CellBits()) + p.WeightBits()
		for name, v := range map[string]struct {
			units          uint64
			rounded, exact float64
			fraction       uint
		}{"residual": {got.ResidualUnits, got.Residual, got.Remainder + got.Rounding, residual}, "weights": {got.WeightsUnits, got.Weights, weights, p.WeightBits()}} {
			if v.units%2 != 0 || v.units == 0 || v.units >= 1<<62 || math.Ldexp(float64(v.units), -int(v.fraction)) != v.rounded {
				t.Errorf("%+v: %s %v is %v units", c, name, v.rounded, v.units)
			}
			if up := math.Ldexp(v.rounded-v.exact, int(v.fraction)); up < -1e-9*float64(v.units) || up >= 2+1e-9*float64(v.units) {
				t.Errorf("%+v: %s is rounded up by %v units", c, name, up)
			}
		}
	}
}

func TestEven(t *testing.T) {
	for x, want := range map[float64]uint64{1: 256, 1 + 1./256: 258, 1 + 2./256: 258, 1 + 2.001/256: 260, 1e-9: 2} {
		if rounded, units := even(x, 8); units != want || rounded != float64(want)/256 {
			t.Errorf("%v is %v, %v units, want %d", x, rounded, units, want)
		}
	}
}

// The bits of the bounds are fixed: another machine of the session would otherwise accept other sums.
func TestBoundsAreFixed(t *testing.T) {
	p, err := NewProblem(1347, 512, 10, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	p.Plan = chebyshev.Plan{Steps: 592, Block: 8}
	b, err := p.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	if b.ResidualUnits != wantResidual || b.WeightsUnits != wantWeights {
		t.Errorf("%v and %v units, want %d and %d", b.ResidualUnits, b.WeightsUnits, wantResidual, wantWeights)
	}
}

// These were computed by Bounds; TestBounds says that they are right.
const (
	wantResidual = 9435864566369184
	wantWeights  = 13469703330
)

// The range check agrees with whole numbers, and the largest problem is far within the range.
func TestWraps(t *testing.T) {
	p, err := NewProblem(MaxRows, MaxFeatures, 1, leastRatio)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bounds()
	if err != nil || p.wraps(b) {
		t.Fatalf("the largest problem: %v, %v", b, err)
	}
	seen := map[bool]int{}
	for ; p.Features < 1<<60; p.Features *= 2 {
		sum := func(x *big.Int, factor int64) *big.Int { return new(big.Int).Mul(x, big.NewInt(factor)) }
		row := sum(big.NewInt(int64(p.Features)), 1<<p.unitBits())
		row.Add(row, big.NewInt(p.Ridge))
		row.Mul(row, sum(new(big.Int).SetUint64(b.WeightsUnits), 5))
		row.Add(row, new(big.Int).Lsh(big.NewInt(1<<p.unitBits()), p.WeightBits()))
		row.Add(row, sum(new(big.Int).SetUint64(b.ResidualUnits), 5))
		want := row.BitLen() > 127
		if got := p.wraps(b); got != want {
			t.Errorf("%d features: wraps %v, want %v", p.Features, got, want)
		}
		seen[want]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("cases: %v", seen)
	}
	p.Features = 1
	for name, c := range map[string]struct {
		Problem
		Bounds
	}{
		"weights": {p, Bounds{Weights: 0x1p70}}, "residual": {p, Bounds{Residual: 0x1p70}},
		"a ridge": {Problem{Rows: MaxRows, Ridge: 1 << 62}, Bounds{Weights: 0x1p30}}, "sums": {Problem{Rows: 1 << 50}, Bounds{}},
	} {
		if !c.wraps(c.Bounds) {
			t.Errorf("large %s: no wrap", name)
		}
	}
	if err := p.checkBounds(Bounds{Weights: 0x1p70}); err == nil {
		t.Error("a wrap is not refused")
	}
}

// On a9a the probability of a wrong truncation is that of the first square, whose words have up to 88 bits, and of the
// recurrence; without squares that of products with H.
func TestTruncationFailure(t *testing.T) {
	p, err := NewProblem(32561, 512, 1, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	triangle, words := 256*math.Sqrt(515), math.Sqrt(512)
	for plan, want := range map[chebyshev.Plan]float64{
		{Steps: 752, Block: 8}: triangle*(0x1p-40+2*0x1p-52) + words*(7*0x1p-46+94*0x1p-41), // 38 bits twice, times up to 2^11
		{Steps: 751, Block: 1}: words * 751 * 0x1p-32,                                       // 44 and 38 bits, times up to 2^14
	} {
		polynomial, err := chebyshev.New(p.Ratio(), plan.Steps)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.truncationFailure(polynomial, plan.Block); math.Abs(got-want) > 1e-5*want {
			t.Errorf("%v: %v, want %v", plan, got, want)
		}
	}
}

// A million rows need blocks whose truncations hold; smaller ones would be cheaper here.
func TestManyRowsHaveAPlan(t *testing.T) {
	for _, ratio := range []float64{leastRatio, 1e-4, 1e-3} {
		p, err := NewProblem(MaxRows, 4096, 1, ratio)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("ratio %v: %+v", ratio, p.Plan)
		p.Plan.Block = 1
		p.Plan.Steps = chebyshev.Steps(p.Rows, p.Ratio(), 1)
		if err := p.Check(); ratio < 1e-3 && (err == nil || !strings.Contains(err.Error(), "truncation")) {
			t.Errorf("ratio %v, blocks of 1: %v", ratio, err)
		}
	}
}

// The plan is the cheapest: more squarings for more targets, fewer for more features.
func TestNewProblemChooses(t *testing.T) {
	for _, c := range []struct{ features, targets, block int }{{512, 10, 16}, {512, 1, 16}, {2048, 10, 4}, {2048, 1, 1}, {64, 2, 16}} {
		p, err := NewProblem(1347, c.features, c.targets, 1e-4)
		if err != nil || p.Plan.Block != c.block {
			t.Errorf("%+v: plan %v, %v", c, p.Plan, err)
		}
	}
}

// Every size within the limits has a problem whose sums are whole numbers of at most 48 bits, and whose vectors have
// fewer fraction bits than B/N and H^2.
func TestSizes(t *testing.T) {
	for rows := MinRows; rows <= MaxRows; rows = rows*3/2 + 1 {
		for _, n := range []int{rows, 1 << (rows % 21)} {
			if n < MinRows {
				continue
			}
			p, err := NewProblem(n, 512, 10, 1e-3)
			if err != nil {
				t.Errorf("%d rows: %v", n, err)
				continue
			}
			if p.Bound() < n || p.Bound() >= 2*n || p.unitBits() > 48 || uint(p.unitBits()) <= p.VectorBits() || 2*p.matrixBits() <= p.VectorBits()+1 || p.CellBits() < 14 {
				t.Errorf("%d rows: N %d, %d cell bits, %d unit bits", n, p.Bound(), p.CellBits(), p.unitBits())
			}
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	good, err := NewProblem(1347, 512, 10, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Problem)
		says   string
	}{
		"too few rows": {func(p *Problem) { p.Rows = MinRows - 1 }, "rows"}, "too many rows": {func(p *Problem) { p.Rows = MaxRows + 1 }, "rows"},
		"no feature": {func(p *Problem) { p.Features = 0 }, "features"}, "too many features": {func(p *Problem) { p.Features = MaxFeatures + 1 }, "features"},
		"no target": {func(p *Problem) { p.Targets = 0 }, "targets"}, "too many targets": {func(p *Problem) { p.Targets = MaxTargets + 1 }, "targets"},
		"no ridge": {func(p *Problem) { p.Ridge = 0 }, "alpha"}, "a negative ridge": {func(p *Problem) { p.Ridge = -p.Ridge }, "alpha"},
		"a ridge above N": {func(p *Problem) { p.Ridge = 1<<p.unitBits() + 1 }, "alpha"},
		"a tiny ridge":    {func(p *Problem) { p.Ridge = 1<<p.unitBits()/40_000 - 1 }, "use an alpha from 2.5e-05"},
		"no plan":         {func(p *Problem) { p.Plan = chebyshev.Plan{} }, "steps"},
		"too few steps":   {func(p *Problem) { p.Plan.Steps -= p.Plan.Block }, "steps"}, "too many steps": {func(p *Problem) { p.Plan.Steps += p.Plan.Block }, "steps"},
		"many words": {func(p *Problem) { p.Features, p.Targets = 4096, 256 }, "use fewer features or fewer targets"},
	} {
		p := good
		c.change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", name, err, c.says)
		}
	}
	for _, ratio := range []float64{0, -1, math.NaN(), math.Inf(1), 1.5, 2.49e-5} {
		if _, err := NewProblem(1347, 512, 10, ratio); err == nil {
			t.Errorf("ratio %v: no error", ratio)
		}
	}
	if _, err := NewProblem(1347, 512, 10, leastRatio); err != nil {
		t.Errorf("the least ratio: %v", err)
	}
	if _, err := NewProblem(MaxRows/2+1, 4096, 10, 1e-4); err == nil {
		t.Error("a residual above a sixth of a row: no error")
	}
	if _, err := NewProblem(1, 512, 10, 1e-4); err == nil {
		t.Error("one row: no error")
	}
}

// A problem that fails its check has no bounds, which would be NaN and refuse nothing.
func TestBoundsRefuse(t *testing.T) {
	good, err := NewProblem(1347, 512, 10, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Problem){
		"no rows": func(p *Problem) { p.Rows = 0 }, "no features": func(p *Problem) { p.Features = 0 },
		"too few steps": func(p *Problem) { p.Plan.Steps -= p.Plan.Block },
	} {
		p := good
		change(&p)
		if b, err := p.Bounds(); err == nil {
			t.Errorf("%s: bounds %+v", name, b)
		}
	}
}
