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
		return checkTested(f, j, s)
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

// checkTested refuses a table that is held out as a whole and is too small for figures over its
// own rows.
func checkTested(f method.Floors, j *job.Job, s method.Split) error {
	if n := len(s.Test); n < f.HeldOutRows {
		return method.TooFew("the figures of this job are over this party's rows alone, and it asks for %d of them; this table gives it %d", f.HeldOutRows, n)
	}
	classes := make(map[string]int)
	if j.Task().Classes {
		for _, label := range s.Set.Labels {
			classes[label]++
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if n := classes[class]; n < f.ClassRows {
			return method.TooFew("the figures of this job are over this party's rows alone, and it asks for %d of each class; this table gives it %d of class %q", f.ClassRows, n, class)
		}
	}
	return nil
}
