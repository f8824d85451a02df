package okra

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// The attacks that distinguish the paper's encoder from Mercer's, as docs/protocols/okra.md
// describes them. The server holds the encodings of all rows, as float32, and some rows in clear.
// It knows neither seed nor blocks nor permutations. Every attack runs unchanged, on the same rows,
// against every encoder.
const (
	attackFeatures = 512
	attackRows     = 400 // fewer than features, far more than a block holds
	attackKnown    = 110
)

// secretRows are independent features of unequal variances, as real ones are.
func secretRows(n, f int) linalg.Matrix[float64] {
	s := prg.New([32]byte{11}, "attack")
	m := linalg.New[float64](n, f)
	scale := make([]float64, f)
	for j := range scale {
		scale[j] = math.Exp(1.5 * s.NormFloat64())
	}
	for i := range n {
		for j := range f {
			m.Row(i)[j] = scale[j] * s.NormFloat64()
		}
	}
	return m
}

// encodings returns the encodings of x that the server holds.
func encodings(t testing.TB, spec Spec, x linalg.Matrix[float64]) (Encoder, linalg.Matrix[float64]) {
	e := mustEncoder(t, spec, 12, x.Cols)
	y := linalg.New[float64](x.Rows, e.Width())
	e.Encode(y, x)
	for i, v := range y.Data {
		y.Data[i] = float64(float32(v))
	}
	return e, y
}

// clusters joins coordinates whose correlation over the rows is too large for
// chance (5.5 standard errors), and returns the groups by their first member.
func clusters(y linalg.Matrix[float64]) [][]int {
	c := transpose(make([]float64, len(y.Data)), y)
	for j := range c.Rows {
		row := c.Row(j)
		mean := 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for i := range row {
			row[i] -= mean
		}
		norm := math.Sqrt(dot(row, row))
		for i := range row {
			row[i] /= norm
		}
	}
	g := linalg.New[float64](c.Rows, c.Rows)
	linalg.Syrk(g, c)
	return components(g, 5.5/math.Sqrt(float64(y.Rows)))
}

// components returns the connected components of the graph of |g| > limit.
func components(g linalg.Matrix[float64], limit float64) (groups [][]int) {
	seen := make([]bool, g.Rows)
	for start := range g.Rows {
		if seen[start] {
			continue
		}
		seen[start] = true
		group := []int{start}
		for next := 0; next < len(group); next++ {
			for j, v := range g.Row(group[next]) {
				if !seen[j] && math.Abs(v) > limit {
					seen[j] = true
					group = append(group, j)
				}
			}
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	return groups
}

// pick returns the given columns of m.
func pick(m linalg.Matrix[float64], cols []int) linalg.Matrix[float64] {
	p := linalg.New[float64](m.Rows, len(cols))
	for i := range m.Rows {
		for j, c := range cols {
			p.Row(i)[j] = m.Row(i)[c]
		}
	}
	return p
}

// eigen decomposes the Gram matrix of the rows of m. Eigenvalues below what
// float32 leaves of zero are dropped.
func eigen(m linalg.Matrix[float64]) (values []float64, vectors linalg.Matrix[float64]) {
	g := linalg.New[float64](m.Rows, m.Rows)
	linalg.Syrk(g, m)
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(m.Rows, g.Data), true)
	all := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	first := slices.IndexFunc(all, func(x float64) bool { return x > 1e-12*all[len(all)-1] })
	vectors = linalg.New[float64](len(all)-first, m.Rows)
	for i := range vectors.Rows {
		mat.Col(vectors.Row(i), first+i, &v)
	}
	return all[first:], vectors
}

// decode is the attack by known rows: in each cluster, it finds the features
// that are combinations of the cluster's coordinates on the known rows, and
// applies the combinations to the other rows. Features found in no cluster are
// guessed from all coordinates, which is the projection onto the known rows.
// It returns how many features were identified and the guessed other rows.
func decode(groups [][]int, y, known linalg.Matrix[float64]) (identified int, guess linalg.Matrix[float64]) {
	p := known.Rows
	all := make([]int, y.Cols)
	for j := range all {
		all[j] = j
	}
	guess = linalg.New[float64](y.Rows-p, known.Cols)
	decided := make([]bool, known.Cols)
	for _, group := range append(slices.Clone(groups), all) {
		solve(pick(y, group), known, func(feature int, residual float64, values []float64) {
			rests := len(group) == y.Cols
			if decided[feature] || residual > .01 && !rests {
				return
			}
			if len(group) < p && residual <= .01 {
				identified++
			}
			decided[feature] = true
			for i, v := range values {
				guess.Row(i)[feature] = v
			}
		})
	}
	return identified, guess
}

// solve regresses each feature of the known rows on the coordinates y, and returns the relative
// residual and the regression's values for other rows.
func solve(y, known linalg.Matrix[float64], report func(feature int, residual float64, values []float64)) {
	p := known.Rows
	values, vectors := eigen(y.Panel(0, p))
	cross := linalg.New[float64](y.Rows-p, p)
	linalg.MulTransB(cross, y.Panel(p, y.Rows), y.Panel(0, p))
	columns := transpose(make([]float64, len(known.Data)), known)
	for j := range columns.Rows {
		x := slices.Clone(columns.Row(j))
		weights := make([]float64, p)
		for e, lambda := range values {
			along := dot(vectors.Row(e), columns.Row(j))
			axpy(x, -along, vectors.Row(e))
			axpy(weights, along/lambda, vectors.Row(e))
		}
		guess := make([]float64, cross.Rows)
		for i := range guess {
			guess[i] = dot(cross.Row(i), weights)
		}
		report(j, math.Sqrt(dot(x, x)/dot(columns.Row(j), columns.Row(j))), guess)
	}
}

// meanError is the root mean square error of a feature, relative to its
// standard deviation, averaged over the features. Guessing zero gives 1.
func meanError(guess, truth linalg.Matrix[float64]) (mean float64) {
	for j := range truth.Cols {
		var wrong, size float64
		for i := range truth.Rows {
			d := guess.Row(i)[j] - truth.Row(i)[j]
			wrong += d * d
			size += truth.Row(i)[j] * truth.Row(i)[j]
		}
		mean += math.Sqrt(wrong/size) / float64(truth.Cols)
	}
	return mean
}

// rank counts, without any known row, the dimensions that the rows fill in
// each cluster that has fewer coordinates than there are rows.
func rank(groups [][]int, y linalg.Matrix[float64]) (sum int) {
	for _, group := range groups {
		columns := pick(y, group)
		values, _ := eigen(transpose(make([]float64, len(columns.Data)), columns))
		sum += len(values)
	}
	return sum
}

// Measured: the 8 blocks exactly, f exactly, and with 110 known rows all 512
// features, the other rows to 8e-7.
func TestAttacksOnBlockSucceed(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := secretRows(attackRows, attackFeatures)
	e, y := encodings(t, Spec{Mode: Paper, BlockWidth: 64}, x)
	groups := clusters(y)
	if !slices.EqualFunc(groups, trueBlocks(e.(*block)), slices.Equal) {
		t.Errorf("the correlations of the coordinates give %d groups, not the %d blocks", len(groups), len(e.(*block).frames))
	}
	if got := rank(groups, y); got != attackFeatures {
		t.Errorf("the ranks of the blocks give %d features, want %d", got, attackFeatures)
	}
	identified, guess := decode(groups, y, x.Panel(0, attackKnown))
	if wrong := meanError(guess, x.Panel(attackKnown, attackRows)); identified != attackFeatures || wrong > 1e-5 {
		t.Errorf("%d known rows identify %d features and leave an error of %.2g", attackKnown, identified, wrong)
	}
}

// trueBlocks returns the coordinates of each block, as clusters would.
func trueBlocks(b *block) (blocks [][]int) {
	for _, f := range b.frames {
		var group []int
		for _, to := range b.out[f.at : f.at+f.rows] {
			group = append(group, int(to))
		}
		slices.Sort(group)
		blocks = append(blocks, group)
	}
	slices.SortFunc(blocks, slices.Compare)
	return blocks
}

// Measured, for all three: one group of all 576 coordinates; rank 400, which
// is the number of rows; no feature identified, error 1.2 (guessing 0 gives 1).
func TestAttacksOnDenseEncodersFail(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := secretRows(attackRows, attackFeatures)
	for _, spec := range []Spec{{}, {Rounds: 2}, {Encoder: Haar}, {Encoder: HBH}, {Encoder: Flake}} {
		e, y := encodings(t, spec, x)
		groups := clusters(y)
		if len(groups) != 1 {
			t.Errorf("%+v: the %d coordinates fall into %d groups", spec, e.Width(), len(groups))
		}
		if got := rank(groups, y); got != attackRows {
			t.Errorf("%+v: rank %d of %d rows", spec, got, attackRows)
		}
		identified, guess := decode(groups, y, x.Panel(0, attackKnown))
		if wrong := meanError(guess, x.Panel(attackKnown, attackRows)); identified != 0 || wrong < .5 {
			t.Errorf("%+v: %d known rows identify %d features and leave an error of %.2g", spec, attackKnown, identified, wrong)
		}
	}
}

// No isometric encoder prevents this attack: once as many independent rows are known as there are
// features, every other row is decoded. The tests above would not notice an encoder that scrambles
// instead of preserving inner products.
func TestEnoughKnownRowsDecodeEverything(t *testing.T) {
	const f = 40
	x := secretRows(60, f)
	for _, spec := range encoders {
		_, y := encodings(t, spec, x)
		_, guess := decode(nil, y, x.Panel(0, 45))
		if wrong := meanError(guess, x.Panel(45, 60)); wrong > 1e-4 {
			t.Errorf("%+v: 45 known rows of %d features leave an error of %.2g", spec, f, wrong)
		}
	}
}

// Security rule 20: a new seed after a withdrawal protects new rows only from those who never
// compare. The leaver's seed decodes the rows that stayed; sent again under the next seed, they
// are known rows, which decode every row that comes. Measured: a mean error of 1.2e-7.
func TestLeaverDecodesTheNextEpoch(t *testing.T) {
	const f, stayed = 40, 100
	x := secretRows(stayed+20, f)
	spec := Spec{Wire: Float64}
	before, y := encodings(t, spec, x.Panel(0, stayed))
	frame, unit := linalg.New[float64](f, before.Width()), linalg.New[float64](f, f)
	for i := range f {
		unit.Row(i)[i] = 1
	}
	before.Encode(frame, unit)
	known := linalg.New[float64](stayed, f)
	linalg.MulTransB(known, y, frame) // the isometry, undone
	next, err := NewEncoder(mustParams(t, spec), Seed{77}, f, Padding(f))
	if err != nil {
		t.Fatal(err)
	}
	seen := linalg.New[float64](x.Rows, next.Width())
	next.Encode(seen, x)
	_, guess := decode(nil, seen, known)
	wrong := meanError(guess, x.Panel(stayed, x.Rows))
	t.Logf("a leaver's seed and %d re-sent rows leave an error of %.2g in new rows", stayed, wrong)
	if wrong > 1e-5 {
		t.Errorf("new rows are decoded with an error of %.2g", wrong)
	}
}

// A single round is no encoding: if the width is a power of two, the server applies the public
// transform and has the values themselves, in another order and with other signs. Only the last
// permutation would then protect the data, so NewParams refuses one round. Measured: 960 of 960
// values after one round, none after two and three.
func TestOneRoundHidesNothing(t *testing.T) {
	const f = 960 // padded to 1024
	x := randomRows("one round", 1, f)
	for rounds, want := range map[int]int{1: f, 2: 0, 3: 0} {
		h := newHadamard(prg.New(Seed{13}, "one round"), rounds, f, Padding(f))
		y, scratch := make([]float64, h.width), make([]float64, h.width)
		copy(y, x.Row(0))
		for r := range rounds {
			h.layers[r].order.apply(y, scratch)
			h.mix(y, h.layers[r].signs, h.between[r])
		}
		linalg.SignedFWHT(y, nil, 1/math.Sqrt(float64(len(y)))) // the server's part
		found := 0
		for _, v := range x.Row(0) {
			if slices.ContainsFunc(y, func(w float64) bool { return math.Abs(math.Abs(w)-v) < 1e-9 }) {
				found++
			}
		}
		if found != want {
			t.Errorf("%d rounds: undoing the transform gives %d of %d values, want %d", rounds, found, f, want)
		}
	}
}
