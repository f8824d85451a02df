package sealed

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// The tests of this file are attacks of one lying data party, and they succeed, as the package's comment says. Nothing
// binds an upload to rows: the liar declares 100 rows and uploads sums of its choice. Keepers are honest. They compute
// exactly on the sums that were uploaded, so their check says nothing about the lie: it accepts as long as the
// polynomial converges on these sums and W stays within omega. The tests compute W in the clear and require that.

// declared are the rows that the liar claims.
const declared = 100

// victims makes the sums of honest rows, for a problem that counts the liar's rows, too.
func victims(t *testing.T, d table, features int) *instance {
	t.Helper()
	in := &instance{table: d}
	var err error
	if in.of, err = moments.Features(kernel.Spec{Name: "rbf", Gamma: d.gamma}, [32]byte{5}, features, d.rows.Cols); err != nil {
		t.Fatal(err)
	}
	if in.Problem, err = NewProblem(d.rows.Rows+declared, features, d.classes, 1e-4); err != nil {
		t.Fatal(err)
	}
	in.sum(t, 1)
	return in
}

// noRows are a liar's sums that are all zero.
func (in *instance) noRows() *sums64 {
	return &sums64{outer: make([]int64, len(in.outer)), cross: make([]int64, len(in.cross))}
}

// units returns a number of rows as a whole number.
func (p Problem) units(rows float64) int64 {
	return int64(math.Round(math.Ldexp(rows, 2*p.CellBits())))
}

// diagonal are a liar's sums with A_p = t I.
func (in *instance) diagonal(rows float64) *sums64 {
	s := in.noRows()
	for i := range in.Features {
		s.outer[ring128.Start(in.Features, i)] = in.units(rows)
	}
	return s
}

// tell returns the model of the honest sums and the liar's, and whether honest keepers accept it for sure: all sums of R
// and of W are within the bounds that honest sums keep.
func (in *instance) tell(t *testing.T, lie *sums64) (w linalg.Matrix[float64], accepted bool) {
	t.Helper()
	all := *in
	all.outer, all.cross = plus(in.outer, lie.outer), plus(in.cross, lie.cross)
	bounds, err := all.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	if w, err = all.Problem.solve(all.outer, all.cross); err != nil { // keepers cannot see whether an entry is too large
		t.Fatal(err)
	}
	return w, largestOf(sums(w.Data)) <= bounds.Weights && largestOf(sums(all.residual(t, w))) <= bounds.Residual
}

// accepted is tell, and requires that keepers accept.
func (in *instance) accepted(t *testing.T, lie *sums64) linalg.Matrix[float64] {
	t.Helper()
	w, ok := in.tell(t, lie)
	if !ok {
		t.Error("honest keepers refuse the lie")
	}
	return w
}

// refused requires that keepers do not accept.
func (in *instance) refused(t *testing.T, lie *sums64) {
	t.Helper()
	if _, ok := in.tell(t, lie); ok {
		t.Error("honest keepers accept the lie")
	}
}

// inRows returns whole numbers in rows.
func (p Problem) inRows(whole []int64) []float64 {
	list := make([]float64, len(whole))
	for k, v := range whole {
		list[k] = math.Ldexp(float64(v), -2*p.CellBits())
	}
	return list
}

// outerInRows is A of the honest rows plus a multiple of the unit matrix.
func (in *instance) outerInRows(shift float64) linalg.Matrix[float64] {
	a, triangle := linalg.New[float64](in.Features, in.Features), in.inRows(in.outer)
	for i := range a.Rows {
		for j, v := range triangle[ring128.Start(a.Rows, i):][:a.Rows-i] {
			a.Row(i)[i+j], a.Row(i + j)[i] = v, v
		}
		a.Row(i)[i] += shift
	}
	return a
}

// extremes are the least and the greatest eigenvalue of A of the honest rows, by power iterations.
func (in *instance) extremes(t *testing.T) (least, greatest float64) {
	t.Helper()
	a, factor := in.outerInRows(0), in.outerInRows(0)
	if err := linalg.Cholesky(factor); err != nil {
		t.Fatal(err)
	}
	low, high := linalg.New[float64](1, a.Rows), linalg.New[float64](1, a.Rows)
	for k := range a.Rows {
		low.Data[k], high.Data[k] = math.Sin(float64(k)), 1
	}
	for range 3000 {
		linalg.SolveCholesky(factor, low)
		least = 1 / norm(low.Data)
		next := linalg.New[float64](1, a.Rows)
		linalg.MulTransB(next, high, a)
		high = next
		greatest = norm(high.Data)
		for k := range a.Rows {
			low.Data[k] *= least
			high.Data[k] /= greatest
		}
	}
	return least, greatest
}

// correlation is Pearson's.
func correlation(x, y []float64) float64 {
	mx, my := linalg.Mean(x), linalg.Mean(y)
	var xx, yy, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

// about requires a figure of the package's comment.
func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	t.Logf("%s: %.3f (%.2f)", what, got, want)
	if !(math.Abs(got-want) <= .05) {
		t.Errorf("%s: %.3f, want %.2f", what, got, want)
	}
}

// wide are digits with the wider spectrum of gamma .2.
func wide(t *testing.T) table {
	d := digits(t)
	d.gamma = .2
	return d
}

// A party that uploads A_p = t I and B_p = 0 opens W near B/t, the sums of each class. The correlation is a mean over
// classes. It passes for t up to N less the greatest eigenvalue of A.
func TestLiarOpensTheTargets(t *testing.T) {
	for _, c := range []struct {
		of                      table
		honest, at300, greatest float64
	}{{digits(t), .23, .79, .91}, {wide(t), .58, .96, .99}} {
		in := victims(t, c.of, 128)
		least, greatest := in.extremes(t)
		limit := float64(in.Bound()) - greatest
		t.Logf("gamma %v: eigenvalues %.3g to %.4g", c.of.gamma, least, greatest)
		like := func(rows float64) float64 {
			w, b, sum := in.accepted(t, in.diagonal(rows)), in.inRows(in.cross), 0.0
			for k := range in.Targets {
				sum += correlation(w.Row(k), b[k*in.Features:][:in.Features])
			}
			return sum / float64(in.Targets)
		}
		about(t, "honest", like(0), c.honest)
		about(t, "t = 300", like(300), c.at300)
		about(t, "the largest t", like(math.Floor(limit)), c.greatest)
		in.refused(t, in.diagonal(1.05*limit))
	}
}

// A party that uploads A_p = t I but for entry l, and e there in one target of B_p, opens column l of A in this target:
// its word l is near e/A_ll, and the others are near -A_kl/t times it. The correlation is the median over entries. An e
// that makes W's words too large is refused.
func TestLiarOpensAColumn(t *testing.T) {
	for _, c := range []struct {
		of   table
		want float64
	}{{digits(t), .93}, {wide(t), .97}} {
		in := victims(t, c.of, 128)
		var list, honest []float64
		plain, a := in.solve(t), in.outerInRows(0)
		for l := 0; l < in.Features; l += 9 {
			lie := in.diagonal(300)
			lie.outer[ring128.Start(in.Features, l)] = 0
			lie.cross[l] = in.units(500)
			others := func(v []float64) []float64 { return slices.Delete(slices.Clone(v), l, l+1) }
			list = append(list, -correlation(others(in.accepted(t, lie).Row(0)), others(a.Row(l))))
			honest = append(honest, math.Abs(correlation(others(plain.Row(0)), others(a.Row(l)))))
		}
		lie := in.diagonal(300)
		lie.outer[0], lie.cross[0] = 0, in.units(50_000)
		in.refused(t, lie)
		slices.Sort(list)
		slices.Sort(honest)
		about(t, "column", list[len(list)/2], c.want)
		t.Logf("gamma %v: %.2f to %.2f, the honest model %.2f", c.of.gamma, list[0], list[len(list)-1], honest[len(honest)/2])
		if honest[len(honest)/2] > .5 {
			t.Error("the honest model tells as much")
		}
	}
}

// A party that uploads A_p = -t I opens the model for alpha - t, even for one that is negative, as long as t is below
// alpha plus A's least eigenvalue.
func TestLiarOpensASmallerAlpha(t *testing.T) {
	in := victims(t, wide(t), 128)
	least, _ := in.extremes(t)
	alpha := in.Ratio() * float64(in.Bound())
	off := func(w linalg.Matrix[float64], alpha float64) float64 { // relative, from the model for alpha
		factor, of := in.outerInRows(alpha), linalg.New[float64](in.Targets, in.Features)
		copy(of.Data, in.inRows(in.cross))
		if err := linalg.Cholesky(factor); err != nil {
			t.Fatal(err)
		}
		linalg.SolveCholesky(factor, of)
		size := norm(of.Data)
		linalg.Axpy(-1, w.Data, of.Data)
		return norm(of.Data) / size
	}
	for _, rows := range []float64{alpha, 3 * alpha, least + alpha/2} {
		w := in.accepted(t, in.diagonal(-rows))
		t.Logf("alpha %.3f, least eigenvalue %.3f, t %.3f: off from the model for alpha - t by %.1e, for alpha by %.2f", alpha, least, rows, off(w, alpha-rows), off(w, alpha))
		if off(w, alpha-rows) > off(w, alpha)/10 {
			t.Errorf("t %v: not the model for alpha - t", rows)
		}
	}
	in.refused(t, in.diagonal(-least-1.5*alpha))
}

// inked are digits as 0 and 1, of the pixels that at least ten training images have, as features of norm up to 1.
func inked(t *testing.T) (in *instance, counts linalg.Matrix[float64]) {
	t.Helper()
	d := digits(t)
	var kept []int
	for k := range d.rows.Cols {
		people := 0
		for _, v := range d.rows.Column(k) {
			if v > .5 {
				people++
			}
		}
		if people >= 10 && len(kept) < 47 {
			kept = append(kept, k)
		}
	}
	x, y := linalg.New[float64](len(kept), d.rows.Rows), linalg.New[float64](10, d.rows.Rows)
	for to, from := range kept {
		for i, v := range d.rows.Column(from) {
			if v > .5 {
				x.Row(to)[i] = 1
			}
		}
	}
	for i, c := range d.codes {
		y.Row(c)[i] = 1
	}
	counts = linalg.New[float64](len(kept), len(kept))
	linalg.Syrk(counts, x)
	in = &instance{table: d}
	var err error
	if in.Problem, err = NewProblem(d.rows.Rows+declared, len(kept), 10, 1e-4); err != nil {
		t.Fatal(err)
	}
	for k := range x.Data {
		x.Data[k] /= math.Sqrt(float64(len(kept)))
	}
	whole, err := NewAccumulator(in.Problem)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.Add(x, y); err != nil {
		t.Fatal(err)
	}
	in.outer, in.cross = whole.Sums()
	return in, counts
}

// With fixed features the sums are the same in each job. A party that uploads A_p = 0, and in each of five jobs ten
// unit vectors times e for B_p, gets the columns of e (A + alpha)^-1 as differences from a first job's model, and so A:
// for each pair of pixels how many people have both.
func TestLiarCountsPairs(t *testing.T) {
	in, counts := inked(t)
	const e = 1
	first := in.accepted(t, in.noRows())
	inverse := linalg.New[float64](in.Features, in.Features)
	jobs := 1
	for lo := 0; lo < in.Features; lo += in.Targets {
		lie := in.noRows()
		hi := min(lo+in.Targets, in.Features)
		for l := lo; l < hi; l++ {
			lie.cross[(l-lo)*in.Features+l] = in.units(e)
		}
		w := in.accepted(t, lie)
		for l := lo; l < hi; l++ {
			for k, v := range w.Row(l - lo) {
				inverse.Row(l)[k] = (v - first.Row(l - lo)[k]) / e
			}
		}
		jobs++
	}
	found := inverted(t, inverse)
	one := math.Trunc(math.Ldexp(in.RowScale()/math.Sqrt(float64(in.Features)), in.CellBits()))
	right, small, worst := 0, 0, 0.0
	for i := range found.Rows {
		for j := range i {
			people := math.Ldexp(found.Row(i)[j], 2*in.CellBits()) / (one * one)
			worst = max(worst, math.Abs(people-counts.Row(i)[j]))
			if math.Round(people) == counts.Row(i)[j] {
				right++
				if c := counts.Row(i)[j]; c > 0 && c < 10 {
					small++
				}
			}
		}
	}
	t.Logf("%d jobs, %d numbers: %d of %d counts are right, %d of 1 to 9 people; the largest error is %.2g people", jobs, jobs*in.Features*in.Targets, right, in.Features*(in.Features-1)/2, small, worst)
	if in.Features != 47 || jobs != 6 || right != 1081 || small != 89 {
		t.Error("not all counts are found")
	}
}

// With A_p = 1,600 I but for ten entries, and 150 in a target for each, one job nearly shows ten columns of these counts:
// as t is large beside A, the other words of W are about -A/t times the ten words.
func TestLiarShowsTenColumnsOfPairs(t *testing.T) {
	in, counts := inked(t)
	const rows, e = 1600, 150
	lie := in.diagonal(rows)
	for c := range in.Targets {
		lie.outer[ring128.Start(in.Features, 4*c)] = 0
		lie.cross[c*in.Features+4*c] = in.units(e)
	}
	w := in.accepted(t, lie)
	own, others := mat.NewDense(in.Targets, in.Targets, nil), mat.NewDense(in.Targets, in.Features, nil)
	for c := range in.Targets {
		for l := range in.Targets {
			own.Set(c, l, w.Row(c)[4*l])
		}
		for k, v := range w.Row(c) {
			others.Set(c, k, -rows*v)
		}
	}
	var shown mat.Dense
	if err := shown.Solve(own, others); err != nil {
		t.Fatal(err)
	}
	var got, want []float64
	for l := range in.Targets {
		for k := range in.Features {
			if k%4 != 0 || k >= 4*in.Targets {
				got, want = append(got, shown.At(l, k)), append(want, counts.Row(4 * l)[k])
			}
		}
	}
	about(t, "counts in ten columns", correlation(got, want), .98)
	in.refused(t, in.diagonal(rows+100))
}

// inverted returns the inverse of a symmetric matrix, up to errors.
func inverted(t *testing.T, m linalg.Matrix[float64]) linalg.Matrix[float64] {
	t.Helper()
	factor, inverse := linalg.New[float64](m.Rows, m.Rows), linalg.New[float64](m.Rows, m.Rows)
	for i := range m.Rows {
		inverse.Row(i)[i] = 1
		for j := range m.Rows {
			factor.Row(i)[j] = (m.Row(i)[j] + m.Row(j)[i]) / 2
		}
	}
	if err := linalg.Cholesky(factor); err != nil {
		t.Fatal(err)
	}
	linalg.SolveCholesky(factor, inverse)
	return inverse
}

// A party that uploads A_p = 0 and B_p = 12 phi(x) of a chosen person in each column gets this person's leverage times
// 12 on top of its output. That tells members better than the losses of the honest model. Ten people are asked in one
// job; for all others the model is linear in B_p, so that the answers follow from A.
func TestLiarReadsLeverages(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		of              table
		rows            int
		loss, leverages float64
	}{{wide(t), 800, .85, .89}, {digits(t), 1347, .59, .58}} {
		d := c.of
		d.rows, d.codes = d.rows.Panel(0, c.rows), d.codes[:c.rows]
		in := victims(t, d, 512)
		all := crowdOf(&instance{table: c.of, Problem: in.Problem, of: in.of})
		outsiders := linalg.Range(c.rows, all.phi.Rows)
		alpha := in.Ratio() * float64(in.Rows)
		factor, w := all.fit(t, outsiders, alpha)
		f, scores, member := all.outputs(w), make([]float64, all.phi.Rows), all.memberships(outsiders)
		for i, h := range all.leverages(factor) {
			scores[i] = -f.Row(i)[i%10] - 12*h
		}
		in.ask(t, all, outsiders[0]-5, scores)
		about(t, "losses", area(t, member, all.losses(f)), c.loss)
		about(t, "leverages", area(t, member, scores), c.leverages)
	}
}

// ask tells 12 phi of ten people, and requires that the answers are the negative scores.
func (in *instance) ask(t *testing.T, all *crowd, from int, scores []float64) {
	t.Helper()
	lie := in.noRows()
	for i := from; i < from+10; i++ {
		for k, v := range all.phi.Row(i) {
			lie.cross[i%10*in.Features+k] = in.units(12 * v * in.RowScale())
		}
	}
	w := in.accepted(t, lie)
	for i := from; i < from+10; i++ {
		if got := linalg.Dot(w.Row(i%10), all.phi.Row(i)) * in.RowScale(); math.Abs(got+scores[i]) > .05 {
			t.Errorf("person %d: the job says %.3f, not %.3f", i, got, -scores[i])
		}
	}
}
