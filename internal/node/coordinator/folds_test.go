package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// groupedJob is a job of a protocol whose grid is tried in folds by patients.
func groupedJob(t *testing.T, protocol, more string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.NewReplacer("label: label", "label: label\n    group: patient\n    folds: 3\n"+more, "{name: okra}", protocol, "C: 10", "C: [0.01, 10]").Replace(fmt.Sprintf(jobFile, "")))
}

// groupedTumours gives each of wdbc's first rows to a patient of one to four rows.
func groupedTumours(t *testing.T, j *job.Job, rows int) []partition.Share {
	t.Helper()
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("wdbc")
		if err != nil {
			return nil, err
		}
		set = set.Subset(span(0, rows))
		for i, n := 0, 0; i < rows; n++ {
			for range 1 + n%4 {
				if i++; i <= rows {
					set.Groups = append(set.Groups, fmt.Sprint("patient ", n))
				}
			}
		}
		return set, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

// Folds by patients give each cell of the grid the score that the rows in one place have in the
// folds of the parties, with held-out rows and without, and after a death while folds are told.
func TestFoldsByGroups(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ protocol, more string }{
		{"{name: okra}", "    test: {fraction: 0.25}\n"}, {"{name: okra, wire: float64}", ""}, {"{name: flake}", "    test: {fraction: 0.25}\n"},
	} {
		j := groupedJob(t, tt.protocol, tt.more)
		shares := groupedTumours(t, j, 90)
		w := newTestbed(t, shares)
		done := w.mustRun(j)
		w.compare(done, j, shares)
		r := done.Result
		if len(r.Grid) != 2 || !*r.Exact || *r.Difference > 1e-4 {
			t.Errorf("%s: exact %v, largest difference %g, grid %+v", tt.protocol, *r.Exact, *r.Difference, r.Grid)
		}
		for _, c := range r.Grid {
			if c.Mean != *c.PooledMean || c.Correct != *c.PooledCorrect || len(c.Folds) != 3 {
				t.Errorf("%s: cell %+v, in one place mean %v of %d", tt.protocol, c, *c.PooledMean, *c.PooledCorrect)
			}
		}
		if said := strings.Join(r.Leakage["server"], " "); !strings.Contains(said, "in which of 3 folds it has put each training row") {
			t.Error(said)
		}
		if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "If two parties share one") }) {
			t.Errorf("warnings %q", r.Warnings)
		}
		if tt.more == "" {
			w.diesAndEndsTheSame(j, shares, done, []death{{"south", 1, "send gather/Give"}, {"north", 2, "send control/Report"}, {hub, 3, "put report"}})
		}
	}
}

// Rows by patients and single rows are divided otherwise: the scores of a grid differ.
func TestFoldsByGroupsAreOtherFolds(t *testing.T) {
	grouped := groupedJob(t, "{name: okra}", "")
	single := jobtest.Parse(t, strings.Replace(string(grouped.Encode()), "    group: patient\n", "", 1))
	shares := groupedTumours(t, grouped, 90)
	a, b := newTestbed(t, shares).mustRun(grouped).Result, newTestbed(t, shares).mustRun(single).Result
	if slices.Equal(a.Grid[1].Folds, b.Grid[1].Folds) {
		t.Errorf("folds by patients and by rows have scores %v", a.Grid[1].Folds)
	}
	for _, said := range b.Leakage["server"] {
		if strings.Contains(said, "folds") {
			t.Error(said)
		}
	}
}

// A table that names no group, and parties whose groups do not fill the folds, end the job.
func TestFoldsWithoutGroups(t *testing.T) {
	j := groupedJob(t, "{name: okra}", "")
	_, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("wdbc") })
	if err == nil || !strings.Contains(err.Error(), `no column "patient" to keep the rows of groups together by`) {
		t.Errorf("a table without groups: %v", err)
	}
	shares := groupedTumours(t, j, 60)
	for _, s := range shares {
		for i := range s.Table.Set.Groups {
			s.Table.Set.Groups[i] = "one"
		}
	}
	j.Data.Folds = 5
	if f := newTestbed(t, shares).run(j).Failure; f == nil || !strings.Contains(f.Message, "fill 3 of 5 folds; use fewer folds") {
		t.Errorf("failure %+v", f)
	}
}

// A question about the model of a job with folds reads the rows that there are now, as every question does, and not the
// edition of the job.
func TestQuestionsOfAJobWithFoldsAreQuestions(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("{name: okra}", "{name: gram}", "partition: {parties", "folds: 3\n    partition: {by: columns, parties", "C: 10", "C: [1, 10]").Replace(fmt.Sprintf(jobFile, openJob))
	w, id, rows := trained(t, jobtest.Parse(t, text))
	var asks, jobs atomic.Int32
	w.reads = func(name string, d job.Data) (method.Table, error) {
		if d.Source != newSource {
			return w.table(name), nil
		}
		if jobs.Add(1); d.Asks() {
			asks.Add(1)
		}
		return w.fresh[name], nil
	}
	w.mustAnswer("north", id, rows)
	if jobs.Load() == 0 || asks.Load() != jobs.Load() {
		t.Errorf("%d of %d readings of new rows are for a question", asks.Load(), jobs.Load())
	}
}
