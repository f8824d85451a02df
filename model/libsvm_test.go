package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
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
		checkProbabilities(t, m.Reading(), decisions, out)
		return
	}
	predicted := m.Reading().Predict(decisions)
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
func checkProbabilities(t *testing.T, r model.Reading, decisions linalg.Matrix[float64], out [][]string) {
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
	return model.Head{Reading: model.Reading{Kind: kind}, Functions: []model.Function{model.Dense(m.Coef, m.Rho)}}, m.Support
}

// What we write predicts with svm-predict as it does here, and what svm-train
// writes on the same rows does so too.
func TestWithLIBSVM(t *testing.T) {
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

// checkSame: a model read back decides the same, though its vectors stand in
// another order.
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

// Rows that svm-scale scales by our file are those that the model saw.
func TestWriteLIBSVMRange(t *testing.T) {
	scale := &model.Scale{Offset: []float64{1, -2, 5}, Factor: []float64{0.5, 0.25, 0}}
	var b bytes.Buffer
	if err := model.WriteLIBSVMRange(&b, scale); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("x\n0 1\n1 1 3\n2 -2 2\n", b.String()); d != "" {
		t.Error(d)
	}
	if _, err := exec.LookPath("svm-scale"); err != nil {
		t.Skipf("svm-scale is not installed: %v", err)
	}
	dir := t.TempDir()
	ranges, rows := filepath.Join(dir, "range"), filepath.Join(dir, "rows")
	writeFile(t, ranges, func(f *bytes.Buffer) error { _, err := f.Write(b.Bytes()); return err })
	writeFile(t, rows, func(f *bytes.Buffer) error { _, err := f.WriteString("1 1:2 2:-1 3:5\n1 1:3 2:-2 3:5\n"); return err })
	out, err := exec.Command("svm-scale", "-r", ranges, rows).Output()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("1 1:0.5 2:0.25 \n1 1:1 \n", string(out)); d != "" {
		t.Error(d)
	}
}

func TestWriteLIBSVMRefuses(t *testing.T) {
	one := func(kind model.Kind, spec kernel.Spec, classes ...string) *model.Model {
		h := model.Head{Reading: model.Reading{Kind: kind, Classes: classes}, Functions: []model.Function{{Index: []int{0}, Coef: []float64{1}}}}
		m, err := model.New(spec, nil, matrix([]float64{1}), h)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	linear := kernel.Spec{Name: "linear"}
	for want, m := range map[string]*model.Model{
		"model: LIBSVM: its files hold no ridge model":                                                                              one(model.Ridge, linear),
		"model: LIBSVM: its files hold no cosine kernel; linear, rbf and polynomial can be exported":                                one(model.SVR, kernel.Spec{Name: "cosine"}),
		`model: LIBSVM: its classes are whole numbers of 32 bits, and one here is "01"; rename the classes and train again`:         one(model.SVC, linear, "1", "01"),
		`model: LIBSVM: its classes are whole numbers of 32 bits, and one here is "3000000000"; rename the classes and train again`: one(model.SVC, linear, "3000000000", "1"),
	} {
		if err := model.WriteLIBSVM(&bytes.Buffer{}, m); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	mixed := model.Head{Reading: model.Reading{Kind: model.SVC, Classes: []string{"1", "2", "3"}}, Functions: []model.Function{
		{Index: []int{0}, Coef: []float64{1}}, {}, {Index: []int{0}, Coef: []float64{1}},
	}}
	m, err := model.New(linear, nil, matrix([]float64{1}), mixed)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.WriteLIBSVM(&bytes.Buffer{}, m); err == nil || !strings.Contains(err.Error(), "two classes") {
		t.Errorf("a vector of two classes: %v", err)
	}
	for room := range 100 {
		if err := model.WriteLIBSVM(&brokenWriter{room}, one(model.SVR, linear)); room < 60 && err == nil {
			t.Errorf("room for %d bytes", room)
		}
	}
}

const soundLIBSVM = `svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
1 1:0.5 3:2
-1 2:1
`

func TestBrokenLIBSVM(t *testing.T) {
	for _, test := range []struct{ old, bad, want string }{
		{"c_svc", "tree", `line 1: svm_type is "tree"; it must be c_svc, nu_svc, one_class, epsilon_svr or nu_svr`},
		{"rbf", "sigmoid", `line 2: kernel_type is "sigmoid"; it must be linear, polynomial or rbf`},
		{"rbf", "precomputed", `line 2: kernel_type is "precomputed"; it must be linear, polynomial or rbf`},
		{"gamma 0.5", "gamma x", `line 3: gamma: "x" is no finite number`},
		{"gamma 0.5", "gamma nan", `line 3: gamma: "nan" is no finite number`},
		{"gamma 0.5", "gamma 1 2", `line 3: gamma: 2 numbers where one stands`},
		{"gamma 0.5", "degree 0", `line 3: degree: it must be 1 or more`},
		{"gamma 0.5", "gama 0.5", `line 3: unknown entry "gama"`},
		{"gamma 0.5", "svm_type c_svc", `line 3: "svm_type" stands here twice`},
		{"gamma 0.5\n", "", `line 11: kernel: rbf needs gamma: a number above 0`},
		{"nr_class 2", "nr_class 5000", `line 4: nr_class: "5000" is no whole number from 0 to 4096`},
		{"nr_class 2", "nr_class 1", `line 9: nr_class is 1`},
		{"nr_class 2", "nr_class 3", `line 9: 1 numbers in rho for 3 classes`},
		{"total_sv 2", "total_sv 9000000000", `line 5: total_sv: "9000000000" is no whole number from 0 to 67108864`},
		{"total_sv 2", "total_sv 60000000", `line 9: 60000000 vectors of 3 numbers need more than the 1048576 bytes that are allowed`},
		{"total_sv 2", "total_sv 3", `line 9: label and nr_sv must hold 2 entries, the latter 3 in sum`},
		{"label 1 -1", "label 1", `line 9: label and nr_sv must hold 2 entries, the latter 2 in sum`},
		{"label 1 -1", "label 1 1", `line 12: svm: class "1" is listed twice`},
		{"label 1 -1", "label 1 -1\nprobA 1", `line 10: 1 numbers in probA and 0 in probB for 2 classes`},
		{"SV\n", "", `line 9: unknown entry "1"`},
		{soundLIBSVM[strings.Index(soundLIBSVM, "SV\n"):], "", `line 9: the file ends before its vectors, so it is cut short: copy it again`},
		{"-1 2:1\n", "", `line 11: the file ends after 1 of 2 vectors, or a line is too long: copy it again`},
		{"-1 2:1\n", "-1 2:1\n1 1:1\n", `line 12: more than 2 vectors`},
		{"-1 2:1\n", "-1 4:1\n", `line 11: index 4 after 0, of 3 features`},
		{"1:0.5 3:2", "3:2 1:0.5", `line 10: index 1 after 3, of 3 features`},
		{"1:0.5 3:2", "0:1", `line 10: index 0 after 0, of 3 features`},
		{"1:0.5 3:2", "x:1", `line 10: index "x" is no whole number`},
		{"1:0.5 3:2", "1:", `line 10: "" is no finite number`},
		{"1 1:0.5", "inf 1:0.5", `line 10: "inf" is no finite number`},
		{"-1 2:1\n", "\n", `line 11: 0 fields where 1 coefficients stand first`},
	} {
		_, err := model.Limits{Bytes: 1 << 20}.ReadLIBSVM(strings.NewReader(strings.Replace(soundLIBSVM, test.old, test.bad, 1)), 3)
		if !errors.Is(err, model.ErrFormat) || !strings.HasPrefix(err.Error(), "model: unusable file: LIBSVM, "+test.want) {
			t.Errorf("%q for %q\ngot  %v\nwant %s", test.bad, test.old, err, test.want)
		}
	}
	if _, err := model.ReadLIBSVM(strings.NewReader(soundLIBSVM), 0); !errors.Is(err, model.ErrFormat) {
		t.Errorf("no features: %v", err)
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

// Whatever is read can be written, unless it is no model of LIBSVM's training,
// and is then the same.
func FuzzReadLIBSVM(f *testing.F) {
	f.Add([]byte(soundLIBSVM))
	for _, name := range []string{"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"} {
		b, err := os.ReadFile(fmt.Sprintf("testdata/libsvm/%s.model", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := model.Limits{Bytes: 1 << 16}.ReadLIBSVM(bytes.NewReader(b), 3)
		if err != nil {
			if !errors.Is(err, model.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		if err := model.WriteLIBSVM(&bytes.Buffer{}, m); err == nil {
			var once, twice bytes.Buffer
			if err := model.WriteLIBSVM(&once, m); err != nil {
				t.Fatal(err)
			}
			again, err := model.ReadLIBSVM(bytes.NewReader(once.Bytes()), 3)
			if err != nil {
				t.Fatalf("%v in\n%s", err, once.Bytes())
			}
			if err := model.WriteLIBSVM(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
				t.Fatalf("%v\n%s\n%s", err, once.Bytes(), twice.Bytes())
			}
		}
	})
}
