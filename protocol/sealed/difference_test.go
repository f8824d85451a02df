package sealed

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// direction is the strongest combination of a difference of weights, targets x features. That of two models that
// differ by one row is phi^T (A + alpha)^-1 but for a factor, in all targets.
func direction(difference linalg.Matrix[float64]) []float64 {
	gram := linalg.New[float64](difference.Rows, difference.Rows)
	linalg.Syrk(gram, difference)
	v := linalg.New[float64](1, gram.Rows)
	for k := range v.Data {
		v.Data[k] = 1 + float64(k)/100
	}
	for range 500 {
		next := linalg.New[float64](1, gram.Rows)
		linalg.MulTransB(next, v, gram)
		size := norm(next.Data)
		for k := range next.Data {
			next.Data[k] /= size
		}
		v = next
	}
	u := make([]float64, difference.Cols)
	for k, x := range v.Data {
		linalg.Axpy(x, difference.Row(k), u)
	}
	return u
}

// invert finds the row whose features are nearest to a vector, up to its length: the phases over the directions are
// linear in the row, but for whole turns. It returns what is left of the phases, too.
func (in *instance) invert(t *testing.T, v []float64) (x []float64, left float64) {
	t.Helper()
	d, half := in.of.(feature.Map).Directions, len(v)/2
	weighted, phases, total := linalg.New[float64](d.Cols, half), make([]float64, half), 0.0
	for k := range half {
		phases[k] = math.Atan2(v[half+k], v[k])
		size := math.Hypot(v[half+k], v[k])
		total += size * size
		for j, w := range d.Row(k) {
			weighted.Row(j)[k] = size * w
		}
	}
	factor, step := linalg.New[float64](d.Cols, d.Cols), linalg.New[float64](1, d.Cols)
	linalg.Syrk(factor, weighted)
	for j := range d.Cols {
		factor.Row(j)[j] *= 1 + 1e-9
	}
	if err := linalg.Cholesky(factor); err != nil {
		t.Fatal(err)
	}
	x = make([]float64, d.Cols)
	for range 31 {
		clear(step.Data)
		left = 0
		for k, p := range phases {
			off, size := math.Remainder(p-linalg.Dot(d.Row(k), x), 2*math.Pi), math.Hypot(v[half+k], v[k])
			left += size * size * off * off / total
			linalg.Axpy(size*size*off, d.Row(k), step.Data)
		}
		linalg.SolveCholesky(factor, step)
		for j := range x {
			x[j] = min(1, max(0, x[j]+step.Data[j]))
		}
	}
	return x, left
}

// reveal returns the row by which two models differ, as far as the attacker finds it: it multiplies the strongest
// direction of the difference by A of rows of its own, and keeps the image that leaves least of the phases.
func (in *instance) reveal(t *testing.T, difference, own linalg.Matrix[float64]) []float64 {
	t.Helper()
	phi, u := in.features(own), direction(difference)
	a := linalg.New[float64](phi.Rows, phi.Rows)
	linalg.Syrk(a, phi)
	au := make([]float64, len(u))
	for i := range au {
		au[i] = linalg.Dot(a.Row(i), u) * float64(in.Rows) / float64(own.Rows)
	}
	var best []float64
	least := math.Inf(1)
	for _, shift := range []float64{1e-3, .1, 1, 10, 100} {
		for _, sign := range []float64{1, -1} {
			v := make([]float64, len(u))
			for i := range v {
				v[i] = sign * (au[i] + shift*u[i])
			}
			if x, left := in.invert(t, v); left < least {
				best, least = x, left
			}
		}
	}
	return best
}

// place is how many training rows gain more in their own class by a training row than this row does. An attacker that
// has the records of all training rows takes the first.
func (c *crowd) place(row int, with, without linalg.Matrix[float64]) (n int) {
	gain := func(i int) (g float64) {
		for k, y := range c.y.Row(i) {
			g += (y - 1/float64(c.y.Cols)) * (with.Row(i)[k] - without.Row(i)[k])
		}
		return g
	}
	for i := range c.members {
		if gain(i) > gain(row) {
			n++
		}
	}
	return n
}

// fresh draws directions from another seed.
func (in *instance) fresh(t *testing.T, seed byte) *instance {
	t.Helper()
	other := *in
	var err error
	if other.of, err = moments.Features(kernel.Spec{Name: "rbf", Gamma: in.gamma}, [32]byte{5, seed}, in.Features, in.rows.Cols); err != nil {
		t.Fatal(err)
	}
	return &other
}

// cut rounds weights down to the bits that are opened.
func (in *instance) cut(w linalg.Matrix[float64]) linalg.Matrix[float64] {
	scale := math.Ldexp(1/in.RowScale(), int(in.WeightBits()))
	for k, v := range w.Data {
		w.Data[k] = math.Floor(v*scale) / scale
	}
	return w
}

// fitted returns the weights on the attacker's features whose outputs on its own rows are nearest to those of a model
// less those of another, which has other features.
func (in *instance) fitted(t *testing.T, w linalg.Matrix[float64], other *instance, without, own linalg.Matrix[float64]) linalg.Matrix[float64] {
	t.Helper()
	phi, theirs := in.features(own), other.features(own)
	columns := func(w, phi linalg.Matrix[float64]) linalg.Matrix[float64] {
		f := linalg.New[float64](w.Rows, phi.Cols)
		for c := range w.Rows {
			for k, v := range w.Row(c) {
				linalg.Axpy(v, phi.Row(k), f.Row(c))
			}
		}
		return f
	}
	f := columns(w, phi)
	linalg.Axpy(-1, columns(without, theirs).Data, f.Data)
	factor, d := linalg.New[float64](phi.Rows, phi.Rows), linalg.New[float64](w.Rows, phi.Rows)
	add(factor, d, phi, f)
	for i := range factor.Rows {
		factor.Row(i)[i] += in.Ratio() * float64(own.Rows)
	}
	if err := linalg.Cholesky(factor); err != nil {
		t.Fatal(err)
	}
	linalg.SolveCholesky(factor, d)
	return d
}

// without are the training rows but one.
func (d table) without(row int) table {
	kept := slices.Delete(linalg.Range(0, d.rows.Rows), row, row+1)
	rows := linalg.New[float64](len(kept), d.rows.Cols)
	linalg.Gather(rows, linalg.Pick(d.rows, kept), 0)
	d.rows, d.codes = rows, linalg.At(d.codes, kept)
	return d
}

// Two models on the same directions whose training rows differ by one row reveal it to an attacker that has 450 rows
// of the same kind. So directions are fresh in each session: two models on different directions reveal less than the
// mean of the attacker's rows does. The models are exact ones, cut to the opened bits. For some rows the test computes
// what keepers open, whose alpha depends on the number of rows.
func TestModelsThatDifferByARow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := problemOf(t, digits(t), 512, 1e-4)
	all := crowdOf(in)
	held := linalg.Range(all.members, all.phi.Rows)
	alpha := in.Ratio() * float64(in.Rows)
	_, w := all.fit(t, held, alpha)
	in.cut(w)
	mean := make([]float64, in.held.Cols)
	for i := range in.held.Rows {
		linalg.Axpy(1/float64(in.held.Rows), in.held.Row(i), mean)
	}
	opened, _ := in.opened(t)
	keepers := 2
	if thorough {
		keepers = 12
	}
	var same, fresh, plain []float64
	var first, firstFresh int // rows in the first hundredth of all
	for victim := range 12 {
		row, outsiders := in.rows.Row(victim), append(slices.Clone(held), victim)
		_, without := all.fit(t, outsiders, alpha)
		if all.place(victim, all.outputs(w), all.outputs(in.cut(without))) < 13 {
			first++
		}
		difference := without
		linalg.Axpy(-1, w.Data, difference.Data)
		same = append(same, correlation(row, in.reveal(t, difference, in.held)))
		if victim < keepers {
			less, _ := problemOf(t, in.without(victim), 512, 1e-4).opened(t)
			linalg.Axpy(-1, opened.Data, less.Data)
			of := correlation(row, in.reveal(t, less, in.held))
			t.Logf("row %d: exact models %.3f, what keepers open %.3f", victim, same[victim], of)
			if of < same[victim]-.05 {
				t.Error("keepers open less")
			}
		}

		other := in.fresh(t, byte(1+victim))
		crowd := crowdOf(other)
		_, without = crowd.fit(t, outsiders, alpha)
		if all.place(victim, all.outputs(w), crowd.outputs(other.cut(without))) < 13 {
			firstFresh++
		}
		fresh = append(fresh, correlation(row, in.reveal(t, in.fitted(t, w, other, without, in.held), in.held)))
		plain = append(plain, correlation(row, mean))
	}
	for _, list := range [][]float64{same, fresh, plain} {
		slices.Sort(list)
	}
	t.Logf("correlation with the row, median of 12: same directions %.3f (mean %.2f, least %.2f), fresh ones %.3f (mean %.2f), mean of the attacker's rows %.3f (mean %.2f)", same[6], linalg.Mean(same), same[0], fresh[6], linalg.Mean(fresh), plain[6], linalg.Mean(plain))
	t.Logf("of 12 rows %d are among the 13 of all training rows that gain most, with fresh directions %d", first, firstFresh)
	if same[6] < .93 || fresh[6] > plain[6] || first < 7 || firstFresh > 1 {
		t.Error("fresh directions do not make the difference")
	}
}
