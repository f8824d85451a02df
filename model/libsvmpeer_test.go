package model_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// trained is a model of every kind that LIBSVM has, on wdbc or digits.
func trained(t *testing.T, kind model.Kind, spec kernel.Spec, set string) (*model.Model, *dataset.Set) {
	t.Helper()
	all, err := bundled.Load(set)
	if err != nil {
		t.Fatal(err)
	}
	all = all.Subset(span(150))
	x := dataset.DenseOf(all.X).Matrix()
	for i, v := range x.Data {
		x.Data[i] = v / 1024
	}
	all = &dataset.Set{X: dataset.NewDense(x), Labels: all.Labels}
	head, support := fitted(t, kind, source(t, spec, x), all.Labels)
	vectors := linalg.New[float64](len(support), x.Cols)
	for i, r := range support {
		copy(vectors.Row(i), x.Row(r))
	}
	m, err := model.New(spec, nil, vectors, head)
	if err != nil {
		t.Fatal(err)
	}
	return m, all
}

func span(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func fitted(t *testing.T, kind model.Kind, src kernel.Source, labels []string) (model.Head, []int) {
	t.Helper()
	var c *svm.Classifier
	var m *svm.Machine
	var err error
	classes, codes := dataset.Classes(labels)
	switch kind {
	case model.SVC:
		c, err = svm.TrainSVC(src, codes, classes, svm.Params{C: 10}, nil)
	case model.NuSVC:
		c, err = svm.TrainNuSVC(src, codes, classes, svm.NuParams{Nu: 0.2}, nil)
	case model.OneClass:
		m, err = svm.TrainOneClass(src, svm.NuParams{Nu: 0.2})
	case model.SVR:
		y, _ := dataset.Targets(labels)
		m, err = svm.TrainSVR(src, y, svm.SVRParams{C: 10, Epsilon: 0.1})
	}
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		return model.Voters(kind, c.Compact(), nil), c.Support()
	}
	return model.Head{Output: model.Output{Kind: kind}, Functions: []model.Function{model.Dense(m.Coef, m.Rho)}}, m.Support
}

// What we write predicts with svm-predict as it does here, and what svm-train
// writes on the same rows does so too.
func TestWithLIBSVM(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, program := range []string{"svm-train", "svm-predict"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: %v", program, err)
		}
	}
	number := map[model.Kind]string{model.SVC: "0", model.NuSVC: "1", model.OneClass: "2", model.SVR: "3"}
	kernels := map[string]kernel.Spec{
		"-t 0": {Name: "linear"}, "-t 2 -g 5": {Name: "rbf", Gamma: 5},
		"-t 1 -d 3 -g 1 -r 0.5": {Name: "polynomial", Gamma: 1, Coef0: 0.5, Degree: 3},
	}
	for kind, s := range number {
		for options, spec := range kernels {
			t.Run(string(kind)+"/"+spec.Name, func(t *testing.T) {
				set := map[bool]string{true: "digits", false: "wdbc"}[spec.Name == "rbf"]
				m, all := trained(t, kind, spec, set)
				dir := t.TempDir()
				rows := filepath.Join(dir, "rows")
				writeFile(t, rows, func(b *bytes.Buffer) error { return dataset.WriteLIBSVM(b, all) })
				ours := filepath.Join(dir, "ours.model")
				writeFile(t, ours, func(b *bytes.Buffer) error { return model.WriteLIBSVM(b, m) })
				x := dataset.DenseOf(all.X).Matrix()
				checkPredictions(t, m, x, svmPredict(t, rows, ours))
				checkSame(t, m, ours, x)
				theirs := filepath.Join(dir, "theirs.model")
				run(t, "svm-train", append(strings.Fields("-q -c 10 -n 0.2 -s "+s+" "+options), rows, theirs)...)
				imported, err := model.ReadLIBSVM(bytes.NewReader(readText(t, theirs)), x.Cols)
				if err != nil {
					t.Fatal(err)
				}
				checkPredictions(t, imported, x, svmPredict(t, rows, theirs))
			})
		}
	}
}

// checkSame: a model read back decides the same, although its vectors are in another order.
func checkSame(t *testing.T, m *model.Model, file string, rows linalg.Matrix[float64]) {
	t.Helper()
	again, err := model.ReadLIBSVM(bytes.NewReader(readText(t, file)), rows.Cols)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Decisions(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Decisions(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Data {
		if math.Abs(v-want.Data[i]) > 1e-9*(1+math.Abs(v)) {
			t.Fatalf("decision %d is %v, before the file %v", i, v, want.Data[i])
		}
	}
}

func writeFile(t *testing.T, path string, write func(*bytes.Buffer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func svmPredict(t *testing.T, rows, file string) [][]string {
	t.Helper()
	run(t, "svm-predict", "-q", rows, file, file+".out")
	return fields(readText(t, file+".out"))
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}
