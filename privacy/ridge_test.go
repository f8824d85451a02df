package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func shapeOf(features, targets int) Shape {
	return Shape{Features: features, Targets: targets, SquaredFeatures: 1 << 32, SquaredTargets: 1 << 32, Summands: Summands{2, 3}}
}

func ridgeOf(t testing.TB, epsilon float64, s Shape) Ridge {
	t.Helper()
	r, err := NewRidge(Guarantee{epsilon, 1e-6}, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// loss returns the rho of one row for the noise of the honest members: the squared change of every entry over
// twice its variance.
func loss(r Ridge, phi, y []float64) (outer, cross float64) {
	variance := func(n Noise) float64 {
		return n.Deviation() * n.Deviation() * float64(n.Summands.Honest) / float64(n.Summands.All)
	}
	for i, a := range phi {
		for j, b := range phi[i:] {
			v := variance(r.Products)
			if j == 0 {
				v = variance(r.Squares)
			}
			outer += a * b * a * b / (2 * v)
		}
		for _, b := range y {
			cross += a * b * a * b / (2 * variance(r.Cross))
		}
	}
	return outer, cross
}

// Every row of the greatest length uses up all of rho, .8 for A and .2 for B, whichever way it points.
func TestRidgeUsesTheWholeBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, epsilon := range []float64{.1, 1, 8} {
		ridge := ridgeOf(t, epsilon, shapeOf(20, 3))
		rho := Guarantee{epsilon, 1e-6}.Rho()
		for trial := range 50 {
			phi, y := make([]float64, 20), make([]float64, 3)
			for i := range phi {
				if phi[i] = r.NormFloat64(); trial == 0 { // the first row has one feature
					phi[i] = 0
				}
			}
			phi[3] += 1e-9
			for i := range y {
				y[i] = r.NormFloat64()
			}
			lengthen(phi, 1<<16)
			lengthen(y, 1<<16)
			outer, cross := loss(ridge, phi, y)
			if math.Abs(outer/rho-.8) > 1e-5 || math.Abs(cross/rho-.2) > 1e-5 || outer+cross > rho {
				t.Errorf("epsilon %v: A uses %v of rho, B %v", epsilon, outer/rho, cross/rho)
			}
		}
	}
}

func float64Of(x *big.Int) float64 {
	f, _ := new(big.Float).SetInt(x).Float64()
	return f
}

func lengthen(v []float64, length float64) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	for i := range v {
		v[i] *= length / math.Sqrt(sum)
	}
}

// Replacing one row by another never takes more than Replacement times the budget, and the worst rows take it all.
func TestReplacement(t *testing.T) {
	ridge := ridgeOf(t, 1, shapeOf(2, 1))
	budget := Guarantee{1, 1e-6}.Rho()
	products, cross := 2*float64Of(ridge.Products.Variance), 2*float64Of(ridge.Cross.Variance) // of two honest members
	share := func(phi, psi [2]float64, y, z float64) float64 {
		square := func(x float64) float64 { return x * x }
		sum := square(phi[0]*phi[1]-psi[0]*psi[1]) / products
		for i := range phi {
			sum += square(phi[i]*phi[i]-psi[i]*psi[i])/(2*products) + square(phi[i]*y-psi[i]*z)/cross
		}
		return sum / 2 / budget
	}
	r, most := rand.New(rand.NewPCG(8, 9)), 0.0
	row := func() [2]float64 {
		sin, cos := math.Sincos(2 * math.Pi * r.Float64())
		length := min(1, 1.2*r.Float64()) * (1 << 16)
		return [2]float64{length * sin, length * cos}
	}
	for range 200_000 {
		most = max(most, share(row(), row(), 1<<16, -1<<16), share(row(), row(), 1<<16, 0))
	}
	if most > Replacement || most < Replacement*.99 {
		t.Errorf("replacing takes up to %v times the budget, want %v", most, Replacement)
	}
}

// Draw puts the noise of twice the variance on the diagonal.
func TestRidgeDraw(t *testing.T) {
	const m, c = 200, 3
	r := ridgeOf(t, 1, shapeOf(m, c))
	outer, cross := make([]int64, m*(m+1)/2), make([]int64, m*c)
	if err := r.Draw(outer, cross, stream("ridge")); err != nil {
		t.Fatal(err)
	}
	var squares, products []int64
	at := 0
	for i := range m {
		squares = append(squares, outer[at])
		products = append(products, outer[at+1:at+m-i]...)
		at += m - i
	}
	for name, part := range map[string]struct {
		words []int64
		noise Noise
	}{"squares": {squares, r.Squares}, "products": {products, r.Products}, "cross": {cross, r.Cross}} {
		sum, v := 0.0, part.noise.Deviation()*part.noise.Deviation()/3
		for _, w := range part.words {
			sum += float64(w) * float64(w) / v
		}
		n := float64(len(part.words))
		if math.Abs(sum/n-1) > 4.5*math.Sqrt(2/n) {
			t.Errorf("%s: the squared noise is %.3f of its variance", name, sum/n)
		}
	}
	if twice := new(big.Int).Add(r.Products.Variance, r.Products.Variance); twice.Cmp(r.Squares.Variance) != 0 {
		t.Errorf("variances %v and %v", r.Products.Variance, r.Squares.Variance)
	}
	for _, lengths := range [][2]int{{len(outer) - 1, len(cross)}, {len(outer), len(cross) + 1}} {
		if err := r.Draw(make([]int64, lengths[0]), make([]int64, lengths[1]), stream("x")); err == nil || !strings.Contains(err.Error(), "entries of A") {
			t.Errorf("%v: %v", lengths, err)
		}
	}
}

// Alpha is 1.25 x 2 sqrt(M) deviations of all members' noise from 128 features on, and more than ten ninths
// of the norm below.
func TestAlpha(t *testing.T) {
	for _, m := range []int{1, 2, 17, 64, 124, 128, 512, 4096} {
		r := ridgeOf(t, 1, shapeOf(m, 1))
		alpha, norm, deviation := float64(r.Alpha()), float64(r.Norm()), r.Products.Deviation()
		if least := 2.5 * math.Sqrt(float64(m)) * deviation; alpha < least || m >= 140 && alpha > least+1 || m == 128 && alpha > 1.01*least {
			t.Errorf("%d features: alpha %v, want %v", m, alpha, least)
		}
		if norm > .9*alpha+1 || m < 128 && norm < .9*alpha-1 {
			t.Errorf("%d features: norm %v of alpha %v", m, norm, alpha)
		}
	}
	r := ridgeOf(t, 1, shapeOf(500, 1))
	want := 2.5 * math.Sqrt(500) * math.Sqrt(3*float64Of(r.Products.Variance)) // three members add noise
	if got := float64(r.Alpha()); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("alpha %v, want %v", got, want)
	}
}

// Variances are the same whole numbers on every machine.
func TestRidgeIsTheSameEverywhere(t *testing.T) {
	r := ridgeOf(t, 4, Shape{Features: 128, Targets: 1, SquaredFeatures: Nearest(8, 16, 128), SquaredTargets: 1 << 32, Summands: Summands{2, 3}})
	for name, got := range map[string]*big.Int{"products": r.Products.Variance, "cross": r.Cross.Variance, "alpha": big.NewInt(r.Alpha()), "norm": big.NewInt(r.Norm())} {
		want := map[string]string{"products": "37954893288677555421018", "cross": "4744259283269930420279", "alpha": "9586018848200", "norm": "8627416963380"}[name]
		if got.String() != want {
			t.Errorf("%s %v, want %s", name, got, want)
		}
	}
}

// Rounded vectors are never longer than Nearest and TowardsZero say, and hardly shorter.
func TestRoundedLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, fraction := range []int{4, 10, 16} {
		longest := [2]float64{}
		const entries, length = 64, 3.
		nearest, towards := Nearest(length, fraction, entries), TowardsZero(length, fraction)
		for range 2000 {
			v := make([]float64, entries)
			for i := range v {
				v[i] = float64(r.IntN(3)) + r.Float64()/8
			}
			lengthen(v, length)
			sums := [2]float64{}
			for _, x := range v {
				x = math.Ldexp(x, fraction)
				sums[0] += math.Round(x) * math.Round(x)
				sums[1] += math.Trunc(x) * math.Trunc(x)
			}
			longest[0], longest[1] = max(longest[0], sums[0]), max(longest[1], sums[1])
		}
		exact := math.Ldexp(length*length, 2*fraction)
		if longest[0] > float64(nearest) || longest[1] > float64(towards) || longest[0] < exact {
			t.Errorf("fraction %d: the longest vectors have %v, bounds are %d and %d", fraction, longest, nearest, towards)
		}
		if more := math.Sqrt(float64(nearest)) - length*math.Ldexp(1, fraction); math.Abs(more-4) > .01 || float64(towards) != exact {
			t.Errorf("fraction %d: bounds %d and %d of %v", fraction, nearest, towards, exact)
		}
	}
	// Three entries of half a unit are rounded up by a length of sqrt(3)/2.
	if got := Nearest(math.Sqrt(.75), 0, 3); got != 3 {
		t.Errorf("three halves: %d, want 3", got)
	}
	if got := Nearest(1e9, 40, 4); got <= MostSquared {
		t.Errorf("a length beyond all limits: %d", got)
	}
}

func TestRidgeRefuses(t *testing.T) {
	good, g := shapeOf(10, 2), Guarantee{1, 1e-6}
	for _, c := range []struct {
		change func(*Shape, *Guarantee)
		want   string
	}{
		{func(s *Shape, _ *Guarantee) { s.Features = 0 }, "features"},
		{func(s *Shape, _ *Guarantee) { s.Features = MostFeatures + 1 }, "features"},
		{func(s *Shape, _ *Guarantee) { s.Targets = 0 }, "targets"},
		{func(s *Shape, _ *Guarantee) { s.Targets = MostTargets + 1 }, "targets"},
		{func(s *Shape, _ *Guarantee) { s.SquaredFeatures = 0 }, "2^48"},
		{func(s *Shape, _ *Guarantee) { s.SquaredTargets = -1 }, "2^48"},
		{func(s *Shape, _ *Guarantee) { s.SquaredFeatures = MostSquared + 1 }, "2^48"},
		{func(s *Shape, _ *Guarantee) { s.Summands.Honest = 0 }, "noise"},
		{func(_ *Shape, g *Guarantee) { g.Delta = 0 }, "delta"},
		{func(_ *Shape, g *Guarantee) { g.Epsilon = -1 }, "epsilon"},
		{func(s *Shape, g *Guarantee) { s.SquaredFeatures, g.Epsilon = MostSquared, .01 }, "coarser grid"},
		{func(s *Shape, _ *Guarantee) {
			s.SquaredFeatures, s.Features, s.Summands.All = MostSquared, 4096, MostSummands
		}, "coarser grid"},
	} {
		s, g := good, g
		c.change(&s, &g)
		if _, err := NewRidge(g, s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: %v", g, s, err)
		}
	}
}
