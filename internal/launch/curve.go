package launch

import (
	sums "github.com/mercer-fl/mercer/internal/method/moments"

	"context"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// curve is what other numbers of random features give and show. The sums of all
// parties are those of all rows, number for number, so that no protocol has to
// run.
func curve(ctx context.Context, j *job.Job, splits []method.Split) ([]learner.Point, error) {
	p, err := prepare(j, splits, splits)
	if err != nil {
		return nil, err
	}
	classes := job.As[*sums.Keys](j.Protocol).Classes
	s := learner.Sums{Classes: len(classes), Kernel: j.Kernel.Spec(), Seed: j.Seed}
	for _, l := range j.Learners() {
		s.Alphas = append(s.Alphas, l.Alpha)
	}
	var train, held []int
	for i, test := range p.test {
		code := slices.Index(classes, p.labels[i])
		if test {
			held, s.HeldCodes = append(held, i), append(s.HeldCodes, code)
		} else {
			train, s.Codes = append(train, i), append(s.Codes, code)
		}
	}
	if len(held) == 0 {
		return nil, fault.BadInput(errors.New("launch: a curve needs rows that are held out; give test: {fraction: 0.25}"))
	}
	s.Train, s.Held = linalg.Pick(p.rows, train), linalg.Pick(p.rows, held)
	return s.Curve(ctx)
}
