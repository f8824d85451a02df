package learner

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// A job's F1 and area under the curve of three classes are those of their definitions, by counting.
func TestFiguresOfThreeClasses(t *testing.T) {
	labels := []string{"a", "a", "b", "b", "c", "c", "a", "a", "b", "b", "c", "c", "c"}
	f, m := mustFit(t, line(6, labels, -3, -2, 0, .5, 2, 3, -2.5, .2, .1, 1.9, 2.5, -1, 1), straight(t))
	classes := []string{"a", "b", "c"}
	if !slices.Equal(f.Head.Classes, classes) {
		t.Fatalf("classes %v", f.Head.Classes)
	}
	macro, right := 0.0, 0.0
	for _, class := range classes {
		hits, wrong := 0.0, 0.0
		for i, truth := range f.Truth {
			switch is, said := truth == class, f.Predicted[i] == class; {
			case is && said:
				hits++
			case is != said:
				wrong++
			}
		}
		macro, right = macro+2*hits/(2*hits+wrong)/3, right+hits
	}
	scores, err := metrics.VoteScores(f.Decisions, 3)
	if err != nil {
		t.Fatal(err)
	}
	auc := 0.0
	for k := range classes {
		for l := range classes {
			if l != k {
				auc += above(scores, k, rowsOfClass(f, classes[k]), rowsOfClass(f, classes[l])) / 6
			}
		}
	}
	for name, want := range map[string]float64{"f1_macro": macro, "f1_micro": right / 7, "accuracy": right / 7, "auc": auc} {
		if math.Abs(m[name]-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, m[name], want)
		}
	}
	if macro == right/7 || auc > .99 {
		t.Errorf("macro %v, micro %v, area %v: the test shows little", macro, right/7, auc)
	}
}

// above returns the share of pairs of a row of one class and a row of another in which the first
// has the higher score for the first class.
func above(scores linalg.Matrix[float64], class int, own, others []int) (share float64) {
	for _, i := range own {
		for _, j := range others {
			switch a, b := scores.Row(i)[class], scores.Row(j)[class]; {
			case a > b:
				share++
			case a == b:
				share += .5
			}
		}
	}
	return share / float64(len(own)*len(others))
}

// rowsOfClass lists the held-out rows of a class.
func rowsOfClass(f *Fitted, class string) (rows []int) {
	for i, truth := range f.Truth {
		if truth == class {
			rows = append(rows, i)
		}
	}
	return rows
}
