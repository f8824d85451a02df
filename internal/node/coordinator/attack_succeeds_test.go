package coordinator_test

// The attacks of this file succeed: docs/ledger.md says so ("What gets past it"). A test that fails
// here says that one is mended: turn it round, and take the attack out of the document.

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
)

// fd-svrg's label holder tells every other party the label of every training row (the first slopes). It
// states no labels, and where tables are aligned its ledger has nothing at all of the job.
func TestAttackLabelsOfSlopesHaveNoEntry(t *testing.T) {
	for name, change := range map[string]string{"by ids": "coverage: 0.9", "aligned": "aligned: true"} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, strings.Replace(string(slopes(t).Encode()), "coverage: 0.9", change, 1))
			w := newWorld(t, tumours(t, j))
			w.policy.Modes = []string{string(job.Paper)}
			w.mustRun(j)
			list, err := w.releases("north").List()
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(list, func(e disclosure.Listed) bool { return slices.Contains(e.Also, method.ReleaseLabels) }) {
				t.Errorf("north, who tells all labels of training rows, has them in its ledger: %+v", list)
			}
		})
	}
}

// A question's declaration tells the coordinator and the asker a power of two that bounds this party's
// values of the rows asked about, whether they are whole, and how many are common. The ledger is asked
// for these rows' products in the session after it: a held question has declared.
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
	if after := w.logs.String()[len(before):]; !regexp.MustCompile(`accepted a session.*member=south.*protocol=declare`).MatchString(after) {
		t.Errorf("south has not declared:\n%s", after)
	}
}

// Real parties run what is for simulate: nobody but the client's command asks Deployable.
func TestAttackPartiesRunWhatIsForSimulate(t *testing.T) {
	for name, c := range map[string]struct{ text, mode, key string }{
		"okra, two fits": {strings.NewReplacer("{name: okra}", "{name: okra, added: {north: 0.25, south: 0.25, east: 0.25}, preparation: refit}",
			"label: label", "label: label\n    scale: standard").Replace(fmt.Sprintf(jobFile, "")), "hardened", ""},
		"secureboost, he none": {strings.Replace(string(boosted(t).Encode()), "he: paillier", "he: none", 1), "paper", "he: none"},
	} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, c.text)
			if err := j.Deployable(); err == nil || !strings.Contains(c.text, c.key) {
				t.Fatal("the job is deployable")
			}
			w := newWorld(t, tumours(t, j))
			w.policy.Modes = []string{c.mode}
			w.mustRun(j)
		})
	}
}
