package cca

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

func noise(rows, cols int, seed uint64) linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 3))
	m := linalg.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// rbf returns exp(-|a_i - b_j|^2 / 4).
func rbf(a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
	k := linalg.New[float64](a.Rows, b.Rows)
	for i := range a.Rows {
		for j := range b.Rows {
			d := 0.0
			for c, v := range a.Row(i) {
				d += (v - b.Row(j)[c]) * (v - b.Row(j)[c])
			}
			k.Row(i)[j] = math.Exp(-d / 4)
		}
	}
	return k
}

// fataler is the part that *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func fit(t fataler, x, y linalg.Matrix[float64], p Params) *Model {
	t.Helper()
	m, err := Fit(kernel.Dense{K: x}, kernel.Dense{K: y}, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func centred(k linalg.Matrix[float64]) *mat.Dense {
	c := clone(k)
	kernel.Center(c)
	return mat.NewDense(c.Rows, c.Cols, c.Data)
}

// regularised returns (K + shift I)^-1.
func regularised(k *mat.Dense, shift float64) *mat.Dense {
	n, _ := k.Dims()
	var shifted, inverse mat.Dense
	shifted.CloneFrom(k)
	for i := range n {
		shifted.Set(i, i, k.At(i, i)+shift)
	}
	if err := inverse.Inverse(&shifted); err != nil {
		panic(err)
	}
	return &inverse
}

// TestSolvesTheEigenproblem checks both views against the matrix in the package
// comment, made of inverses: each dual is its eigenvector, and the correlations
// are the roots of its largest eigenvalues.
func TestSolvesTheEigenproblem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 40).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		r := math.Exp(rapid.Float64Range(-6, 0).Draw(t, "log regularization"))
		x := noise(n, 2, seed)
		y := noise(n, 2, seed+1)
		for i := range n {
			y.Row(i)[0] += x.Row(i)[1]
		}
		kx, ky := rbf(x, x), rbf(y, y)
		m := fit(t, kx, ky, Params{Components: 3, Regularization: r})
		a, b := centred(kx), centred(ky)
		ia, ib := regularised(a, r*float64(n)), regularised(b, r*float64(n))
		checkSigns(t, m.X.Transform(kx), m.Y.Transform(ky))
		checkEigen(t, m.X.Dual, m.Correlations, ia, b, ib, a)
		checkEigen(t, m.Y.Dual, m.Correlations, ib, a, ia, b)
	})
}

// checkSigns wants the largest value of each function in view X to be positive,
// and the values of both views to go together.
func checkSigns(t fataler, u, v linalg.Matrix[float64]) {
	for c := range u.Cols {
		largest, product := 0.0, 0.0
		for i := range u.Rows {
			product += u.Row(i)[c] * v.Row(i)[c]
			if math.Abs(u.Row(i)[c]) > math.Abs(largest) {
				largest = u.Row(i)[c]
			}
		}
		if largest < 0 || product < 0 {
			t.Fatalf("pair %d: largest value %v, product of the views %v", c, largest, product)
		}
	}
}

// TestManyRows: with more rows than Lanczos takes steps, pairs are still
// eigenvectors to 1e-7.
func TestManyRows(t *testing.T) {
	x, y := noise(150, 3, 11), noise(150, 3, 12)
	kx, ky := rbf(x, x), rbf(y, y)
	m := fit(t, kx, ky, Params{Components: 4, Regularization: 0.02})
	a, b := centred(kx), centred(ky)
	ia, ib := regularised(a, 3), regularised(b, 3)
	checkEigen(t, m.X.Dual, m.Correlations, ia, b, ib, a)
	checkEigen(t, m.Y.Dual, m.Correlations, ib, a, ia, b)
}

func checkEigen(t fataler, dual linalg.Matrix[float64], correlations []float64, factors ...*mat.Dense) {
	var p mat.Dense
	p.CloneFrom(factors[0])
	for _, f := range factors[1:] {
		var next mat.Dense
		next.Mul(&p, f)
		p.CloneFrom(&next)
	}
	var eigen mat.Eigen
	if !eigen.Factorize(&p, mat.EigenNone) {
		t.Fatal("the twin fails")
	}
	var all []float64
	for _, v := range eigen.Values(nil) {
		all = append(all, real(v))
	}
	slices.Sort(all)
	for i, rho := range correlations {
		if want := all[len(all)-1-i]; math.Abs(rho*rho-want) > 1e-8 {
			t.Fatalf("squared correlation %d is %v, the eigenvalue is %v", i, rho*rho, want)
		}
	}
	for i, rho := range correlations {
		v := mat.NewVecDense(dual.Cols, dual.Row(i))
		var got mat.VecDense
		got.MulVec(&p, v)
		got.AddScaledVec(&got, -rho*rho, v)
		if mat.Norm(&got, 2) > 1e-7*mat.Norm(v, 2) {
			t.Fatalf("pair %d: residual %v of %v", i, mat.Norm(&got, 2), mat.Norm(v, 2))
		}
	}
}

// TestIdenticalViews: a view correlates with itself as lambda / (lambda + k),
// close to 1, and both sides get the same function.
func TestIdenticalViews(t *testing.T) {
	x := noise(60, 2, 5)
	k := rbf(x, x)
	const r = 1e-6
	m := fit(t, k, k, Params{Components: 3, Regularization: r})
	var eigen mat.EigenSym
	c := centred(k)
	if !eigen.Factorize(mat.NewSymDense(60, c.RawMatrix().Data), false) {
		t.Fatal("the twin fails")
	}
	all := eigen.Values(nil)
	for i, got := range m.Correlations {
		lambda := all[len(all)-1-i]
		if want := lambda / (lambda + r*60); math.Abs(got-want) > 1e-10 || got < 0.9999 {
			t.Errorf("correlation %d is %v, want %v", i, got, want)
		}
	}
	u, v := m.X.Transform(k), m.Y.Transform(k)
	for i, w := range u.Data {
		if math.Abs(v.Data[i]-w) > 1e-4 {
			t.Fatalf("value %d is %v in one view and %v in the other", i, w, v.Data[i])
		}
	}
}

// TestFindsTheCommonSignal: two views share one hidden variable, bent; their
// first functions agree on new rows, and are standardised on the old ones.
func TestFindsTheCommonSignal(t *testing.T) {
	views := func(n int, seed uint64) (x, y linalg.Matrix[float64]) {
		x, y = noise(n, 2, seed), noise(n, 2, seed+100)
		for i, h := range noise(n, 1, seed+200).Data {
			x.Row(i)[0] = h + 0.05*x.Row(i)[0]
			y.Row(i)[0] = math.Tanh(h) + 0.05*y.Row(i)[0]
		}
		return x, y
	}
	x, y := views(300, 1)
	kx := rbf(x, x)
	m := fit(t, kx, rbf(y, y), Params{Components: 1, Regularization: 0.01})
	zx, zy := views(200, 2)
	u, v := m.X.Transform(rbf(zx, x)), m.Y.Transform(rbf(zy, y))
	if c := correlation(u.Data, v.Data); c < 0.9 {
		t.Errorf("correlation on new rows %v", c)
	}
	sum, squares, largest := 0.0, 0.0, 0.0
	for _, w := range m.X.Transform(kx).Data {
		sum += w
		squares += w * w
		if math.Abs(w) > math.Abs(largest) {
			largest = w
		}
	}
	if math.Abs(sum) > 1e-8 || math.Abs(squares-300) > 1e-6 || largest < 0 {
		t.Errorf("training values: sum %v, sum of squares %v, largest %v", sum, squares, largest)
	}
}

func correlation(a, b []float64) float64 {
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		sa, sb = sa+a[i], sb+b[i]
		saa, sbb, sab = saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
	}
	n := float64(len(a))
	return (sab - sa*sb/n) / math.Sqrt((saa-sa*sa/n)*(sbb-sb*sb/n))
}

func TestSameOnOneCore(t *testing.T) {
	x, y := noise(150, 3, 1), noise(150, 3, 2)
	p := Params{Components: 3, Regularization: 0.1}
	many := fit(t, rbf(x, x), rbf(y, y), p)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if d := cmp.Diff(many, fit(t, rbf(x, x), rbf(y, y), p)); d != "" {
		t.Error(d)
	}
}

func TestErrors(t *testing.T) {
	x := noise(8, 2, 1)
	k, good := rbf(x, x), Params{Components: 1, Regularization: 0.1}
	broken, negative := rbf(x, x), rbf(x, x)
	broken.Row(0)[3], broken.Row(3)[0] = math.NaN(), math.NaN()
	for i := range negative.Data {
		negative.Data[i] *= -1
	}
	linear := kernel.LinearGram(x) // two columns
	for _, test := range []struct {
		x, y linalg.Matrix[float64]
		p    Params
		want string
	}{
		{k, rbf(noise(7, 2, 1), noise(7, 2, 1)), good, "cca: view x has 8 rows and view y has 7; both must have the same rows"},
		{k, k, Params{Regularization: 1}, "cca: components is 0 for 8 rows; choose 1 to 8"},
		{k, k, Params{Components: 9, Regularization: 1}, "cca: components is 9 for 8 rows; choose 1 to 8"},
		{k, k, Params{Components: 1}, "cca: regularization is 0; it must be above 0, and its product with the number of rows, 8, must be finite"},
		{k, broken, good, "cca: view y: the kernel matrix holds a NaN or an infinity"},
		{negative, k, good, "cca: view x: the kernel is not positive semidefinite: linalg: pivot"},
		{linear, k, Params{Components: 3, Regularization: 1}, "cca: the views have 2 pairs with a correlation above 1e-05, but components is 3; choose fewer components"},
	} {
		_, err := Fit(kernel.Dense{K: test.x}, kernel.Dense{K: test.y}, test.p)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	x, y := noise(500, 5, 1), noise(500, 5, 2)
	kx, ky := kernel.Dense{K: rbf(x, x)}, kernel.Dense{K: rbf(y, y)}
	for b.Loop() {
		if _, err := Fit(kx, ky, Params{Components: 5, Regularization: 0.1}); err != nil {
			b.Fatal(err)
		}
	}
}
