package simulate

import (
	"fmt"
	"math"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const amplified = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data: {source: bundled:wdbc, label: label, partition: {%s, parties: [north, south]}, scale: standard%s}
  protocol: {name: %s}
  kernel: {name: %s}
  learner: {name: %s}
`

// runAmplified runs the job on the first 240 rows, and compares it with pooled rows.
func runAmplified(t *testing.T, by, folds, protocol, kernel, learner string) *method.Result {
	t.Helper()
	j := jobtest.Parse(t, fmt.Sprintf(amplified, "by: "+by, folds, protocol, kernel, learner))
	return simulatedJob(t, j, daemon.InsecureSeeds(1), func(job.Source, job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("wdbc")
		if err != nil {
			return nil, err
		}
		return set.Subset(dataset.Complement(240, nil)), nil
	})
}

// A Gaussian process with amplitude 4 and noise 0.4 has the mean of the process with amplitude 1
// and noise 0.1, and twice its deviation.
func TestAmplitudeIsTheVarianceOfAGaussianProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for protocol, by := range map[string]string{"okra": "rows", "flake": "rows", "gram": "columns"} {
		for _, kernel := range []string{"rbf, gamma: 0.02", "rational-quadratic, length_scale: 5"} {
			t.Run(protocol+"/"+kernel, func(t *testing.T) {
				if protocol == "flake" {
					protocol = "flake, mode: paper"
				}
				plain := runAmplified(t, by, "", protocol, kernel, "gp, noise: 0.1")
				wide := runAmplified(t, by, "", protocol, kernel+", amplitude: 4", "gp, noise: 0.4")
				for metric, want := range map[string]float64{"rmse": plain.Metrics["rmse"], "mean_deviation": 2 * plain.Metrics["mean_deviation"]} {
					if got := wide.Metrics[metric]; !(math.Abs(got-want) <= 1e-6*want) {
						t.Errorf("%s is %v, want %v", metric, got, want)
					}
				}
				if *wide.Difference > 1e-5 {
					t.Errorf("decisions differ by %v from the pooled ones", *wide.Difference)
				}
			})
		}
	}
}

// A support vector machine with amplitude a and C has the decisions of the machine with
// amplitude 1 and a C: a grid of one finds the same as a grid of the other.
func TestAmplitudeInAGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const folds = ", folds: 3"
	of := func(kernel, learner string) *method.Result {
		return runAmplified(t, "rows", folds, "okra", kernel, learner)
	}
	amplitudes, costs := of("rbf, gamma: 0.02, amplitude: [1, 0.01]", "svc, C: 1, tol: 1e-8"), of("rbf, gamma: 0.02", "svc, C: [1, 0.01], tol: 1e-8")
	if len(amplitudes.Grid) != 2 || len(costs.Grid) != 2 || costs.Grid[0].Mean == costs.Grid[1].Mean {
		t.Fatalf("cells %+v and %+v", amplitudes.Grid, costs.Grid)
	}
	for i, cell := range amplitudes.Grid {
		if want := costs.Grid[i]; cell.Mean != want.Mean || cell.Correct != want.Correct || cell.Best != want.Best || *cell.PooledMean != cell.Mean {
			t.Errorf("cell %d is %+v, want %+v", i, cell, want)
		}
		if got := []float64{0, 0.01}[i]; cell.Kernel.Amplitude != got {
			t.Errorf("cell %d has kernel %+v", i, cell.Kernel)
		}
	}
}

// The rivals of okra give the machine of pooled rows, too.
func TestRivalsOfOkraEqualPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, protocol := range []string{"flake", "flake, mode: paper", "escaped, mode: paper"} {
		r := runAmplified(t, "rows", "", protocol, "rbf, gamma: 0.02", "svc, C: 10, tol: 1.0e-8")
		if !*r.Exact || *r.Difference > 1e-5 {
			t.Errorf("%s: exact %v, largest difference %g", protocol, *r.Exact, *r.Difference)
		}
	}
}
