package coordinator_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// TestWriteEra writes homes of the program in whose tree it stands, which become the next era:
//
//	MERCER_GOLDEN=testdata/homes-7.tar.gz go test -run TestWriteEra ./internal/node/coordinator
//
// So those of earlier programs were written, in the tree of each and without what it did not know.
func TestWriteEra(t *testing.T) {
	file := os.Getenv("MERCER_GOLDEN")
	if !strings.HasSuffix(file, ".tar.gz") {
		t.Skip("MERCER_GOLDEN names no file of homes")
	}
	e := era{file: file, columns: "gram", schema: true, dies: 4}
	undisturbed, _ := e.ended(t)
	model := undisturbed.mustRun(e.paused(t)).Result.ModelHash
	w, g := e.ended(t)
	g.Model = model
	e.interrupt(w, g)
	for _, name := range e.paused(t).Parties() {
		g.Ledgers[name] = w.ledgerLines(name)
	}
	g.Held = w.inState("south", disclosure.Held)[0].Since.Unix()
	w.pack(g, file)
}

// ended returns a testbed in which all jobs of an era have ended that end.
func (e era) ended(t *testing.T) (*testbed, golden) {
	t.Helper()
	w := eraTestbed(t).lets(e.paused(t))
	g := golden{Jobs: map[string]string{}, Says: map[string][]string{}, Ledgers: map[string][]string{}}
	e.runOkra(w, g)
	if e.columns != "" {
		j := e.byColumns(t)
		w.give(firstTumours(t, j, 80))
		w.leaves(g, e.columns, j)
	}
	if e.schema {
		w.give(wards(t))
		w.leaves(g, "hospitals", opened(t, jobtest.Parse(t, schemaJob)))
	}
	e.letSplit(w)
	w.give(firstTumours(t, e.paused(t), 80))
	w.random = false // so that the job ends in one model, disturbed or not
	return w, g
}

// leaves runs a job to its end and notes what its model says.
func (w *testbed) leaves(g golden, name string, j *job.Job) {
	w.t.Helper()
	id := w.mustRun(j).ID
	g.Jobs[name], g.Says[name] = id.String(), w.answers(name, id)
}

// runOkra runs the jobs of okra: two that end, and one that is held for a column less.
func (e era) runOkra(w *testbed, g golden) {
	w.t.Helper()
	j := eraOkra(w.t, allHospitals, "", openJob)
	w.give(patients(w.t))
	w.leaves(g, "okra", j)
	g.Jobs["kept"] = w.mustRun(eraOkra(w.t, "[north, south]", ", continuable: true", "")).ID.String()
	w.give(fewerColumns(patients(w.t)))
	w.mustHold("a column less", j)
}

// byColumns is the job by columns.
func (e era) byColumns(t *testing.T) *job.Job {
	t.Helper()
	if e.columns == "fdskl" {
		return opened(t, phases(t, "{join: 20s, round: 20s}"))
	}
	return opened(t, columns(t))
}

// paused is the job that is under way.
func (e era) paused(t *testing.T) *job.Job {
	t.Helper()
	return e.moments(t, ", directions: 4")
}

func (e era) moments(t *testing.T, directions string) *job.Job {
	t.Helper()
	j := moments(t, directions, openJob)
	if !e.split {
		return j
	}
	return jobtest.Parse(t, strings.Replace(string(j.Encode()), "fraction: 0.25", "party: east", 1))
}

// letSplit has all operators approve the sums of a job that says itself which rows are held out.
func (e era) letSplit(w *testbed) {
	w.t.Helper()
	if !e.split {
		return
	}
	w.give(firstTumours(w.t, e.paused(w.t), 80))
	w.mustHold("rows of the job's choice", e.paused(w.t))
	for _, name := range e.paused(w.t).Parties() {
		for _, r := range w.inState(name, disclosure.Held) {
			if r.Kind == "sums" {
				if err := w.releases(name).Approve(r.ID, disclosuretest.Agree); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
}

// interrupt has the coordinator die during a job, while others wait.
func (e era) interrupt(w *testbed, g golden) {
	w.t.Helper()
	w.halt(hub)
	w.start(hub, onThe(e.dies, "create"))
	g.Jobs["open"] = w.submit(e.paused(w.t)).String()
	g.Jobs["queued"] = w.submit(e.moments(w.t, ", directions: 6")).String()
	g.Jobs["described"] = w.submit(jobtest.Parse(w.t, schemaJob)).String()
	w.untilDead(hub)
}
