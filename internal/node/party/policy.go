package party

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/privacy"
)

// Policy lists the uses of a table that a party's operator allows. The zero value allows nothing.
// Once Protocols has an entry, empty Kernels and Learners allow every value, an empty Modes allows
// only hardened, and an empty Splits allows none.
type Policy struct {
	Protocols  []string `yaml:"protocols,omitempty"`
	Modes      []string `yaml:"modes,omitempty"`
	Kernels    []string `yaml:"kernels,omitempty"`
	Learners   []string `yaml:"learners,omitempty"`
	MinParties int      `yaml:"min_parties,omitempty"` // 0 means 2
	// OpenPrediction allows jobs after which this party can predict new rows. Such a job keeps the
	// encoder's secret, a model, or a part of a model at this party.
	OpenPrediction bool `yaml:"open_prediction,omitempty"`
	// Continuation allows a job whose encoded rows the coordinator keeps for a later job. It also
	// allows that later job, in which newcomers get the seed of the rows.
	Continuation bool `yaml:"continuation,omitempty"`
	// Splits lists the ways in which a job may itself choose the held-out rows. The entries are words
	// of [job.Splits]; the default is none. A fraction needs no entry.
	Splits []string `yaml:"splits,omitempty"`
	// Own is true if one process plays all parties with its own data. The policy then also allows
	// jobs that only such a process can run, and no operator must approve a job's own split of
	// sums. No configuration sets it.
	Own bool `yaml:"-"`
	// SpreadLabels allows jobs that train on the labels of several parties. Each of these parties
	// learns from the labels of a part of the rows, and its result reveals something about its labels
	// to the others.
	SpreadLabels bool `yaml:"spread_labels,omitempty"`
	// Histograms allows jobs that count held-out rows in bins of their decision values. With a
	// forged solution, such a job queries many of these rows at once.
	Histograms bool `yaml:"histograms,omitempty"`
	// Filters has no effect, because jobs no longer choose rows. It exists so that configurations
	// of earlier versions can be read.
	Filters bool `yaml:"filters,omitempty"`
	// Ratings allows jobs that reveal sums of squared ratings for each item. If only one person
	// rates an item, the sum reveals that person's rating.
	Ratings bool `yaml:"ratings,omitempty"`
	// Views allows learners that learn from two views of each row (multi-view learning). The products
	// within a view of one column reveal that column, up to its sign.
	Views bool `yaml:"views,omitempty"`
	// OwnFigures allows results with accuracy figures over this table's held-out rows. The
	// coordinator must be able to compute the figures, and the rows must meet the limits.
	OwnFigures bool `yaml:"own_figures,omitempty"`
	// Approve is "each" if the operator decides about each job that the policy allows, before it begins,
	// and "study" if only jobs of a study that the operator has approved begin. Jobs of such a study
	// begin without asking the operator.
	Approve string `yaml:"approve,omitempty"`
	// Privacy is the privacy budget of the table, which all jobs with differential privacy share. Without it each such
	// job is refused.
	Privacy privacy.Guarantee `yaml:"privacy,omitempty" json:",omitzero"`
	// Limits holds conditions that every job and the table must meet.
	Limits PolicyLimits `yaml:"limits,omitempty"`
	// Earlier holds limits that the policy file states under the keys of the last version.
	Earlier EarlierLimits `yaml:",inline"`
}

// PolicyFor returns a policy that allows everything that job j needs. It suits a process that owns all
// parties' data and plays all parties.
func PolicyFor(j *job.Job) Policy {
	limits := NoLimits()
	limits.MaxIDs = strictyaml.Positive(j.Protocol.Limit("max_ids"))
	return Policy{
		Protocols: []string{j.Protocol.Name()}, Modes: []string{string(j.Protocol.Mode())}, Splits: job.Splits(), Own: true,
		OpenPrediction: j.Prediction == job.Open, Continuation: j.Protocol.Demands().Outlives, SpreadLabels: j.Data.Spread, Histograms: j.Protocol.Demands().Counts,
		Ratings: j.Protocol.Demands().Rates, Views: learner.UsesViews(j), OwnFigures: true,
		Privacy: j.Protocol.Demands().Privacy, Limits: limits,
	}
}

// Validate returns an error if the policy has a value that is not allowed, or lists a word that no job
// can contain. A policy with only such words would refuse jobs that its operator meant to allow.
func (p Policy) Validate(known job.Names) error {
	for _, rule := range []struct {
		key          string
		given, known []string
	}{
		{"protocols", p.Protocols, known.Protocols},
		{"modes", p.Modes, known.Modes},
		{"kernels", p.Kernels, known.Kernels},
		{"learners", p.Learners, known.Learners},
		{"splits", p.Splits, job.Splits()},
	} {
		for _, word := range rule.given {
			if slices.Contains(rule.known, word) {
				continue
			}
			if near, ok := fuzzymatch.Nearest(word, rule.known...); ok {
				return fmt.Errorf("%q in the policy names %q; did you mean %q?", rule.key, word, near)
			}
			return fmt.Errorf("%q in the policy names %q; this version has %s", rule.key, word, strings.Join(rule.known, ", "))
		}
	}
	if p.Approve != "" && p.Approve != approveEach && p.Approve != approveStudy {
		return fmt.Errorf(`"approve" in the policy is %q; write "approve: each" or "approve: study", or remove the key`, p.Approve)
	}
	if p.Privacy != (privacy.Guarantee{}) {
		if err := p.Privacy.Check(); err != nil {
			return fmt.Errorf(`"privacy" in the policy: %w`, err)
		}
	}
	if p.MinParties < 0 {
		return fmt.Errorf("min_parties in the policy is %d; write 2 or more", p.MinParties)
	}
	return p.Limits.validate()
}

// Refusal is a reason of a policy to refuse a job.
type Refusal struct {
	Key  string // key of the policy that would allow the job, such as "limits.max_ids"; "" if none would
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// Check returns the first reason of the policy to refuse a job, as an error. The error wraps a
// *[Refusal].
func (p Policy) Check(j *job.Job, parties int) error {
	if reasons := p.Refusals(j, parties); len(reasons) > 0 {
		return fault.Public(fault.Forbidden(&reasons[0]))
	}
	return nil
}

// Refusals returns all reasons of the policy to refuse a job, but only one if the policy lists no protocol. It
// needs only the number of the job's parties, and no data.
func (p Policy) Refusals(j *job.Job, parties int) []Refusal {
	if len(p.Protocols) == 0 {
		return []Refusal{{"protocols", "this party allows no job on this table; its operator can list protocols in the table's policy"}}
	}
	reasons := append(p.words(j), p.bounds(j, parties)...)
	if err := p.Limits.Values().CheckJob(j); err != nil {
		reasons = append(reasons, Refusal{"limits", err.Error()})
	}
	if err := j.Played(); err != nil && !p.Own {
		reasons = append(reasons, Refusal{Text: err.Error()})
	}
	return reasons
}

// plays reports whether this process plays all parties of a job that only such a process can run.
// Such a job repeats releases that a ledger would hold for approval.
func (p Policy) plays(j *job.Job) bool { return p.Own && j.Played() != nil }

// words returns the reasons to refuse a job that uses a protocol, mode, learner or kernel outside
// the policy's lists.
func (p Policy) words(j *job.Job) (reasons []Refusal) {
	if j.IsFit() {
		return nil // a fit needs only the operator's approval of its dictionary
	}
	modes := p.Modes
	if len(modes) == 0 {
		modes = []string{string(job.Hardened)}
	}
	check := func(what, value string, allowed []string) {
		if len(allowed) > 0 && !slices.Contains(allowed, value) {
			reasons = append(reasons, Refusal{what + "s", fmt.Sprintf("%s %q is not among those this party allows", what, value)})
		}
	}
	check("protocol", j.Protocol.Name(), p.Protocols)
	check("mode", string(j.Protocol.Mode()), modes)
	check("learner", j.Learner.Name(), p.Learners)
	for _, k := range j.Kernels() {
		check("kernel", string(k.Name), p.Kernels)
	}
	return reasons
}

// bounds returns the reasons to refuse a job that exceeds a limit or needs a missing permission.
func (p Policy) bounds(j *job.Job, parties int) (reasons []Refusal) {
	say := func(key, format string, args ...any) {
		reasons = append(reasons, Refusal{key, fmt.Sprintf(format, args...)})
	}
	if !j.Protocol.Bounded() {
		say("", "protocol %s states no limits, and a protocol without limits is refused", j.Protocol.Name())
	}
	if ids := j.Protocol.Limit("max_ids"); ids > p.ids() {
		say("limits.max_ids", "the job lets each party look up %d ids, this party allows %d; lower the protocol's max_ids", ids, p.ids())
	}
	if least := max(p.MinParties, 2); parties < least {
		say("min_parties", "the job has %d parties, this party asks for %d or more", parties, least)
	}
	if directions, most := j.Protocol.Limit("directions"), int(p.Limits.MaxDirections); most > 0 && directions > most {
		say("limits.max_directions", "the job has %d directions, this party allows %d (max_directions in its policy)", directions, most)
	}
	if p.Approve == approveStudy && j.Study == nil {
		say("approve", "this party takes part in jobs of an approved study only, and the job names none (\"approve: study\" in its policy)")
	}
	if j.Prediction == job.Open && !p.OpenPrediction {
		say("open_prediction", "the job keeps predictions open, which this party does not allow (open_prediction in its policy)")
	}
	if split := j.Data.Test.Split(); split != "" && !slices.Contains(p.Splits, split) {
		say("splits", "the job holds out %s, and this party lets no job choose that (\"splits: [%s]\" in its policy allows it)", j.Data.Test.Chosen(), split)
	}
	if j.Protocol.Demands().Outlives && !p.Continuation {
		say("continuation", "the job's encoded rows stay with the coordinator for a later job, or newcomers get their seed, which this party does not allow (\"continuation\" in its policy)")
	}
	if j.Data.Spread && !p.SpreadLabels {
		say("spread_labels", "the job's active parties learn something of each other's labels, which this party does not allow (spread_labels in its policy)")
	}
	if learner.UsesViews(j) && !p.Views {
		say("views", "learner %s sends the columns of each row in two views, whose products reveal the columns of a small view, which this party does not allow (\"views\" in its policy)", j.Learner.Name())
	}
	if j.Protocol.Demands().Counts && !p.Histograms {
		say("histograms", "the job counts held-out rows in bins by their decisions, which this party does not allow (\"histograms\" in its policy)")
	}
	if j.Protocol.Demands().Rates && !p.Ratings {
		say("ratings", "the job adds up the squares of all items' ratings, which reveals the rating of an item that one person rates, and this party does not allow it (\"ratings\" in its policy)")
	}
	if asked := j.Protocol.Demands().Privacy; asked != (privacy.Guarantee{}) && p.Privacy == (privacy.Guarantee{}) {
		say("privacy", "%v", &disclosure.BudgetError{Asked: asked})
	}
	return reasons
}

// budget returns the privacy budget that all jobs on the table share. It has no bound on epsilon for a process that
// plays all parties with its own data.
func (p Policy) budget() privacy.Guarantee {
	if p.Own {
		return privacy.Guarantee{Epsilon: math.Inf(1), Delta: p.Privacy.Delta}
	}
	return p.Privacy
}

// defaultMaxIDs is the default limit on the ids that each party may look up in one job.
const defaultMaxIDs = 1 << 20

// ids returns the number of ids that each other party may look up in one job.
func (p Policy) ids() int { return cmp.Or(int(p.Limits.MaxIDs), defaultMaxIDs) }

// idsTotal returns the number of ids that each other party may look up over all sessions.
func (p Policy) idsTotal() int { return cmp.Or(int(p.Limits.MaxIDsTotal), 10*p.ids()) }

// directionsTotal returns the limit on the random directions for one row, counted over all jobs.
// The value 0 means any number.
func (p Policy) directionsTotal() int {
	if p.Limits.MaxDirectionsTotal > 0 {
		return int(p.Limits.MaxDirectionsTotal)
	}
	return 4 * int(p.Limits.MaxDirections)
}

func refuse(format string, args ...any) error {
	return fault.Forbiddenf(format, args...)
}
