package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/model"
)

// BoostedTrees is the gradient-boosting classifier of package learn/boost.
type BoostedTrees struct{ Trees }

var _ job.Learner = (*BoostedTrees)(nil)

// Trees holds the settings of boosted trees.
type Trees struct {
	boost.Params
	Bins int // number of bins of a column
}

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (BoostedTrees) Name() string        { return "boosted-trees" }
func (BoostedTrees) New() section.Values { return new(BoostedTrees) }

// Task implements [job.Learner]. A score is the log odds of the second class.
func (BoostedTrees) Task() job.Task {
	t := job.Classes()
	t.Shape = model.Odds
	return t
}

// Section declares the keys of the job file.
func (l *BoostedTrees) Section() *section.Section {
	return &section.Section{Doc: "Boosted decision trees with two classes, by the logistic loss and by histograms.", Fields: []section.Field{
		{Key: "rounds", Value: section.Whole{Dst: &l.Rounds}, Default: "50", Doc: "The number of trees, 1 to 4096."},
		{Key: "depth", Value: section.Whole{Dst: &l.Depth}, Default: "3", Doc: "The depth of a tree, 1 to 8."},
		{Key: "bins", Value: section.Whole{Dst: &l.Bins}, Default: "32", Doc: "The number of bins of a column, 2 to 256, of about equal counts."},
		{Key: "rate", Value: section.Number{Dst: &l.Rate}, Default: "0.3", Doc: "The factor, above 0 and up to 1, of each tree."},
		{Key: "lambda", Value: section.AlsoZero{Number: section.Number{Dst: &l.Lambda}}, Default: "1", Doc: "The penalty on the squares of leaves' values, 0 or more."},
		{Key: "gamma", Value: section.Number{Dst: &l.Gamma}, Default: "0", Doc: "The gain, 0 or more, that a split must exceed."},
	}, Finish: l.finish}
}

func (l *BoostedTrees) finish(in *section.Place) error {
	err := errors.Join(in.Some("rounds", l.Rounds), in.Some("depth", l.Depth))
	switch {
	case err != nil:
		return err
	case l.Rounds > boost.MaxRounds:
		return in.Refuse("rounds", "rounds is %d; write a whole number from 1 to %d", l.Rounds, boost.MaxRounds)
	case l.Depth > boost.MaxDepth:
		return in.Refuse("depth", "depth is %d; write a whole number from 1 to %d", l.Depth, boost.MaxDepth)
	case l.Bins < 2 || l.Bins > boost.MaxBins:
		return in.Refuse("bins", "bins is %d; write a whole number from 2 to %d", l.Bins, boost.MaxBins)
	case l.Rate > 1:
		return in.Refuse("rate", "rate is %g; write a number above 0 and up to 1", l.Rate)
	case l.Lambda < 0:
		return in.Refuse("lambda", "lambda is %g; write 0 or more", l.Lambda)
	case l.Gamma < 0:
		return in.Refuse("gamma", "gamma is %g; write 0 or more", l.Gamma)
	}
	return in.Positive("rate", l.Rate)
}

// TreesOf returns the settings of a job's boosted trees, or nil if its learner is another one.
func TreesOf(j *job.Job) *Trees {
	if l, is := j.Learner.Values.(*BoostedTrees); is {
		return &l.Trees
	}
	return nil
}
