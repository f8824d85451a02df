// Package noised holds the settings of differential privacy in a job, for methods that add noise to sums
// over rows. It also describes the guarantee in words.
package noised

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
)

// Privacy is the section privacy of a protocol's keys: the guarantee for everything that a job releases about its
// rows. The zero value means a job without noise. A method's settings have it as a field.
type Privacy struct {
	privacy.Guarantee
	// Bound is the greatest length of a prepared row with kernel linear; longer rows are shortened to it. 0
	// means the length that follows from the ranges of the columns.
	Bound float64
}

// Features is the number of random features of a job with privacy that states none. More features carry more noise
// altogether.
const Features = 128

// Private reports whether the job adds noise.
func (p *Privacy) Private() bool { return p.Guarantee != privacy.Guarantee{} }

// PrivacyKey declares the key privacy of a protocol.
func (p *Privacy) PrivacyKey() section.Field {
	return section.Field{Key: "privacy", Value: p.section(), Else: "none; nothing has noise",
		Doc: "Differential privacy: noise in all that the job releases, so that it tells next to nothing about any one person. Every party's policy must have a budget for it."}
}

func (p *Privacy) section() *section.Section {
	return &section.Section{Name: "privacy", Fields: []section.Field{
		{Key: "epsilon", Value: section.Number{Dst: &p.Epsilon}, Need: `write "privacy: {epsilon: 4, delta: 1e-6}"`,
			Doc: "The bound of what anybody can learn of one person: the probability of each result changes by at most the factor exp(epsilon), but for delta."},
		{Key: "delta", Value: section.Number{Dst: &p.Delta}, Need: `write "privacy: {epsilon: 4, delta: 1e-6}"`,
			Doc: "The probability with which the bound may fail; less than one divided by ten times the number of rows."},
		{Key: "bound", Value: section.Number{Dst: &p.Bound}, Else: "the length that follows from the columns' ranges, for kernel linear",
			Doc: "The greatest length of a prepared row, for kernel linear alone. Longer rows are shortened to it."},
	}, Finish: p.finish}
}

func (p *Privacy) finish(in *section.Place) error {
	if err := p.Guarantee.Check(); err != nil {
		return in.Refuse("", "%v", err)
	}
	if in.Given("bound") {
		return in.Positive("bound", p.Bound)
	}
	return nil
}

// Check refuses settings of a job that do not work with privacy: settings with which something is computed from rows
// without noise, and settings with which one person can change a sum by more than the noise hides. It accepts every
// job without privacy.
func (p *Privacy) Check(j *job.Job, in *section.Place) error {
	if !p.Private() {
		return nil
	}
	for _, check := range []func(*job.Job, *section.Place) error{checkMembers, checkLearner, checkRows, checkFits, checkColumns, p.checkBound} {
		if err := check(j, in); err != nil {
			return err
		}
	}
	return nil
}

func checkMembers(j *job.Job, in *section.Place) error {
	if len(j.Parties()) < 2 {
		return in.Refuse("data", `privacy adds noise according to the number of parties, but the job names none; add "partition: {parties: [north, south]}" to data`)
	}
	return nil
}

// checkLearner refuses settings of the learner that the noise determines, and grids: a choice among models needs
// scores, which would need noise.
func checkLearner(j *job.Job, in *section.Place) error {
	const unset = 1 // the default of alpha, which the canonical file states
	objective, _ := learner.ObjectiveOf(j.Learner)
	switch {
	case len(j.Kernels()) > 1:
		return in.Refuse("kernel", "privacy releases one model, and a choice among several would need noise too; give one kernel")
	case len(j.Learners()) > 1:
		return in.Refuse("learner", `privacy releases one model, and a choice among several would need noise too; remove "alpha", which follows from the noise`)
	case objective.Process || objective.Components > 0:
		return in.Refuse("learner", "privacy is for learners ridge-classifier and ridge in this version, not %s", j.Learner.Name())
	case objective.Penalty != unset:
		return in.Refuse("learner", `with privacy, alpha follows from the noise; remove "alpha"`)
	}
	return nil
}

// checkRows refuses jobs in which a person has several rows, jobs with folds, and jobs that choose the held-out rows
// by party or by value. Weights are refused earlier, because no protocol with privacy has weights.
func checkRows(j *job.Job, in *section.Place) error {
	switch d := &j.Data; {
	case d.Group != "":
		return in.Refuse("data.group", `privacy protects a person with one row, but "group" gives a person several; remove "group" or "privacy"`)
	case d.Folds > 0:
		return in.Refuse("data.folds", `privacy releases one model, and folds need several; use "test: {fraction: 0.25}"`)
	case d.Test.Split() != "":
		return in.Refuse("data.test", `with privacy the job cannot choose the held-out rows by a party or a value; use "test: {fraction: 0.25}"`)
	}
	return nil
}

// checkFits refuses values that the parties would compute from their rows to prepare them, and a job whose number of
// columns the rows decide.
func checkFits(j *job.Job, in *section.Place) error {
	switch d := &j.Data; {
	case d.Scale == job.Standard, d.ScalesTogether(): // means of a schema's columns are fitted with what it fits
		return in.Refuse("data.scale", `"scale: %s" is computed from the rows, without noise; with privacy write "scale: range" and a range for each column, or "scale: none"`, d.Scale)
	case d.Schema == nil && d.Features == 0:
		return in.Refuse("data", `privacy needs a number of columns that no row decides; name a dictionary, or add "features" with the number of columns`)
	}
	return nil
}

// checkColumns refuses a description of columns whose preparation reveals something about single rows. A party reads
// all columns of a dictionary, also columns that the job does not use.
func checkColumns(j *job.Job, in *section.Place) error {
	err := j.Data.Reads().CheckPublic()
	switch d := j.Data.Dictionary; {
	case err == nil:
		return nil
	case d != nil && d.Name != "":
		return in.Refuse("data.dictionary", "privacy needs a dictionary without anything computed from rows: in %s, %w", section.Quote(d.Name), err)
	case d != nil:
		return in.Refuse("data.dictionary.columns", "privacy needs columns without anything computed from rows: %w", err)
	}
	return in.Refuse("data.schema", "privacy needs columns without anything computed from rows: %w", err)
}

// checkBound refuses a bound of the rows' length for a kernel other than linear. It refuses kernel linear if neither
// a bound nor a schema limits the length.
func (p *Privacy) checkBound(j *job.Job, in *section.Place) error {
	linear := j.Kernel.Name == job.Linear
	switch {
	case !linear && p.Bound > 0:
		return in.Refuse("protocol.privacy", `random features have a bounded length of their own; remove "bound" from privacy, or use "kernel: {name: linear}"`)
	case linear && p.Bound == 0 && j.Data.Schema == nil:
		return in.Refuse("protocol.privacy", `kernel linear needs the greatest length of a row, and without a dictionary no range tells it; add "bound" with a length that nearly all rows have`)
	}
	return nil
}

// Length returns the greatest length of a prepared row of a job with kernel linear.
func (p *Privacy) Length(d *job.Data) (float64, error) {
	if p.Bound > 0 {
		return p.Bound, nil
	}
	length, err := d.Schema.Longest(d.Fitted())
	if err != nil {
		return 0, fmt.Errorf("noised: %w", err)
	}
	return length, nil
}

// Linear returns the features of a job with kernel linear, for prepared rows with the given number of columns. The
// features are the columns and a constant.
func (p *Privacy) Linear(d *job.Data, columns int) (feature.Linear, error) {
	most, err := p.Length(d)
	return feature.Linear{Inputs: columns, Bound: most}, err
}

// Mapped maps prepared rows to the rows whose inner products a comparison without noise uses. With kernel linear it
// returns the features of the job, because a model without the constant could be worse than the private model. With
// other kernels it returns the rows unchanged.
func (p *Privacy) Mapped(j *job.Job, rows linalg.Rows) (linalg.Rows, error) {
	if j.Kernel.Name != job.Linear {
		return rows, nil
	}
	n, columns := rows.Shape()
	m, err := p.Linear(&j.Data, columns)
	if err != nil {
		return nil, err
	}
	x, phi := linalg.New[float64](n, columns), linalg.New[float64](n, m.Len())
	linalg.Gather(x, rows, 0)
	m.Rows(phi, x)
	return phi, nil
}
