package coordinator

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
)

// takeAlignment names in a job the earlier job whose alignment it uses. The first that was made stays the only
// one of its name. Without one the job makes it.
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

// aligns reports whether a job made the alignment that another names.
func aligns(earlier, spec *job.Job) bool {
	of, in := earlier.Data.Partition, spec.Data.Partition
	return of.Alignment == in.Alignment && of.AlignedBy == (job.ID{}) && earlier.Data.Source == spec.Data.Source &&
		slices.Equal(slices.Sorted(slices.Values(earlier.Parties())), slices.Sorted(slices.Values(spec.Parties())))
}
