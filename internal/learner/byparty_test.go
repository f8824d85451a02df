package learner

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// decided is the work on rows of several parties, of which every second is held out, with
// decisions made up; it has rows of the parties in turn.
func decided(t *testing.T, rows map[string]int, words map[string]FigurePermission, names ...string) *Work {
	t.Helper()
	w := &Work{Fitted: &Fitted{method: new(SVC), figures: Metrics{}}}
	w.Fitted.Head.Output = model.Output{Kind: model.SVC, Classes: []string{"ill", "well"}}
	first := 0
	var scores []float64
	for k, name := range names {
		w.Hold(name, first, first+rows[name], words[name])
		first += rows[name]
		for i := range rows[name] {
			class := []string{"ill", "well"}[i/2%2]
			w.Problem.Labels, w.Problem.Test = append(w.Problem.Labels, class), append(w.Problem.Test, i%2 == 1)
			if i%2 == 1 {
				w.Fitted.Truth = append(w.Fitted.Truth, class)
				scores = append(scores, math.Sin(float64(i*(k+2)))+map[string]float64{"ill": 0.5, "well": -0.5}[class])
			}
		}
	}
	w.Fitted.held = len(scores)
	w.Fitted.Decisions = linalg.Matrix[float64]{Rows: len(scores), Cols: 1, Stride: 1, Data: scores}
	w.Fitted.Predicted = w.Fitted.Head.Predict(w.Fitted.Decisions)
	return w
}

// The figures of a party are those that its held-out rows alone give.
func TestFiguresByParty(t *testing.T) {
	names := []string{"north", "south", "east"}
	rows := map[string]int{"north": 120, "south": 60, "east": 80}
	w := decided(t, rows, map[string]FigurePermission{"north": Allowed, "south": Allowed, "east": Allowed}, names...)
	if err := w.evaluate(1); err != nil {
		t.Fatal(err)
	}
	from := 0
	for i, one := range w.Assessment.ByParty {
		n := rows[names[i]] / 2
		truth, predicted := w.Fitted.Truth[from:from+n], w.Fitted.Predicted[from:from+n]
		from += n
		confusion, err := metrics.NewConfusionMatrix(truth, predicted)
		if err != nil {
			t.Fatal(err)
		}
		_, codes := dataset.Classes(truth)
		ill := make([]bool, n)
		for i, c := range codes {
			ill[i] = c == 0
		}
		auc, err := metrics.ROCAUC(ill, w.Fitted.Decisions.Data[from-n:from])
		if err != nil || one.Party != names[i] || one.HeldOut != n || one.Withheld != "" || one.Metrics["accuracy"] != confusion.Accuracy() || math.Abs(one.Metrics["auc"]-auc) > 1e-12 {
			t.Errorf("%+v, want %d rows, accuracy %v, auc %v, %v", one, n, confusion.Accuracy(), auc, err)
		}
		if d := cmp.Diff(confusion.PerClass(), one.PerClass); d != "" {
			t.Error(d)
		}
	}
	if len(w.Assessment.ByParty) != 3 || from != w.Fitted.held {
		t.Errorf("%d parties of %d rows", len(w.Assessment.ByParty), from)
	}
}

// What policies withhold stays out, and so does whatever it would follow from: the figures of all
// rows less the figures of the others.
func TestFiguresByPartyThatAreWithheld(t *testing.T) {
	many, few := map[string]int{"a": 120, "b": 120, "c": 120, "d": 120}, map[string]int{"a": 120, "b": 120, "c": 40, "d": 40}
	none := map[string]int{"a": 120, "b": 0, "c": 0, "d": 0}
	for name, tt := range map[string]struct {
		rows  map[string]int
		words map[string]FigurePermission
		want  string // of each party: why not, "" for figures
	}{
		"nobody allows":               {many, nil, "denied denied denied denied"},
		"one only":                    {many, map[string]FigurePermission{"a": Allowed}, "yes denied denied denied"},
		"all but two":                 {many, map[string]FigurePermission{"a": Allowed, "b": Allowed}, "yes yes denied denied"},
		"all but one":                 {many, map[string]FigurePermission{"a": Allowed, "b": Allowed, "c": Allowed}, "rest rest rest denied"},
		"all but one with few rows":   {many, map[string]FigurePermission{"a": Allowed, "b": Allowed, "c": Allowed, "d": TooFew}, "rest rest rest few"},
		"all but two small ones":      {few, map[string]FigurePermission{"a": Allowed, "b": Allowed, "c": TooFew}, "rest rest few denied"},
		"rows at one party":           {none, map[string]FigurePermission{"a": Allowed}, ""},
		"a word that a program lacks": {many, map[string]FigurePermission{"a": Allowed, "b": Allowed, "c": Allowed, "d": 7}, "rest rest rest denied"},
	} {
		w := decided(t, tt.rows, tt.words, "a", "b", "c", "d")
		if err := w.evaluate(1); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range w.Assessment.ByParty {
			if told := one.Metrics != nil || one.PerClass != nil || one.HeldOut > 0; told != (one.Withheld == "") {
				t.Errorf("%s: %+v", name, one)
			}
			got = append(got, map[string]string{"": "yes", DeniedText: "denied", fewText: "few", restText: "rest"}[one.Withheld])
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// Rows in folds, of which each is decided while it is held out, have figures by party too, and
// numbers have no classes.
func TestFiguresByPartyInFoldsAndOfNumbers(t *testing.T) {
	w := decided(t, map[string]int{"a": 60, "b": 80}, map[string]FigurePermission{"a": Allowed, "b": Allowed}, "a", "b")
	w.Problem.Test = make([]bool, 140)
	w.Fitted.Head.Output, w.Fitted.method = model.Output{Kind: model.SVR}, new(SVR)
	w.Fitted.Truth, w.Fitted.Decisions = nil, linalg.New[float64](140, 1)
	for i := range 140 {
		w.Fitted.Truth = append(w.Fitted.Truth, "2")
		w.Fitted.Decisions.Data[i] = 2
		if i < 60 {
			w.Fitted.Decisions.Data[i] = 5
		}
	}
	w.Fitted.held, w.Fitted.Predicted = 140, w.Fitted.Head.Predict(w.Fitted.Decisions)
	w.Fitted.folds = [][]int{linalg.Range(0, 70), linalg.Range(70, 140)}
	if err := w.evaluate(1); err != nil {
		t.Fatal(err)
	}
	var rmse []float64
	for _, one := range w.Assessment.ByParty {
		rmse = append(rmse, one.Metrics["rmse"])
		if one.PerClass != nil {
			t.Errorf("numbers have classes: %+v", one)
		}
	}
	if !slices.Equal(rmse, []float64{3, 0}) || w.Assessment.ByParty[1].HeldOut != 80 {
		t.Errorf("errors %v, want 3 and 0", rmse)
	}
}
