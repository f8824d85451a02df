package coordinator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/privacy"
)

// privateJob is a job of hospitals with differential privacy, in which nothing is fitted.
func privateJob(t testing.TB, protocol string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.NewReplacer(
		"missing: median, transform: log", "missing: 80, outside: clip", "range: [0, 120]", "range: [0, 120], missing: 50, outside: clip", "categories: agree", "categories: [smoker, nonsmoker, exsmoker], missing: nonsmoker, unknown: other",
		"label: diagnosis", "label: {column: diagnosis, classes: [ill, well]}", "scale: standard", "scale: range", "{name: okra}", fmt.Sprintf(`{name: %s, classes: [ill, well], privacy: {epsilon: 6, delta: 1.0e-6}}`, protocol),
		"{name: svc, C: 1}", "{name: ridge-classifier}").Replace(schemaJob))
}

// spent returns what is in a member's books.
func (w *testbed) spent(name string) []disclosure.Spending {
	w.t.Helper()
	list, err := w.releases(name).Noisy()
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// Members that die in the middle of a job with privacy and come back pay once for its noise. The same job again pays again, or
// is refused by the budget of each party, and all read what is left.
func TestAJobWithPrivacyPaysOnce(t *testing.T) {
	t.Parallel()
	j := privateJob(t, "moments, directions: 4")
	for _, d := range []death{{}, {"north", 1, "send secagg/MaskedInput"}, {"north", 2, "send secagg/MaskedInput"}, {"south", 1, "send control/Acceptance"}, {hub, 1, "send secagg/Survivors"}} {
		t.Run(fmt.Sprintf("%s/%s/%d", d.name, d.op, d.nth), func(t *testing.T) {
			w := newTestbed(t, hospitals(t, j))
			w.policy.Privacy = privacy.Guarantee{Epsilon: 8, Delta: 1e-6}
			if d.name != "" {
				died := w.dies(d)
				defer func() {
					if !died.Load() {
						t.Error("it never came to that")
					}
				}()
			}
			w.startAll()
			if done := w.wait(w.submit(j)); done.Failure != nil {
				t.Fatalf("%+v", done.Failure)
			}
			for _, name := range j.Parties() {
				if list := w.spent(name); len(list) != 1 || list[0].State != disclosure.Released || list[0].Epsilon != 6 || list[0].Job != "hospitals" {
					t.Errorf("%s has spent %+v", name, list)
				}
			}
			again := w.wait(w.submit(j))
			if f := again.Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "of the table's privacy budget, epsilon 8 at delta 1e-06, earlier jobs have left one job with epsilon 4.") {
				t.Errorf("the same job again: %+v", f)
			}
			for _, name := range j.Parties() {
				if list := w.spent(name); len(list) != 1 {
					t.Errorf("%s has spent %+v", name, list)
				}
			}
		})
	}
}

// A job that is aborted after its first noisy message has paid.
func TestAnAbortedJobHasPaid(t *testing.T) {
	t.Parallel()
	j := privateJob(t, "moments, directions: 4")
	w := newTestbed(t, hospitals(t, j))
	w.policy.Privacy = privacy.Guarantee{Epsilon: 8, Delta: 1e-6}
	w.loses = func(_, kind string) bool { return kind == "secagg/Survivors" }
	w.startAll()
	id := w.submit(j)
	w.untilSent("north", "secagg/MaskedInput")
	if err := w.members[hub].boss.Abort(id); err != nil {
		t.Fatal(err)
	}
	if done := w.wait(id); done.Failure == nil {
		t.Error("the job was not aborted")
	}
	if list := w.spent("north"); len(list) != 1 || list[0].State != disclosure.Released {
		t.Errorf("north has spent %+v", list)
	}
}
