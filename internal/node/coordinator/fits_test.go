package coordinator_test

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// fitted is a job whose parties scale by means and deviations of all their training rows.
func fitted(t *testing.T) *job.Job {
	t.Helper()
	return jobtest.With(t, parse(t, ""), map[string]string{"data.scale": "standard"})
}

// A job that fits on one party's further people waits for approval there before anything is revealed.
// Approved, it reveals its fit, and the other parties hold it, whose rows are unchanged but have
// another fit now. The job fails, and its fit is disclosed: with one person less it is held. Each party
// approves once in all.
func TestLedgerOfAFitThatOthersHaveChanged(t *testing.T) {
	t.Parallel()
	j := fitted(t)
	w := newTestbed(t, tumours(t, j))
	w.random = true
	whole := named(w.table("east"))
	for _, name := range j.Parties() {
		w.brings(name, rowsOf(named(w.table(name)), span(0, 15)))
	}
	w.mustRun(j)

	w.brings("east", whole)
	if done := w.mustBeHeld(j, "east", "job"); !strings.HasPrefix(done.Failure.Message, "stage column-order: ") {
		t.Errorf("failure %+v, want it before anything is told", done.Failure)
	}
	w.approve("east", 1)
	approved := map[string]int{"east": 1}
	for range 2 { // the others refuse at once, or one after the other
		f := w.run(j).Failure
		if f == nil {
			break
		}
		if !strings.HasPrefix(f.Message, "stage protocol: ") || !strings.Contains(f.Message, "the job awaits its operator's approval") {
			t.Fatalf("failure %+v", f)
		}
		for _, name := range []string{"north", "south"} {
			many := len(w.inState(name, disclosure.Held))
			approved[name] += many
			w.approve(name, many)
		}
		if len(w.inState("east", disclosure.Approved)) != 1 {
			t.Errorf("east's approval is used up by a fit: %+v", w.inState("east", disclosure.Approved))
		}
		w.brings("east", rowsOf(whole, span(0, 19))) // after the fit, and before its rows
		if done := w.mustBeHeld(j, "east", "job"); !strings.HasPrefix(done.Failure.Message, "stage column-order: ") {
			t.Errorf("failure %+v, want it before anything is told", done.Failure)
		}
		if err := w.releases("east").Withdraw(w.inState("east", disclosure.Held)[0].ID, disclosuretest.Agree); err != nil {
			t.Fatal(err)
		}
		w.brings("east", whole)
	}
	w.mustRun(j)
	for name, n := range approved {
		if n != 1 {
			t.Errorf("%s has approved %d releases", name, n)
		}
	}
	w.nothingOpen()
	for _, name := range j.Parties() {
		if open := append(w.inState(name, disclosure.Held), append(w.inState(name, disclosure.Approved), w.inState(name, disclosure.Admitted)...)...); open != nil {
			t.Errorf("%s still has %+v", name, open)
		}
	}
}
