package simulate

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const sites = `apiVersion: mercer/v1
kind: Job
metadata: {name: sites}
spec:
  data:
    sources: {north: "0", south: "1", east: "2"}
    label: ill
    scale: none
    test: %s
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10}
`

// site returns people with one measurement that indicates the illness, in units that each
// site's device shifts by more than the illness does.
func site(number int) *dataset.Set {
	const people, shift = 150, 8
	r := rand.New(rand.NewPCG(1, uint64(number)))
	x := linalg.New[float64](people, 2)
	s := &dataset.Set{Name: fmt.Sprint("site ", number), X: dataset.NewDense(x), Columns: []string{"marker", "age"}}
	for i := range people {
		ill := r.IntN(2)
		copy(x.Row(i), []float64{float64(number*shift) + 4*float64(ill) + r.NormFloat64()/2, r.NormFloat64()})
		s.Labels = append(s.Labels, []string{"no", "yes"}[ill])
	}
	return s
}

// accuracyAtSites runs the job with a test.
func accuracyAtSites(t *testing.T, test string) float64 {
	t.Helper()
	j := jobtest.Parse(t, fmt.Sprintf(sites, test))
	shares, err := partition.Shares(j, func(s job.Source, _ job.Data) (*dataset.Set, error) { return site(int(s.File[0] - '0')), nil })
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := Run(t.Context(), Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(1), Usage: func() (float64, uint64) { return 0, 0 },
		Progress: func(protocol.Progress) {}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.Metrics["accuracy"]
}

// On a random quarter the model seems nearly perfect, and a site that did not train shows
// that it is useless there.
func TestSitesThatDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	quarter := accuracyAtSites(t, "{fraction: 0.25}")
	for _, name := range []string{"north", "south", "east"} {
		whole := accuracyAtSites(t, fmt.Sprintf("{party: %s}", name))
		t.Logf("%s held out: accuracy %.3f; a random quarter: %.3f", name, whole, quarter)
		if quarter < 0.97 || whole > 0.75 {
			t.Errorf("%s held out: accuracy %.3f, a random quarter %.3f; want at most .75, and .97 or more", name, whole, quarter)
		}
	}
}
