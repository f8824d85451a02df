package party

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
)

// Policy lists the uses of a table that a party's operator allows. The zero value
// allows nothing. Once Protocols names some, an empty list allows every value, except
// Modes, whose default is hardened only.
type Policy struct {
	Protocols  []string `yaml:"protocols,omitempty"`
	Modes      []string `yaml:"modes,omitempty"`
	Kernels    []string `yaml:"kernels,omitempty"`
	Learners   []string `yaml:"learners,omitempty"`
	MinParties int      `yaml:"min_parties,omitempty"` // 0 means 2
	// OpenPrediction allows jobs that keep the encoder's secret here after
	// their result, so that new rows can be predicted.
	OpenPrediction bool `yaml:"open_prediction,omitempty"`
	// Continuation allows jobs whose encoded rows the coordinator keeps for a later job, and
	// jobs that continue them, in which newcomers get the seed of the rows.
	Continuation bool `yaml:"continuation,omitempty"`
	// Splits lists the ways in which a job may say itself which rows are held out, by the words
	// of [job.Splits]; none by default. A job gives a fraction without leave.
	Splits []string `yaml:"splits,omitempty"`
	// Own says that the process which plays this party plays all of them, with its own data: jobs for
	// one process run, and nobody need be asked about a job's own split of sums. No configuration has it.
	Own bool `yaml:"-"`
	// SpreadLabels allows jobs between parties of whom several learn from labels of a part of
	// the rows each: what one learns tells the others something of its labels.
	SpreadLabels bool `yaml:"spread_labels,omitempty"`
	// Histograms allows jobs that count the decisions about held-out rows in bins: a solution that
	// is made up asks about many of these rows at once.
	Histograms bool `yaml:"histograms,omitempty"`
	// Filters says nothing any more: the operator approves a dictionary, and no job chooses rows. It is
	// read so that configurations of earlier versions open.
	Filters bool `yaml:"filters,omitempty"`
	// Ratings allows jobs that open sums of squared ratings of all items: of an item that one person
	// rates, that is the person's rating.
	Ratings bool `yaml:"ratings,omitempty"`
	// Views allows learners that have the columns of each row sent in two views: products within a
	// view of one column are that column, up to its sign.
	Views bool `yaml:"views,omitempty"`
	// OwnFigures allows figures over the table's own held-out rows in results, where the
	// coordinator can make them and the rows meet the limits.
	OwnFigures bool `yaml:"own_figures,omitempty"`
	// Limits are conditions for every job, and for the table.
	Limits PolicyLimits `yaml:"limits,omitempty"`
	// Earlier are the keys by which the last version knew the limits.
	Earlier EarlierLimits `yaml:",inline"`
}

// PolicyFor returns a policy that allows a job, whatever it asks for. It suits a process
// that owns all parties' data and plays with them.
func PolicyFor(j *job.Job) Policy {
	return Policy{
		Protocols: []string{j.Protocol.Name()}, Modes: []string{string(j.Protocol.Mode())}, Splits: job.Splits(), Own: true,
		OpenPrediction: j.Prediction == job.Open, Continuation: j.Protocol.Demands().Outlives, SpreadLabels: j.Data.Spread, Histograms: j.Protocol.Demands().Counts,
		Ratings: j.Protocol.Demands().Rates, Views: learner.UsesViews(j), OwnFigures: true,
		Limits: NoLimits(),
	}
}

// Validate finds words that no job can say: a policy that only allows those would
// refuse what its operator meant to allow.
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
				return fmt.Errorf("%s in the policy names %q; did you mean %q?", rule.key, word, near)
			}
			return fmt.Errorf("%s in the policy names %q; this version has %s", rule.key, word, strings.Join(rule.known, ", "))
		}
	}
	return p.Limits.validate()
}

// Check reports whether the operator allows a job among that many parties.
func (p Policy) Check(j *job.Job, parties int) error {
	if reasons := p.Refusals(j, parties); len(reasons) > 0 {
		return refuse("%s", reasons[0])
	}
	return nil
}

// Refusals returns all reasons why the operator does not allow a job among that many
// parties, before there is a look at its data.
func (p Policy) Refusals(j *job.Job, parties int) []string {
	if len(p.Protocols) == 0 {
		return []string{"this party allows no job on this table; its operator can list protocols in the table's policy"}
	}
	reasons := append(p.words(j), p.bounds(j, parties)...)
	if err := p.Limits.Values().CheckJob(j); err != nil {
		reasons = append(reasons, err.Error())
	}
	if err := j.Played(); err != nil && !p.Own {
		reasons = append(reasons, err.Error())
	}
	return reasons
}

// plays reports whether a job is for one process, and this is one: it lets out again what a ledger
// would hold.
func (p Policy) plays(j *job.Job) bool { return p.Own && j.Played() != nil }

// words are the reasons by which lists of words refuse a job.
func (p Policy) words(j *job.Job) (reasons []string) {
	if j.IsFit() {
		return nil // who has approved the dictionary has approved its fit
	}
	modes := p.Modes
	if len(modes) == 0 {
		modes = []string{string(job.Hardened)}
	}
	check := func(what, value string, allowed []string) {
		if len(allowed) > 0 && !slices.Contains(allowed, value) {
			reasons = append(reasons, fmt.Sprintf("%s %q is not among those this party allows", what, value))
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

// bounds are the reasons by which numbers, and the word open, refuse a job.
func (p Policy) bounds(j *job.Job, parties int) (reasons []string) {
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if !j.Protocol.Bounded() {
		say("protocol %s states no limits, and what states none is refused", j.Protocol.Name())
	}
	if ids := j.Protocol.Limit("max_ids"); ids > p.ids() {
		say("the job lets each party look for %d ids, this party allows %d; lower the protocol's max_ids", ids, p.ids())
	}
	if least := max(p.MinParties, 2); parties < least {
		say("the job has %d parties, this party asks for %d or more", parties, least)
	}
	if directions := j.Protocol.Limit("directions"); p.Limits.MaxDirections > 0 && directions > p.Limits.MaxDirections {
		say("the job has %d directions, this party allows %d (max_directions in its policy)", directions, p.Limits.MaxDirections)
	}
	if j.Prediction == job.Open && !p.OpenPrediction {
		say("the job keeps predictions open, which this party does not allow (open_prediction in its policy)")
	}
	if split := j.Data.Test.Split(); split != "" && !slices.Contains(p.Splits, split) {
		say("the job holds out %s, and this party leaves that choice to no job (splits: [%s] in its policy would)", j.Data.Test.Chosen(), split)
	}
	if j.Protocol.Demands().Outlives && !p.Continuation {
		say("the job's encoded rows stay with the coordinator for a later job, or newcomers get their seed, which this party does not allow (continuation in its policy)")
	}
	if j.Data.Spread && !p.SpreadLabels {
		say("the job's active parties learn something of each other's labels, which this party does not allow (spread_labels in its policy)")
	}
	if learner.UsesViews(j) && !p.Views {
		say("learner %s has the columns of each row sent in two views, whose products tell the columns of a small one, which this party does not allow (views in its policy)", j.Learner.Name())
	}
	if j.Protocol.Demands().Counts && !p.Histograms {
		say("the job adds up held-out rows in bins by their decisions, which this party does not allow (histograms in its policy)")
	}
	if j.Protocol.Demands().Rates && !p.Ratings {
		say("the job adds up the squares of all items' ratings, which of an item that one person rates is that rating, and this party does not allow it (ratings in its policy)")
	}
	return reasons
}

// defaultMaxIDs bounds the ids that each party may look for if neither policy nor job says
// anything.
const defaultMaxIDs = 1 << 20

// ids returns the number of ids that each other party may look for in one job.
func (p Policy) ids() int { return cmp.Or(p.Limits.MaxIDs, defaultMaxIDs) }

// idsTotal returns the number of ids that each other party may look for over all sessions.
func (p Policy) idsTotal() int { return cmp.Or(p.Limits.MaxIDsTotal, 10*p.ids()) }

// directionsTotal is in how many directions a row may be let out over all jobs, 0 for any
// number.
func (p Policy) directionsTotal() int {
	if p.Limits.MaxDirectionsTotal > 0 {
		return p.Limits.MaxDirectionsTotal
	}
	return 4 * p.Limits.MaxDirections
}

func refuse(format string, args ...any) error {
	return fault.Forbiddenf(format, args...)
}
