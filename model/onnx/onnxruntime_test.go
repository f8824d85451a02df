package onnx_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/model/onnx"
)

// answers are the outputs of a graph, as testdata/run.py writes them.
type answers struct {
	Label       []string     `json:"label"`
	Prediction  [][]*float64 `json:"prediction"`
	Scores      [][]*float64 `json:"scores"`
	Probability [][]*float64 `json:"probability"`
}

// onnxruntime runs all files in a folder with the interpreter MERCER_PYTHON, which needs the packages
// onnx and onnxruntime.
func onnxruntime(t *testing.T, folder string) {
	t.Helper()
	python := os.Getenv("MERCER_PYTHON")
	if python == "" {
		t.Skip("MERCER_PYTHON names no Python with the packages onnx and onnxruntime")
	}
	if out, err := exec.Command(python, filepath.Join("testdata", "run.py"), folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func write(t *testing.T, path string, content any) {
	t.Helper()
	b, is := content.([]byte)
	if !is {
		var err error
		if b, err = json.Marshal(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// inputs returns the inputs of an example's graph.
func (e *example) inputs() map[string][][]any {
	in := make(map[string][][]any)
	for name, cells := range e.cells {
		for _, cell := range cells {
			in[name] = append(in[name], []any{cell})
		}
	}
	if e.cells == nil {
		for i := range e.rows.Rows {
			var row []any
			for _, v := range e.rows.Row(i) {
				row = append(row, v)
			}
			in["X"] = append(in["X"], row)
		}
	}
	return in
}

func outputsOf(t *testing.T, path string) (a answers) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// onnxruntime predicts by our graphs what we predict: labels are equal, numbers to 1e-9. Rows that
// Mercer refuses have no numbers and an empty label.
func TestOnnxruntimeAgrees(t *testing.T) {
	folder, all := t.TempDir(), examples(t)
	for name, e := range all {
		var file bytes.Buffer
		if err := onnx.Encode(&file, e.model, e.made); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		write(t, filepath.Join(folder, name+".onnx"), file.Bytes())
		write(t, filepath.Join(folder, name+".in.json"), e.inputs())
	}
	onnxruntime(t, folder)
	for name, e := range all {
		t.Run(name, func(t *testing.T) { e.compare(t, outputsOf(t, filepath.Join(folder, name+".out.json")), 1e-9) })
	}
}

// The operators of ai.onnx.ml predict what we predict, in single precision.
func TestOnnxruntimeAgreesInSinglePrecision(t *testing.T) {
	folder, all := t.TempDir(), make(map[string]example)
	for name, e := range examples(t) {
		var file bytes.Buffer
		if err := onnx.EncodeML(&file, e.model, e.made); err == nil {
			all[name] = e
			write(t, filepath.Join(folder, name+".onnx"), file.Bytes())
			write(t, filepath.Join(folder, name+".in.json"), e.inputs())
		}
	}
	if got := len(all); got != 18 { // svc-2, svc-4, nu-svc, one-class, svr and ridge with three kernels
		t.Errorf("%d examples have an operator, want 18", got)
	}
	onnxruntime(t, folder)
	for name, e := range all {
		t.Run(name, func(t *testing.T) { e.compareML(t, outputsOf(t, filepath.Join(folder, name+".out.json"))) })
	}
}

// compareML compares the outputs of an operator of ai.onnx.ml with the model's.
func (e *example) compareML(t *testing.T, got answers) {
	t.Helper()
	const within = 1e-4
	outputs, err := e.model.Decisions(e.rows)
	if err != nil {
		t.Fatal(err)
	}
	o := e.model.Output()
	decisions, predicted, numbers := o.Decisions(outputs), o.Predict(outputs), got.Scores
	if !o.Kind.Classifies() {
		numbers = got.Prediction
	}
	for i := range e.rows.Rows {
		row := decisions.Row(i)
		near := slices.ContainsFunc(row, func(v float64) bool { return math.Abs(v) < within })
		if near {
			continue
		}
		if got.Label != nil && got.Label[i] != predicted[i] {
			t.Errorf("row %d has the label %q, want %q", i, got.Label[i], predicted[i])
		}
		if o.Kind.OutputShape() == model.Side {
			row = []float64{sideOf(row[0])}
		}
		for k, want := range row {
			if len(o.Classes) == 2 {
				want = -want
			}
			if d := difference(numbers[i][k], want); d > within {
				t.Errorf("row %d has the number %v, want %v", i, *numbers[i][k], want)
			}
		}
	}
}

// sideOf returns the prediction of a one-class machine as a number.
func sideOf(decision float64) float64 {
	if decision > 0 {
		return 1
	}
	return -1
}

// compare compares the outputs of a graph with the model's.
func (e *example) compare(t *testing.T, got answers, within float64) {
	t.Helper()
	outputs, err := e.model.Decisions(e.rows)
	if err != nil {
		t.Fatal(err)
	}
	o := e.model.Output()
	decisions, probabilities := o.Decisions(outputs), o.Probabilities(outputs)
	predicted, numbers := o.Predict(outputs), got.Scores
	if o.Kind.Regresses() {
		predicted, numbers = nil, got.Prediction
	}
	sign := 1.
	if o.Kind.OutputShape() == model.Pairs && len(o.Classes) == 2 {
		sign = -1
	}
	if len(numbers) != e.rows.Rows || len(got.Label) != len(predicted) {
		t.Fatalf("%d rows of numbers and %d labels for %d rows", len(numbers), len(got.Label), e.rows.Rows)
	}
	worst := 0.
	for i, row := range numbers {
		if e.bad[i] {
			if slices.ContainsFunc(row, func(v *float64) bool { return v != nil }) || got.Label[i] != "" {
				t.Errorf("row %d, which Mercer refuses, has the numbers %v and the label %q", i, row, got.Label[i])
			}
			continue
		}
		if predicted != nil && got.Label[i] != predicted[i] {
			t.Errorf("row %d has the label %q, want %q", i, got.Label[i], predicted[i])
		}
		for k, v := range row {
			worst = max(worst, difference(v, sign*decisions.Row(i)[k]))
		}
		if got.Probability != nil {
			for k, v := range got.Probability[i] {
				worst = max(worst, difference(v, probabilities.Row(i)[k]))
			}
		}
	}
	if t.Logf("numbers differ by at most %.1e", worst); worst > within {
		t.Errorf("numbers differ by %g; at most %g is allowed", worst, within)
	}
}

func difference(got *float64, want float64) float64 {
	if got == nil {
		return math.Inf(1)
	}
	return math.Abs(*got-want) / max(1, math.Abs(want))
}
