package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// specs holds each kernel with parameters away from their defaults.
func specs() []kernel.Spec {
	return []kernel.Spec{
		{Name: "linear"},
		{Name: "rbf", Gamma: 0.3},
		{Name: "rbf", Gamma: 0.3, Amplitude: 2.5},
		{Name: "polynomial", Gamma: 0.5, Coef0: 1, Degree: 4},
		{Name: "rational-quadratic", LengthScale: 1.5, Alpha: 0.7},
		{Name: "rational-quadratic", LengthScale: 1.5, Alpha: 0.7, Amplitude: 0.3},
		{Name: "laplacian", Gamma: 0.4},
		{Name: "matern", LengthScale: 2, Nu: 0.5},
		{Name: "matern", LengthScale: 2, Nu: 1.5},
		{Name: "matern", LengthScale: 2, Nu: 2.5},
		{Name: "cosine"},
		{Name: "tanimoto"},
		{Name: "dot-product", Coefficients: []float64{2, 0.5, 0, 0.25}},
	}
}

// twin is the textbook formula on the coordinates.
func twin(s kernel.Spec, x, z []float64) float64 {
	var dot, xx, zz, d float64
	for i := range x {
		dot += x[i] * z[i]
		xx += x[i] * x[i]
		zz += z[i] * z[i]
		d += (x[i] - z[i]) * (x[i] - z[i])
	}
	if a := s.Amplitude; a != 0 {
		s.Amplitude = 0
		return a * twin(s, x, z)
	}
	r := math.Sqrt(d) / s.LengthScale
	switch s.Name {
	case "linear":
		return dot
	case "rbf":
		return math.Exp(-s.Gamma * d)
	case "polynomial":
		return math.Pow(s.Gamma*dot+s.Coef0, float64(s.Degree))
	case "rational-quadratic":
		return math.Pow(1+d/(2*s.Alpha*s.LengthScale*s.LengthScale), -s.Alpha)
	case "laplacian":
		return math.Exp(-s.Gamma * math.Sqrt(d))
	case "cosine":
		return dot / math.Sqrt(xx) / math.Sqrt(zz)
	case "tanimoto":
		return dot / (xx + zz - dot)
	case "dot-product":
		sum := 0.0
		for d, a := range s.Coefficients {
			sum += a * math.Pow(dot, float64(d))
		}
		return sum
	}
	switch s.Nu {
	case 0.5:
		return math.Exp(-r)
	case 1.5:
		return (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	default:
		return (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
	}
}

func noise(rows, cols int, seed uint64) linalg.Matrix[float64] {
	src := rand.New(rand.NewPCG(seed, 0))
	m := linalg.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = src.NormFloat64() / 2
	}
	return m
}

func mustNew(t testing.TB, s kernel.Spec) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func all(t testing.TB) []kernel.Kernel {
	t.Helper()
	var ks []kernel.Kernel
	for _, s := range specs() {
		ks = append(ks, mustNew(t, s))
	}
	return ks
}

func rbf(t testing.TB) kernel.Kernel {
	t.Helper()
	return mustNew(t, kernel.Spec{Name: "rbf", Gamma: 0.5})
}

// recovered returns what f panics with, or nil.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
