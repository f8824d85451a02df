package coordinator_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// fd-svrg's label holder reveals the label of every training row to every other party (the first
// slopes): its ledger lists it, also if tables are aligned.
func TestAttackLabelsOfSlopesHaveNoEntry(t *testing.T) {
	for name, change := range map[string]string{"by ids": "coverage: 0.9", "aligned": "aligned: true"} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, strings.Replace(string(slopes(t).Encode()), "coverage: 0.9", change, 1))
			w := newTestbed(t, tumours(t, j))
			w.policy.Modes = []string{string(job.Paper)}
			w.mustRun(j)
			list, err := w.releases("north").List()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(list, func(e disclosure.Listed) bool {
				return e.State == disclosure.Released && slices.Contains(e.Also, method.ReleaseLabels)
			}) {
				t.Errorf("north, who tells all labels of training rows, has %+v in its ledger", list)
			}
		})
	}
}

// A question's declaration tells the coordinator and the asker a power of two that bounds this party's
// values of the rows asked about, whether they are whole, and how many are common: the ledger is asked
// for these rows' products before it.
func TestAttackAHeldQuestionHasDeclared(t *testing.T) {
	j := opened(t, columns(t))
	w, id, rows := trained(t, j)
	w.mustAnswer("north", id, rows)
	w.change("south", func(set *dataset.Set) *dataset.Set {
		changed := *set
		all := span(0, set.X.Rows())
		all[2] = 1
		changed.X = set.X.Subset(all)
		return &changed
	})
	before := w.logs.String()
	_, err := w.ask("north", id, rows.Subset(span(0, 18)), newSource)
	if err == nil || !strings.Contains(err.Error(), "release") {
		t.Fatalf("the question is not held: %v", err)
	}
	after := w.logs.String()[len(before):]
	if regexp.MustCompile(`accepted a session.*member=south.*protocol=declare`).MatchString(after) {
		t.Errorf("south has declared:\n%s", after)
	}
	if !regexp.MustCompile(`accepted a session.*member=south.*protocol=`).MatchString(after) {
		t.Errorf("south has not compared ids:\n%s", after)
	}
}

// A coordinator takes no job that is for one process, and no party takes part in one that a curious
// coordinator has submitted.
func TestAttackPartiesRunWhatIsForSimulate(t *testing.T) {
	for name, c := range map[string]struct{ text, mode, why string }{
		"okra, two fits": {strings.NewReplacer("{name: okra}", "{name: okra, added: {north: 0.25, south: 0.25, east: 0.25}, preparation: refit}",
			"label: label", "label: label\n    scale: standard").Replace(fmt.Sprintf(jobFile, "")), "hardened", `"late", "withdrawn" and "added"`},
		"secureboost, he none":   {strings.Replace(string(boosted(t).Encode()), "he: paillier", "he: none", 1), "paper", `"he: none" shows the labels`},
		"rows chosen by the job": {strings.Replace(fmt.Sprintf(jobFile, ""), "label: label", "label: label\n    test: {every: 4}", 1), "hardened", "each party chooses its own held-out rows"},
	} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, c.text)
			w := newTestbed(t, tumours(t, j))
			w.policy.Modes, w.policy.Splits = []string{c.mode}, job.Splits()
			w.startAll()
			if _, err := w.members[hub].boss.Submit(j, nobody); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("submitted: %v", err)
			}
			w.own = make(map[string]party.Policy)
			for _, name := range j.Parties() {
				w.own[name] = w.policy
			}
			w.halt(hub)
			w.policy.Own = true // the coordinator alone
			w.startAll()
			done := w.wait(w.submit(j))
			if done.Failure == nil || !strings.Contains(done.Failure.Message, c.why) {
				t.Errorf("the parties run it: %+v", done.Failure)
			}
			for _, name := range j.Parties() {
				if list, err := w.releases(name).List(); err != nil || len(list) > 0 {
					t.Errorf("%s: %+v, %v", name, list, err)
				}
			}
		})
	}
}
