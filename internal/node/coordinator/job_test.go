package coordinator_test

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
)

// compare adds to a job's result what its rows give in one place.
func (w *testbed) compare(done coordinator.Job, j *job.Job, shares []partition.Share) {
	w.t.Helper()
	outcome, err := w.members[hub].boss.Outcome(done.ID)
	if err == nil {
		err = baseline.Compare(w.t.Context(), owners.Local(), j, shares, outcome, done.Result)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A federation on disks ends in what pooled data gives.
func TestJobEqualsPooled(t *testing.T) {
	j := parse(t, "")
	shares := tumours(t, j)
	w := newTestbed(t, shares)
	done := w.mustRun(j)
	w.compare(done, j, shares)
	if !*done.Result.Exact || *done.Result.Difference > 1e-5 {
		t.Errorf("exact %v, largest difference %g; want true and at most 1e-5", *done.Result.Exact, *done.Result.Difference)
	}
}
