package party

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/spell"
)

// Policy is what a party's operator allows. An empty list allows every value,
// except Modes, whose default is hardened only.
type Policy struct {
	Protocols  []string `yaml:"protocols,omitempty"`
	Modes      []string `yaml:"modes,omitempty"`
	Kernels    []string `yaml:"kernels,omitempty"`
	Learners   []string `yaml:"learners,omitempty"`
	MinParties int      `yaml:"min_parties,omitempty"` // 0 means 2
	// MaxIDs bounds the ids that a job by columns lets each party look for in the
	// others' tables; 0 leaves it to the job.
	MaxIDs int `yaml:"max_ids,omitempty"`
	// MaxDirections is the most random features of which sums may be made: more
	// say more about single rows. 0 means any number.
	MaxDirections int `yaml:"max_directions,omitempty"`
	// OpenPrediction allows jobs that keep the encoder's secret here after
	// their result, so that new rows can be predicted.
	OpenPrediction bool `yaml:"open_prediction,omitempty"`
}

// Validate finds words that no job can say: a policy that only allows those would
// refuse what its operator meant to allow.
func (p Policy) Validate() error {
	known := job.Known()
	for _, rule := range []struct {
		key          string
		given, known []string
	}{
		{"protocols", p.Protocols, known.Protocols},
		{"modes", p.Modes, known.Modes},
		{"kernels", p.Kernels, known.Kernels},
		{"learners", p.Learners, known.Learners},
	} {
		for _, word := range rule.given {
			if slices.Contains(rule.known, word) {
				continue
			}
			if near, ok := spell.Nearest(word, rule.known...); ok {
				return fmt.Errorf("%s in the policy names %q; did you mean %q?", rule.key, word, near)
			}
			return fmt.Errorf("%s in the policy names %q; this version has %s", rule.key, word, strings.Join(rule.known, ", "))
		}
	}
	return nil
}

// Check says whether the operator allows a job among so many parties.
func (p Policy) Check(j *job.Job, parties int) error {
	modes := p.Modes
	if len(modes) == 0 {
		modes = []string{string(job.Hardened)}
	}
	for _, rule := range []struct {
		what, value string
		allowed     []string
	}{
		{"protocol", string(j.Protocol.Name), p.Protocols},
		{"mode", string(j.Protocol.Mode), modes},
		{"learner", string(j.Learner.Name), p.Learners},
	} {
		if len(rule.allowed) > 0 && !slices.Contains(rule.allowed, rule.value) {
			return refuse("%s %q is not among those this party allows", rule.what, rule.value)
		}
	}
	for _, k := range j.Kernels() {
		if len(p.Kernels) > 0 && !slices.Contains(p.Kernels, string(k.Name)) {
			return refuse("kernel %q is not among those this party allows", k.Name)
		}
	}
	if j.Protocol.Name.Vertical() && p.MaxIDs > 0 && j.Protocol.MaxIDs > p.MaxIDs {
		return refuse("the job lets each party look for %d ids, this party allows %d; lower the protocol's max_ids", j.Protocol.MaxIDs, p.MaxIDs)
	}
	if least := max(p.MinParties, 2); parties < least {
		return refuse("the job has %d parties, this party asks for %d or more", parties, least)
	}
	if p.MaxDirections > 0 && j.Protocol.Directions > p.MaxDirections {
		return refuse("the job has %d directions, this party allows %d (max_directions in its policy)", j.Protocol.Directions, p.MaxDirections)
	}
	if j.Prediction == job.Open && !p.OpenPrediction {
		return refuse("the job keeps predictions open, which this party does not allow (open_prediction in its policy)")
	}
	return nil
}

func refuse(format string, args ...any) error {
	return session.Forbidden(fmt.Errorf(format, args...))
}
