package rows

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// CheckSplit refuses a table that is too small for sums over its rows, because it has too few training rows or
// held-out rows. Without privacy it also refuses too few training rows of a class or, with numbers as labels, too few
// besides those of the most common number; there all rows of a group count as one.
func CheckSplit(f method.Limits, j *job.Job, s method.Split) error {
	return checkSizes(f, j, listed(s))
}

// CheckLimits is like [CheckSplit] for the party's own rows, in memory or not.
func (p *Party) CheckLimits() error {
	return checkSizes(p.Limits, p.Job, p.sizes())
}

func checkSizes(f method.Limits, j *job.Job, s sizes) error {
	if j.Data.Private {
		return checkPrivateSizes(f, j, s)
	}
	training, whole, protocol := s.count(false), j.Data.Test.Party != "", j.Protocol.Name()
	if whole && training == 0 {
		return checkOwnFigures(f, j, s)
	}
	if training < f.TrainingRows {
		return method.TooFew("protocol %s needs at least %d training rows from each party, and this table has %d (training_rows in the limits of its policy)", protocol, f.TrainingRows, training)
	}
	if held := s.count(true); j.Data.Test != (job.Test{}) && !whole && held < f.HeldOutRows {
		return method.TooFew("protocol %s needs at least %d held-out rows from each party, and this table has %d (held_out_rows in the limits of its policy)", protocol, f.HeldOutRows, held)
	}
	if j.Task().Numbers {
		return checkTargets(f, protocol, s)
	}
	if !j.Task().Classes {
		return nil
	}
	if class, n, few := s.fewest(false, f.ClassRows); few {
		return method.TooFew("protocol %s needs at least %d training rows of each class that a party has, and this table has %d of class %q; leave them out, or lower class_rows in the limits of its policy", protocol, f.ClassRows, n, class)
	}
	return nil
}

// CheckOwnFigures refuses a table with too few held-out rows for a separate evaluation of the
// party. If rows are held out in turn, all rows count.
func CheckOwnFigures(f method.Limits, j *job.Job, s method.Split) error {
	return checkOwnFigures(f, j, listed(s))
}

func checkOwnFigures(f method.Limits, j *job.Job, s sizes) error {
	heldOut := j.Data.Test != (job.Test{})
	if n := s.count(heldOut); n < f.HeldOutRows {
		return method.TooFew("figures over this party's rows alone need at least %d held-out rows, and this table has %d (held_out_rows in the limits of its policy)", f.HeldOutRows, n)
	}
	if !j.Task().Classes {
		return nil
	}
	if class, n, few := s.fewest(heldOut, f.ClassRows); few {
		return method.TooFew("figures over this party's rows alone need at least %d held-out rows of each class, and this table has %d of class %q (class_rows in the limits of its policy)", f.ClassRows, n, class)
	}
	return nil
}

// CheckHeldOutClasses refuses a party in whose table a class has too few held-out rows. A histogram of
// decisions would reveal too much about these rows.
func (p *Party) CheckHeldOutClasses() error {
	if class, n, few := p.sizes().fewest(true, p.Limits.ClassRows); few {
		return method.TooFew("a histogram needs at least %d held-out rows of each class that a party holds out, and this table has %d of class %q; leave them out, or lower class_rows in the limits of its policy", p.Limits.ClassRows, n, class)
	}
	return nil
}

// CheckClassCells refuses a class of the party whose training rows have fewer cells than there are numbers that a job
// tells about each class. Such numbers would reveal most of these rows. If the limit ClassRows is 0, it refuses none.
func (p *Party) CheckClassCells(numbers int) error {
	if p.Limits.ClassRows == 0 || !p.Job.Task().Classes {
		return nil
	}
	least := (numbers + p.Width() - 1) / p.Width()
	if class, n, few := p.sizes().fewest(false, least); few {
		return method.TooFew("protocol %s tells %d numbers about each class, and this table has %d training rows of class %q, of %d columns; leave them out, or write fewer features", p.Job.Protocol.Name(), numbers, n, class, p.Width())
	}
	return nil
}

// sizes counts the party's rows, in memory or not.
func (p *Party) sizes() sizes {
	if p.stream != nil {
		return &p.stream.census
	}
	return listed(p.Split)
}

// countPeople returns the number of people to whom some rows belong. Each group is one person.
// Without groups, each row is one person.
func countPeople(s method.Split, rows []int) int {
	if s.Set.Groups == nil {
		return len(rows)
	}
	seen := make(map[string]bool)
	for _, i := range rows {
		seen[s.Set.Groups[i]] = true
	}
	return len(seen)
}

// rareClass finds the first class with too few people, and returns the class and the number of its
// people. If every class has enough people, ok is false.
func rareClass(s method.Split, rows []int, least int) (class string, n int, ok bool) {
	of := make(map[string][]int)
	for _, i := range rows {
		of[s.Set.Labels[i]] = append(of[s.Set.Labels[i]], i)
	}
	for _, class := range slices.Sorted(maps.Keys(of)) {
		if n := countPeople(s, of[class]); n < least {
			return class, n, true
		}
	}
	return "", 0, false
}

// checkTargets refuses numeric labels that are equal in all but a few training rows. Sums weighted
// by such labels would expose these few rows.
func checkTargets(f method.Limits, protocol string, s sizes) error {
	if few := s.unusual(f.ClassRows); few > 0 && few < f.ClassRows {
		return method.TooFew("protocol %s needs at least %d training rows whose label is not the most common number, and this table has %d; leave them out, or lower class_rows in the limits of its policy", protocol, f.ClassRows, few)
	}
	return nil
}

// unusualTargets returns the number of people in training whose label is not the most common number.
func unusualTargets(s method.Split) int {
	of, commonest := make(map[string][]int), ""
	for _, i := range s.Rows(false) {
		n := s.Set.Labels[i]
		if v, err := strconv.ParseFloat(n, 64); err == nil {
			n = strconv.FormatFloat(v+0, 'g', -1, 64) // equal numbers get the same text
		}
		if of[n] = append(of[n], i); len(of[n]) > len(of[commonest]) {
			commonest = n
		}
	}
	delete(of, commonest)
	return countPeople(s, slices.Concat(slices.Collect(maps.Values(of))...))
}

// JoinWords merges two maps from the parties' names to their permissions. A permission concerns
// figures over the party's own held-out rows. A party's permission in update replaces its
// permission in base.
func JoinWords(base, update map[string]learner.FigurePermission) map[string]learner.FigurePermission {
	all := maps.Clone(update)
	for name, word := range base {
		if _, later := update[name]; !later {
			all[name] = word
		}
	}
	return all
}

// FiguresLeakage extends a job's leakage statement if the result evaluates single parties. It
// states what figures over the rows of one party reveal.
func FiguresLeakage(lines map[string][]string, a *learner.Assessment) {
	if a == nil {
		return
	}
	var told []string
	for _, one := range a.ByParty {
		if one.Withheld == "" {
			told = append(told, one.Party)
		}
	}
	if told == nil {
		return
	}
	lines["party"] = append(lines["party"], fmt.Sprintf("Every reader of the result learns how well the model does on the held-out rows of %s alone, as the policy of each allows.", strings.Join(told, ", of ")))
	lines["server"] = append(lines["server"], "The server knows which rows belong to which party, and could compute such figures for every party.")
}
