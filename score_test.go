package mercer_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// A zero Model and a nil one return an error from every method.
func TestEmptyModelReturnsErrors(t *testing.T) {
	rows := [][]float64{{1}}
	for _, m := range []*mercer.Model{new(mercer.Model), nil} {
		errs := map[string]error{"Save": m.Save(new(bytes.Buffer))}
		_, errs["Predict"] = m.Predict(rows)
		_, errs["PredictNumbers"] = m.PredictNumbers(rows)
		_, errs["Decisions"] = m.Decisions(rows)
		_, errs["Probabilities"] = m.Probabilities(rows)
		_, errs["Score"] = m.Score(rows, []string{"a"})
		_, errs["ScoreNumbers"] = m.ScoreNumbers(rows, []float64{1})
		for method, err := range errs {
			if err == nil || err.Error() != "mercer: the model is empty; use one that Fit, FitNumbers or Load returned" {
				t.Errorf("%s: %v", method, err)
			}
		}
		if m.Columns() != nil || m.Classes() != nil {
			t.Errorf("columns %v, classes %v", m.Columns(), m.Classes())
		}
	}
}

func TestScoresRefuseInOneSentence(t *testing.T) {
	rows := [][]float64{{1}, {2}, {3}}
	svc, err := mercer.Fit(rows, []string{"a", "b", "b"}, mercer.SVC{}, mercer.RBF{})
	if err != nil {
		t.Fatal(err)
	}
	svr, err := mercer.FitNumbers(rows, []float64{1, 2, 3}, mercer.SVR{}, mercer.RBF{})
	if err != nil {
		t.Fatal(err)
	}
	score := func(m *mercer.Model, labels []string) error { _, err := m.Score(rows, labels); return err }
	numbers := func(m *mercer.Model, y []float64) error { _, err := m.ScoreNumbers(rows, y); return err }
	chances := func(m *mercer.Model) error { _, err := m.Probabilities(rows); return err }
	for want, err := range map[string]error{
		"an svr model does not predict classes": score(svr, []string{"1", "2", "3"}),
		"an svc model does not predict numbers": numbers(svc, []float64{1, 2, 3}),
		"2 labels for 3 rows":                   score(svc, []string{"a", "b"}),
		"2 targets for 3 rows":                  numbers(svr, []float64{1, 2}),
		"an svc model has no probabilities":     chances(svc),
		"an svr model has no probabilities":     chances(svr),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mercer: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// Probabilities are those of package svm's calibration, and are kept by the file.
func TestProbabilitiesSumToOneAndRank(t *testing.T) {
	rows, labels, train, test := wdbc(t)
	for _, l := range []mercer.Learner{mercer.SVC{Probability: true}, mercer.NuSVC{Nu: 0.2, Probability: true}} {
		m, err := mercer.Fit(pick(rows, train), pick(labels, train), l, mercer.Standard{Kernel: mercer.RBF{}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Probabilities(pick(rows, test))
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i, r := range test {
			if len(p[i]) != 2 || math.Abs(p[i][0]+p[i][1]-1) > 1e-9 {
				t.Fatalf("row %d: %v", i, p[i])
			}
			most := m.Classes()[0]
			if p[i][1] > p[i][0] {
				most = m.Classes()[1]
			}
			if most == labels[r] {
				right++
			}
		}
		if right < len(test)*9/10 {
			t.Errorf("%T: the most probable class is right for %d of %d rows", l, right, len(test))
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		again, err := mercer.Load(&file)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := again.Probabilities(pick(rows, test)); err != nil || !cmp.Equal(p, q) {
			t.Errorf("%T read back: %v, error %v", l, q, err)
		}
	}
}

// An epsilon of Zero makes every training row a support vector; 0 means 0.1.
func TestZeroIsZero(t *testing.T) {
	rows, y := [][]float64{{0}, {1}, {2}, {3}}, []float64{0.01, -0.02, 0.03, 0}
	numbers := func(l mercer.Regressor) []float64 {
		m, err := mercer.FitNumbers(rows, y, l, mercer.RBF{Gamma: 1})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.PredictNumbers(rows)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wide, none := numbers(mercer.SVR{C: 1e3}), numbers(mercer.SVR{C: 1e3, Epsilon: mercer.Zero})
	for i, want := range y {
		if math.Abs(none[i]-want) > 2e-3 {
			t.Errorf("row %d with epsilon 0: %v, want %v", i, none[i], want)
		}
		if wide[i] != wide[0] {
			t.Errorf("row %d with epsilon 0.1: %v, want a constant such as %v", i, wide[i], wide[0])
		}
	}
	for want, l := range map[string]mercer.Regressor{"C is 0": mercer.SVR{C: mercer.Zero}} {
		if _, err := mercer.FitNumbers(rows, y, l, mercer.RBF{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", l, err, want)
		}
	}
}

func TestRowsOfTablesAndMatrices(t *testing.T) {
	rows := [][]float64{{1, 2}, {0, 3}, {4, 0}}
	m, err := mercer.Matrix(rows)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := dataset.NewCSR(2, []int{0, 2, 3, 4}, []int32{0, 1, 1, 0}, []float64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][][]float64{
		"matrix": mercer.MatrixRows(m), "float32": mercer.MatrixRows(linalg.Matrix[float32]{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 0, 3, 4, 0}}),
		"dense": mercer.TableRows(dataset.NewDense(m)), "sparse": mercer.TableRows(sparse),
		"columns": mercer.TableRows(dataset.NewDense(m).Columns([]int{0, 1}).Subset([]int{0, 1, 2})),
	} {
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	got := mercer.MatrixRows(m)
	got[0][0] = 9
	if m.Row(0)[0] != 1 {
		t.Error("the rows share the matrix's memory")
	}
	for want, rows := range map[string][][]float64{"no rows": nil, "row 1 has 1 numbers; it must have 2": {{1, 2}, {3}}} {
		if _, err := mercer.Matrix(rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}
