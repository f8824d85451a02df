package simulate

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/coordinator"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/launch"
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

func TestSimulatedEqualsPooled(t *testing.T) {
	j, err := job.Parse("job.yaml", []byte(digits))
	if err != nil {
		t.Fatal(err)
	}
	shares, err := launch.Shares(j, func(name string, d job.Data) (*dataset.Set, error) { return bundled.Load("digits") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	result, outcome, err := Run(ctx, Config{
		Job: j, Shares: shares, Dir: t.TempDir(), Seed: coordinator.RandomSeed,
		Usage: func() (float64, uint64) { return 0, 0 }, Progress: func(protocol.Progress) {},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("job took %v", time.Since(began))
	if err := launch.Compare(j, shares, outcome, result); err != nil {
		t.Fatal(err)
	}
	t.Logf("took %v: %v, pooled %v, difference %g, timings %v", time.Since(began), result.Metrics, result.Pooled, *result.Difference, result.Timings)
	for _, a := range result.Alone {
		t.Log(a.Party, a.Rows, a.Metrics)
	}
	if !*result.Exact || *result.Difference > 1e-5 {
		t.Errorf("exact %v, largest difference %g; want true and at most 1e-5", *result.Exact, *result.Difference)
	}
}
