// Package described holds a job's description of the labels of all parties: all classes, or the range of
// the numbers. It is for methods whose parties do not exchange labels.
package described

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/moments"
)

// Labels describes the labels of all parties. A method's settings embed it.
type Labels struct {
	Classes []string   // all classes, in the order of the decisions; nil for numbers
	Targets [2]float64 // least and greatest permitted number; zero for classes
}

// maxClasses is the greatest number of classes that the key "classes" can list.
const maxClasses = 256

// LabelKeys declares the keys "classes" and "targets" of a job file. Text ofClasses names the learners that
// need the classes, and ofNumbers those that need the targets.
func (l *Labels) LabelKeys(ofClasses, ofNumbers string) []section.Field {
	return []section.Field{
		{Key: "classes", Value: section.Words{Dst: &l.Classes, Most: maxClasses, Example: "[ill, well]"}, Else: "none; " + ofClasses,
			Doc: "All classes, 2 to 256, in the order of the decisions. Between parties the dictionary lists them."},
		{Key: "targets", Value: section.Interval{Dst: &l.Targets}, Else: "none; " + ofNumbers, Doc: "The smallest and the largest value that a label may have. Between parties it is the range in the dictionary."},
	}
}

// FinishLabels checks the list of classes.
func (l *Labels) FinishLabels(in *section.Place) error {
	if in.Given("classes") && len(l.Classes) < 2 {
		return in.Refuse("classes", `the list "classes" has length %d; list all classes, at least two`, len(l.Classes))
	}
	if one, other, found := fuzzymatch.Clash(l.Classes); found {
		one, other = fuzzymatch.Quote(one, other)
		return in.Refuse("classes", "\"classes\" has %s and %s, which differ only by case, blanks or Unicode form; keep one of them", one, other)
	}
	return nil
}

// Describes reports whether the job describes labels by these keys.
func (l *Labels) Describes() bool { return l.Classes != nil || l.Targets != [2]float64{} }

// Check takes missing classes and targets from the job's data. It refuses a job that does not describe
// all labels as its learner requires.
func (l *Labels) Check(j *job.Job, in *section.Place) error {
	name, task := j.Learner.Name(), j.Task()
	regresses, classifies := task.Numbers, task.Classes
	if classifies && l.Classes == nil {
		l.Classes = j.Data.Order
	}
	if regresses && l.Targets == [2]float64{} {
		l.Targets = j.Data.Range
	}
	switch {
	case j.Data.Dictionary != nil && (regresses && l.Targets != j.Data.Range || classifies && !slices.Equal(l.Classes, j.Data.Order)):
		return in.Refuse("protocol", "the section protocol contradicts the dictionary about the label's classes or range; correct the dictionary if necessary, and remove \"classes\" and \"targets\" from protocol")
	case classifies && j.Data.Order != nil && !slices.Equal(l.Classes, j.Data.Order):
		return in.Refuse("protocol", "protocol and label list different classes, or list them in different orders; correct or remove one of the two lists")
	case classifies && l.Classes == nil:
		return in.Refuse("protocol", "learner %s needs all classes, which no party knows alone; %s", name, advice(j, "classes: [ill, well]", "classes: [ill, well]"))
	case !classifies && l.Classes != nil:
		return in.Refuse("protocol", "learner %s has no classes; remove \"classes\" from protocol", name)
	case regresses && l.Targets == [2]float64{}:
		return in.Refuse("protocol", "learner %s needs the range of all labels, which no party knows alone; %s", name, advice(j, "targets: [0, 100]", "range: [0, 100]"))
	case !regresses && l.Targets != [2]float64{}:
		return in.Refuse("protocol", "learner %s has no targets; remove \"targets\" from protocol", name)
	case regresses:
		return job.CheckRange(in, "protocol", "targets", l.Targets)
	}
	return nil
}

// advice returns the remedy for labels that nothing describes. Without a dictionary a key of the protocol describes them;
// otherwise the dictionary does.
func advice(j *job.Job, key, inDictionary string) string {
	if j.Data.Dictionary != nil {
		return `the dictionary's label has none; a dictionary with "` + inDictionary + `" says it`
	}
	return `have a data dictionary say it ("labels: {` + cmp.Or(j.Data.Label, "label") + ": {" + inDictionary + `}}"), or in simulate add "` + key + `" to protocol`
}

// CheckTable refuses labels that contradict the job.
func (l *Labels) CheckTable(j *job.Job, set *dataset.Set) error {
	switch task := j.Task(); {
	case task.Classes:
		return l.checkListed(set)
	case task.Numbers && j.Data.Private: // the protocol cuts labels to their range
		_, err := set.Targets()
		return err
	case task.Numbers:
		return l.checkNumbers(set)
	}
	return nil
}

// checkListed refuses rows of classes that the job does not list.
func (l *Labels) checkListed(set *dataset.Set) error {
	for i, label := range set.Labels {
		if !slices.Contains(l.Classes, label) {
			if at := slices.IndexFunc(l.Classes, func(c string) bool { return fuzzymatch.Differs(c, label) }); at >= 0 {
				own, listed := fuzzymatch.Quote(label, l.Classes[at])
				return fmt.Errorf("%s class %s differs from class %s of the job's protocol only by case, blanks or Unicode form; write one of them everywhere", set.Place(i), own, listed)
			}
			return fmt.Errorf("%s class %q is not a class of the job's protocol; list all classes under \"classes\"", set.Place(i), label)
		}
	}
	return nil
}

// checkNumbers refuses labels that are not numbers within the job's range.
func (l *Labels) checkNumbers(set *dataset.Set) error {
	within := l.Range()
	values, err := set.Targets()
	if err != nil {
		return err
	}
	for i, v := range values {
		if !within.Holds(v) {
			return fmt.Errorf("%s the label %v is outside the job's targets [%v, %v]; give targets that include all labels", set.Place(i), v, within.Least, within.Greatest)
		}
	}
	return nil
}

// Range returns the permitted range of numeric labels.
func (l *Labels) Range() moments.Range {
	return moments.Range{Least: l.Targets[0], Greatest: l.Targets[1]}
}
