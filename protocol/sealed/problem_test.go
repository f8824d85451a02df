package sealed

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
)

// The bounds and the ratio are those of the two measured data sets.
func TestProblemsOfDigitsAndA9a(t *testing.T) {
	for _, c := range []struct {
		rows, targets, steps, bound int
		remainder, rounding         float64 // rows
	}{{1347, 10, 592, 2048, .119, .00724}, {32561, 1, 752, 32768, .095, .0435}} {
		p, err := NewProblem(c.rows, 512, c.targets, 1e-4)
		if err != nil {
			t.Fatal(err)
		}
		if p.Bound() != c.bound || math.Abs(p.Ratio()-1e-4) > 1e-12 || math.Abs(p.RowScale()*p.RowScale()*float64(c.rows)-float64(c.bound)) > 1e-9 {
			t.Errorf("%d rows: N %d, alpha/n %v, scale %v", c.rows, p.Bound(), p.Ratio(), p.RowScale())
		}
		p.Plan = chebyshev.Plan{Steps: c.steps, Block: 8}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		b, err := p.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		want := 7 / math.Sqrt2 * math.Sqrt(float64(c.bound*c.rows)) / math.Cosh(float64(c.steps)*math.Acosh(1+2*p.Ratio()))
		if math.Abs(b.Remainder-want) > 1e-6*want || math.Abs(b.Remainder-c.remainder) > .002 || math.Abs(b.Rounding-c.rounding) > .01*c.rounding || b.Residual != b.Remainder+b.Rounding {
			t.Errorf("%d rows: bounds %+v, remainder %v", c.rows, b, want)
		}
		if want := 5 * math.Sqrt(float64(c.rows)/(4*1e-4*float64(c.bound))); math.Abs(b.Weights-want) > 1e-6*want {
			t.Errorf("%d rows: weights within %v, want %v", c.rows, b.Weights, want)
		}
	}
}

// On a9a the probability of a wrong truncation is that of the first square, whose words have up to 88 bits.
func TestTruncationFailure(t *testing.T) {
	p, err := NewProblem(32561, 512, 1, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	for plan, want := range map[chebyshev.Plan]float64{
		{Steps: 752, Block: 8}: 512 * 513 / 2 * 0x1p-40,
		{Steps: 750, Block: 1}: 750 * 512 * 0x1p-36, // 44 and 34 bits, times up to 2^14
	} {
		polynomial, err := chebyshev.New(p.Ratio(), plan.Steps)
		if err != nil {
			t.Fatal(err)
		}
		p.Plan = plan
		if got := p.truncationFailure(polynomial); math.Abs(got-want) > .01*want {
			t.Errorf("%v: %v, want %v", plan, got, want)
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

// Every size within the limits has a problem whose sums are whole numbers and whose vectors need no shift to
// the right.
func TestSizes(t *testing.T) {
	for rows := MinRows; rows <= MaxRows; rows = rows*3/2 + 1 {
		for _, n := range []int{rows, 1 << (rows % 24)} {
			if n < MinRows {
				continue
			}
			p, err := NewProblem(n, 512, 10, 1e-3)
			if err != nil {
				t.Errorf("%d rows: %v", n, err)
				continue
			}
			if p.Bound() < n || p.Bound() >= 2*n || p.unitBits() > 45 || VectorBits-p.CellBits()-p.log() < 0 || p.matrixBits() < VectorBits {
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
	for name, change := range map[string]func(*Problem){
		"too few rows": func(p *Problem) { p.Rows = MinRows - 1 }, "too many rows": func(p *Problem) { p.Rows = MaxRows + 1 },
		"no feature": func(p *Problem) { p.Features = 0 }, "too many features": func(p *Problem) { p.Features = MaxFeatures + 1 },
		"no target": func(p *Problem) { p.Targets = 0 }, "too many targets": func(p *Problem) { p.Targets = MaxTargets + 1 },
		"no ridge": func(p *Problem) { p.Ridge = 0 }, "a negative ridge": func(p *Problem) { p.Ridge = -p.Ridge },
		"a ridge above N": func(p *Problem) { p.Ridge = 1<<p.unitBits() + 1 }, "a tiny ridge": func(p *Problem) { p.Ridge = 1 },
		"no plan": func(p *Problem) { p.Plan = chebyshev.Plan{} }, "too few steps": func(p *Problem) { p.Plan.Steps -= p.Plan.Block },
		"words that overflow": func(p *Problem) { p.Features, p.Targets, p.Plan = 4096, 256, chebyshev.Plan{Steps: 591, Block: 1} },
	} {
		p := good
		change(&p)
		if p.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, ratio := range []float64{0, -1, math.NaN(), math.Inf(1), 1.5, 1e-8} {
		if _, err := NewProblem(1347, 512, 10, ratio); err == nil {
			t.Errorf("ratio %v: no error", ratio)
		}
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
