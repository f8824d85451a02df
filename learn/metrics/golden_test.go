package metrics_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// labelled is a set of predictions with what scikit-learn says about it.
type labelled struct {
	Truth, Predicted []int
	Accuracy         float64
	F1Micro          float64 `json:"f1_micro"`
	F1Macro          float64 `json:"f1_macro"`
	Confusion        [][]int
}

// sklearn is testdata/sklearn.json: the digits predictions and their measures
// are of scikit-learn 1.2.1, the rest of 1.9.1.
type sklearn struct {
	Digits labelled `json:"digits_svc_ovo"`
	Noisy  struct {
		labelled
		Probabilities, Decisions, Votes [][]float64
		AUC                             float64 `json:"auc_ovo"`
		VotesAUC                        float64 `json:"votes_auc_ovo"`
	}
	Binary struct {
		Truth  []int
		Scores []float64
		AUC    float64
	}
	Regression struct {
		Truth, Predicted []float64
		RMSE, R2         float64
	}
}

func golden(t *testing.T) (g sklearn) {
	t.Helper()
	text, err := os.ReadFile("testdata/sklearn.json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// expect returns a check of one measure.
func expect(t *testing.T, what string, want float64) func(float64, error) {
	return func(got float64, err error) {
		t.Helper()
		if err != nil || !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("%s is %.17g, %v; want %.17g", what, got, err, want)
		}
	}
}

func matrix(rows [][]float64) linalg.Matrix[float64] {
	m := linalg.New[float64](len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

func TestLabelsAsScikitLearn(t *testing.T) {
	g := golden(t)
	for _, l := range []labelled{g.Digits, g.Noisy.labelled} {
		expect(t, "accuracy", l.Accuracy)(metrics.Accuracy(l.Truth, l.Predicted))
		expect(t, "F1 micro", l.F1Micro)(metrics.F1Micro(l.Truth, l.Predicted))
		expect(t, "F1 macro", l.F1Macro)(metrics.F1Macro(l.Truth, l.Predicted))
	}
	m, err := metrics.NewConfusionMatrix(g.Digits.Truth, g.Digits.Predicted)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(g.Digits.Confusion, m.Counts); d != "" {
		t.Errorf("confusion (-want +got)\n%s", d)
	}
}

func TestAUCAsScikitLearn(t *testing.T) {
	g := golden(t)
	positive := make([]bool, len(g.Binary.Truth))
	for i, c := range g.Binary.Truth {
		positive[i] = c == 1
	}
	expect(t, "AUC", g.Binary.AUC)(metrics.ROCAUC(positive, g.Binary.Scores))
	expect(t, "AUC one-vs-one", g.Noisy.AUC)(metrics.AUCOvO(g.Noisy.Truth, matrix(g.Noisy.Probabilities)))
}

func TestVoteScoresAsScikitLearn(t *testing.T) {
	g := golden(t).Noisy
	scores, err := metrics.VoteScores(matrix(g.Decisions), 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range g.Votes {
		for c, w := range want {
			if got := scores.Row(i)[c]; math.Abs(got-w) > 1e-14 {
				t.Fatalf("row %d, class %d: %g, want %g", i, c, got, w)
			}
		}
	}
	expect(t, "AUC of votes", g.VotesAUC)(metrics.AUCOvO(g.Truth, scores))
}

func TestRegressionAsScikitLearn(t *testing.T) {
	g := golden(t).Regression
	expect(t, "RMSE", g.RMSE)(metrics.RMSE(g.Truth, g.Predicted))
	expect(t, "R2", g.R2)(metrics.R2(g.Truth, g.Predicted))
}
