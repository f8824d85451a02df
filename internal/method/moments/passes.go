package moments

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// panel processes some of a party's rows, in the form that enters sums, with their labels.
type panel = func(rows linalg.Rows, labels []string) error

// each calls a function with all rows of one side of a split, panel after panel.
type each = func(use panel) error

// addUp returns the moments of training rows. They do not depend on the division into panels.
func addUp(l objective, m feature.Map, training each) (*moments.Partial, error) {
	a := moments.NewAccumulator(m, l.width())
	err := training(func(rows linalg.Rows, labels []string) error {
		n, _ := rows.Shape()
		y, err := l.targets(labels, n)
		if err != nil {
			return err
		}
		return a.Add(rows, y)
	})
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return a.Partial, nil
}

// heldOutErrors holds the sums of a solution's errors over held-out rows, exact and not rounded.
type heldOutErrors struct {
	of        objective
	rows      int
	figures   []int64
	histogram *[2][]int // rows by class and bin; nil if the job has no histogram
}

// errorsOf measures a solution on held-out rows. The sums do not depend on the division into panels.
func errorsOf(j *job.Job, m feature.Map, t *fitted, heldOut each) (*heldOutErrors, error) {
	l := objectiveOf(j)
	e := &heldOutErrors{of: l, figures: make([]int64, l.errorSumCount())}
	measure, err := l.measurer(m, t)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if usesHistogram(j) {
		e.histogram = &[2][]int{make([]int, moments.Bins), make([]int, moments.Bins)}
	}
	err = heldOut(func(rows linalg.Rows, labels []string) error {
		figures, err := measure(rows, labels)
		if err != nil {
			return err
		}
		for i, v := range figures {
			e.figures[i] += v
		}
		n, _ := rows.Shape()
		e.rows += n
		if e.histogram == nil {
			return nil
		}
		counts, err := moments.CountDecisions(m, t.solution, rows, classRidge(job.As[*Keys](j.Protocol).Classes).codes(labels))
		for c := range counts {
			for b, n := range counts[c] {
				e.histogram[c][b] += n
			}
		}
		return err
	})
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return e, nil
}

// rounded returns the rounded sums of errors, which a party may report.
func (e *heldOutErrors) rounded() []int64 { return e.of.round(e.figures, e.rows) }

// vector returns a party's entries of the secure sum of errors.
func (e *heldOutErrors) vector(membership []int64) sums.Vector {
	v := sums.Vector{{int64(e.rows)}, e.rounded(), membership}
	if h := e.histogram; h != nil {
		v = append(v, append(moments.RoundCounts(h[0], e.rows), moments.RoundCounts(h[1], e.rows)...))
	}
	return v
}
