package simulate

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/protocol"
)

const tumours = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data: {source: bundled:wdbc, label: label, partition: {parties: [north, south, east]}}
  protocol: {name: moments, directions: 20, classes: ["0", "1"]}
  kernel: {name: rbf, gamma: 0.3}
  learner: {name: ridge-classifier, alpha: [0.01, 0.1, 1]}
`

func runTumours(t *testing.T, text string) (*method.Result, *method.Outcome, error) {
	t.Helper()
	j := jobtest.Parse(t, text)
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("wdbc") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return Run(ctx, Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(1), Usage: func() (float64, uint64) { return 0, 0 },
		Progress: func(protocol.Progress) {}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

// Coordinator and parties run the whole of protocol moments: all its sessions,
// with their keys, masks and shares.
func TestMoments(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	result, outcome, err := runTumours(t, tumours)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v, timings %v, parties %+v", result.Metrics, result.Timings, result.Parties)
	if a := result.Metrics["accuracy"]; a < 0.88 {
		t.Errorf("accuracy %v", a)
	}
	if !slices.Equal(outcome.Classes, []string{"0", "1"}) || len(outcome.Predicted) != 0 {
		t.Errorf("outcome %+v; single decisions stay with the parties", outcome)
	}
	if len(result.Grid) != 3 || result.Training+result.HeldOut != 569 || len(result.Models) != 1 || result.Models[0].Private {
		t.Errorf("result %+v", result)
	}
	d, err := method.DetailsOf[moments.Details](result)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Sums; s.Features != 20 || s.RowsPerFeature < 20 || s.Membership == nil || *s.Membership < 0.4 {
		t.Errorf("sums %+v", s)
	}
	for _, name := range []string{"scale", "sums", "learn", "broadcast", "errors", "evaluate"} {
		if _, ok := result.Timings[name]; !ok {
			t.Errorf("no stage %s took place", name)
		}
	}
	if got := strings.Join(result.Leakage["coalition"], " "); !strings.Contains(got, "the mean of 3 parties") {
		t.Error(got)
	}
	if result.Figures != nil {
		t.Errorf("figures %+v, which nobody asked for", result.Figures)
	}
	counted, _, err := runTumours(t, strings.Replace(tumours, "directions: 20", "directions: 20, histogram: true", 1))
	if err != nil {
		t.Fatal(err)
	}
	if counted.Figures != nil || !strings.Contains(strings.Join(counted.Leakage["server"], " "), "in which of 100 bins") {
		t.Errorf("figures %+v of so few rows, leakage %v", counted.Figures, counted.Leakage)
	}
	again, _, err := runTumours(t, tumours)
	if err != nil || again.ModelHash != result.ModelHash {
		t.Errorf("another model from the same seeds: %v", err)
	}
}
