package launch

import (
	room "github.com/mercer-fl/mercer/internal/method/moments"

	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// jointRows is up to how many rows the attack by all candidates is tried: it takes
// the cube of their number.
const jointRows = 2000

// knownMembers: the attacker knows every so many-th training row.
const knownMembers = 10

// joint tries on the sums of all training rows how well whoever holds them, and knows
// a tenth of these rows and all held-out ones, tells the two apart by solving for
// all at once. The directions are drawn anew: they are public in a job, and any are
// alike.
func joint(j *job.Job, splits []method.Split, r *method.Result) error {
	if r.Sums == nil || r.Training+r.HeldOut > jointRows || r.HeldOut == 0 {
		return nil
	}
	p, err := prepare(j, splits, splits)
	if err != nil {
		return err
	}
	n, width := p.rows.Shape()
	var seed wire.Writer
	seed.String("mercer/v1/joint")
	seed.Uint64(j.Seed)
	m, err := moments.Features(j.Kernel.Spec(), sha256.Sum256(seed.Bytes()), r.Sums.Features, width)
	if err != nil {
		return err
	}
	var training, candidates []int
	known := 0
	for i := range n {
		if !p.test[i] { // training rows come first
			training = append(training, i)
		}
		if p.test[i] || i%knownMembers == 0 {
			candidates = append(candidates, i)
		}
		if !p.test[i] && i%knownMembers == 0 {
			known++
		}
	}
	targets := func(rows []int) (moments.Targets, error) { return targetsOf(j, p.labels, rows) }
	y, err := targets(training)
	if err != nil {
		return err
	}
	sums, err := moments.Summarize(m, linalg.Pick(p.rows, training), y)
	if err != nil {
		return err
	}
	if y, err = targets(candidates); err != nil {
		return err
	}
	auc, err := moments.JointMembership(sums, m, linalg.Pick(p.rows, candidates), y, known)
	if err != nil {
		return err
	}
	r.Sums.Joint = &auc
	for i, line := range r.Leakage["coalition"] {
		if line == room.JointUnmeasured {
			r.Leakage["coalition"][i] = room.JointMeasured(auc)
		}
	}
	return nil
}

// targetsOf are what goes into the sums with some rows.
func targetsOf(j *job.Job, labels []string, rows []int) (moments.Targets, error) {
	some := make([]string, 0, len(rows))
	for _, i := range rows {
		if labels != nil {
			some = append(some, labels[i])
		}
	}
	keys := job.As[*room.Keys](j.Protocol)
	switch {
	case j.Learner.Name.Classifies():
		codes := make([]int, len(some))
		for i, label := range some {
			codes[i] = slices.Index(keys.Classes, label)
		}
		return moments.Classes{Codes: codes, Count: len(keys.Classes)}, nil
	case j.Learner.Name.Regresses():
		values, err := dataset.Targets(some)
		return moments.Numbers{Values: values, Range: moments.Range{Least: keys.Targets[0], Greatest: keys.Targets[1]}}, err
	}
	return moments.Unlabelled(len(rows)), nil
}
