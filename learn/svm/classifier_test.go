package svm

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/linalg"
)

func TestVote(t *testing.T) {
	pairs := make([]Pair, 3)
	c, err := NewClassifier(names(3), pairs, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		decisions []float64 // (a,b) (a,c) (b,c)
		want      int
	}{
		{"clear", []float64{1, 1, -1}, 0},
		{"last", []float64{1, -1, -1}, 2},
		{"circle: lowest class wins", []float64{1, -1, 1}, 0},
		{"other circle", []float64{-1, 1, -1}, 0},
		{"zero votes for the second", []float64{0, 0, 0}, 2},
		{"the size of a decision does not count", []float64{-9, 0.1, 0.1}, 1},
	} {
		m := linalg.Matrix[float64]{Rows: 1, Cols: 3, Stride: 3, Data: test.decisions}
		if got := c.Predict(m); got[0] != test.want {
			t.Errorf("%s: class %d, want %d", test.name, got[0], test.want)
		}
	}
}

func TestDecisions(t *testing.T) {
	c, err := NewClassifier(names(2), []Pair{{Index: []int{0, 2}, Coef: []float64{2, -3}, Rho: 0.5}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	cross := linalg.New[float64](130, 3)
	for i := range cross.Rows {
		copy(cross.Row(i), []float64{float64(i), 100, 1})
	}
	got := c.Decisions(cross)
	for i := range cross.Rows {
		if want := 2*float64(i) - 3 - 0.5; got.Row(i)[0] != want {
			t.Fatalf("decision %d is %v, want %v", i, got.Row(i)[0], want)
		}
	}
}

func TestCompact(t *testing.T) {
	x, codes := blobs(20, 60, 2, 3)
	c := MustSVC(t, rbf(1, x, x), codes, names(3), Params{C: 1})
	vectors := take(x, c.Support())
	compact := c.Compact()
	rebuilt, err := NewClassifier(compact.Classes, append([]Pair(nil), compact.Pairs...), len(compact.Support()))
	if err != nil {
		t.Fatalf("what training gives is refused: %v", err)
	}
	if d := cmp.Diff(compact, rebuilt, cmp.AllowUnexported(Classifier{})); d != "" {
		t.Error(d)
	}
	tests, _ := blobs(21, 10, 2, 3)
	cross := rbf(1, tests, vectors).Matrix
	if d := cmp.Diff(c.Decisions(cross), compact.Decisions(cross)); d != "" {
		t.Error(d)
	}
	used := 0
	for _, r := range c.Support() {
		for _, p := range c.Pairs {
			for _, s := range p.Index {
				if c.Support()[s] == r {
					used++
				}
			}
		}
	}
	coefs := 0
	for _, p := range c.Pairs {
		coefs += len(p.Coef)
		for i, s := range p.Index {
			row := c.Support()[s]
			if (codes[row] == p.First) != (p.Coef[i] > 0) || codes[row] != p.First && codes[row] != p.Second {
				t.Errorf("row %d of class %d has coefficient %v in pair (%d, %d)", row, codes[row], p.Coef[i], p.First, p.Second)
			}
		}
	}
	if used != coefs || c.Pairs[0].Report == (Report{}) || compact.Pairs[0].Report != (Report{}) {
		t.Errorf("%d of %d coefficients are on support vectors", used, coefs)
	}
}

func TestNewClassifierErrors(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name    string
		classes []string
		pairs   []Pair
		want    string
	}{
		{"pairs", names(3), make([]Pair, 2), `svm: there are 2 pairs for 3 classes, but there must be 3`},
		{"classes", []string{"x", "x"}, make([]Pair, 1), `svm: class "x" is listed twice`},
		{"lengths", names(2), []Pair{{Index: []int{1}}}, `svm: classes "a" and "b": there are 1 indices for 0 coefficients; the numbers must be equal`},
		{"beyond", names(2), []Pair{{Index: []int{4}, Coef: []float64{1}}}, `svm: classes "a" and "b": support vector index 4 follows index -1; indices must increase and be below 4`},
		{"order", names(2), []Pair{{Index: []int{1, 1}, Coef: []float64{1, 1}}}, `svm: classes "a" and "b": support vector index 1 follows index 1; indices must increase and be below 4`},
		{"zero", names(2), []Pair{{Index: []int{1}, Coef: []float64{0}}}, `svm: classes "a" and "b": coefficient 0 is 0; it must be finite and not 0`},
		{"NaN", names(2), []Pair{{Index: []int{1}, Coef: []float64{nan}}}, `svm: classes "a" and "b": coefficient 0 is NaN; it must be finite and not 0`},
		{"rho", names(2), []Pair{{Rho: nan}}, `svm: classes "a" and "b": rho is NaN; it must be finite`},
	} {
		if _, err := NewClassifier(test.classes, test.pairs, 4); err == nil || err.Error() != test.want {
			t.Errorf("%s: got  %v\nwant %s", test.name, err, test.want)
		}
	}
	if _, err := NewClassifier(names(2), make([]Pair, 1), -1); err == nil || err.Error() != "svm: there are -1 support vectors, but there must be 0 or more" {
		t.Errorf("fewer than none: %v", err)
	}
}
