package cli

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/model"
)

// A decision curve is drawn as it is, or not at all.
func TestBenefitGraph(t *testing.T) {
	a := &learner.Assessment{Positive: "ill", Benefit: []learner.Benefit{{Threshold: 0.1, Model: 0.4, All: 0.3}, {Threshold: 0.5, Model: 0.2, All: -0.1}, {Threshold: 0.9, Model: -0.3, All: -5}}}
	g := benefitGraph(a)
	if len(g.Lines) != 3 || g.Lines[2].Name != "never" {
		t.Fatalf("lines %+v", g.Lines)
	}
	for k, want := range [][]float64{{0.4, 0.2}, {0.3, -0.1}} {
		if got := g.Lines[k].Y; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("line %d goes through %v, want %v", k, got, want)
		}
	}
	if all := graphs(a); len(all) != 1 {
		t.Errorf("%d graphs of a decision curve", len(all))
	}
	if graphs(nil) != nil || figureTables(nil, nil) != nil {
		t.Error("figures of nothing")
	}
}

// Numbers of every shape have a name each.
func TestScoreNames(t *testing.T) {
	for _, tt := range []struct {
		shape   string
		classes []string
		n       int
		first   string
	}{
		{"pairs", []string{"a", "b", "c"}, 3, "score a over b"}, {"each", []string{"a", "b", "c"}, 3, "score a"}, {"odds", []string{"a", "b"}, 1, "score b"},
		{"side", nil, 1, "score"}, {"components", nil, 2, "component 1"}, {"distances", nil, 4, "distance 1"},
	} {
		got := scoreNames(model.OutputShape(tt.shape), tt.classes, tt.n)
		if len(got) != tt.n || got[0] != tt.first {
			t.Errorf("%s: %q", tt.shape, got)
		}
	}
}
