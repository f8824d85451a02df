package coordinator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// tested returns the small job with a test of its own.
func tested(t testing.TB, j *job.Job, test string) *job.Job {
	t.Helper()
	j = jobtest.Parse(t, strings.Replace(string(j.Encode()), "test:\n      fraction: 0.25\n", "test: "+test+"\n", 1))
	if j.Data.Test.Split() == "" {
		t.Fatalf("the job has no test %s", test)
	}
	return j
}

// All rows of one party are the test of a model of the others, which equals the model of their
// pooled rows. The party's operator has to allow it.
func TestWholePartyHeldOut(t *testing.T) {
	for _, party := range []string{"north", "east"} { // the first leads
		j := tested(t, parse(t, ""), fmt.Sprintf("{party: %s}", party))
		shares := tumours(t, j)
		w := newTestbed(t, shares)
		if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "the job holds out all rows of "+party+", and this party lets no job choose that") {
			t.Fatalf("failure %+v", f)
		}
		w.policy.Splits = []string{"party"}
		done := w.mustRun(j)
		w.compare(done, j, shares)
		r := done.Result
		if rows := w.table(party).Rows(); r.HeldOut != rows || r.Training != 60-rows || r.Chosen != "all rows of "+party {
			t.Errorf("%d rows in training, %d held out, %q; %s has %d", r.Training, r.HeldOut, r.Chosen, party, rows)
		}
		if !*r.Exact || *r.Difference > 1e-5 || len(r.Alone) != 2 {
			t.Errorf("exact %v, largest difference %g, alone %+v", *r.Exact, *r.Difference, r.Alone)
		}
		if said := strings.Join(r.Leakage["server"], " "); !strings.Contains(said, "The job holds out all rows of "+party) {
			t.Error(said)
		}
	}
}

// Sums wait for each ledger's approval of each split, and say whose figures they are.
func TestWholePartyHeldOutOfSums(t *testing.T) {
	t.Parallel()
	j := tested(t, components(t), "{party: east}")
	w := newTestbed(t, tumours(t, j))
	w.policy.Splits = []string{"party"}
	w.random = true
	done := w.run(j)
	if f := done.Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "the job awaits its operator's approval: it chooses the held-out rows itself") {
		t.Fatalf("failure %+v", f)
	}
	for i := 0; done.Failure != nil; i++ { // a job may end before all parties have asked their ledgers
		if i == 4 {
			t.Fatalf("failure %+v", done.Failure)
		}
		for _, name := range j.Parties() {
			w.approve(name, len(w.inState(name, "held")))
		}
		done = w.run(j)
	}
	r := done.Result
	if rows := w.table("east").Rows(); r.HeldOut != rows || r.Training != 60-rows {
		t.Errorf("%d rows in training, %d held out; east has %d", r.Training, r.HeldOut, rows)
	}
	for role, want := range map[string]string{"server": "The figures are over the rows of east alone", "coalition": "the server and one of north and south together learn the other's sums", "party": "east 0"} {
		if said := strings.Join(r.Leakage[role], " "); !strings.Contains(said, want) {
			t.Errorf("%s: %s", role, said)
		}
	}
	w.mustRun(j) // the same split again
	if f := w.run(tested(t, components(t), "{party: south}")).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "the job awaits its operator's approval") {
		t.Errorf("another split: %+v", f)
	}
}

// Rows are held out by a column that is no feature; each party has its own floor of rows on
// both sides.
func TestLaterRowsHeldOut(t *testing.T) {
	j := tested(t, parse(t, ""), "{column: admitted, from: 2024-01-01}")
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		all, err := bundled.Load("wdbc")
		if err != nil {
			return nil, err
		}
		set := all.Subset(span(0, 60))
		for i := range 60 {
			set.Cut = append(set.Cut, fmt.Sprintf("%d-07-01", 2020+i%6)) // a third is later
		}
		return set, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newTestbed(t, shares)
	if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, `"splits: [column]" in its policy allows it`) {
		t.Fatalf("failure %+v", f)
	}
	w.policy.Splits = []string{"column"}
	done := w.mustRun(j)
	w.compare(done, j, shares)
	r := done.Result
	if r.HeldOut != 20 || r.Training != 40 || r.Chosen != `rows with "admitted" from 2024-01-01 on` || !*r.Exact {
		t.Errorf("%d rows in training, %d held out, %q, exact %v", r.Training, r.HeldOut, r.Chosen, *r.Exact)
	}
	if said := strings.Join(r.Leakage["server"], " "); !strings.Contains(said, `reveals something about their "admitted"`) {
		t.Error(said)
	}
	w.policy.Limits.HeldOutRows = new(10)
	if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "has fewer rows than its operator's policy requires") || strings.Contains(f.Message, " 7 ") {
		t.Errorf("few rows on one side: %+v", f)
	}
	none := tested(t, parse(t, ""), "{column: discharged, from: 2024-01-01}")
	for name := range w.tables {
		w.change(name, func(set *dataset.Set) *dataset.Set {
			bare := *set
			bare.Cut = nil
			return &bare
		})
	}
	w.policy.Limits.HeldOutRows = new(0)
	if f := w.run(none).Failure; f == nil {
		t.Error("a table without the column takes part")
	}
}

// A job that leaves its parties to the roster may name a stranger.
func TestHeldOutStranger(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(jobFile, ""), "partition: {parties: [north, south, east]}", "test: {party: west}", 1)
	w := newTestbed(t, tumours(t, parse(t, "")))
	w.policy.Splits = []string{"party"}
	w.startAll()
	_, err := w.members[hub].boss.Submit(jobtest.Parse(t, text), nobody)
	if want := "the job holds out all rows of west, which is not among its parties north, south, east; name one of them"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
