package fdskl

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Private directions leave the attack by known rows, and so do common ones: distances give the rows
// up to a rotation (classical scaling), which known rows undo (ridge regression).
func TestKnownRowsGiveTheOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := phishing(t)
	for mode, seed := range map[Mode]func(worker int) byte{
		Hardened: func(worker int) byte { return byte(10 + worker) },
		Paper:    func(int) byte { return 1 },
	} {
		table, own := attacked(t, x, mode, seed)
		points := scaled(table, own, x.Cols-ownColumns)
		for known, want := range map[int]float64{20: .93, 40: .98, 80: .98} {
			right := align(points, x, known)
			t.Logf("mode %s, %d known rows: %.4f of the others' entries", mode, known, right)
			if right < want {
				t.Errorf("mode %s: %d known rows give %.4f of the others' entries, want at least %.2f", mode, known, right, want)
			}
		}
	}
}

// scaled returns points of d coordinates whose distances are those that the
// phases show.
func scaled(table *Table, own Source, d int) *mat.Dense {
	squared, gram := linalg.New[float64](attackRows, attackRows), linalg.New[float64](attackRows, attackRows)
	features := linalg.New[float64](attackRows, 2*attackDirections)
	wave := feature.NewWave[float64](16)
	for i := range attackRows {
		row := features.Row(i)
		wave.Turn(row[:attackDirections], row[attackDirections:], table.othersSum(own, i))
	}
	linalg.Syrk(gram, features)
	for i := range attackRows {
		for j := range attackRows {
			squared.Row(i)[j] = -math.Log(min(1, max(gram.Row(i)[j]/attackDirections, 1e-3))) / attackGamma
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(centred(squared), true) {
		panic("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	points := mat.NewDense(attackRows, d, nil)
	for k := range d {
		at := attackRows - 1 - k
		for i := range attackRows {
			points.Set(i, k, vectors.At(i, at)*math.Sqrt(max(values[at], 0)))
		}
	}
	return points
}

// centred is -1/2 J D J, the Gram matrix of centred points with squared distances
// D.
func centred(squared linalg.Matrix[float64]) *mat.SymDense {
	n := squared.Rows
	means, all := make([]float64, n), 0.0
	for i := range n {
		means[i] = linalg.Mean(squared.Row(i))
		all += means[i] / float64(n)
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			gram.SetSym(i, j, -(squared.Row(i)[j]-means[i]-means[j]+all)/2)
		}
	}
	return gram
}

// align fits the first known rows and returns the share of right entries of the
// others.
func align(points *mat.Dense, x linalg.Matrix[float64], known int) float64 {
	n, d := points.Dims()
	var with mat.Dense
	with.Augment(points, mat.NewDense(n, 1, ones(n)))
	truth := mat.NewDense(known, d, nil)
	for i := range known {
		truth.SetRow(i, x.Row(i)[ownColumns:])
	}
	a := with.Slice(0, known, 0, d+1)
	var gram, right, fit, rows mat.Dense
	gram.Mul(a.T(), a)
	for k := range d + 1 {
		gram.Set(k, k, gram.At(k, k)+1e-3)
	}
	right.Mul(a.T(), truth)
	if err := fit.Solve(&gram, &right); err != nil {
		panic(err)
	}
	rows.Mul(&with, &fit)
	hits := 0.0
	for i := known; i < n; i++ {
		for c := range d {
			if (rows.At(i, c) > .5/math.Sqrt(30)) == (x.Row(i)[ownColumns+c] > 0) {
				hits++
			}
		}
	}
	return hits / float64((n-known)*d)
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
