package moments

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/spell"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/moments"
)

// checkLabels refuses labels that a job does not foresee.
func checkLabels(j *job.Job, set *dataset.Set) error {
	k := job.As[*Keys](j.Protocol)
	switch task := j.Task(); {
	case task.Classes:
		return checkListed(k.Classes, set)
	case task.Numbers:
		return checkNumbers(k.within(), set)
	}
	return nil
}

// checkListed refuses rows of classes that the job does not list.
func checkListed(classes []string, set *dataset.Set) error {
	for _, label := range set.Labels {
		if !slices.Contains(classes, label) {
			if at := slices.IndexFunc(classes, func(c string) bool { return spell.Differs(c, label) }); at >= 0 {
				own, listed := spell.Quote(label, classes[at])
				return fmt.Errorf("%s has a row of class %s, and the job's protocol lists %s, which differs only by case, blanks or Unicode form; write one of them everywhere", set.Name, own, listed)
			}
			return fmt.Errorf("%s has a row of class %q, which the job's protocol does not list; give classes: all there are", set.Name, label)
		}
	}
	return nil
}

// checkNumbers refuses labels that are no numbers of the job's range.
func checkNumbers(within moments.Range, set *dataset.Set) error {
	values, err := dataset.Targets(set.Labels)
	if err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	for i, v := range values {
		if !within.Holds(v) {
			return fmt.Errorf("%s has the number %v in row %d, beyond the job's targets: [%v, %v]; give a range that holds all", set.Name, v, i+1, within.Least, within.Greatest)
		}
	}
	return nil
}

// within is the range of the labels that are numbers.
func (k *Keys) within() moments.Range {
	return moments.Range{Least: k.Targets[0], Greatest: k.Targets[1]}
}
