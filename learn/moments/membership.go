package moments

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// tiny is the shift of [Leverages] in place of 0, as a share of the mean of A's diagonal. It makes a
// singular A positive definite.
const tiny = 1e-9

// Leverages returns phi^T (A + shift I)^-1 phi for the features phi of each row. With shift 0 it is
// the leverage with respect to the rows behind A. Leverages then uses a negligible shift instead, because
// A can be singular: rows outside the span of A's rows get a huge leverage. With shift alpha M/2, where alpha is
// the variance of a measurement's noise, alpha times the result is the variance of a Gaussian
// process with the kernel 2/M phi.phi at that row.
func Leverages(s *Sums, shift float64, m feature.Mapping, rows linalg.Rows) ([]float64, error) {
	if shift == 0 {
		for i := range s.Outer.Rows {
			shift += s.Outer.Row(i)[i] / (One * One)
		}
		shift *= tiny / float64(s.Outer.Rows)
	}
	l, err := factor(s.Outer, shift)
	if err != nil {
		return nil, fmt.Errorf("moments: the leverages cannot be computed: %w", err)
	}
	n, _ := rows.Shape()
	out := make([]float64, n)
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		linalg.SolveLower(l, phi)
		for i := range phi.Rows {
			for _, v := range phi.Row(i) {
				out[lo+i] += float64(v * v)
			}
		}
	})
	return out, nil
}

// Membership runs the leverage attack and returns the area under its ROC curve. The area shows how
// well the leverage with respect to s separates members, which are among the rows behind s, from
// outsiders of the same kind. With 0.5 the attacker only guesses, and with 1 the attacker is
// certain. A member has a smaller leverage, because the sums include the member's own row.
func Membership(s *Sums, m feature.Mapping, members, outsiders linalg.Rows) (float64, error) {
	inside, err := Leverages(s, 0, m, members)
	if err != nil {
		return 0, err
	}
	outside, err := Leverages(s, 0, m, outsiders)
	if err != nil {
		return 0, err
	}
	positive := make([]bool, len(inside)+len(outside))
	for i := range outside {
		positive[len(inside)+i] = true
	}
	return metrics.ROCAUC(positive, append(inside, outside...))
}
