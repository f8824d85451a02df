package mercer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer"
)

func TestFitRefusesInOneSentence(t *testing.T) {
	rows, labels := [][]float64{{1, 2}, {3, 4}}, []string{"a", "b"}
	nan, inf := math.NaN(), math.Inf(1)
	for name, tt := range map[string]struct {
		fit  func() (*mercer.Model, error)
		want string
	}{
		"no rows": {func() (*mercer.Model, error) { return mercer.Fit(nil, nil, mercer.OneClass{}, mercer.RBF{}) }, "no rows to learn from"},
		"unequal lengths": {func() (*mercer.Model, error) {
			return mercer.Fit([][]float64{{1, 2}, {3}}, labels, mercer.SVC{}, mercer.RBF{})
		}, "row 1 has 1 numbers; it must have 2"},
		"empty rows": {func() (*mercer.Model, error) {
			return mercer.Fit([][]float64{{}, {}}, labels, mercer.SVC{}, mercer.RBF{})
		}, "row 0 has 0 numbers; it must have 1"},
		"NaN": {func() (*mercer.Model, error) {
			return mercer.Fit([][]float64{{1, 2}, {3, nan}}, labels, mercer.SVC{}, mercer.RBF{})
		}, "row 1 holds NaN in column 1"},
		"an infinity": {func() (*mercer.Model, error) {
			return mercer.Fit([][]float64{{inf, 2}}, nil, mercer.OneClass{}, mercer.RBF{})
		}, "row 0 holds +Inf in column 0"},
		"a missing label": {func() (*mercer.Model, error) { return mercer.Fit(rows, labels[:1], mercer.SVC{}, mercer.RBF{}) }, "1 labels for 2 rows"},
		"no labels":       {func() (*mercer.Model, error) { return mercer.Fit(rows, nil, mercer.NuSVC{}, mercer.RBF{}) }, "0 labels for 2 rows"},
		"stray labels":    {func() (*mercer.Model, error) { return mercer.Fit(rows, labels[:1], mercer.KMeans{}, mercer.RBF{}) }, "1 labels for 2 rows"},
		"one class":       {func() (*mercer.Model, error) { return mercer.Fit(rows, []string{"a", "a"}, mercer.SVC{}, mercer.RBF{}) }, "a classifier needs two classes"},
		"a negative C":    {func() (*mercer.Model, error) { return mercer.Fit(rows, labels, mercer.SVC{C: -1}, mercer.RBF{}) }, "C is -1"},
		"many clusters":   {func() (*mercer.Model, error) { return mercer.Fit(rows, nil, mercer.KMeans{}, mercer.RBF{}) }, "8"},
		"a bad gamma":     {func() (*mercer.Model, error) { return mercer.Fit(rows, labels, mercer.SVC{}, mercer.RBF{Gamma: -1}) }, "gamma"},
		"two scales": {func() (*mercer.Model, error) {
			return mercer.Fit(rows, labels, mercer.SVC{}, mercer.MinMax{Kernel: mercer.Standard{Kernel: mercer.RBF{}}})
		}, "cannot be combined"},
		"a scale alone": {func() (*mercer.Model, error) { return mercer.Fit(rows, labels, mercer.SVC{}, mercer.Standard{}) }, "a scale needs a kernel"},
		"a huge number": {func() (*mercer.Model, error) {
			return mercer.Fit([][]float64{{1e200}, {1}}, labels, mercer.SVC{}, mercer.MinMax{Kernel: mercer.RBF{}})
		}, "1e+200"},
		"no kernel":    {func() (*mercer.Model, error) { return mercer.Fit(rows, labels, mercer.SVC{}, nil) }, "the kernel is nil"},
		"no learner":   {func() (*mercer.Model, error) { return mercer.Fit(rows, labels, nil, mercer.RBF{}) }, "the learner is nil"},
		"no regressor": {func() (*mercer.Model, error) { return mercer.FitNumbers(rows, []float64{1, 2}, nil, mercer.RBF{}) }, "the regressor is nil"},
		"few targets": {func() (*mercer.Model, error) {
			return mercer.FitNumbers(rows, []float64{1}, mercer.SVR{}, mercer.RBF{})
		}, "1 targets for 2 rows"},
		"a target of NaN": {func() (*mercer.Model, error) {
			return mercer.FitNumbers(rows, []float64{1, nan}, mercer.GP{}, mercer.RBF{})
		}, "target 1 is NaN"},
		"no file": {func() (*mercer.Model, error) { return mercer.Load(strings.NewReader("PK")) }, "model"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := tt.fit()
			if err == nil || m != nil {
				t.Fatalf("model %v, error %v", m, err)
			}
			if text := err.Error(); !strings.HasPrefix(text, "mercer: ") || !strings.Contains(text, tt.want) || strings.Contains(text, "\n") {
				t.Errorf("%q, want %q in it", text, tt.want)
			}
		})
	}
}

func TestPredictRefusesInOneSentence(t *testing.T) {
	m, err := mercer.Fit([][]float64{{1, 2}, {3, 4}}, []string{"a", "b"}, mercer.SVC{}, mercer.RBF{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		rows [][]float64
		want string
	}{
		"another width": {[][]float64{{1, 2}, {1}}, "row 1 has 1 numbers; it must have 2"},
		"NaN":           {[][]float64{{1, math.NaN()}}, "row 0 holds NaN in column 1"},
	} {
		if got, err := m.Predict(tt.rows); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
	if _, err := m.PredictNumbers([][]float64{{1, 2}}); err == nil || !strings.Contains(err.Error(), "svc model does not predict numbers") {
		t.Errorf("numbers of a classifier: %v", err)
	}
	if got, err := m.Predict(nil); err != nil || len(got) != 0 {
		t.Errorf("no rows: %v, error %v", got, err)
	}
}
