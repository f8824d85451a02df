package moments

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// JointMembership runs the membership attack on all candidates at once, and returns the area under
// its ROC curve. The sums are linear in the membership of the candidates, with one unknown for each
// candidate and one equation for each entry of A and B. The attack solves these equations by least
// squares. The candidates are rows, members of the sums before outsiders, with their targets y. The
// attack is stronger than [Membership], which tests rows one by one: if all members are among the
// candidates, it identifies them. JointMembership tries several regularisers and returns the
// largest area.
func JointMembership(s *Sums, m feature.Mapping, rows linalg.Rows, y Targets, members int) (float64, error) {
	n, width := rows.Shape()
	labelled, targets := y.Shape()
	if members < 1 || members >= n || labelled != n || targets != s.Cross.Rows || width != m.Width() || m.Len() != s.Outer.Rows {
		return 0, fmt.Errorf("moments: there are %d members among %d candidates of %d columns, with targets for %d rows; at least one member, one outsider and sizes that match the sums are needed", members, n, width, labelled)
	}
	x, phi := linalg.New[float64](n, width), linalg.New[float64](n, m.Len())
	linalg.Gather(x, rows, 0)
	m.Rows(phi, x)
	t := linalg.New[float64](targets, n)
	y.Columns(t, 0)
	equations, right := normalEquations(s, phi, t)
	member := make([]bool, n)
	for i := range members {
		member[i] = true
	}
	trace, best := 0.0, 0.0
	for i := range n {
		trace += equations.Row(i)[i]
	}
	for _, ridge := range []float64{1e-9, 1e-6, 1e-4, 1e-2} {
		l := linalg.New[float64](n, n)
		copy(l.Data, equations.Data)
		for i := range n {
			l.Row(i)[i] += ridge * trace / float64(n)
		}
		if linalg.Cholesky(l) != nil {
			continue // the matrix is not positive definite; the next regulariser is larger
		}
		found := linalg.New[float64](1, n)
		copy(found.Data, right)
		linalg.SolveCholesky(l, found)
		auc, err := metrics.ROCAUC(member, found.Data)
		if err != nil {
			return 0, err
		}
		best = max(best, auc)
	}
	return best, nil
}

// normalEquations builds the least-squares system of the membership attack. Its entries are
// products of each candidate's contribution to A and B with the other candidates' contributions and
// with the sums.
func normalEquations(s *Sums, phi, t linalg.Matrix[float64]) (equations linalg.Matrix[float64], right []float64) {
	n := phi.Rows
	equations, right = linalg.New[float64](n, n), make([]float64, n)
	same := linalg.New[float64](n, n) // products of targets
	by := linalg.New[float64](n, t.Rows)
	for c := range t.Rows {
		for i, v := range t.Row(c) {
			by.Row(i)[c] = v
		}
	}
	linalg.MulTransB(equations, phi, phi)
	linalg.MulTransB(same, by, by)
	for i, d := range equations.Data {
		equations.Data[i] = d*d + same.Data[i]*d
	}
	outer, cross := linalg.New[float64](n, phi.Cols), linalg.New[float64](n, t.Rows)
	linalg.MulTransB(outer, phi, s.Outer)
	linalg.MulTransB(cross, phi, s.Cross)
	for i := range n {
		right[i] = (linalg.Dot(phi.Row(i), outer.Row(i)) + linalg.Dot(by.Row(i), cross.Row(i))) / (One * One)
	}
	return equations, right
}
