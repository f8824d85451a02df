package mercer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer"
	"github.com/mercer-fl/mercer/dataset"
)

// Each fold equals a model that is trained by hand on the other folds.
func TestCrossValidateIsFitOnEachFold(t *testing.T) {
	rows, labels, _, _ := wdbc(t)
	learner, k := mercer.SVC{C: 10}, mercer.Standard{Kernel: mercer.RBF{}}
	v, err := mercer.CrossValidate(rows, labels, learner, k, mercer.Folds{Count: 3, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	tests, err := dataset.Folds(labels, 3, 7)
	if err != nil {
		t.Fatal(err)
	}
	var scores []float64
	predicted := make([]string, len(rows))
	for _, test := range tests {
		train := dataset.Complement(len(rows), test)
		m, err := mercer.Fit(pick(rows, train), pick(labels, train), learner, k)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Score(pick(rows, test), pick(labels, test))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(pick(rows, test))
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, s)
		for i, r := range test {
			predicted[r] = p[i]
		}
	}
	if diff := cmp.Diff(scores, v.Scores) + cmp.Diff(predicted, v.Predicted); diff != "" {
		t.Error(diff)
	}
	mean := (scores[0] + scores[1] + scores[2]) / 3
	if math.Abs(v.Mean-mean) > 1e-12 || v.Mean < 0.95 || v.Deviation <= 0 || v.Deviation > 0.03 {
		t.Errorf("mean %v, deviation %v of %v", v.Mean, v.Deviation, v.Scores)
	}
}

// A value in a test row affects the scale in other folds, but not in its own.
func TestCrossValidateScalesInsideTheFolds(t *testing.T) {
	var rows [][]float64
	var targets []float64
	for i := range 20 {
		rows = append(rows, []float64{float64(i), float64(i * i % 7)})
		targets = append(targets, math.Sin(float64(i)))
	}
	validate := func() []float64 {
		v, err := mercer.CrossValidateNumbers(rows, targets, mercer.Ridge{}, mercer.Standard{Kernel: mercer.RBF{}}, mercer.Folds{Count: 4, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return v.Numbers
	}
	tests, err := dataset.FoldsPlain(len(rows), 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	before := validate()
	rows[tests[0][0]][0] = 1e4
	after := validate()
	for fold, test := range tests {
		for _, r := range test[1:] {
			if same := before[r] == after[r]; same != (fold == 0) {
				t.Errorf("row %d of fold %d: %v before, %v after", r, fold, before[r], after[r])
			}
		}
	}
}

func TestCrossValidateKeepsGroupsTogether(t *testing.T) {
	var rows [][]float64
	var groups, labels []string
	for i := range 40 { // two rows of each patient, whose class is a coin
		rows = append(rows, []float64{float64(i / 2)})
		groups = append(groups, string(rune('a'+i/2)))
		labels = append(labels, []string{"ill", "well"}[i/2*7919%5%2])
	}
	validate := func(f mercer.Folds) float64 {
		v, err := mercer.CrossValidate(rows, labels, mercer.SVC{C: 1e4}, mercer.RBF{Gamma: 100}, f)
		if err != nil {
			t.Fatal(err)
		}
		return v.Mean
	}
	if apart, together := validate(mercer.Folds{}), validate(mercer.Folds{Groups: groups}); apart < together+0.1 {
		t.Errorf("accuracy %v by rows, %v by groups", apart, together)
	}
}

func TestCrossValidateRefusesInOneSentence(t *testing.T) {
	rows, labels := [][]float64{{1}, {2}, {3}, {4}}, []string{"a", "a", "a", "b"}
	classes := func(rows [][]float64, labels []string, l mercer.Learner, f mercer.Folds) error {
		_, err := mercer.CrossValidate(rows, labels, l, mercer.RBF{}, f)
		return err
	}
	numbers := func(y []float64, r mercer.Regressor) error {
		_, err := mercer.CrossValidateNumbers(rows, y, r, mercer.RBF{}, mercer.Folds{Count: 2})
		return err
	}
	two := mercer.Folds{Count: 2}
	for want, err := range map[string]error{
		"the classifier is nil":                classes(rows, labels, nil, two),
		"the regressor is nil":                 numbers(make([]float64, 4), nil),
		"mercer.KMeans learns no classes":      classes(rows, labels, mercer.KMeans{}, two),
		"3 labels for 4 rows":                  classes(rows, labels[:3], mercer.SVC{}, two),
		"3 targets for 4 rows":                 numbers(make([]float64, 3), mercer.Ridge{}),
		"1 groups for 4 rows":                  classes(rows, labels, mercer.SVC{}, mercer.Folds{Groups: labels[:1]}),
		"cannot make 5 folds from 4 rows":      classes(rows, labels, mercer.SVC{}, mercer.Folds{}),
		"a classifier needs two classes":       classes(rows, labels, mercer.SVC{}, two),
		"there are no rows":                    classes(nil, nil, mercer.SVC{}, two),
		"row 3 holds NaN":                      classes([][]float64{{1}, {2}, {3}, {math.NaN()}}, labels, mercer.SVC{}, two),
		"(in fold 1 of 2)":                     numbers(make([]float64, 4), mercer.Ridge{}),
		"R2":                                   numbers(make([]float64, 4), mercer.Ridge{}),
		"the kernel is nil; give one, such as": func() error { _, err := mercer.CrossValidate(rows, labels, mercer.SVC{}, nil, two); return err }(),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mercer: ") || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "mercer: ") > 1 {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}
