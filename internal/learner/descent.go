package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/svm"
)

// Descent holds the settings of a linear model, on random features or on columns, that is trained in steps.
type Descent struct {
	Lambda float64 // weight of the squared norm
	// Iterations is the number of blocks of random features, 0 with trainings cached and faithful; with method fd-svrg
	// it is the number of epochs.
	Iterations int
	Rate       float64 // step size; 0 with "training: cached", which has none
	Batch      int     // number of rows in one step
}

// section declares the keys for a loss; doc describes the loss.
func (d *Descent) section(doc string) *section.Section {
	return &section.Section{Doc: doc, Fields: []section.Field{
		lambdaKey(&d.Lambda, "1e-06", "The penalty on the squared norm, above 0."),
		{Key: "iterations", Value: section.Whole{Dst: &d.Iterations}, Else: "64 with trainings block and precond, or the number of directions if that is smaller; 20 with fd-svrg",
			Doc: "The number of blocks of directions, or of epochs with fd-svrg, 1 or more."},
		{Key: "rate", Value: section.Number{Dst: &d.Rate}, Else: "4; 1 with training precond, none with training cached, by the rows' norms with fd-svrg",
			Doc: "The length of a step; rate times lambda is below 1."},
		{Key: "batch", Value: section.Whole{Dst: &d.Batch}, Else: "256 with trainings block and precond, 16 with fd-svrg", Doc: "The number of rows of a step, 1 or more."},
	}, Finish: d.finish}
}

func (d *Descent) finish(in *section.Place) error {
	err := in.Positive("lambda", d.Lambda)
	if in.Given("rate") { // check only a given rate: the default depends on the training
		err = errors.Join(err, in.Positive("rate", d.Rate))
	}
	return errors.Join(err, in.Some("batch", d.Batch), in.Some("iterations", d.Iterations))
}

// OptimizerParams implements [LossLearner].
func (d *Descent) OptimizerParams() *Descent { return d }

// OptimizerParamsOf returns a job's learner and its settings if the learner has a loss; otherwise
// it returns nil.
func OptimizerParamsOf(j *job.Job) (LossLearner, *Descent) {
	if on, able := j.Learner.Values.(LossLearner); able {
		return on, on.OptimizerParams()
	}
	return nil, nil
}

// exactMachine and exactRidge return the support vector machine or the ridge regression with the
// penalty of a linear model on random features. Linear models on random features minimise the mean
// of losses plus lambda/2 |w|^2, but learners on a kernel matrix minimise sums.
func exactMachine(price float64) job.Named {
	return job.Named{Kind: SVC{}, Values: &SVC{Params: svm.Params{C: 1 / price}}}
}

func exactRidge(price float64) job.Named {
	return job.Named{Kind: Ridge{}, Values: &Ridge{Alpha: price}}
}
