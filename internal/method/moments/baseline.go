package moments

import (
	"context"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Labelled holds rows, in the form that enters sums, with their labels. The labels are nil if the
// job has none.
type Labelled struct {
	Rows   linalg.Rows
	Labels []string
}

// each calls use with all rows at once.
func (l Labelled) each(use panel) error { return use(l.Rows, l.Labels) }

// Ordinary returns the job without privacy: with the same features, and with the learner's own regulariser.
func Ordinary(j *job.Job) *job.Job {
	plain, k := *j, *job.As[*Keys](j.Protocol)
	k.Privacy = noised.Privacy{Bound: k.Privacy.Bound}
	plain.Protocol.Values, plain.Data.Private = &k, false
	return &plain
}

// TrainInOnePlace trains as a job of protocol moments would if one process had all training rows. It
// draws the directions from seed. It returns the metrics on the held-out rows, whose sums of errors
// are rounded as in a job.
func TrainInOnePlace(ctx context.Context, j *job.Job, seed [32]byte, training, held Labelled) (learner.Metrics, error) {
	n, width := training.Rows.Shape()
	features := public{rows: int64(n), columns: width}.features(j)
	if features < 2 {
		return nil, fault.BadInputf("%d training rows are too few for two random features", n)
	}
	m, err := directions(j, protocol.SessionID(seed), features, width)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	l := objectiveOf(j)
	part, err := addUp(l, m, training.each)
	if err != nil {
		return nil, err
	}
	of := part.Sums()
	t, _, err := choose(ctx, j, of)
	if err != nil {
		return nil, err
	}
	errs, err := errorsOf(j, m, t, held.each)
	if err != nil {
		return nil, err
	}
	r, err := l.evaluate(of, t, int64(errs.Rows), errs.rounded(l))
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return r.metrics, nil
}

// choose selects a hyperparameter value by the sums, and returns the solution for this value. The
// scores, one for each value of the job, are nil if the job has only one value.
func choose(ctx context.Context, j *job.Job, s *moments.Sums) (t *fitted, scores []float64, err error) {
	l := objectiveOf(j)
	values, err := regularisers(j, s.Outer.Rows)
	if err != nil {
		return nil, nil, fault.BadInput(err)
	}
	for _, v := range values {
		if len(values) == 1 {
			break // there is only one value to choose
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		score, err := l.criterion().of(s, v)
		if err != nil {
			return nil, nil, fault.BadInput(err)
		}
		scores = append(scores, score)
	}
	choice := l.criterion().best(scores)
	if t, err = l.solve(s, values[choice]); err != nil {
		return nil, nil, fault.BadInput(err)
	}
	t.choice = choice
	return t, scores, nil
}
