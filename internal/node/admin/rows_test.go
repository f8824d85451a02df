package admin

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// rows is a table of one row.
func rows(name string, v ...float64) *dataset.Set {
	return &dataset.Set{Name: name, X: dataset.NewDense(linalg.Matrix[float64]{Rows: 1, Cols: len(v), Stride: len(v), Data: v})}
}

func TestRowsRoundTrip(t *testing.T) {
	csv, err := dataset.Read("a.csv", strings.NewReader("id,a,b,label\npatient7,1.5,2,ill\npatient9,-0.25,1e-300,well\n"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := dataset.Read("a.svm", strings.NewReader("1 1:0.5 3:2\n0 2:1\n"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	narrow := &dataset.Set{Name: "a.png", X: dataset.NewDense32(linalg.Matrix[float32]{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0.1, 255}})}
	for _, set := range []*dataset.Set{csv, sparse, narrow} {
		b, err := encodeRows(set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRows(b)
		if err != nil {
			t.Fatal(err)
		}
		want := &dataset.Set{Name: set.Name, X: dataset.NewDense(dataset.DenseOf(set.X).Matrix()), Columns: set.Columns, IDs: set.IDs} // no labels
		_, was := set.X.(*dataset.Dense32)
		if _, is := got.X.(*dataset.Dense32); is != was {
			t.Errorf("%s became a %T", set.Name, got.X)
		}
		got.X = dataset.NewDense(dataset.DenseOf(got.X).Matrix())
		if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", set.Name, diff)
		}
		if bytes.Contains(b, []byte("well")) {
			t.Errorf("%s: labels are among what is sent", set.Name)
		}
	}
}

func TestEncodeRowsIsBounded(t *testing.T) {
	x, err := dataset.NewCSR(1<<24, make([]int, 10), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wide := &dataset.Set{Name: "wide", X: x}
	const want = "wide has 9 rows of 16777216 columns, which exceed the 1073741824 bytes allowed in one query; query fewer rows at a time"
	if _, err := encodeRows(wide); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func FuzzDecodeRows(f *testing.F) {
	for _, set := range []*dataset.Set{rows("a", 1, 2), {Name: "b", X: dataset.NewDense32(linalg.New[float32](2, 2)), Columns: []string{"x", "y"}, IDs: []string{"p", "q"}}} {
		b, err := encodeRows(set)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := decodeRows(b)
		if err != nil {
			return
		}
		again, err := encodeRows(set)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q became %q, %v", b, again, err)
		}
	})
}

// Decisions, probabilities and deviations stand each in a place of their own.
func TestAPredictionsNumbersStandOnce(t *testing.T) {
	calibrated := model.Output{Kind: model.SVC, Classes: []string{"ill", "well"}}
	p := NewPrediction(calibrated, linalg.Matrix[float64]{Rows: 1, Cols: 3, Stride: 3, Data: []float64{1.5, 0.9, 0.1}})
	if len(p.Decisions[0]) != 1 || p.Decisions[0][0] != 1.5 || p.Probabilities[0][0] != 0.9 || p.Probabilities[0][1] != 0.1 {
		t.Errorf("decisions %v, probabilities %v", p.Decisions, p.Probabilities)
	}
	p = NewPrediction(model.Output{Kind: model.GP}, linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{20, 3}})
	if len(p.Decisions[0]) != 1 || p.Decisions[0][0] != 20 || p.Deviations[0] != 3 || p.Predicted[0] != "20" {
		t.Errorf("decisions %v, deviations %v, predicted %v", p.Decisions, p.Deviations, p.Predicted)
	}
}
