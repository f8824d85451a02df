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
	if _, l := learner.OptimizerParamsOf(j); !j.Task().Classes || l.Lambda != 1e-6 || l.Rate != 0 {
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
