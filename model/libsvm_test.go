package model_test

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

func readText(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readRows reads a table in LIBSVM's format.
func readRows(t *testing.T, path string) linalg.Matrix[float64] {
	t.Helper()
	set, err := dataset.Read(path, bytes.NewReader(readText(t, path)), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dataset.DenseOf(set.X).Matrix()
}

// fields splits the lines of what svm-predict wrote.
func fields(out []byte) (lines [][]string) {
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// What svm-train wrote predicts here as svm-predict does.
func TestReadLIBSVM(t *testing.T) {
	rows := readRows(t, "testdata/libsvm/rows.txt")
	for name, kind := range map[string]model.Kind{
		"c_svc": model.SVC, "nu_svc": model.NuSVC, "one_class": model.OneClass, "epsilon_svr": model.SVR, "nu_svr": model.SVR,
	} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/libsvm/" + name
			m, err := model.ReadLIBSVM(bytes.NewReader(readText(t, path+".model")), rows.Cols)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind() != kind {
				t.Errorf("a %s model, want %s", m.Kind(), kind)
			}
			checkPredictions(t, m, rows, fields(readText(t, path+".out")))
			checkRewritten(t, m)
		})
	}
}

// checkPredictions compares m with what svm-predict wrote: labels, numbers, or
// labels with probabilities under a line that names the classes.
func checkPredictions(t *testing.T, m *model.Model, rows linalg.Matrix[float64], out [][]string) {
	t.Helper()
	decisions, err := m.Decisions(rows)
	if err != nil {
		t.Fatal(err)
	}
	if out[0][0] == "labels" {
		checkProbabilities(t, m.Output(), decisions, out)
		return
	}
	predicted := m.Output().Predict(decisions)
	if len(out) != len(predicted) {
		t.Fatalf("%d predictions, svm-predict has %d", len(predicted), len(out))
	}
	for i, got := range predicted {
		if m.Kind() != model.SVR && got != out[i][0] {
			t.Errorf("row %d is %s, svm-predict says %s", i, got, out[i][0])
		}
		if want := parseFloat(t, out[i][0]); m.Kind() == model.SVR && math.Abs(decisions.Row(i)[0]-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("row %d is %s, svm-predict says %v", i, got, want)
		}
	}
}

// checkProbabilities allows for LIBSVM's coupling, which stops earlier.
func checkProbabilities(t *testing.T, r model.Output, decisions linalg.Matrix[float64], out [][]string) {
	t.Helper()
	if d := cmp.Diff(r.Classes, out[0][1:]); d != "" {
		t.Error(d)
	}
	p := r.Probabilities(decisions)
	for i, line := range out[1:] {
		for c := range r.Classes {
			if want := parseFloat(t, line[1+c]); math.Abs(p.Row(i)[c]-want) > 5e-3 {
				t.Errorf("row %d has probability %v of class %s, svm-predict says %v", i, p.Row(i)[c], r.Classes[c], want)
			}
		}
	}
}

func parseFloat(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkRewritten: written and read again, a model is the same.
func checkRewritten(t testing.TB, m *model.Model) {
	t.Helper()
	var b bytes.Buffer
	if err := model.WriteLIBSVM(&b, m); err != nil {
		t.Fatal(err)
	}
	again, err := model.ReadLIBSVM(bytes.NewReader(b.Bytes()), m.Width())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.Bytes())
	}
	if d := cmp.Diff(m, again, compareModels()); d != "" {
		t.Error(d)
	}
}

// A vector that no machine uses, as LIBSVM may leave one, is left out.
func TestReadLIBSVMLeavesOutIdleVectors(t *testing.T) {
	m, err := model.ReadLIBSVM(strings.NewReader(strings.Replace(soundLIBSVM, "1 1:0.5", "0 1:0.5", 1)), 3)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, 3)
	m.Vectors().ReadRow(0, row)
	if d := cmp.Diff([]float64{0, 1, 0}, row); d != "" {
		t.Error(d)
	}
	if n, _ := m.Vectors().Shape(); n != 1 {
		t.Errorf("%d vectors, want 1", n)
	}
}
