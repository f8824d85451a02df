package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/stage"
)

// randomJob runs the job by columns with random features.
func randomJob(t *testing.T, parties []string, protocol, learner string) *stage.Result {
	t.Helper()
	text := strings.NewReplacer("{name: gram}", "{name: fdskl, directions: 512"+protocol+"}", "gamma: 0.02", "gamma: 0.5, gamma_unit: median").Replace(columns)
	return runJob(t, fmt.Sprintf(text, strings.Join(parties, ", "), learner))
}

// Every training comes near all columns in one place, and leaves what the label
// holder could find out in the result.
func TestFDSKLBesidePooled(t *testing.T) {
	names := []string{"clinic", "laboratory", "imaging", "genetics"}
	for _, c := range []struct {
		protocol, learner string
		parties           int
		metric            string
		least             float64
	}{
		{"", "name: logistic, lambda: 1e-4", 4, "accuracy", 0.88},
		{", training: precond", "name: smooth-hinge", 2, "accuracy", 0.88},
		{"", "name: huber, delta: 0.5, lambda: 1e-3", 3, "r2", 0.5},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.learner, c.parties), func(t *testing.T) {
			r := randomJob(t, names[:c.parties], c.protocol, c.learner)
			t.Logf("%v, pooled %v, alone %v", r.Metrics, r.Pooled, r.Alone)
			if v := r.Metrics[c.metric]; v < c.least || r.Pooled[c.metric] < c.least {
				t.Errorf("%s is %v, pooled %v", c.metric, v, r.Pooled[c.metric])
			}
			if len(r.Alone) != c.parties || r.Alone[0].Failure != "" || r.Alone[1].Failure == "" || r.Difference != nil || r.Exact != nil {
				t.Errorf("result %+v", r)
			}
			active := strings.Join(r.Leakage["active"], " ")
			if !strings.Contains(active, "Measured on 4096 pairs") || strings.Contains(active, "the passive worker's own phases") != (c.parties == 2) {
				t.Error(active)
			}
		})
	}
}
