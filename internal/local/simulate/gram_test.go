package simulate

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/protocol"
)

const columns = `apiVersion: mercer/v1
kind: Job
metadata: {name: columns}
spec:
  data: {source: bundled:wdbc, label: label, partition: {by: columns, parties: [%s], coverage: 0.95}, scale: standard}
  protocol: {name: gram}
  kernel: {name: rbf, gamma: 0.02}
  learner: {%s}
`

// runColumns runs the job, in which no two parties have the same rows or the same
// order, and compares it with all columns in one place.
func runColumns(t *testing.T, parties []string, learner string) *method.Result {
	t.Helper()
	return runJob(t, fmt.Sprintf(columns, strings.Join(parties, ", "), learner))
}

func runJob(t *testing.T, text string) *method.Result {
	t.Helper()
	j := jobtest.Parse(t, text)
	return runAndCompare(t, j, func(job.Source, job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("wdbc")
		if err != nil {
			return nil, err
		}
		return set.Subset(dataset.Complement(240, nil)), nil
	})
}

func runAndCompare(t *testing.T, j *job.Job, load partition.Loader) *method.Result {
	t.Helper()
	result, outcome, shares := simulateAndCompare(t, j, load)
	if n := common(shares); len(outcome.Rows) != n || result.Training+result.HeldOut != n || n == shares[0].Table.Rows() {
		t.Errorf("%d rows are aligned, %d in training and %d held out; %d are common to all", len(outcome.Rows), result.Training, result.HeldOut, n)
	}
	return result
}

// simulateAndCompare runs a job in one process, with its comparisons.
func simulateAndCompare(t *testing.T, j *job.Job, load partition.Loader) (*method.Result, *method.Outcome, []partition.Share) {
	t.Helper()
	shares, err := partition.Shares(j, load)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, outcome, err := Run(ctx, Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(1), Usage: func() (float64, uint64) { return 0, 0 },
		Progress: func(protocol.Progress) {}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := baseline.Compare(t.Context(), owners.Local(), j, shares, outcome, result); err != nil {
		t.Fatal(err)
	}
	return result, outcome, shares
}

// common returns the number of ids that all parties have.
func common(shares []partition.Share) int {
	count := make(map[string]int)
	for _, s := range shares {
		for _, id := range s.Table.Set.IDs {
			count[id]++
		}
	}
	all := 0
	for _, n := range count {
		if n == len(shares) {
			all++
		}
	}
	return all
}

// Every learner ends with the same model as with all columns in one place, up to the rounding
// of values to 2^-20 or finer.
func TestGramEqualsPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	names := []string{"clinic", "laboratory", "imaging", "genetics", "pharmacy"}
	for _, c := range []struct {
		learner    string
		parties    int
		difference float64 // to the pooled decisions
		metric     string
	}{
		{"name: svc, C: 10, tol: 1e-8", 2, 1e-5, "accuracy"},
		{"name: svc, C: 10, tol: 1e-8", 3, 1e-5, "accuracy"},
		{"name: svc, C: 10, tol: 1e-8", 5, 1e-5, "accuracy"},
		{"name: ridge, alpha: 0.1", 3, 1e-5, "r2"},
		{"name: kpca, n_components: 4", 2, 1e-4, "explained_variance"},
		{"name: kmeans, n_clusters: 2", 2, 1e-5, "adjusted_rand"},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.learner, c.parties), func(t *testing.T) {
			r := runColumns(t, names[:c.parties], c.learner)
			t.Logf("%v, pooled %v, difference %v, alone %v", r.Metrics, r.Pooled, *r.Difference, r.Alone)
			if *r.Difference > c.difference {
				t.Errorf("decisions differ by %v from the pooled ones", *r.Difference)
			}
			if l := r.Components; (l != nil) != strings.Contains(c.learner, "kpca") || l != nil && (l.MSE > 1e-8 || l.R2 == nil || *l.R2 < 1-1e-8) {
				t.Errorf("components beside pooled's: %+v", l)
			}
			if r.Exact != nil && !*r.Exact {
				t.Error("a prediction differs from the pooled one")
			}
			if v, want := r.Metrics[c.metric], r.Pooled[c.metric]; v < want-1e-4 || v > want+1e-4 || v == 0 {
				t.Errorf("%s is %v, pooled %v", c.metric, v, want)
			}
			if len(r.Alone) != c.parties || r.Alone[0].Failure != "" {
				t.Errorf("result %+v", r)
			}
			if got := strings.Join(r.Leakage["coalition"], " "); strings.Contains(got, "With two parties") != (c.parties == 2) {
				t.Error(got)
			}
		})
	}
}

const files = `apiVersion: mercer/v1
kind: Job
metadata: {name: files}
spec:
  data:
    sources: {guest: breast-cancer/guest.csv, host: breast-cancer/host.csv}
    id: id
    label: y
    partition: {by: columns, coverage: 0.9}
    scale: none
  protocol: {name: gram}
  kernel: {name: rbf, gamma: 0.03}
  learner: {name: svc, C: 10}
`

// Two files whose rows are in different orders, each without a tenth of them: exactly the
// rows in both are aligned, and the result is the same as with one file.
func TestGramOfFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	folder := os.Getenv(catalogue.Variable)
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(folder, "breast-cancer")); err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("%v; set %s to the data folder", err, catalogue.Variable)
	}
	j := jobtest.Parse(t, files)
	r := runAndCompare(t, j, func(s job.Source, d job.Data) (*dataset.Set, error) {
		return catalogue.New(folder).Load(s.File, catalogue.Columns{Label: d.Label, ID: d.ID})
	})
	if r.Exact == nil || !*r.Exact || r.Metrics["accuracy"] < 0.95 {
		t.Errorf("%v, exact %v", r.Metrics, r.Exact)
	}
}

// Only the first party has labels; for a classifier, the gain of joining is unknown for the
// others.
func TestGramAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := runColumns(t, []string{"clinic", "laboratory"}, "name: svc, C: 10")
	if i := slices.IndexFunc(r.Alone, func(a method.Alone) bool { return a.Failure != "" }); i != 1 || r.Alone[0].Metrics["accuracy"] < 0.8 {
		t.Errorf("alone %+v", r.Alone)
	}
}
