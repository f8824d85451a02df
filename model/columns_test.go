package model_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// two is a model of rows with two columns.
func two(t *testing.T) *model.Model {
	t.Helper()
	c, err := svm.NewClassifier([]string{"ill", "well"}, []svm.Pair{{Index: []int{0, 1}, Coef: []float64{1, -1}}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 3, 4}}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, x, model.Voters(model.SVC, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A file says whether it knows its columns by name. One that does not is the same
// bytes as before there were names.
func TestColumnsInAFile(t *testing.T) {
	plain := two(t)
	named, err := plain.Named([]string{"age", "sbp"})
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[*model.Model][]string{plain: nil, named: {"age", "sbp"}} {
		var file bytes.Buffer
		if err := model.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		if version := file.Bytes()[8]; (version == 1) != (want == nil) {
			t.Errorf("columns %q are in a file of version %d", want, version)
		}
		back, err := model.Open(&file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.Columns(), want) || (back.Columns() == nil) != (want == nil) {
			t.Errorf("columns %q come back as %q", want, back.Columns())
		}
	}
	if model.SHA256(plain) == model.SHA256(named) {
		t.Error("names do not change the file")
	}
}

func TestColumnsThatAreRefused(t *testing.T) {
	for name, columns := range map[string][]string{"one": {"age"}, "twice": {"age", "age"}, "long": {"age", strings.Repeat("x", 1025)}} {
		if _, err := two(t).Named(columns); err == nil {
			t.Errorf("%s: columns %.40q are taken", name, columns)
		}
	}
}

// Encoded rows have no columns that anybody could call by name.
func TestAPrivateModelHasNoColumns(t *testing.T) {
	m, err := two(t).Named([]string{"age", "sbp"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.NewPrivate(m); err == nil {
		t.Error("a private model knows its columns")
	}
}
