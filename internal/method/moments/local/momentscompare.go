// Package local compares a job of protocol moments with training in one place, with each party alone, and
// with other numbers of random features. It also runs an attack on the sums that needs all parties' rows.
// No daemon links it.
package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// Support returns the functions of protocol moments for a process that owns all rows.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: sums.Protocol().Name(), Compare: compare}
}

// compare adds the baselines to the result of a job, and also the curve and the attack if the job has them.
// It computes the sums over all rows directly. The protocol gives exactly the same sums, so it need not run.
func compare(ctx context.Context, c local.Comparison) error {
	if err := addBaselines(ctx, c); err != nil {
		return err
	}
	d, err := detailsOf(c.Result)
	drawn, tried := c.Job.Compares(job.Curve), canAttack(c.Result) && !c.Job.Data.Private
	if err != nil || !drawn && !tried {
		return err
	}
	p, err := prepareForSums(c.Job, c.Splits)
	if err == nil && drawn {
		d.Curve, err = curve(ctx, c.Job, p)
	}
	if err == nil && tried {
		err = jointAttack(c.Job, p, d.Sums, c.Result)
	}
	return err
}

// prepareForSums prepares the rows of all parties as a job prepares them for its sums.
func prepareForSums(j *job.Job, parties []method.Split) (*pool.Rows, error) {
	p, err := pool.Prepare(j, parties, parties)
	if err != nil {
		return nil, err
	}
	if p.X, err = rows.CommonOf(parties); err == nil && p.Scaling.Offset != nil {
		p.X = p.Scaling.Rows(p.X)
	}
	return p, err
}

// canAttack reports whether a job has held-out rows and few enough rows for the attack.
func canAttack(r *method.Result) bool { return r.HeldOut > 0 && r.Training+r.HeldOut <= jointRows }

// detailsOf decodes a result's details and stores them back, so that the caller can add to them.
func detailsOf(r *method.Result) (*sums.Details, error) {
	d, err := method.DetailsOf[sums.Details](r)
	if err == nil && (d == nil || d.Sums == nil) {
		err = errors.New("moments: the result has no description of its sums, so its job did not run protocol moments")
	}
	if err == nil {
		r.Details = d
	}
	return d, err
}

// curve measures accuracy and the membership attack for other numbers of random features.
func curve(ctx context.Context, j *job.Job, p *pool.Rows) ([]sums.Point, error) {
	classes := job.As[*sums.Keys](j.Protocol).Classes
	s := pooledRows{classes: len(classes), kernel: j.Kernel.Spec(), seed: j.Seed}
	for _, one := range j.Learners() {
		l, _ := learner.ObjectiveOf(one)
		s.alphas = append(s.alphas, l.Penalty)
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
		return nil, fault.BadInput(errors.New(`moments: the job holds out no rows, but the curve needs held-out rows; write "test: {fraction: 0.25}"`))
	}
	s.train, s.held = linalg.Pick(p.X, train), linalg.Pick(p.X, held)
	return s.curve(ctx)
}

// jointRows is the greatest number of rows for the attack on all candidates together. Its running
// time grows with the cube of the rows.
const jointRows = 2000

// knownStride is the distance between two training rows that the attacker knows.
const knownStride = 10

// jointAttack runs the membership attack on the sums of all training rows. The attacker has these
// sums, and knows a tenth of the training rows. The attacker tests all candidates together, to
// separate the other training rows from held-out rows. jointAttack draws new directions, because
// directions are public in a job and any draw is equally good.
func jointAttack(j *job.Job, p *pool.Rows, f *sums.Figures, r *method.Result) error {
	_, width := p.X.Shape()
	m, err := moments.Features(j.Kernel.Spec(), seedFor(j, "mercer/v1/joint"), f.Features, width)
	if err != nil {
		return err
	}
	training, candidates, public := attackSets(p.Test)
	targets := func(rows []int) (moments.Targets, error) { return targetsOf(j, p.Labels, rows) }
	y, err := targets(training)
	if err != nil {
		return err
	}
	of, err := moments.Summarize(m, linalg.Pick(p.X, training), y)
	if err != nil {
		return err
	}
	if y, err = targets(candidates); err != nil {
		return err
	}
	auc, err := moments.JointMembership(of, m, linalg.Pick(p.X, candidates), y, public)
	if err != nil {
		return err
	}
	f.Joint = &auc
	for i, line := range r.Leakage["coalition"] {
		if line == sums.JointUnmeasured {
			r.Leakage["coalition"][i] = sums.JointMeasured(auc)
		}
	}
	return nil
}

// seedFor returns a seed of directions that a comparison draws for itself.
func seedFor(j *job.Job, purpose string) [sha256.Size]byte {
	var seed wire.Writer
	seed.String(purpose)
	seed.Uint64(j.Seed)
	return sha256.Sum256(seed.Bytes())
}

// attackSets lists the training rows and the candidates of the attack. The attacker knows that the
// first candidates are members; count is the number of these candidates.
func attackSets(test []bool) (training, candidates []int, count int) {
	for i, held := range test {
		if !held {
			training = append(training, i)
		}
		if held || i%knownStride == 0 {
			candidates = append(candidates, i)
		}
		if !held && i%knownStride == 0 {
			count++
		}
	}
	return training, candidates, count
}

// targetsOf converts the labels of the given rows to the targets that enter the sums.
func targetsOf(j *job.Job, labels []string, rows []int) (moments.Targets, error) {
	some := make([]string, 0, len(rows))
	for _, i := range rows {
		if labels != nil {
			some = append(some, labels[i])
		}
	}
	keys := job.As[*sums.Keys](j.Protocol)
	switch task := j.Task(); {
	case task.Classes:
		codes := make([]int, len(some))
		for i, label := range some {
			codes[i] = slices.Index(keys.Classes, label)
		}
		return moments.Classes{Codes: codes, Count: len(keys.Classes)}, nil
	case task.Numbers:
		values, err := dataset.Targets(some)
		return moments.Numbers{Values: values, Range: moments.Range{Least: keys.Targets[0], Greatest: keys.Targets[1]}}, err
	}
	return moments.Unlabelled(len(rows)), nil
}
