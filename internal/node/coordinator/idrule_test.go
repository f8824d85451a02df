package coordinator_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// Parties that hold columns compare the rules by which they make their ids, wherever they align
// rows: where one has another rule, all read one sentence, whether or not their ids have anything
// in common. Nobody but its party reads a rule.
func TestIDsByDifferentRules(t *testing.T) {
	t.Parallel()
	const rule, other = `["one column"] normalized by ["trim" "upper"]`, `["born" "name"] normalized by []`
	three := columns(t)
	two := jobtest.Parse(t, strings.Replace(string(three.Encode()), ", east]", "]", 1))
	aligned := jobtest.Parse(t, strings.Replace(string(three.Encode()), "coverage: 0.9", "aligned: true", 1))
	for _, tt := range []struct {
		name     string
		job      *job.Job
		rules    []string
		disjoint bool   // the first party's ids are nobody else's
		says     string // "" for a job that ends well; or one of several sentences, with | between
	}{
		{"one rule", three, []string{rule, rule, rule}, false, ""},
		{"one rule, two parties", two, []string{rule, rule}, false, ""},
		{"one rule, aligned", aligned, []string{rule, rule, rule}, false, ""},
		{"one party has none", three, []string{rule, "", rule}, false, "different rules"},
		{"two parties, two rules", two, []string{rule, other}, false, "different rules"},
		{"two parties, one has none", two, []string{"", rule}, false, "different rules"},
		{"two rules, no common id", two, []string{rule, other}, true, "different rules"},
		{"two rules, no common id, three parties", three, []string{rule, other, rule}, true, "different rules|that one rule makes all ids"}, // a party, or the comparer before it
		{"two rules, aligned", aligned, []string{rule, other, rule}, false, "or make their ids by different rules"},
		{"one rule, no common id", two, []string{rule, rule}, true, "no id is common to all parties"},
	} {
		said := func(text string) bool {
			return slices.ContainsFunc(strings.Split(tt.says, "|"), func(says string) bool { return strings.Contains(text, says) })
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shares := tumours(t, tt.job)
			for i := range shares {
				shares[i].Table.IDRule = tt.rules[i]
			}
			if tt.disjoint {
				shares[0].Table.Set = otherIDs(shares[0].Table.Set)
			}
			w := newTestbed(t, shares)
			done := w.run(tt.job)
			if tt.says == "" {
				if done.Failure != nil {
					t.Fatalf("the job failed: %+v", done.Failure)
				}
				if got := len(w.aligned("north")); got != done.Result.Training+done.Result.HeldOut {
					t.Errorf("%d ids are aligned, and the job has %d and %d rows", got, done.Result.Training, done.Result.HeldOut)
				}
				return
			}
			if done.Failure == nil || done.Failure.Code != fault.CodeBadInput || !said(done.Failure.Message) {
				t.Fatalf("the job ends with %+v, want %s", done.Failure, tt.says)
			}
			for _, s := range shares {
				if !said(w.lines(s.Party)) {
					t.Errorf("%s reads %s", s.Party, w.lines(s.Party))
				}
			}
			readsOwnRulesOnly(t, w, shares)
		})
	}
}

// readsOwnRulesOnly looks for rules where their parties' logs are not, and on the coordinator's disk.
func readsOwnRulesOnly(t *testing.T, w *testbed, shares []partition.Share) {
	t.Helper()
	for _, s := range shares {
		log := strings.ReplaceAll(w.lines(s.Party), `\"`, `"`)
		for _, of := range shares {
			if rule := of.Table.IDRule; rule != "" && rule != s.Table.IDRule && strings.Contains(log, rule) {
				t.Errorf("%s reads the rule of %s: %s", s.Party, of.Party, log)
			}
		}
	}
	for _, hit := range w.found([]needle{{"rule", []byte("normalized by")}}) {
		if strings.Contains(hit, filepath.Join(w.dir, hub)) {
			t.Error(hit)
		}
	}
	if strings.Contains(w.lines(hub), "normalized") {
		t.Errorf("the coordinator reads %s", w.lines(hub))
	}
}

// otherIDs is a table whose ids nobody else has.
func otherIDs(set *dataset.Set) *dataset.Set {
	own := *set
	own.IDs = slices.Clone(own.IDs)
	for i := range own.IDs {
		own.IDs[i] += "x"
	}
	return &own
}
