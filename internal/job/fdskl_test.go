package job_test

import (
	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/fdskl"

	. "github.com/mercer-fl/mercer/internal/job"

	"slices"
	"strings"
	"testing"
)

// random is a job on random features of columns that two parties hold.
var random = strings.NewReplacer("name: gram", "name: fdskl", "name: svc", "name: logistic", "gamma: 0.5", "gamma: 0.5, gamma_unit: median").Replace(vertical)

func TestFDSKL(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(random))
	if err != nil {
		t.Fatal(err)
	}
	want := &fdskl.Keys{Moded: Moded{Mode: Hardened}, Training: fdskl.Cached, Directions: 1024, Keys: columns.Keys{MaxIDs: 1 << 20}, Bits: 16, Tree: fdskl.BinaryTree, Active: 1}
	if d := cmp.Diff(want, As[*fdskl.Keys](j.Protocol)); d != "" || j.Protocol.Name() != "fdskl" {
		t.Errorf("protocol %s: %s", j.Protocol.Name(), d)
	}
	if _, l := learner.CourseOf(j); !j.Task().Classes || l.Lambda != 1e-6 || l.Rate != 0 {
		t.Errorf("learner %+v", j.Learner)
	}
	for _, c := range []struct {
		protocol, learner string
		want              Named
	}{
		{"training: faithful", "squared", Named{learner.Squared{}, &learner.Squared{Descent: learner.Descent{Lambda: 1e-6, Rate: 4}}}},
		{"training: block, directions: 32", "huber, delta: 2", Named{learner.Huber{}, &learner.Huber{Delta: 2, Descent: learner.Descent{Lambda: 1e-6, Rate: 4, Batch: 256, Iterations: 32}}}},
		{"training: block", "smooth-hinge, rate: 0.5, batch: 10, iterations: 8", Named{learner.SmoothHinge{}, &learner.SmoothHinge{Descent: learner.Descent{Lambda: 1e-6, Rate: 0.5, Batch: 10, Iterations: 8}}}},
		{"training: precond, mode: paper", "logistic, lambda: 1e-3", Named{learner.Logistic{}, &learner.Logistic{Descent: learner.Descent{Lambda: 1e-3, Rate: 1, Batch: 256, Iterations: 64}}}},
	} {
		j, err := reader().Parse("job.yaml", []byte(strings.NewReplacer("fdskl", "fdskl, "+c.protocol, "logistic", c.learner).Replace(random)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, j.Learner); d != "" {
			t.Errorf("%s: another learner:\n%s", c.protocol, d)
		}
		if again, err := reader().Parse("again", j.Encode()); err != nil || again.Hash() != j.Hash() {
			t.Errorf("%s: read again: %v", c.protocol, err)
		}
	}
}

// Who is active has labels.
func TestActive(t *testing.T) {
	for protocol, want := range map[string][]string{"": {"guest"}, ", active: 1": {"guest"}, ", active: 2, training: faithful": {"guest", "host"}} {
		j, err := reader().Parse("job.yaml", []byte(strings.Replace(random, "fdskl", "fdskl"+protocol, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(j.Active(), want) || j.Labels("host") != (len(want) == 2) || !j.Labels("guest") {
			t.Errorf("%q: active %v", protocol, j.Active())
		}
		if again, err := reader().Parse("again", j.Encode()); err != nil || again.Hash() != j.Hash() {
			t.Errorf("%q: read again: %v", protocol, err)
		}
	}
}

func TestBadFDSKLJobs(t *testing.T) {
	const together = "; fdskl runs logistic, smooth-hinge, squared, huber, and nothing else does"
	for _, c := range []struct{ name, old, bad, want string }{
		{"svc", "logistic", "svc", "job.yaml:8: protocol fdskl and learner svc do not go together" + together},
		{"another protocol", "fdskl", "gram", "job.yaml:8: protocol gram and learner logistic do not go together" + together},
		{"kernel", "rbf, gamma: 0.5, gamma_unit: median", "polynomial, gamma: 1", "job.yaml:7: protocol fdskl needs one kernel with random features: rbf, laplacian, laplacian-product, rational-quadratic or matern"},
		{"product of another protocol", "fdskl}\n  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}\n  learner: {name: logistic}", "gram}\n  kernel: {name: laplacian-product, gamma: 1}\n  learner: {name: svc}", "job.yaml:7: the laplacian-product kernel is no function of inner products, and of protocol fdskl only; use laplacian"},
		{"exact kernel of a product", "fdskl}\n  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}", "fdskl}\n  compare: [exact-kernel]\n  kernel: {name: laplacian-product, gamma: 0.5}", "job.yaml:7: the laplacian-product kernel is known by its random features only; remove exact-kernel"},
		{"exact kernel of another protocol", "fdskl}\n  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}\n  learner: {name: logistic}", "gram}\n  compare: [exact-kernel]\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: svc}", "job.yaml:7: exact-kernel is of protocol fdskl, which has random features in the kernel's place; remove it"},
		{"folds", "label: label", "label: label, folds: 5", "job.yaml:5: protocol fdskl chooses nothing by folds; use test: {fraction: 0.25}"},
		{"bits", "fdskl", "fdskl, bits: 12", "job.yaml:6: bits is 12; a phase has 8, 16 or 32"},
		{"no directions", "fdskl", "fdskl, directions: 0", "job.yaml:6: directions is 0; write a whole number from 1"},
		{"many directions", "fdskl", "fdskl, directions: 1048577", "job.yaml:6: directions is 1048577; write up to 1048576"},
		{"tree", "fdskl", "fdskl, tree: ring", "job.yaml:6: unknown tree \"ring\"; this version has binary, star, chain"},
		{"paper's tree", "fdskl", "fdskl, mode: paper, tree: star", "job.yaml:6: mode paper has trees of its own; remove tree"},
		{"training", "fdskl", "fdskl, training: cashed", "job.yaml:6: unknown training \"cashed\"; did you mean \"cached\"? This version has cached, faithful, block, precond"},
		{"no active worker", "fdskl", "fdskl, active: 0", "job.yaml:6: active is 0; write a whole number from 1"},
		{"active workers of cached", "fdskl", "fdskl, active: 2", "job.yaml:6: several active workers take turns at one row and one direction; add training: faithful, or remove active"},
		{"directions of active workers", "fdskl", "fdskl, active: 2, training: faithful, directions: 31", "job.yaml:6: directions is 31; write a multiple of 2, as many for each active worker"},
		{"many directions of active workers", "fdskl", "fdskl, active: 2, training: faithful, directions: 131074", "job.yaml:6: directions is 131074; write up to 65536 for each active worker"},
		{"prediction of active workers", "fdskl}", "fdskl, active: 2, training: faithful, directions: 30}\n  prediction: open", "job.yaml:7: several active workers each keep a part of the model, which no prediction adds up in this version; remove prediction, or active"},
		{"too many active workers", "fdskl", "fdskl, active: 3, training: faithful, directions: 30", "job.yaml:6: 3 active workers of 2 parties; write up to 2"},
		{"bits of gram", "fdskl", "gram, bits: 8", "job.yaml:6: protocol gram has no bits; remove it"},
		{"rate of cached", "logistic", "logistic, rate: 1", "job.yaml:8: training cached has no rate, batch or iterations; remove them, or add training: block to protocol"},
		{"delta", "logistic", "huber, delta: 0", "job.yaml:8: delta is 0; write a number above 0"},
		{"delta of logistic", "logistic", "logistic, delta: 1", "job.yaml:8: learner logistic has no delta; remove it"},
		{"lambda", "logistic", "logistic, lambda: 0", "job.yaml:8: lambda is 0; write a number above 0"},
		{"rate", "logistic", "logistic, rate: -1", "job.yaml:8: rate is -1; write a number above 0"},
		{"batch", "logistic", "logistic, batch: -1", "job.yaml:8: batch is -1; write a whole number from 1"},
		{"iterations", "logistic", "logistic, iterations: 0", "job.yaml:8: iterations is 0; write a whole number from 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(random, c.old, c.bad, 1)
			if text == random {
				t.Fatal("nothing is wrong with this job")
			}
			if _, err := reader().Parse("job.yaml", []byte(text)); err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestBadTrainings(t *testing.T) {
	for _, c := range []struct{ training, learner, want string }{
		{"faithful", "logistic, batch: 2", "training faithful takes one row and one direction in each iteration; remove batch and iterations, directions says how many there are"},
		{"faithful", "logistic, iterations: 9", "training faithful takes one row and one direction in each iteration; remove batch and iterations, directions says how many there are"},
		{"faithful", "logistic, rate: 100, lambda: 0.1", "rate 100 times lambda 0.1 must be below 1; write a smaller rate"},
		{"block, directions: 8", "logistic, iterations: 9", "9 iterations with 8 directions; each needs one at least"},
	} {
		text := strings.NewReplacer("fdskl", "fdskl, training: "+c.training, "logistic", c.learner).Replace(random)
		if _, err := reader().Parse("job.yaml", []byte(text)); err == nil || err.Error() != "job.yaml:8: "+c.want {
			t.Errorf("\n got %v\nwant %s", err, c.want)
		}
	}
}
