package metrics

import "math"

// normal975 is the 97.5 percentile of the standard normal distribution.
const normal975 = 1.959963984540054

// Wilson returns the 95 % score interval of the proportion part/whole (Wilson 1927); nil if whole
// is 0. The interval has a width above 0 even if the proportion is 0 or 1.
func Wilson(part, whole int) *Interval {
	if whole == 0 {
		return nil
	}
	n, p, z := float64(whole), float64(part)/float64(whole), normal975
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	in := &Interval{Low: (middle - half) / (1 + z*z/n), High: (middle + half) / (1 + z*z/n)}
	if part == 0 {
		in.Low = 0 // exactly 0, without rounding errors
	}
	if part == whole {
		in.High = 1
	}
	return in
}

// ClassProportions holds the 95 % score intervals of a class's proportions. The interval of a
// proportion of no rows is nil.
type ClassProportions struct {
	Precision, Recall, Specificity, NPV *Interval
}

// Proportions returns the score intervals of the accuracy and of each class's proportions, in the
// order of the classes.
func (m *ConfusionMatrix) Proportions() (accuracy *Interval, classes []ClassProportions) {
	all := 0
	for i := range m.Counts {
		rows, predicted := m.sums(i)
		right := m.Counts[i][i]
		cleared := m.cleared(i)
		all += right
		classes = append(classes, ClassProportions{
			Precision: Wilson(right, predicted), Recall: Wilson(right, rows),
			Specificity: Wilson(cleared, m.total-rows), NPV: Wilson(cleared, m.total-predicted),
		})
	}
	return Wilson(all, m.total), classes
}
