package sealed

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// Labelled holds rows, in the form that enters sums, with their labels.
type Labelled struct {
	Rows   linalg.Rows
	Labels []string
}

// TrainInOnePlace trains as a job of protocol sealed would if one process had all training rows. It
// draws the directions from seed. It returns the metrics on the held-out rows, whose errors are
// rounded as in a job.
func TrainInOnePlace(j *job.Job, seed [32]byte, training, held Labelled) (learner.Metrics, error) {
	n, width := training.Rows.Shape()
	problem, err := public{rows: []int{n}, columns: width}.problem(j)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	m, err := directions(j, seed, problem.Features, width)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	all, err := sealed.NewAccumulator(problem)
	if err != nil {
		return nil, err
	}
	to := targetOf(j)
	if err := addRows(all, j, m, to, training.Rows, training.Labels); err != nil {
		return nil, fault.BadInput(err)
	}
	outer, cross := all.Sums()
	weights, err := sealed.SolvePlain(problem, outer, cross)
	if err != nil {
		return nil, err
	}
	figures, err := to.measure(m, solutionOf(j, problem, weights), held.Rows, held.Labels)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return to.metrics(int64(len(held.Labels)), to.round(figures, len(held.Labels))), nil
}

// Ordinary returns the job without privacy, with the same features. If the job has privacy, Ordinary sets the default
// alpha.
func Ordinary(j *job.Job) *job.Job {
	plain, k := *j, *job.As[*Keys](j.Protocol)
	if k.Privacy.Private() {
		k.Privacy.Guarantee, k.PerRow = privacy.Guarantee{}, defaultPerRow
	}
	plain.Protocol.Values, plain.Data.Private = &k, false
	return &plain
}

// AlphaFor returns the alpha of the job for training on the given number of rows. It is alpha_per_row times this
// number or, without alpha_per_row, the learner's alpha.
func AlphaFor(j *job.Job, rows int) float64 {
	return public{rows: []int{rows}}.perRow(j) * float64(rows)
}
