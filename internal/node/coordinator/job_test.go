package coordinator_test

import (
	"testing"

	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
)

// A federation on disks ends in what pooled data gives.
func TestJobEqualsPooled(t *testing.T) {
	j := parse(t, "")
	shares := tumours(t, j)
	w := newWorld(t, shares)
	done := w.mustRun(j)
	outcome, err := w.members[hub].boss.Outcome(done.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := baseline.Compare(t.Context(), owners.Local(), j, shares, outcome, done.Result); err != nil {
		t.Fatal(err)
	}
	if !*done.Result.Exact || *done.Result.Difference > 1e-5 {
		t.Errorf("exact %v, largest difference %g; want true and at most 1e-5", *done.Result.Exact, *done.Result.Difference)
	}
}
