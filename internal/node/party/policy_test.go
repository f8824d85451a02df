package party

import (
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/gram"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/sums"

	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data:
    source: tumours
    label: label
    partition: {parties: [north, south, east]}
    scale: %s
  protocol: %s
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10}
  prediction: %s
  timeout: {join: 5s, round: 5s}
`

func parse(t testing.TB, scale, protocol, prediction string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf(jobFile, scale, protocol, prediction))
}

func TestPolicy(t *testing.T) {
	hardened := parse(t, "minmax", "{name: okra}", "closed")
	paper := parse(t, "minmax", "{name: okra, mode: paper}", "closed")
	open := parse(t, "minmax", "{name: okra}", "open")
	lasting := parse(t, "minmax", "{name: okra, continuable: true}", "closed")
	grid := parse(t, "minmax", "{name: okra}", "closed")
	grid.Grid = job.Grid{Kernels: []job.Kernel{grid.Kernel, {Name: job.Linear}}, Learners: []job.Named{grid.Learner}}
	vertical := parse(t, "minmax", "{name: okra}", "closed")
	vertical.Data.Partition.By, vertical.Protocol = job.Columns, jobtest.Protocol(t, "gram")
	if err := all.Reader().Validate(vertical); err != nil {
		t.Fatal(err)
	}
	wide := parse(t, "minmax", "{name: okra}", "closed")
	wide.Protocol = job.Named{Kind: moments.Protocol(), Values: &moments.Keys{Moded: job.Moded{Mode: job.Hardened}, Directions: 64}}
	whole := parse(t, "minmax", "{name: okra}", "closed")
	whole.Data.Test = job.Test{Party: "east"}
	spread := parse(t, "minmax", "{name: okra}", "closed")
	spread.Data.Spread = true
	counting := parse(t, "minmax", "{name: okra}", "closed")
	counting.Protocol = job.Named{Kind: moments.Protocol(), Values: &moments.Keys{Moded: job.Moded{Mode: job.Hardened}, Histogram: true}}
	rating := parse(t, "minmax", "{name: okra}", "closed")
	rating.Protocol = job.Named{Kind: fedcfk.Protocol(), Values: &fedcfk.Keys{Moded: job.Moded{Mode: job.Hardened}, Ratings: 5}}
	tests := []struct {
		name    string
		policy  Policy // allows okra, moments and gram if it lists no protocols
		job     *job.Job
		parties int
		want    string // "" allows
	}{
		{"as little as can be said", Policy{Protocols: []string{"okra"}}, hardened, 3, ""},
		{"a whole party", Policy{Splits: []string{"party"}}, whole, 3, ""},
		{"a whole party, of which nothing is said", Policy{}, whole, 3, "the job holds out all rows of east, and this party lets no job choose that (\"splits: [party]\" in its policy allows it)"},
		{"as many ids as the job says", Policy{}, vertical, 3, ""},
		{"enough ids", Policy{Limits: PolicyLimits{MaxIDs: 1 << 20}}, vertical, 3, ""},
		{"fewer ids", Policy{Limits: PolicyLimits{MaxIDs: 1000}}, vertical, 3, "the job lets each party look up 1048576 ids, this party allows 1000; lower the protocol's max_ids"},
		{"ids of rows", Policy{Limits: PolicyLimits{MaxIDs: 1000}}, hardened, 3, ""},
		{"protocol in the list", Policy{Protocols: []string{"moments", "okra"}}, hardened, 3, ""},
		{"protocol", Policy{Protocols: []string{"moments"}}, hardened, 3, `protocol "okra" is not among those this party allows`},
		{"mode, nothing said", Policy{}, paper, 3, `mode "paper" is not among those this party allows`},
		{"mode in the list", Policy{Modes: []string{"hardened", "paper"}}, paper, 3, ""},
		{"mode", Policy{Modes: []string{"paper"}}, hardened, 3, `mode "hardened" is not among those this party allows`},
		{"kernel in the list", Policy{Kernels: []string{"rbf"}}, hardened, 3, ""},
		{"kernel", Policy{Kernels: []string{"linear"}}, hardened, 3, `kernel "rbf" is not among those this party allows`},
		{"all kernels of a grid", Policy{Kernels: []string{"linear", "rbf"}}, grid, 3, ""},
		{"a kernel of a grid", Policy{Kernels: []string{"rbf"}}, grid, 3, `kernel "linear" is not among those this party allows`},
		{"learner in the list", Policy{Learners: []string{"svc"}}, hardened, 3, ""},
		{"learner", Policy{Learners: []string{"svr"}}, hardened, 3, `learner "svc" is not among those this party allows`},
		{"parties, nothing said", Policy{}, hardened, 2, ""},
		{"one party", Policy{}, hardened, 1, "the job has 1 parties, this party asks for 2 or more"},
		{"parties", Policy{MinParties: 4}, hardened, 3, "the job has 3 parties, this party asks for 4 or more"},
		{"parties are enough", Policy{MinParties: 3}, hardened, 3, ""},
		{"directions", Policy{Limits: PolicyLimits{MaxDirections: 62}}, wide, 3, "the job has 64 directions, this party allows 62 (max_directions in its policy)"},
		{"few directions", Policy{Limits: PolicyLimits{MaxDirections: 64}}, wide, 3, ""},
		{"open predictions", Policy{}, open, 3, "the job keeps predictions open, which this party does not allow (open_prediction in its policy)"},
		{"kept rows", Policy{}, lasting, 3, "the job's encoded rows stay with the coordinator for a later job, or newcomers get their seed, which this party does not allow (\"continuation\" in its policy)"},
		{"kept rows allowed", Policy{Continuation: true}, lasting, 3, ""},
		{"spread labels", Policy{}, spread, 3, "the job's active parties learn something of each other's labels, which this party does not allow (spread_labels in its policy)"},
		{"spread labels allowed", Policy{SpreadLabels: true}, spread, 3, ""},
		{"histogram", Policy{}, counting, 3, "the job counts held-out rows in bins by their decisions, which this party does not allow (\"histograms\" in its policy)"},
		{"histogram allowed", Policy{Histograms: true}, counting, 3, ""},
		{"ratings", Policy{Protocols: []string{"fedcfk"}, Limits: NoLimits()}, rating, 3, "the job adds up the squares of all items' ratings, which reveals the rating of an item that one person rates, and this party does not allow it (\"ratings\" in its policy)"},
		{"ratings allowed", Policy{Protocols: []string{"fedcfk"}, Limits: NoLimits(), Ratings: true, Own: true}, rating, 3, ""},
		{"open predictions allowed", Policy{OpenPrediction: true}, open, 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy := tt.policy
			if policy.Protocols == nil {
				policy.Protocols = []string{"okra", "moments", "gram"}
			}
			err := policy.Check(tt.job, tt.parties)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || err.Error() != tt.want):
				t.Errorf("error %v, want %q", err, tt.want)
			case err != nil && fault.CodeOf(err) != fault.CodePolicy:
				t.Errorf("code %d, want %d", fault.CodeOf(err), fault.CodePolicy)
			}
		})
	}
}

// A process that plays all parties has the job's own bound on ids, which can be above the default.
func TestPolicyForManyIDs(t *testing.T) {
	j := parse(t, "minmax", "{name: okra}", "closed")
	j.Data.Partition.By, j.Protocol = job.Columns, jobtest.Protocol(t, "gram")
	if err := all.Reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	job.As[*gram.Keys](j.Protocol).MaxIDs = 2 * defaultMaxIDs
	if why := PolicyFor(j).Refusals(j, 100); len(why) > 0 {
		t.Errorf("refused: %v", why)
	}
}

// An operator who has written nothing has allowed nothing, however tame the job.
func TestNoPolicyAllowsNothing(t *testing.T) {
	for _, name := range all.Reader().Known().Protocols {
		j := parse(t, "minmax", "{name: okra}", "closed")
		j.Protocol = jobtest.Protocol(t, name)
		const want = "this party allows no job on this table; its operator can list protocols in the table's policy"
		for _, policy := range []Policy{{}, {OpenPrediction: true, Modes: all.Reader().Known().Modes, Limits: NoLimits()}} {
			if err := policy.Check(j, 100); err == nil || err.Error() != want || fault.CodeOf(err) != fault.CodePolicy {
				t.Errorf("%s: error %v with code %d", name, err, fault.CodeOf(err))
			}
		}
	}
}

// The strongest adversary is a coordinator that writes the job: it says hardened and
// turns off everything that hardens fedcfk. A policy that says nothing of limits
// refuses each of these, and their sum.
func TestWeakenedDevicesAreRefused(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: greedy}
spec:
  data:
    source: ratings
    partition: {by: devices, parties: [a, b, c, d]}
    test: {every: 10}
  protocol: {name: fedcfk, corrupted: 0.05, dropped: 0.2, items: [a, b, c, d, e, f, g, h, i, j]}
  kernel: {name: linear}
  learner: {name: cf-komd, lambda: 0.1}
  compare: []
`
	policy := Policy{Protocols: []string{"fedcfk"}, Modes: []string{"hardened"}, Kernels: []string{"linear"}, Learners: []string{"cf-komd"}, MinParties: 4}
	for _, tt := range []struct {
		weaken func(*fedcfk.Keys) // what no job file need be able to say
		want   string
	}{
		{func(*fedcfk.Keys) {}, ""},
		{func(p *fedcfk.Keys) { p.Adversary = sums.SemiHonest }, "adversary is semi-honest; this party requires active"},
		{func(p *fedcfk.Keys) { p.Corrupted = 0 }, "corrupted is 0; this party requires at least 0.05"},
		{func(p *fedcfk.Keys) { p.Dropped = 0.3 }, "dropped is 0.3; this party allows at most 0.2"},
		{func(p *fedcfk.Keys) { p.Threshold = 9 }, "threshold is 9; this party requires at least 10"},
		{func(p *fedcfk.Keys) { p.Margin = fedcfk.MarginNone }, "margin is none; this party requires corrupted"},
		{func(p *fedcfk.Keys) {
			p.Adversary, p.Margin, p.Threshold, p.Corrupted, p.Dropped = sums.SemiHonest, fedcfk.MarginNone, 1, 0, 0.5
		}, "threshold is 1; this party requires at least 10"},
	} {
		j := jobtest.Parse(t, file)
		tt.weaken(job.As[*fedcfk.Keys](j.Protocol))
		got := ""
		if err := policy.Check(j, 4); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		lowered := policy
		lowered.Limits, lowered.Own = NoLimits(), true // the weakest are for one process
		if err := lowered.Check(j, 4); err != nil {
			t.Errorf("%s: without limits: %v", j.Protocol, err)
		}
	}
}

// A word that no job can say is a mistake of the operator's.
func TestPolicyOfUnknownWords(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		want   string // "" is valid
	}{
		{Policy{}, ""},
		{Policy{Protocols: []string{"okra", "moments"}, Modes: []string{"paper"}, Kernels: []string{"rbf"}, Learners: []string{"svc"}}, ""},
		{Policy{Protocols: []string{"okra", "momnts"}}, `"protocols" in the policy names "momnts"; did you mean "moments"?`},
		{Policy{Modes: []string{"anything"}}, `"modes" in the policy names "anything"; this version has hardened, paper`},
		{Policy{Kernels: []string{"rfb"}}, `"kernels" in the policy names "rfb"; did you mean "rbf"?`},
		{Policy{Learners: []string{"svm"}}, `"learners" in the policy names "svm"; did you mean "svc"?`},
		{Policy{Limits: NoLimits()}, ""},
		{Policy{Limits: PolicyLimits{Rows: new(-1)}}, `"rows" in the policy's limits is -1; write 0 for no limit, or a number above 0`},
		{Policy{Limits: PolicyLimits{Corrupted: new(1.0)}}, `"corrupted" in the policy's limits is 1; write a share of the people from 0 to below 1`},
		{Policy{Limits: PolicyLimits{Dropped: new(0.0)}}, `"dropped" in the policy's limits is 0; write a share of the people above 0 and up to 1`},
	} {
		got := ""
		if err := c.policy.Validate(all.Reader().Known()); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.policy, got, c.want)
		}
	}
}
