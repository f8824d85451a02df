package learner

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
)

// A small penalty leaves few correct digits: three collinear rows, and rows that are equal in
// pairs.
func TestIllConditionedSolutionsWarn(t *testing.T) {
	for _, tt := range []struct {
		solver Solver
		want   string
	}{
		{Ridge{Alpha: 1e-14}, "raise alpha"},
		{GP{Noise: 1e-15}, "raise noise"},
		{Ridge{Alpha: 1e-3}, ""},
		{GP{Noise: 1e-3}, ""},
	} {
		f, _ := mustFit(t, line(4, []string{"1", "1", "2", "2", "3"}, 1, 1, 2, 2, 3), method(t, tt.solver))
		got := strings.Join(f.Warnings(), "\n")
		if tt.want == "" && got != "" || !strings.HasSuffix(got, tt.want) {
			t.Errorf("%+v: warnings %q, want %q", tt.solver, got, tt.want)
		}
	}
}

// With two rows of each class, LIBSVM's probabilities are the reverse of its classes.
func TestContradictingProbabilitiesWarn(t *testing.T) {
	labels := []string{"0", "0", "1", "1", "0", "0", "1", "1"}
	rbf, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := mustFit(t, line(4, labels, 0, 1, 2, 3, 0, 1, 2, 3), Spec{rbf, SVC{Params: svm.Params{C: 1}, Probability: true, Seed: 1}})
	if got := f.Warnings(); len(got) != 1 || !strings.HasPrefix(got[0], "for 4 of 4 held-out rows the predicted class") {
		t.Errorf("warnings %q; predicted %v with probabilities %v", got, f.Predicted, f.Head.Probabilities(f.Decisions).Data)
	}
}
