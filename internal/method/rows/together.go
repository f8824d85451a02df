package rows

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// PreparationReceivers tells which parties of a job only receive the preparation. A protocol's
// settings implement it if some parties fit nothing.
type PreparationReceivers interface {
	ReceivesPreparation(j *job.Job, party string) bool
}

// receivesPreparation reports whether a party receives the preparation from the other parties.
func receivesPreparation(j *job.Job, party string) bool {
	keys, some := j.Protocol.Values.(PreparationReceivers)
	return some && keys.ReceivesPreparation(j, party)
}

// PrepareTogether prepares the tables of all parties in one process. The result is the same as in a
// job in which the parties fit the preparation themselves. names holds the names of the parties.
// Numeric tables stay unchanged.
func PrepareTogether(j *job.Job, names []string, splits []method.Split) error {
	frames := make([]*prepare.Frame, len(splits))
	for i, s := range splits {
		f, typed := s.Set.X.(*prepare.Frame)
		if !typed {
			return nil
		}
		frames[i] = f
	}
	var fit []method.Split
	var on []*prepare.Frame
	for i, s := range splits {
		if !receivesPreparation(j, names[i]) {
			fit, on = append(fit, s), append(on, frames[i])
		}
	}
	made, err := fitTogether(j, fit, on)
	if err != nil {
		return err
	}
	for i := range splits {
		if splits[i].Set, err = made.Prepare(splits[i].Set, frames[i]); err != nil {
			return err
		}
		splits[i].Prepared = made
	}
	return nil
}

func fitTogether(j *job.Job, splits []method.Split, frames []*prepare.Frame) (*prepare.Preparation, error) {
	plan, err := prepare.NewPlan(j.Data.Schema, j.Data.Fitted())
	if err != nil {
		return nil, err
	}
	agreed, err := uniteAll(j.Data.Schema, splits, frames)
	if err == nil {
		plan, err = plan.With(agreed)
	}
	if err != nil {
		return nil, err
	}
	sum := make([]int64, plan.Entries())
	for i, f := range frames {
		rows := splits[i].Rows(false)
		if len(rows) == 0 && j.Data.Test.Party != "" {
			continue // all the party's rows are held out, so it adds nothing
		}
		own, err := plan.Vector(f, rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", splits[i].Set.Name, err)
		}
		for k, v := range own {
			sum[k] += v
		}
	}
	return plan.Fit(sum)
}

// uniteAll returns the categories of each column whose categories the parties agree on. They are
// the words that at least one party has in enough training rows.
func uniteAll(s prepare.Schema, splits []method.Split, frames []*prepare.Frame) ([][]string, error) {
	var agreed [][]string
	for _, column := range s.Agrees() {
		var words []string
		for i, f := range frames {
			own, err := f.Proposal(splits[i].Rows(false), column, prepare.Least)
			if err != nil {
				return nil, fmt.Errorf("%s: column %s %w", splits[i].Set.Name, dataset.Quote(s[column].Name), err)
			}
			words = append(words, own...)
		}
		agreed = append(agreed, slices.Compact(slices.Sorted(slices.Values(words))))
	}
	return agreed, nil
}
