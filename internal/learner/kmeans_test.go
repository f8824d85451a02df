package learner_test

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/linalg"
)

// Rows that are all equal fill one cluster only. The sentence is public, and does not say how many rows
// differ.
func TestKMeansOfEqualRows(t *testing.T) {
	k := linalg.New[float64](4, 4)
	for i := range k.Rows {
		for j := range k.Cols {
			k.Row(i)[j] = 5
		}
	}
	_, err := learner.KMeans{Params: kmeans.Params{Clusters: 2}}.Fit(learner.Training{Kernel: kernel.Dense{K: k}, Interrupt: func() error { return nil }})
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.HasPrefix(err.Error(), "kmeans: fewer training rows differ from each other than n_clusters, which is 2;") {
		t.Error(err)
	}
}
