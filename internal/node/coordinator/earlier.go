package coordinator

// Besides the state of a job that it continues, a job can reuse two things that an earlier job made: the fit
// of a dictionary, and an alignment of rows.

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// missingFit returns a new job that fits the dictionary of the job spec. It returns nil if spec
// needs no fit, if another job makes or has made the fit, or if one operator owns all rows.
func (c *Coordinator) missingFit(spec *job.Job) *job.Job {
	if c.Own || !spec.NeedsFit() {
		return nil
	}
	for _, j := range c.List() {
		if makesFitFor(j, spec) && (!j.Over() || usable(j)) {
			return nil
		}
	}
	return c.Reader.FitOf(spec)
}

// makesFitFor reports whether a job of kind Fit fits the dictionary that another job needs. The
// first party of spec must also be in job fit, to send the fit to the parties that are not in job fit.
func makesFitFor(fit Job, spec *job.Job) bool {
	return fit.Spec.IsFit() && fit.Spec.Data.SameFit(&spec.Data) && slices.Contains(fit.Spec.Parties(), spec.Parties()[0])
}

// usable reports whether the parties of an ended job still have the fit or the alignment that it made.
func usable(fit Job) bool { return fit.State == overview.Done && !fit.Forgotten }

// takeFit writes the id of the job that made the fit into the file of a job that uses the fit. It
// runs before any party receives a proposal of the job. Of several fits that the job could use, the
// earliest that was not erased counts.
func (c *Coordinator) takeFit(j *Job) error {
	if c.Own || !j.Spec.NeedsFit() {
		return nil
	}
	fit, err := c.fitFor(j.Spec)
	if err != nil {
		return err
	}
	spec := *j.Spec
	spec.Data.Fit = job.Kept{Job: fit.ID}
	for _, name := range spec.Parties() {
		if !slices.Contains(fit.Spec.Parties(), name) {
			spec.Data.Fit.Told = append(spec.Data.Fit.Told, name)
		}
	}
	return c.rewrite(j, &spec)
}

// rewrite replaces the file of a submitted job.
func (c *Coordinator) rewrite(j *Job, spec *job.Job) error {
	if err := disk.Replace(c.path(j.ID, specFile), spec.Encode()); err != nil {
		return fmt.Errorf("coordinator: %w: %w", driver.ErrInterrupted, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	j.Spec = spec
	return nil
}

// fitFor returns the job that made the fit for a given job, or an error that says why none did.
func (c *Coordinator) fitFor(spec *job.Job) (fit Job, err error) {
	err = fault.BadInputf("coordinator: no job of kind Fit has made the fit of dictionary %s; submit the job again; this also submits a job of kind Fit", spec.Data.Dictionary.Name)
	for _, j := range c.List() {
		switch {
		case !makesFitFor(j, spec):
		case usable(j):
			return j, nil
		case j.State == overview.Failed:
			err = &fault.Error{Code: j.Failure.Code, Blamed: j.Failure.Blamed, Public: j.Failure.Told,
				Err: fmt.Errorf("the fit of dictionary %s (job %v) failed: %s", spec.Data.Dictionary.Name, j.ID, j.Failure.Message)}
		}
	}
	return Job{}, err
}

// takeAlignment writes the id of the job that made the alignment into the file of a job that uses
// the alignment. The first alignment of a name, with the same table and parties, stays the only one until
// it is erased. If there is no alignment, the job makes one.
func (c *Coordinator) takeAlignment(j *Job) error {
	of := j.Spec.Data.Partition
	if c.Own || of.Alignment == "" || of.AlignedBy != (job.ID{}) {
		return nil
	}
	for _, earlier := range c.List() {
		if earlier.ID == j.ID || !usable(earlier) || !aligns(earlier.Spec, j.Spec) {
			continue
		}
		spec := *j.Spec
		spec.Data.Partition.AlignedBy = earlier.ID
		return c.rewrite(j, &spec)
	}
	return nil
}

// aligns reports whether an earlier job made an alignment with the same name, table and parties
// that a later job uses.
func aligns(earlier, spec *job.Job) bool {
	of, in := earlier.Data.Partition, spec.Data.Partition
	return of.Alignment == in.Alignment && of.AlignedBy == (job.ID{}) && earlier.Data.Source == spec.Data.Source &&
		slices.Equal(slices.Sorted(slices.Values(earlier.Parties())), slices.Sorted(slices.Values(spec.Parties())))
}
