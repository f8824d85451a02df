// Package retention holds the times after which a home erases what jobs have left, and guards the clock that measures
// them.
//
// The ledger of releases has no such time. It prevents that a later job and an earlier one together reveal what neither
// reveals alone. This danger does not age.
package retention

import (
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/strictyaml"
)

// Times is the setting "retention" of a home. A time of 0 is no limit.
type Times struct {
	// Models is the time after which everything that a job has left is erased, except its result and fits: models,
	// parts of models, and encoders, which answer prediction queries and continue jobs.
	Models strictyaml.Days `yaml:"models,omitempty"`
	// Predictions is the time after which predictions of held-out rows are erased, with their labels, and lists of a
	// party's rows, recommendations and notices.
	Predictions strictyaml.Days `yaml:"predictions,omitempty"`
	// Results is the time after which a coordinator deletes a job: its file, status and result. A party has no results.
	Results strictyaml.Days `yaml:"results,omitempty"`
	// Audit is the time after which lines of the audit record are removed.
	Audit strictyaml.Days `yaml:"audit,omitempty"`
	// Snapshots is "end-of-job" or "": rows of a changeable source never stay longer.
	Snapshots string `yaml:"snapshots,omitempty"`
}

// UnmarshalYAML reads a map of times, or one time, which holds for models, predictions and results.
func (t *Times) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		type plain Times
		return strictyaml.Nested(n, (*plain)(t))
	}
	if err := t.Models.UnmarshalYAML(n); err != nil {
		return err
	}
	t.Predictions, t.Results = t.Models, t.Models
	return nil
}

// IsZero reports whether nothing is set.
func (t Times) IsZero() bool { return t == Times{} }

// endOfJob is the only value of the key "snapshots".
const endOfJob = "end-of-job"

// leastAudit is the shortest time for which lines of the audit record stay, because a decision and its end belong
// together.
const leastAudit = 365 * 24 * time.Hour

// Check returns an error if a time cannot be kept.
func (t Times) Check() error {
	switch {
	case t.Snapshots != "" && t.Snapshots != endOfJob:
		return fmt.Errorf(`"snapshots" in "retention" is %q; write %q, since snapshots never stay longer`, t.Snapshots, endOfJob)
	case t.Audit.Duration > 0 && t.Audit.Duration < leastAudit:
		return errors.New(`"audit" in "retention" is shorter than a year; write 1y or more`)
	case over(t.Predictions, t.Models):
		return errors.New(`"predictions" in "retention" is longer than "models"; erasing what a job left erases both, so write at most the time of "models"`)
	case over(t.Models, t.Results):
		return errors.New(`"models" in "retention" is longer than "results"; deleting a job erases both, so write at most the time of "results"`)
	}
	return nil
}

// over reports whether a time is longer than another that bounds it.
func over(time, end strictyaml.Days) bool { return end.Duration > 0 && time.Duration > end.Duration }

// Due reports whether something of a given time has reached the age of a limit. It returns false if the time or the
// limit is 0.
func Due(since time.Time, limit strictyaml.Days, now time.Time) bool {
	return limit.Duration > 0 && !since.IsZero() && now.Sub(since) >= limit.Duration
}
