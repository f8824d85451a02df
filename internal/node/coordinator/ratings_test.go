package coordinator_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// rated is the recommender of ratings from 1 to 5, with the same people and items.
func rated(t *testing.T) (*testbed, *job.Job, *dataset.Ratings) {
	t.Helper()
	all := allRatings()
	for i := range all.List {
		all.List[i].Value = float64(1 + (i*i+i/7)%5)
	}
	w := cinemaOf(t, all)
	w.policy.Ratings = true
	return w, ratedJob(t, true, all), all
}

func ratedJob(t *testing.T, parties bool, all *dataset.Ratings) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.NewReplacer("    like: 3\n", "", "dropped: 0.085", "dropped: 0.085, ratings: 5", "tanimoto", "linear").Replace(filmsText(parties, all)))
}

// The federation's kernel of ratings equals the kernel of one process that holds all ratings, bit
// for bit, and so does the statement of what everybody learns.
func TestRatingsEqualSimulation(t *testing.T) {
	t.Parallel()
	w, j, all := rated(t)
	done := w.mustRun(j)
	want, kernel := simulatedJob(t, ratedJob(t, false, all), all)
	if got := w.model(done.ID); !bytes.Equal(got, kernel) || want.Exact == nil || !*want.Exact {
		t.Errorf("a kernel of %d bytes, simulated %d bytes, and not the same", len(got), len(kernel))
	}
	if d := cmp.Diff(want.Leakage, done.Result.Leakage); d != "" || !strings.Contains(want.Leakage["server"][0], "squared ratings") {
		t.Errorf("leakage: %s", d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := cmp.Diff(figuresOf(t, want).Recommended, w.recommended[person(0)]); d != "" {
		t.Errorf("recommended to the first: %s", d)
	}
}

// Squares of ratings are opened whatever the item's likes are, so the operator must have allowed it.
func TestRatingsNeedLeave(t *testing.T) {
	w, j, _ := rated(t)
	w.policy.Ratings = false
	done := w.run(j)
	if done.Failure == nil || done.Failure.Code != fault.CodePolicy || !strings.Contains(done.Failure.Message, "(\"ratings\" in its policy)") {
		t.Errorf("%+v", done.Failure)
	}
}

// A party whose ratings are no whole numbers from 1 to the job's greatest says no before it gives
// anything.
func TestRatingsThatAreRefused(t *testing.T) {
	w, j, _ := rated(t)
	w.tables[person(4)].Ratings.List[0].Value = 3.5
	done := w.run(j)
	if done.Failure == nil || done.Failure.Code != fault.CodeBadInput || !strings.Contains(done.Failure.Message, "person-5 refused") {
		t.Errorf("%+v", done.Failure)
	}
}
