package rows

import (
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// CheckSplit refuses a table with too few rows for sums over them: too few to train with, to
// hold out, or of a class.
func CheckSplit(f method.Floors, j *job.Job, s method.Split) error {
	rows, classes := s.Rows(false), make(map[string]int)
	for _, i := range rows {
		if j.Task().Classes {
			classes[s.Set.Labels[i]]++
		}
	}
	training, whole := len(rows), j.Data.Test.Party != ""
	if whole && training == 0 {
		return CheckOwnFigures(f, j, s)
	}
	if training < f.TrainingRows {
		return method.TooFew("protocol moments asks for %d training rows of each party, and this table gives it %d", f.TrainingRows, training)
	}
	if held := len(s.Test) - training; j.Data.Test != (job.Test{}) && !whole && held < f.HeldOutRows {
		return method.TooFew("protocol moments asks for %d held-out rows of each party, and this table gives it %d", f.HeldOutRows, held)
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if n := classes[class]; n < f.ClassRows {
			return method.TooFew("protocol moments asks for %d training rows of each class that a party has, and this table gives it %d of class %q; leave them out", f.ClassRows, n, class)
		}
	}
	return nil
}

// CheckOwnFigures refuses a table with too few held-out rows for figures over these alone. Rows
// that are held out in turn are all of them.
func CheckOwnFigures(f method.Floors, j *job.Job, s method.Split) error {
	held := s.Rows(true)
	if j.Data.Test == (job.Test{}) {
		held = s.Rows(false)
	}
	if n := len(held); n < f.HeldOutRows {
		return method.TooFew("figures over this party's rows alone ask for %d of them, and this table gives it %d", f.HeldOutRows, n)
	}
	classes := make(map[string]int)
	if j.Task().Classes {
		for _, i := range held {
			classes[s.Set.Labels[i]]++
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if n := classes[class]; n < f.ClassRows {
			return method.TooFew("figures over this party's rows alone ask for %d of each class, and this table gives it %d of class %q", f.ClassRows, n, class)
		}
	}
	return nil
}
