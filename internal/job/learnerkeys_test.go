package job_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/svm"
)

// Every key of a learner on a kernel matrix, away from its default, is a setting of the machine that the
// job trains, as is the job's seed of machines that draw.
func TestKeysOfALearnerReachIt(t *testing.T) {
	for keys, want := range map[string]learner.Solver{
		"svc, C: 3, tol: 0.01, probability: true, cache_size: 5, class_weight: {yes: 2}": learner.SVC{
			Params: svm.Params{C: 3, Tol: .01, Weights: map[string]float64{"yes": 2}}, Cache: learner.Cache{MiB: 5}, Probability: true, Seed: 9},
		"svc, class_weight: balanced":                                   learner.SVC{Params: svm.Params{C: 1, Tol: 1e-3}, Seed: 9, Balanced: true},
		"nu-svc, nu: 0.25, tol: 0.01, probability: true, cache_size: 5": learner.NuSVC{NuParams: svm.NuParams{Nu: .25, Tol: .01}, Cache: learner.Cache{MiB: 5}, Probability: true, Seed: 9},
		"one-class, nu: 0.25, tol: 0.01, cache_size: 5":                 learner.OneClass{NuParams: svm.NuParams{Nu: .25, Tol: .01}, Cache: learner.Cache{MiB: 5}},
		"svr, C: 3, epsilon: 0.25, tol: 0.01, cache_size: 5":            learner.SVR{SVRParams: svm.SVRParams{C: 3, Epsilon: .25, Tol: .01}, Cache: learner.Cache{MiB: 5}},
		"ridge, alpha: 0.25":                                            learner.Ridge{Alpha: .25},
		"gp, noise: 0.25":                                               learner.GP{Noise: .25},
		"kpca, n_components: 5":                                         learner.KPCA{Components: 5},
		"kmeans, n_clusters: 5":                                         learner.KMeans{Params: kmeans.Params{Clusters: 5, Seed: 9}},
	} {
		j, err := reader().Parse("job.yaml", []byte(strings.Replace(minimal, "name: svc", "name: "+keys, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, j.Learner.Values.(learner.KernelLearner).Solver(9)); d != "" {
			t.Errorf("{name: %s}: %s", keys, d)
		}
	}
}
