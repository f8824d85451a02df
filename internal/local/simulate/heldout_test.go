package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// Labels that are drawn at random can be learnt by heart and not foretold: the figures of a result,
// of the federation as of its comparisons, are those of guessing, because they are of held-out rows. On
// training rows each learner here has an accuracy of .78 or more.
func TestFiguresAreOfHeldOutRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct{ protocol, kernel, learner, compare string }{
		{"fdskl, directions: 256", "rbf, gamma: 2, gamma_unit: median", "logistic, lambda: 1.0e-6", "pooled, exact-kernel, alone"},
		{"fdskl, directions: 256, training: block", "rbf, gamma: 2, gamma_unit: median", "logistic, rate: 8, lambda: 1.0e-6", "pooled"},
		{"fdskl, directions: 256, training: precond", "rbf, gamma: 2, gamma_unit: median", "logistic, lambda: 1.0e-6, iterations: 8", "pooled"},
		{"pp-svmv, mode: paper", "rbf, gamma: 0.2", "svc, C: 1000", "pooled, alone"},
		{"fd-svrg, mode: paper", "linear", "logistic, lambda: 1.0e-4, iterations: 30, rate: 0.5", "pooled"},
		{"secureboost, mode: paper, he: none", "linear", "boosted-trees, depth: 6, rounds: 10", "pooled"},
	} {
		t.Run(tt.protocol, func(t *testing.T) {
			text := strings.NewReplacer("{name: gram}", "{name: "+tt.protocol+"}", "rbf, gamma: 0.02", tt.kernel, "scale: standard", "test: {fraction: 0.5}, scale: standard").Replace(columns) + "  compare: [" + tt.compare + "]\n"
			r := runAndCompare(t, jobtest.Parse(t, fmt.Sprintf(text, "clinic, laboratory", "name: "+tt.learner)), guessed)
			figures := map[string]float64{"together": r.Metrics["accuracy"], "pooled": r.Pooled["accuracy"], "exact kernel": r.ExactKernel["accuracy"]}
			for _, a := range r.Alone {
				figures[a.Party] = a.Metrics["accuracy"]
			}
			t.Log(figures)
			for name, v := range figures {
				if v > .7 {
					t.Errorf("%s: accuracy %v of labels that nothing foretells", name, v)
				}
			}
			if r.HeldOut < 40 || figures["together"] == 0 || figures["pooled"] == 0 {
				t.Errorf("%d rows are held out; figures %v", r.HeldOut, figures)
			}
		})
	}
}

// guessed loads wdbc with labels drawn at random.
func guessed(job.Source, job.Data) (*dataset.Set, error) {
	set, err := bundled.Load("wdbc")
	if err != nil {
		return nil, err
	}
	set = set.Subset(dataset.Complement(140, nil))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range set.Labels {
		set.Labels[i] = fmt.Sprint(rng.IntN(2))
	}
	return set, nil
}
