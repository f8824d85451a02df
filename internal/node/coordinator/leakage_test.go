package coordinator_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/linalg"
)

// noise has 36 rows of two classes; on a grid its values are integers.
func noise(features int, grid bool) *dataset.Set {
	rng := rand.New(rand.NewPCG(1, 2))
	m := linalg.New[float64](36, features)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
		if grid {
			m.Data[i] = float64(rng.IntN(9))
		}
	}
	set := &dataset.Set{Name: "noise", X: dataset.NewDense(m)}
	for i := range m.Rows {
		set.Labels = append(set.Labels, string(rune('a'+i%2)))
	}
	return set
}

// The result's leakage statement matches this job, and has no number that was hidden.
func TestLeakageOfAJob(t *testing.T) {
	t.Parallel()
	const lattice, hidden = "without knowing any row", "do not outnumber the features"
	for _, tt := range []struct {
		name         string
		features     int
		grid         bool
		scale        string
		says, silent []string
	}{
		{"many rows on a grid", 5, true, "minmax", []string{lattice, "36 > 5", "least and the greatest value", "The leader, north"}, []string{hidden}},
		{"many rows on no grid", 5, false, "standard", []string{"on no grid", "36 > 5", "mean and the standard deviation"}, []string{lattice, "least and the greatest"}},
		{"few rows on a grid", 50, true, "minmax", []string{hidden, "each column", "within a factor of two"}, []string{lattice, "50", "36 >"}},
		{"few rows, no scaling", 50, true, "none", []string{hidden, "The leader, north, learns how many columns"}, []string{lattice, "50", "36 >", "how many rows each other party has"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := parse(t, "")
			j.Data.Scale = job.Scaling(tt.scale)
			shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return noise(tt.features, tt.grid), nil })
			if err != nil {
				t.Fatal(err)
			}
			var text string
			for role, lines := range newTestbed(t, shares).mustRun(j).Result.Leakage {
				if len(lines) == 0 {
					t.Errorf("nothing is said of %s", role)
				}
				text += strings.Join(lines, "\n") + "\n"
			}
			for _, s := range tt.says {
				if !strings.Contains(text, s) {
					t.Errorf("%q is missing from\n%s", s, text)
				}
			}
			for _, s := range tt.silent {
				if strings.Contains(text, s) {
					t.Errorf("%q stands in\n%s", s, text)
				}
			}
		})
	}
}
