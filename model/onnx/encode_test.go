package onnx_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/model/onnx"
)

// The graphs are those that onnxruntime has run. Whoever changes them writes the list anew after
// TestOnnxruntimeAgrees has passed:
//
//	MERCER_PYTHON=python MERCER_GOLDEN=write go test ./model/onnx
func TestGraphsAreThoseThatRan(t *testing.T) {
	path := filepath.Join("testdata", "graphs.txt")
	var got strings.Builder
	all := examples(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var plain, ml bytes.Buffer
		if err := onnx.Encode(&plain, all[name].model, all[name].made); err != nil {
			t.Fatal(err)
		}
		operator := "none"
		if err := onnx.EncodeML(&ml, all[name].model, all[name].made); err == nil {
			operator = fmt.Sprintf("%x", sha256.Sum256(ml.Bytes()))
		}
		fmt.Fprintf(&got, "%s %x %s\n", name, sha256.Sum256(plain.Bytes()), operator)
	}
	if os.Getenv("MERCER_GOLDEN") == "write" {
		write(t, path, []byte(got.String()))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("graphs (-want +got)\n%s", diff)
	}
}

func random(t *testing.T, s model.RandomSpec) *model.Random {
	t.Helper()
	s.Output, s.Kernel = model.Output{Kind: model.Ridge}, kernel.Spec{Name: "rbf", Gamma: 1}
	s.Solution = moments.Solution{Weights: linalg.New[float64](1, 4), Offset: []float64{1}}
	m, err := model.NewRandom(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEncodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		model model.Predictor
		made  *prepare.Preparation
		want  string
	}{
		{random(t, model.RandomSpec{}), nil, "onnx: the file does not say how many columns the rows of the model have; predict with mercer predict"},
		{random(t, model.RandomSpec{Width: 2, Scaled: true}), nil, "onnx: " + model.ErrUnscaled.Error()},
		{random(t, model.RandomSpec{Width: 1}), column(t, "label"), `onnx: the column "label" has the name of an output of the graph; rename the column, and train again`},
		{random(t, model.RandomSpec{Width: 1, Columns: []string{"other"}}), column(t, "age"), `onnx: the model has a column "other" that its preparation does not make`},
	} {
		err := onnx.Encode(new(bytes.Buffer), tt.model, tt.made)
		if err == nil || err.Error() != tt.want {
			t.Errorf("error %v\nwant  %s", err, tt.want)
		}
		if strings.Contains(tt.want, model.ErrUnscaled.Error()) && !errors.Is(err, model.ErrUnscaled) {
			t.Errorf("error %v is not ErrUnscaled", err)
		}
	}
}

// column returns a preparation of one column.
func column(t *testing.T, name string) *prepare.Preparation {
	t.Helper()
	made, err := prepare.FitAlone(frameOf(t, prepare.Numbers([]string{name}), []string{name + ",y", "1,1"}), []int{0}, prepare.Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestEncodeMLRefuses(t *testing.T) {
	one := model.Head{Output: model.Output{Kind: model.SVR}, Functions: []model.Function{model.Dense([]float64{1}, 0)}}
	components := one
	components.Kind = model.KPCA
	row := func(v float64) linalg.Matrix[float64] {
		return linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{v}}
	}
	for _, tt := range []struct {
		spec kernel.Spec
		x    float64
		head model.Head
		made *prepare.Preparation
		want string
	}{
		{kernel.Spec{Name: "cosine"}, 1, one, nil, "onnx: ai.onnx.ml has only the kernels linear, rbf and polynomial, without amplitude; write --format onnx"},
		{kernel.Spec{Name: "linear"}, 1, components, nil, "onnx: ai.onnx.ml has no operator for a kpca model; write --format onnx"},
		{kernel.Spec{Name: "linear"}, 101, one, nil, `onnx: a support vector has the number 101; the single precision of ai.onnx.ml needs scaled columns, with numbers up to 100; train with "scale", or write --format onnx`},
		{kernel.Spec{Name: "linear"}, 1, one, column(t, "scores"), `onnx: the column "scores" has the name of an output of the graph; rename the column, and train again`},
	} {
		m, err := model.New(tt.spec, nil, row(tt.x), tt.head)
		if err != nil {
			t.Fatal(err)
		}
		if err := onnx.EncodeML(new(bytes.Buffer), m, tt.made); err == nil || err.Error() != tt.want {
			t.Errorf("error %v\nwant  %s", err, tt.want)
		}
	}
	if err := onnx.EncodeML(new(bytes.Buffer), random(t, model.RandomSpec{Width: 1}), nil); err == nil {
		t.Error("EncodeML wrote a model of random features")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestEncodeReportsErrorsOfItsWriter(t *testing.T) {
	if err := onnx.Encode(full{}, random(t, model.RandomSpec{Width: 1}), nil); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error %v", err)
	}
}
