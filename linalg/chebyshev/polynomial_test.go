package chebyshev

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// wide is the precision of the reference: far more bits than the coefficients lose.
const wide = 512

func wideOf(v float64) *big.Float { return new(big.Float).SetPrec(wide).SetFloat64(v) }

// wideT returns T_k(t) by the recurrence.
func wideT(k int, t *big.Float) *big.Float {
	a, b := wideOf(1), new(big.Float).Copy(t)
	for range k {
		next := new(big.Float).Mul(t, b)
		next.Add(next, next).Sub(next, a)
		a, b = b, next
	}
	return a
}

// wideP returns (1 - T_K(2x-1) / T_K(-1-2 ratio)) / (x + ratio), as it is defined.
func wideP(ratio float64, steps int, x *big.Float) *big.Float {
	beta := wideOf(ratio)
	t := new(big.Float).Sub(new(big.Float).Add(x, x), wideOf(1))
	s := new(big.Float).Sub(wideOf(-1), new(big.Float).Add(beta, beta))
	p := new(big.Float).Quo(wideT(steps, t), wideT(steps, s))
	return p.Sub(wideOf(1), p).Quo(p, new(big.Float).Add(x, beta))
}

// series adds up c_k T_k(2x-1).
func series(c []float64, x *big.Float) *big.Float {
	t := new(big.Float).Sub(new(big.Float).Add(x, x), wideOf(1))
	a, b, sum := wideOf(1), new(big.Float).Copy(t), wideOf(0)
	for _, v := range c {
		sum.Add(sum, new(big.Float).Mul(wideOf(v), a))
		next := new(big.Float).Mul(t, b)
		next.Add(next, next).Sub(next, a)
		a, b = b, next
	}
	return sum
}

func float(v *big.Float) float64 { f, _ := v.Float64(); return f }

// The coefficients are those of the polynomial: at random points, the error of the series is within half
// a unit in the last place of each coefficient.
func TestCoefficientsAreThePolynomials(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		ratio float64
		steps int
	}{{1e-4, 592}, {1e-4, 752}, {3e-5, 1200}, {1e-3, 1}, {1e-3, 2}, {.1, 17}, {50, 4}, {1e-6, 3000}} {
		p, err := New(c.ratio, c.steps)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range p.Coefficients {
			sum += math.Abs(v)
		}
		for range 5 {
			x := wideOf(r.Float64() * r.Float64())
			d := float(new(big.Float).Sub(series(p.Coefficients, x), wideP(c.ratio, c.steps, x)))
			if math.Abs(d) > sum*0x1p-53 {
				t.Errorf("ratio %v, %d steps, x %v: the series is off by %g of %g, at most %g", c.ratio, c.steps, float(x), d, float(wideP(c.ratio, c.steps, x)), sum*0x1p-53)
			}
		}
	}
}

// Each coefficient is right to 1e-15 of itself, the smallest too: by their integral over the roots of
// T_(4K), which is exact for polynomials of degree below 4K.
func TestCoefficientsAreRelativelyExact(t *testing.T) {
	const ratio, steps = .02, 24
	p, err := New(ratio, steps)
	if err != nil {
		t.Fatal(err)
	}
	n := 4 * steps
	c := make([]*big.Float, steps)
	for k := range c {
		c[k] = wideOf(0)
	}
	for i := range n {
		cosine := root(n, i)
		x := new(big.Float).Add(cosine, wideOf(1))
		v := wideP(ratio, steps, x.Quo(x, wideOf(2)))
		for k := range c {
			c[k].Add(c[k], new(big.Float).Mul(v, wideT(k, cosine)))
		}
	}
	for k := range c {
		c[k].Quo(c[k], wideOf(float64(n)/2))
		if k == 0 {
			c[k].Quo(c[k], wideOf(2))
		}
		if want := float(c[k]); math.Abs(p.Coefficients[k]-want) > 2e-16*math.Abs(want) {
			t.Errorf("coefficient %d is %v, want %v", k, p.Coefficients[k], want)
		}
	}
}

// The signs of the coefficients alternate, and their magnitudes fall below the stated one.
func TestCoefficientsFall(t *testing.T) {
	for _, ratio := range []float64{LeastRatio, 1e-4, .1, 50} {
		p, err := New(ratio, 60)
		if err != nil {
			t.Fatal(err)
		}
		most := 4 / math.Sinh(math.Acosh(1+2*ratio)) * (1 + 1e-7) // acosh near 1 has half of its digits
		for k, c := range p.Coefficients {
			if magnitude := math.Abs(c); magnitude >= most || c > 0 != (k%2 == 0) {
				t.Errorf("ratio %v: coefficient %d is %v, the one before %v", ratio, k, c, most)
			} else if k > 0 {
				most = magnitude
			}
		}
	}
}

// root returns cos((i+1/2) pi/n) by Newton's method on T_n from the float64.
func root(n, i int) *big.Float {
	x := wideOf(math.Cos((float64(i) + .5) * math.Pi / float64(n)))
	for range 5 {
		// T_n' = n U_(n-1) = n (t T_n - T_(n+1)) / (1 - t^2)
		v := wideT(n, x)
		slope := new(big.Float).Mul(x, v)
		slope.Sub(slope, wideT(n+1, x)).Mul(slope, wideOf(float64(n)))
		slope.Quo(slope, new(big.Float).Sub(wideOf(1), new(big.Float).Mul(x, x)))
		x.Sub(x, v.Quo(v, slope))
	}
	return x
}

// The blocks are the same polynomial: T_j(T_m) T_i, added up.
func TestBlocksAreTheSamePolynomial(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, m := range []int{1, 2, 4, 5, 8, 16} {
		p, err := New(1e-3, 160)
		if err != nil {
			t.Fatal(err)
		}
		kept := append([]float64(nil), p.Coefficients...)
		blocks := p.Blocks(m)
		if len(blocks) != 160/m || len(blocks[0]) != m || len(blocks[len(blocks)-1]) != m {
			t.Fatalf("%d blocks of %d and %d", len(blocks), len(blocks[0]), m)
		}
		for range 4 {
			x := wideOf(r.Float64())
			at := new(big.Float).Sub(new(big.Float).Add(x, x), wideOf(1))
			g, sum := wideT(m, at), wideOf(0)
			for j, block := range blocks {
				inner := wideOf(0)
				for i, d := range block {
					if math.Abs(d) > 2*math.Abs(p.Coefficients[j*m+i]) {
						t.Errorf("block %d of %d: %v exceeds twice the coefficient %v", j, m, d, p.Coefficients[j*m+i])
					}
					inner.Add(inner, new(big.Float).Mul(wideOf(d), wideT(i, at)))
				}
				sum.Add(sum, inner.Mul(inner, wideT(j, g)))
			}
			want := series(p.Coefficients, x)
			if d := float(sum.Sub(sum, want)); math.Abs(d) > 1e-11 {
				t.Errorf("blocks of %d at %v: off by %g of %g", m, float(x), d, float(want))
			}
		}
		for k, c := range kept {
			if p.Coefficients[k] != c {
				t.Fatalf("blocks of %d change coefficient %d", m, k)
			}
		}
	}
}

// The residual's bound is reached at x = 0 and holds everywhere, and so many steps keep it below a
// fiftieth of a row.
func TestRemainder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{100, 1347, 32561, 1 << 20} {
		for _, ratio := range []float64{1e-5, 1e-4, 1e-2, 1, 100} {
			p, err := New(ratio, Steps(rows, ratio, 8))
			if err != nil {
				t.Fatal(err)
			}
			theta := math.Acosh(1 + 2*ratio)
			if want := 1 / math.Cosh(float64(p.Steps)*theta); math.Abs(p.Remainder-want) > 1e-8*want {
				t.Errorf("ratio %v, %d steps: remainder %v, want %v", ratio, p.Steps, p.Remainder, want)
			}
			if float64(rows)*p.Remainder >= 1./50 || p.Steps%8 != 0 {
				t.Errorf("ratio %v, %d rows, %d steps: %v of B remains", ratio, rows, p.Steps, p.Remainder)
			}
			if fewer := Steps(rows, ratio, 1); fewer > p.Steps || fewer <= p.Steps-8 || max(100*float64(rows), 900/math.Sqrt(ratio))*math.Exp(-float64(fewer-1)*theta) < 1 {
				t.Errorf("ratio %v, %d rows: %d steps, and %d in blocks of 8", ratio, rows, fewer, p.Steps)
			}
			for _, x := range []float64{0, r.Float64(), 1} {
				// 1 - (x + beta) P(x), in float64: P is accurate to some 1e-16 K sum |c|
				rest := 1 - (x+ratio)*p.At(x)
				if rest > p.Remainder+1e-9 || x == 0 && rest < p.Remainder-1e-9 {
					t.Errorf("ratio %v, %d steps: at %v remains %v of %v", ratio, p.Steps, x, rest, p.Remainder)
				}
			}
		}
	}
}

// Where there are few rows, the second term of the number of steps keeps the residual below sqrt(alpha n)/450, with
// alpha = ratio n and the residual at most n times the remainder.
func TestStepsForFewRows(t *testing.T) {
	for _, ratio := range []float64{2.5e-5, 1e-4, 1e-3} {
		rows := int(9 / math.Sqrt(ratio) / 4) // a fourth of those for which the terms are equal
		theta := math.Acosh(1 + 2*ratio)
		k := Steps(rows, ratio, 1)
		if rest := math.Exp(-float64(k)*theta) * 450 / math.Sqrt(ratio) * 2; rest > 1 || rest < .9 {
			t.Errorf("ratio %v, %d rows, %d steps: the residual is %v of what it may be", ratio, rows, k, rest)
		}
		if by := math.Log(100*float64(rows)) / theta; float64(k) < by+10 {
			t.Errorf("ratio %v, %d rows: %d steps, by the number of rows alone %v", ratio, rows, k, by)
		}
	}
}

// Digits (1,347 rows) and a9a (32,561) have 592 and 752 steps at alpha = n/10^4.
func TestStepsOfDigitsAndA9a(t *testing.T) {
	if a, b := Steps(1347, 1e-4, 8), Steps(32561, 1e-4, 8); a != 592 || b != 752 {
		t.Errorf("%d and %d steps, want 592 and 752", a, b)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		steps int
	}{{0, 10}, {-1, 10}, {math.NaN(), 10}, {math.Inf(1), 10}, {1e-10, 10}, {1e4, 10}, {1e-4, 0}, {1e-4, MaxSteps + 1}} {
		if _, err := New(c.ratio, c.steps); err == nil {
			t.Errorf("ratio %v with %d steps is accepted", c.ratio, c.steps)
		}
	}
	if p, err := New(LeastRatio, MaxSteps); err != nil || len(p.Coefficients) != MaxSteps {
		t.Errorf("%d coefficients, error %v", len(p.Coefficients), err)
	}
}

// The bits of the coefficients are fixed: other machines of a session multiply shares by the same.
func TestCoefficientsAreFixed(t *testing.T) {
	p, err := New(1e-4, 592)
	if err != nil {
		t.Fatal(err)
	}
	sum := uint64(0)
	for _, c := range p.Coefficients {
		sum = sum*0x9e3779b97f4a7c15 + math.Float64bits(c)
	}
	if sum != wantBits {
		t.Errorf("the bits of the coefficients add up to %#x, want %#x", sum, uint64(wantBits))
	}
}

// wantBits was computed by New; the other tests say that those coefficients are right.
const wantBits = 0x72ce6d04f1feb2da

// The range holds what the recurrence computes for an eigenvector of any eigenvalue, with at most two bits
// to spare.
func TestRangeBits(t *testing.T) {
	for _, ratio := range []float64{1e-5, 1e-4, 1e-2, 1} {
		for m := 1; m <= MaxBlock; m *= 2 {
			p, err := New(ratio, Steps(2000, ratio, m))
			if err != nil {
				t.Fatal(err)
			}
			blocks, most := p.Blocks(m), map[float64]float64{0: 0, .01: 0, 3: 0} // by spread
			for i := range 2000 {
				x := math.Pow(float64(i)/1999, 8) // many small ones
				want := largest(blocks, m, math.Acos(2*x-1))
				if got := magnitude(blocks, x); math.Abs(got-want) > 1e-6*want {
					t.Fatalf("ratio %v, blocks of %d: a magnitude of %v at %v, want %v", ratio, m, got, x, want)
				}
				for spread := range most {
					most[spread] = max(most[spread], (math.Sqrt(x)+spread)*want)
				}
			}
			for spread, most := range most {
				if bits, least := p.RangeBits(m, spread), int(math.Ceil(math.Log2(most)))+1; bits < least || bits > least+2 {
					t.Errorf("ratio %v, blocks of %d, spread %v: %d bits for a magnitude of %.3g", ratio, m, spread, bits, most)
				}
			}
		}
	}
}

// largest is the largest magnitude in Clenshaw's recurrence at t = cos(angle).
func largest(blocks [][]float64, m int, angle float64) float64 {
	g, most := math.Cos(float64(m)*angle), 0.0
	var b, before float64
	for j := len(blocks) - 1; j >= 0; j-- {
		y := 0.0
		for i, d := range blocks[j] {
			y += d * math.Cos(float64(i)*angle)
		}
		most = max(most, math.Abs(2*g*b), math.Abs(y), math.Abs(y+2*g*b))
		b, before = y+2*g*b-before, b
		most = max(most, math.Abs(b))
	}
	return most
}
