package sealed

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// cellsPerNumber is the least number of table cells in the training rows for each number of a model. With as many
// numbers as cells, a model would reveal the rows.
const cellsPerNumber = 4

// mostByDefault is the largest default number of features.
const mostByDefault = 512

// mostNumbers returns the largest number of weights that a model of the declared rows can have.
func (k public) mostNumbers() int { return k.total() * k.columns / cellsPerNumber }

// features returns the job's number of features, or the default for the declared rows, which is an even number. With
// kernel linear, the features are the columns and a constant.
func (k public) features(j *job.Job) int {
	if j.Kernel.Name == job.Linear {
		return k.columns + 1
	}
	if m := job.As[*Keys](j.Protocol).Features; m > 0 {
		return m
	}
	return min(mostByDefault, k.total()/2, k.mostNumbers()/max(1, targetOf(j).columns())) / 2 * 2
}

// perRow returns the job's alpha divided by the number of training rows.
func (k public) perRow(j *job.Job) float64 {
	if v := job.As[*Keys](j.Protocol).PerRow; v > 0 {
		return v
	}
	objective, _ := learner.ObjectiveOf(j.Learner)
	return objective.Penalty / float64(k.total())
}

// problem returns the public numbers of the job's ridge regression. It refuses a model with too many numbers for the
// declared rows. Noise hides rows in a model of any size.
func (k public) problem(j *job.Job) (sealed.Problem, error) {
	m, targets := k.features(j), targetOf(j).columns()
	switch p := privacyOf(j); {
	case p.Private():
		return sealed.NewPrivateProblem(k.total(), m, targets, p.Guarantee)
	case m < 2:
		return sealed.Problem{}, fmt.Errorf("sealed: %d training rows of %d columns are too few for two random features, which need four rows and %d table cells for each of the model's numbers", k.total(), k.columns, cellsPerNumber)
	case m*targets > k.mostNumbers():
		return sealed.Problem{}, fmt.Errorf("sealed: a model of %d features and %d targets has %d numbers, but for %d training rows of %d columns it can have at most %d; write fewer features", m, targets, m*targets, k.total(), k.columns, k.mostNumbers())
	}
	p, err := sealed.NewProblem(k.total(), m, targets, k.perRow(j))
	if err != nil && isProcess(j) {
		err = fmt.Errorf("the noise of learner %s is its alpha: %w", j.Learner.Name(), err)
	}
	return p, err
}

// params returns the parameters of the session that computes the weights. It refuses parties with too few rows, or with
// too large a share of all rows.
func (k public) params(c method.Instance) (sealed.Params, error) {
	problem, err := k.problem(c.Job)
	if err != nil {
		return sealed.Params{}, err
	}
	p := sealed.Params{Problem: problem, Keepers: [3]string(keepersOf(c)), Rows: k.rows}
	if err := p.Check(); err != nil {
		return sealed.Params{}, err
	}
	return p, p.Floors()
}
