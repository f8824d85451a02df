package party

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/method"
)

// PolicyLimits holds the limits that a policy sets in its section "limits". They apply to every job
// and to the table. A limit that the section does not have keeps its default. See [method.Limits].
type PolicyLimits struct {
	// MaxIDs bounds the ids that each party may look up in the others' tables in one job by columns.
	// Without it the limit is 1,048,576, the default of jobs.
	MaxIDs strictyaml.Positive `yaml:"max_ids,omitempty"`
	// MaxIDsTotal bounds the ids that each other party looks up in this party's tables over all
	// sessions, including aborted sessions.
	MaxIDsTotal strictyaml.Positive `yaml:"max_ids_total,omitempty"`
	// MaxDirections bounds the number of random features of a job: in its sums over rows, in its models of
	// protocol sealed, and in its phases of protocol fdskl. More features reveal more about single rows.
	// Without it a job may have any number.
	MaxDirections strictyaml.Positive `yaml:"max_directions,omitempty"`
	// MaxDirectionsTotal bounds the random directions for one row, counted over all jobs that sum
	// phases. Without it the limit is 4 times MaxDirections, or none if MaxDirections is not set.
	MaxDirectionsTotal strictyaml.Positive `yaml:"max_directions_total,omitempty"`

	TrainingRows *int     `yaml:"training_rows,omitempty"`
	HeldOutRows  *int     `yaml:"held_out_rows,omitempty"`
	ClassRows    *int     `yaml:"class_rows,omitempty"`
	Share        *float64 `yaml:"share,omitempty"` // largest share of all training rows at one party, if the job has three or more; 0 allows any share
	Rows         *int     `yaml:"rows,omitempty"`
	Threshold    *int     `yaml:"threshold,omitempty"`
	Active       *bool    `yaml:"active,omitempty"`
	Corrupted    *float64 `yaml:"corrupted,omitempty"`
	Dropped      *float64 `yaml:"dropped,omitempty"` // greatest share of dropped-out people; 1 allows any share
}

// NoLimits returns limits that exclude no table, and no job except one with a max_ids above the default
// of MaxIDs.
func NoLimits() PolicyLimits {
	return PolicyLimits{
		TrainingRows: new(0), HeldOutRows: new(0), ClassRows: new(0), Share: new(0.0), Rows: new(0),
		Threshold: new(0), Active: new(false), Corrupted: new(0.0), Dropped: new(1.0),
	}
}

// Values returns the limits that apply, defaults included.
func (l PolicyLimits) Values() method.Limits {
	v := method.DefaultLimits()
	v.Directions = int(l.MaxDirections)
	replace(&v.TrainingRows, l.TrainingRows)
	replace(&v.HeldOutRows, l.HeldOutRows)
	replace(&v.ClassRows, l.ClassRows)
	replace(&v.Share, l.Share)
	replace(&v.Rows, l.Rows)
	replace(&v.Threshold, l.Threshold)
	replace(&v.Active, l.Active)
	replace(&v.Corrupted, l.Corrupted)
	replace(&v.Dropped, l.Dropped)
	return v
}

func replace[T any](value *T, by *T) {
	if by != nil {
		*value = *by
	}
}

// validate rejects numbers that cannot be limits.
func (l PolicyLimits) validate() error {
	v := l.Values()
	for _, n := range []struct {
		key   string
		value int
	}{
		{"training_rows", v.TrainingRows}, {"held_out_rows", v.HeldOutRows}, {"class_rows", v.ClassRows}, {"rows", v.Rows}, {"threshold", v.Threshold},
	} {
		if n.value < 0 {
			return fmt.Errorf("%q in the policy's limits is %d; write 0 for no limit, or a number above 0", n.key, n.value)
		}
	}
	if !(v.Corrupted >= 0 && v.Corrupted < 1) {
		return fmt.Errorf("\"corrupted\" in the policy's limits is %g; write a share of the people from 0 to below 1", v.Corrupted)
	}
	if !(v.Share >= 0 && v.Share < 1) {
		return fmt.Errorf("\"share\" in the policy's limits is %g; write a share of all training rows from 0 to below 1", v.Share)
	}
	if !(v.Dropped > 0 && v.Dropped <= 1) {
		return fmt.Errorf("\"dropped\" in the policy's limits is %g; write a share of the people above 0 and up to 1", v.Dropped)
	}
	return nil
}

// EarlierLimits holds limits that a policy file states under the keys of an earlier version. One
// version still reads them. See [Policy.Upgrade].
type EarlierLimits struct {
	Floors             *PolicyLimits        `yaml:"floors,omitempty"`
	MaxIDs             *strictyaml.Positive `yaml:"max_ids,omitempty"`
	MaxIDsTotal        *strictyaml.Positive `yaml:"max_ids_total,omitempty"`
	MaxDirections      *strictyaml.Positive `yaml:"max_directions,omitempty"`
	MaxDirectionsTotal *strictyaml.Positive `yaml:"max_directions_total,omitempty"`
}

// Upgrade moves limits from earlier keys into the section "limits", and returns a warning for each
// key. It refuses a policy that has both the section and an earlier key.
func (p *Policy) Upgrade() (warnings []string, err error) {
	earlier, merged := p.Earlier, p.Limits
	p.Earlier = EarlierLimits{}
	if earlier.Floors != nil {
		warnings = append(warnings, "the policy's section \"floors\" is now called \"limits\"; rename the section, the next version will refuse it")
		merged = *earlier.Floors
	}
	for _, one := range []struct {
		key  string
		from *strictyaml.Positive
		to   *strictyaml.Positive
	}{
		{"max_ids", earlier.MaxIDs, &merged.MaxIDs}, {"max_ids_total", earlier.MaxIDsTotal, &merged.MaxIDsTotal},
		{"max_directions", earlier.MaxDirections, &merged.MaxDirections}, {"max_directions_total", earlier.MaxDirectionsTotal, &merged.MaxDirectionsTotal},
	} {
		if one.from == nil {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s in the policy now belongs to the section \"limits\"; move it there, the next version will refuse it", one.key))
		*one.to = *one.from
	}
	if warnings != nil && p.Limits != (PolicyLimits{}) {
		return nil, fmt.Errorf("the policy has the section \"limits\" and also a key of an earlier version: %s", warnings[0])
	}
	p.Limits = merged
	return warnings, nil
}
