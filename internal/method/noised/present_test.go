package noised

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/privacy"
)

// said returns the notes under the scores of a result, and checks that the page has them, too.
func said(t *testing.T, f *Figures, j *job.Job, r *method.Result) string {
	t.Helper()
	var p method.Presentation
	f.Show(&p, j, r)
	if p.More[0].Label != "Privacy" || len(p.More) != len(p.Notes)+1 || len(p.Later) != 1 {
		t.Errorf("%+v", p)
	}
	return strings.Join(p.Notes, "\n")
}

// The epsilon of a repeated job is one run's. The result says so, and which epsilon all runs together have, whose rhos
// add up.
func TestRepeatedRunsAddUp(t *testing.T) {
	g := privacy.Guarantee{Epsilon: 2, Delta: 1e-6}
	f := NewFigures(g, privacy.Summands{Honest: 2, All: 3})
	if got := said(t, f, nil, &method.Result{}); got != "" {
		t.Errorf("one run: %q", got)
	}
	got := said(t, f, nil, &method.Result{Repeats: &learner.Repeats{Seeds: make([]uint64, 5)}})
	all := fmt.Sprintf("all 5 runs, if published, have epsilon = %.3g together (delta = 1e-06)", privacy.Epsilon(5*g.Rho(), 1e-6))
	if !strings.HasPrefix(got, "Each of the 5 runs has drawn its own noise, and epsilon = 2 holds for one run.") || !strings.Contains(got, all) {
		t.Errorf("%q, want %q", got, all)
	}
}

// A result with comparisons says what they have in place of noise and of features.
func TestComparisonsAreNamed(t *testing.T) {
	f := NewFigures(privacy.Guarantee{Epsilon: 2, Delta: 1e-6}, privacy.Summands{Honest: 2, All: 3})
	j := &job.Job{Kernel: job.Kernel{Name: job.Linear}}
	if got := said(t, f, j, &method.Result{}); got != "" {
		t.Errorf("no comparison: %q", got)
	}
	for name, want := range map[job.KernelName]string{job.Linear: "the columns and a constant, without noise", job.RBF: "the exact kernel"} {
		j.Kernel.Name = name
		for _, r := range []*method.Result{{Pooled: learner.Metrics{"accuracy": .9}}, {Alone: []method.Alone{{Party: "north"}}}} {
			if got := said(t, f, j, r); !strings.Contains(got, want) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}
