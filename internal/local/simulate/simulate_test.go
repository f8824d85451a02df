package simulate

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const digits = `apiVersion: mercer/v1
kind: Job
metadata: {name: digits}
spec:
  data:
    source: bundled:digits
    label: label
    partition: {parties: [north, south, east], skew: 0.3}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10, tol: 1.0e-8}
`

// simulated runs the digits with all comparisons.
func simulated(t *testing.T, seed func(string) [32]byte, load partition.Loader) *method.Result {
	t.Helper()
	return simulatedJob(t, jobtest.Parse(t, digits), seed, load)
}

func simulatedJob(t *testing.T, j *job.Job, seed func(string) [32]byte, load partition.Loader) *method.Result {
	t.Helper()
	shares, err := partition.Shares(j, load)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, outcome, err := Run(ctx, Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: t.TempDir(), Seed: seed,
		Usage: func() (float64, uint64) { return 0, 0 }, Progress: func(protocol.Progress) {},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := baseline.Compare(t.Context(), owners.Local(), j, shares, outcome, result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestSimulatedEqualsPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	began := time.Now()
	result := simulated(t, coordinator.RandomSeed, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("digits") })
	t.Logf("took %v: %v, pooled %v, difference %g, timings %v", time.Since(began), result.Metrics, result.Pooled, *result.Difference, result.Timings)
	for _, a := range result.Alone {
		t.Log(a.Party, a.Rows, a.Metrics)
	}
	if !*result.Exact || *result.Difference > 1e-5 {
		t.Errorf("exact %v, largest difference %g; want true and at most 1e-5", *result.Exact, *result.Difference)
	}
}

// A table in float32 gives the same model and comparisons as the same numbers in float64.
func TestEitherPrecisionGivesTheSameResult(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	results := make(map[string]*method.Result)
	for name, convert := range map[string]func(linalg.Matrix[float64]) dataset.Table{
		"float64": func(m linalg.Matrix[float64]) dataset.Table { return dataset.NewDense(m) },
		"float32": func(m linalg.Matrix[float64]) dataset.Table { return single(m) },
	} {
		results[name] = simulated(t, daemon.InsecureSeeds(1), func(job.Source, job.Data) (*dataset.Set, error) {
			set, err := bundled.Load("digits")
			if err == nil {
				set.X = convert(dataset.DenseOf(set.X).Matrix())
			}
			return set, err
		})
	}
	one, two := results["float64"], results["float32"]
	if one.ModelHash != two.ModelHash {
		t.Errorf("model %s from float64, %s from float32", one.ModelHash, two.ModelHash)
	}
	if *one.Difference != *two.Difference || cmp.Diff(one.Pooled, two.Pooled) != "" || cmp.Diff(one.Alone, two.Alone) != "" {
		t.Errorf("comparisons differ: %v %v %v, and %v %v %v", *one.Difference, one.Pooled, one.Alone, *two.Difference, two.Pooled, two.Alone)
	}
}

func single(m linalg.Matrix[float64]) dataset.Table {
	narrow := linalg.New[float32](m.Rows, m.Cols)
	for i, v := range m.Data {
		narrow.Data[i] = float32(v)
	}
	return dataset.NewDense32(narrow)
}

// Classes that a job merges give the same as a table with these labels.
func TestMergedClassesAreTheTablesOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	merge := map[string]string{"0": "round", "6": "round", "8": "round", "9": "round", "1": "thin", "7": "thin"}
	run := func(classes string, relabel bool) *method.Result {
		j := jobtest.Parse(t, strings.Replace(digits, "label: label\n", "label: label\n"+classes, 1))
		return simulatedJob(t, j, daemon.InsecureSeeds(1), func(job.Source, job.Data) (*dataset.Set, error) {
			set, err := bundled.Load("digits")
			for i, l := range set.Labels {
				if relabel && merge[l] != "" {
					set.Labels[i] = merge[l]
				}
			}
			return set, err
		})
	}
	merged, own, plain := run("    classes: {round: [0, 6, 8, 9], thin: [1, 7]}\n", false), run("", true), run("", false)
	if d := cmp.Diff(merged.Pooled, own.Pooled); d != "" || !*merged.Exact || merged.Metrics["accuracy"] != own.Metrics["accuracy"] {
		t.Errorf("exact %v, accuracy %v and %v: %s", *merged.Exact, merged.Metrics["accuracy"], own.Metrics["accuracy"], d)
	}
	if cmp.Equal(merged.Pooled, plain.Pooled) {
		t.Error("the classes were not merged")
	}
}
