package okra

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// The attack without any known row: independent features that are not Gaussian
// are separated by independent component analysis (FastICA, Hyvarinen 1999) of
// the coordinates of one block, once rows greatly outnumber the block. A dense
// encoder resists on the same rows, because they do not outnumber all features:
// as many coordinates as the block has give .22, which is chance, and all
// coordinates, which take half a minute, .32.
const (
	separationFeatures = 640
	separationRows     = 600
)

// sparseRows are independent features that are mostly zero.
func sparseRows(n, f int) linalg.Matrix[float64] {
	s := prg.New([32]byte{13}, "separation")
	m := linalg.New[float64](n, f)
	for i := range m.Data {
		if s.Float64() < .1 {
			m.Data[i] = s.NormFloat64()
		}
	}
	return m
}

// whiten returns the principal coordinates of y, n x rank, of variance 1.
func whiten(y linalg.Matrix[float64]) *mat.Dense {
	centred := linalg.New[float64](y.Rows, y.Cols)
	for j := range y.Cols {
		mean := 0.0
		for i := range y.Rows {
			mean += y.Row(i)[j] / float64(y.Rows)
		}
		for i := range y.Rows {
			centred.Row(i)[j] = y.Row(i)[j] - mean
		}
	}
	// There are fewer coordinates than rows: their products have the same eigenvalues as the rows'.
	values, vectors := eigen(transpose(make([]float64, len(centred.Data)), centred))
	z := mat.NewDense(y.Rows, vectors.Rows, nil)
	z.Apply(func(i, k int, _ float64) float64 {
		return dot(centred.Row(i), vectors.Row(k)) * math.Sqrt(float64(y.Rows)/values[k])
	}, z)
	return z
}

// separate returns the independent components of whitened rows, n x rank, by
// the symmetric fixed point with tanh.
func separate(z *mat.Dense) *mat.Dense {
	n, r := z.Dims()
	s := prg.New([32]byte{14}, "start")
	w := mat.NewDense(r, r, nil)
	w.Apply(func(int, int, float64) float64 { return s.NormFloat64() }, w)
	w = polar(w)
	for range 40 {
		var y, next mat.Dense
		y.Mul(z, w.T())
		slope := make([]float64, r)
		y.Apply(func(_, j int, v float64) float64 {
			g := math.Tanh(v)
			slope[j] += (1 - g*g) / float64(n)
			return g
		}, &y)
		next.Mul(y.T(), z)
		next.Apply(func(i, j int, v float64) float64 { return v/float64(n) - slope[i]*w.At(i, j) }, &next)
		w = polar(&next)
	}
	var y mat.Dense
	y.Mul(z, w.T())
	return &y
}

// polar returns the orthogonal factor of w, (w w^T)^(-1/2) w.
func polar(w *mat.Dense) *mat.Dense {
	var svd mat.SVD
	svd.Factorize(w, mat.SVDThin)
	var u, v, p mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	p.Mul(&u, v.T())
	return &p
}

// likeness is the mean over components of the largest |correlation| with a
// true feature.
func likeness(components *mat.Dense, x linalg.Matrix[float64]) float64 {
	_, r := components.Dims()
	total := 0.0
	truth := transpose(make([]float64, len(x.Data)), x)
	for j := range truth.Rows {
		standardize(truth.Row(j))
	}
	for k := range r {
		best := 0.0
		a := mat.Col(nil, k, components)
		standardize(a)
		for j := range truth.Rows {
			best = math.Max(best, math.Abs(dot(a, truth.Row(j))))
		}
		total += best / float64(r)
	}
	return total
}

// standardize centres a, and gives it length 1: correlations are then inner products.
func standardize(a []float64) {
	mean := 0.0
	for _, v := range a {
		mean += v / float64(len(a))
	}
	for i := range a {
		a[i] -= mean
	}
	length := math.Sqrt(dot(a, a))
	for i := range a {
		a[i] /= length
	}
}

// blockCoordinates are the coordinates of the first block. That they can be
// found without the seed is shown with the clusters.
func blockCoordinates(b *block) []int {
	f := b.frames[0]
	cols := make([]int, f.rows)
	for i := range cols {
		cols[i] = int(b.out[f.at+i])
	}
	return cols
}

func TestSeparationOfFeaturesWithoutKnownRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := sparseRows(separationRows, separationFeatures)
	e, y := encodings(t, Spec{Mode: Paper}, x)
	cols := blockCoordinates(e.(*block))
	if got := likeness(separate(whiten(pick(y, cols))), x); got < .9 {
		t.Errorf("block: components correlate %.3f with features, want .9 or more", got)
	} else {
		t.Logf("block: %.3f", got)
	}
	for _, spec := range []Spec{{Encoder: Hadamard, Rounds: 2}, {Encoder: Hadamard}, {Encoder: Haar}, {Encoder: HBH}} {
		_, y := encodings(t, spec, x)
		got := likeness(separate(whiten(pick(y, cols))), x)
		t.Logf("%s: %.3f", spec.Encoder, got)
		if got > .4 {
			t.Errorf("%s %d: components correlate %.3f with features, want chance", spec.Encoder, spec.Rounds, got)
		}
	}
}
