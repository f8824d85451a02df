// Package analog implements an attack on protocols: it guesses secret rows from their Gram
// matrix and labels. It uses public rows of the same kind, none of which is a secret row. The
// package exists for the tests of protocols that give a Gram matrix to a server; no code of the
// program imports it.
//
// A Gram matrix determines the rows up to an isometry. Public rows give the axes along which rows
// of this kind vary most, and the typical rows of each class. The first isometry between the secret
// and the public rows brings the means of the classes as close together as possible, or flips axes
// (P. Schönemann, A generalized solution of the orthogonal Procrustes problem, Psychometrika 31,
// 1966). The following ones fit, step by step, the best pairs of rows within each class (E. Grave,
// A. Joulin, Q. Berthet, Unsupervised alignment of embeddings with Wasserstein Procrustes, AISTATS
// 2019).
//
//	public := analog.Public{Rows: rows, Labels: labels}
//	guess := public.Guess(gram, theirs, public.Axes(candidates, 200))
//
// The attack knows no row, needs no grid of values, and works with fewer rows than features.
package analog

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// turns is the number of rounds in which pairs and isometry are recomputed alternately.
const turns = 30

// Public holds labelled public rows of the same kind as the secret rows.
type Public struct {
	Rows   *mat.Dense
	Labels []int
}

// Guess returns guesses of the secret rows from their Gram matrix and labels. It aligns the
// secret and the public rows along the given number of principal axes.
func (p Public) Guess(gram mat.Symmetric, labels []int, axes int) *mat.Dense {
	theirs := coordinates(gram, axes)
	mean := meanOf(p.Rows, nil)
	centred := minus(p.Rows, mean)
	var svd mat.SVD
	svd.Factorize(centred, mat.SVDThin)
	var v mat.Dense
	svd.VTo(&v)
	_, features := p.Rows.Dims()
	directions := v.Slice(0, features, 0, axes)
	var ours mat.Dense
	ours.Mul(centred, directions)

	c := clouds{theirs, labels, &ours, p.Labels}
	turn, _ := c.align(c.start(), turns)
	var turned, guess mat.Dense
	turned.Mul(theirs, turn)
	guess.Mul(&turned, directions.T())
	guess.Apply(func(_, j int, x float64) float64 { return x + mean[j] }, &guess)
	return &guess
}

// Axes returns the candidate number of axes that gives the best guesses in a rehearsal. In the
// rehearsal, the first public rows, as many as the parameter rows says, take the place of the
// secret rows. The others stay public.
func (p Public) Axes(candidates []int, rows int) int {
	n, features := p.Rows.Dims()
	hidden := mat.DenseCopyOf(p.Rows.Slice(0, rows, 0, features))
	help := Public{mat.DenseCopyOf(p.Rows.Slice(rows, n, 0, features)), p.Labels[rows:]}
	best, most := candidates[0], -1e300
	for _, k := range candidates {
		if r := R2(hidden, help.Guess(Gram(hidden), p.Labels[:rows], k), help.Rows); r > most {
			best, most = k, r
		}
	}
	return best
}

// ClassMeans guesses the secret rows from labels alone. Each guess is the mean of the public
// rows with the same label.
func (p Public) ClassMeans(labels []int) *mat.Dense {
	_, features := p.Rows.Dims()
	means, guess := classMeans(p.Rows, p.Labels), mat.NewDense(len(labels), features, nil)
	for i, c := range labels {
		guess.SetRow(i, means[c])
	}
	return guess
}

// clouds holds the secret rows (theirs) and the public rows (ours), each in its own coordinates.
type clouds struct {
	theirs *mat.Dense
	labels []int
	ours   *mat.Dense
	public []int
}

// align alternates between matching pairs of rows and fitting the isometry. It also returns the
// mean squared distance of the last pairs.
func (c clouds) align(turn *mat.Dense, steps int) (best *mat.Dense, distance float64) {
	for range steps {
		var turned, off mat.Dense
		turned.Mul(c.theirs, turn)
		from, to := pairs(&turned, c.labels, c.ours, c.public)
		turn = procrustes(pick(c.theirs, from), pick(c.ours, to))
		off.Sub(pick(&turned, from), pick(c.ours, to))
		distance = squares(&off) / float64(len(from))
	}
	return turn, distance
}

// With few classes, the class means leave most of the isometry undetermined. In this case start
// also pairs the principal axes of both clouds by their variance, with every combination of signs
// of the first axes.
const (
	fewClasses = 3
	signs      = 5
	trySteps   = 4
)

// start returns the isometry from which align starts.
func (c clouds) start() *mat.Dense {
	a, b := classMeans(c.theirs, c.labels), classMeans(c.ours, c.public)
	best := procrustes(rowsOf(a), rowsOf(b))
	if len(a) > fewClasses {
		return best
	}
	_, axes := c.ours.Dims()
	_, least := c.align(best, trySteps)
	for pattern := range 1 << min(axes, signs) {
		try := mat.NewDense(axes, axes, nil)
		for k := range axes {
			try.Set(k, k, 1-2*float64(pattern>>k&1))
		}
		if _, distance := c.align(try, trySteps); distance < least {
			best, least = try, distance
		}
	}
	return best
}

// rowsOf returns a matrix whose rows are the class means, in the order of the classes.
func rowsOf(means map[int][]float64) *mat.Dense {
	var data []float64
	for _, c := range slices.Sorted(maps.Keys(means)) {
		data = append(data, means[c]...)
	}
	return mat.NewDense(len(means), len(data)/len(means), data)
}

// Gram returns the matrix of all inner products of rows.
func Gram(rows *mat.Dense) *mat.SymDense {
	n, _ := rows.Dims()
	g := mat.NewSymDense(n, nil)
	g.SymOuterK(1, rows)
	return g
}

// R2 returns the coefficient of determination of a guess. It is the share of the rows' variance,
// about the mean of the public rows, that the guess explains.
func R2(rows, guess, public *mat.Dense) float64 {
	mean := meanOf(public, nil)
	var off mat.Dense
	off.Sub(rows, guess)
	return 1 - squares(&off)/squares(minus(rows, mean))
}

func squares(m *mat.Dense) (sum float64) {
	n := mat.Norm(m, 2)
	return n * n
}

// coordinates returns the principal coordinates of the centred rows, computed from their Gram
// matrix.
func coordinates(gram mat.Symmetric, axes int) *mat.Dense {
	n := gram.SymmetricDim()
	means, all := make([]float64, n), 0.
	for i := range n {
		for j := range n {
			means[i] += gram.At(i, j) / float64(n)
		}
		all += means[i] / float64(n)
	}
	centred := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			centred.SetSym(i, j, gram.At(i, j)-means[i]-means[j]+all)
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(centred, true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // eigenvalues in ascending order
	x := mat.NewDense(n, axes, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		at := n - 1 - j
		return vectors.At(i, at) * math.Sqrt(max(values[at], 0))
	}, x)
	return x
}
