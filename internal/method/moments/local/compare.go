// Package local compares a job by sums with other numbers of random features, and tries
// on the sums of all rows an attack that needs these in one place. No daemon links it.
package local

import (
	"context"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// Method is the method of sums where one process owns all rows.
type Method struct{}

// Name implements [local.Own].
func (Method) Name() string { return sums.Method{}.Name() }

// Compare implements [local.Compared]. The sums of all parties equal the sums over all rows,
// number for number, so that no protocol has to run.
func (Method) Compare(ctx context.Context, c local.Comparison) error {
	d, err := detailsOf(c.Result)
	drawn, tried := c.Job.Compares(job.Curve), isTried(c.Result)
	if err != nil || !drawn && !tried {
		return err
	}
	p, err := pool.Prepare(c.Job, c.Splits, c.Splits)
	if err == nil && drawn {
		d.Curve, err = curve(ctx, c.Job, p)
	}
	if err == nil && tried {
		err = joint(c.Job, p, d.Sums, c.Result)
	}
	return err
}

// detailsOf reads a result's details, which are added to.
func detailsOf(r *method.Result) (*sums.Details, error) {
	d, err := method.DetailsOf[sums.Details](r)
	if err == nil && (d == nil || d.Sums == nil) {
		err = errors.New("moments: a result without figures of sums")
	}
	if err == nil {
		r.Details = d
	}
	return d, err
}

// curve returns the results and the exposure with other numbers of random features.
func curve(ctx context.Context, j *job.Job, p *pool.Rows) ([]sums.Point, error) {
	classes := job.As[*sums.Keys](j.Protocol).Classes
	s := summed{classes: len(classes), kernel: j.Kernel.Spec(), seed: j.Seed}
	for _, one := range j.Learners() {
		l, _ := learner.LessonOf(one)
		s.alphas = append(s.alphas, l.Price)
	}
	var train, held []int
	for i, test := range p.Test {
		code := slices.Index(classes, p.Labels[i])
		if test {
			held, s.heldCodes = append(held, i), append(s.heldCodes, code)
		} else {
			train, s.codes = append(train, i), append(s.codes, code)
		}
	}
	if len(held) == 0 {
		return nil, fault.BadInput(errors.New("launch: a curve needs rows that are held out; give test: {fraction: 0.25}"))
	}
	s.train, s.held = linalg.Pick(p.X, train), linalg.Pick(p.X, held)
	return s.curve(ctx)
}
