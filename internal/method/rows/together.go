package rows

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// PreparationReceivers says which parties of a job only receive the preparation. A protocol's
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
// job in which the parties fit the preparation themselves. The slice parties holds the names of
// the parties. Numeric tables stay unchanged. A job whose rows are in one place anyway has no
// parties that could fit anything; its tables are prepared as [PreparePooled] does.
func PrepareTogether(j *job.Job, parties []string, splits []method.Split) error {
	if j.Unshared() {
		return PreparePooled(j, splits)
	}
	frames := framesOf(splits)
	if frames == nil {
		return nil
	}
	var fit []method.Split
	var on []*prepare.Frame
	for i, s := range splits {
		if !receivesPreparation(j, parties[i]) {
			fit, on = append(fit, s), append(on, frames[i])
		}
	}
	made, err := fitTogether(j, fit, on)
	if err != nil {
		return err
	}
	return prepareWith(made, splits, frames)
}

// PreparePooled prepares the tables of all parties as the owner of all rows would. The preparation
// is fitted exactly on all training rows, and no value is too rare for it. Numeric tables stay
// unchanged.
func PreparePooled(j *job.Job, splits []method.Split) error {
	frames := framesOf(splits)
	if frames == nil {
		return nil
	}
	all, training, first := dataset.Typed(frames[0]), []int(nil), 0
	for i, s := range splits {
		var err error
		if i > 0 {
			if all, err = all.Below(frames[i]); err != nil {
				return err
			}
		}
		for _, r := range s.Rows(false) {
			training = append(training, first+r)
		}
		first += frames[i].Rows()
	}
	made, err := prepare.FitAlone(all.(*prepare.Frame), training, j.Data.Fitted())
	if err != nil {
		return err
	}
	return prepareWith(made, splits, frames)
}

// framesOf returns the tables as they were read, or nil if they are numeric.
func framesOf(splits []method.Split) []*prepare.Frame {
	frames := make([]*prepare.Frame, len(splits))
	for i, s := range splits {
		f, typed := s.Set.X.(*prepare.Frame)
		if !typed {
			return nil
		}
		frames[i] = f
	}
	return frames
}

func prepareWith(made *prepare.Preparation, splits []method.Split, frames []*prepare.Frame) (err error) {
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

// uniteAll returns the categories of each column whose categories the parties agree on. These
// categories are the words that at least one party has in enough training rows.
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
