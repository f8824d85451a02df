package libsvm_test

import (
	"bytes"
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
	"github.com/mercer-fl/mercer/internal/libsvm"
	"github.com/mercer-fl/mercer/linalg"
)

// fixture is a training with LIBSVM's programs. Debian's svm-train keeps options in float32, so that
// they are chosen to be exact there. Without shrinking (-h 0), which LIBSVM does by other rules, both
// programs take the same steps.
type fixture struct {
	name, set, options string
	probable           bool // svm-predict -b 1
}

func fixtures() []fixture {
	return []fixture{
		{"c_svc_rbf", "digits", "-h 0 -c 4 -g 0.0009765625 -b 1", true},
		{"c_svc_weights", "wdbc", "-h 0 -c 4 -g 0.0000152587890625 -w1 2 -w-1 0.5", false},
		{"c_svc_sigmoid", "digits", "-h 0 -t 3 -g 0.00006103515625 -r -1", false},
		{"c_svc_precomputed", "kernel", "-h 0 -t 4 -c 0.5", false},
		{"nu_svc_polynomial", "digits", "-h 0 -s 1 -n 0.125 -t 1 -d 2 -g 0.0009765625 -r 1", false},
		{"one_class", "wdbc", "-h 0 -s 2 -n 0.25 -g 0.0000152587890625", false},
		{"svr_linear", "digits", "-h 0 -s 3 -t 0 -c 0.0009765625 -p 0.5", false},
		{"nu_svr_rbf", "digits", "-h 0 -s 4 -n 0.375 -c 4 -g 0.0009765625 -b 1", true},
		{"validate", "digits", "-h 0 -v 4 -g 0.0009765625", false},
		{"validate_probable", "wdbc", "-h 0 -v 3 -b 1 -g 0.0000152587890625", false},
		{"validate_nu_svr", "digits", "-h 0 -s 4 -v 3 -g 0.0009765625", false},
		{"leave_one_out", "wdbc", "-h 0 -v 1000 -g 0.0000152587890625", false},
	}
}

// text returns the first or the second 150 rows of a bundled set as LIBSVM text.
func text(t *testing.T, set string, second bool) []byte {
	t.Helper()
	const rows = 150
	name := map[string]string{"kernel": "digits"}[set]
	if name == "" {
		name = set
	}
	all, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	lo := 0
	if second {
		lo = rows
	}
	s := all.Subset(linalg.Range(lo, lo+rows))
	x := dataset.DenseOf(s.X).Matrix()
	if set == "kernel" {
		return kernelText(s.Labels, x, dataset.DenseOf(all.Subset(linalg.Range(0, rows)).X).Matrix())
	}
	var b bytes.Buffer
	for i, label := range s.Labels {
		if set == "wdbc" && label == "0" {
			label = "-1" // +1 and -1 change places where -1 comes first
		}
		fmt.Fprint(&b, label)
		for j, v := range x.Row(i) {
			if v != 0 {
				fmt.Fprintf(&b, " %d:%.17g", j+1, v)
			}
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}

// kernelText returns the text of a precomputed linear kernel of rows with training rows. Its values are
// not exact in float32, to which LIBSVM rounds them.
func kernelText(labels []string, x, training linalg.Matrix[float64]) []byte {
	var b bytes.Buffer
	for i, label := range labels {
		fmt.Fprintf(&b, "%s 0:%d", label, i+1)
		for j := range training.Rows {
			fmt.Fprintf(&b, " %d:%.17g", j+1, linalg.Dot(x.Row(i), training.Row(j))/7)
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}

func problem(t *testing.T, content []byte) *libsvm.Problem {
	t.Helper()
	p, err := libsvm.ReadProblem(bytes.NewReader(content), "rows")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// trained trains with the options and returns the printed lines and the model, which is nil after a
// cross-validation.
func trained(t *testing.T, f fixture) (string, *libsvm.Model) {
	t.Helper()
	o, err := libsvm.ParseTraining(append(strings.Fields(f.options), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	p := problem(t, text(t, f.set, false))
	if o.Folds > 0 {
		v, err := libsvm.CrossValidate(p, o)
		if err != nil {
			t.Fatal(err)
		}
		return v.Text, nil
	}
	r, err := libsvm.Train(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text, r.Model
}

// predicted returns what svm-predict writes and prints.
func predicted(t *testing.T, m *libsvm.Model, f fixture) (out, printed string) {
	t.Helper()
	var b bytes.Buffer
	r, err := m.Predict(&b, problem(t, text(t, f.set, true)), f.probable)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), r.Text
}

// withoutProgress leaves out the dots and stars, which show when LIBSVM shrinks its problem.
func withoutProgress(printed string) string {
	var b strings.Builder
	for line := range strings.Lines(printed) {
		if strings.Trim(line, ".*\n") != "" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestLinesAndPredictionsOfLIBSVM compares with what LIBSVM's programs printed and wrote. With
// MERCER_GOLDEN=write it runs them and stores their output.
func TestLinesAndPredictionsOfLIBSVM(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join("testdata", f.name)
			if os.Getenv("MERCER_GOLDEN") == "write" {
				writeGolden(t, path, runLIBSVM(t, f))
			}
			printed, m := trained(t, f)
			if d := cmp.Diff(read(t, path+".train"), withoutProgress(printed)); d != "" {
				t.Errorf("svm-train: %s", d)
			}
			if m == nil {
				return
			}
			out, line := predicted(t, m, f)
			comparePredictions(t, read(t, path+".out"), out)
			if d := cmp.Diff(read(t, path+".predict"), line); d != "" {
				t.Errorf("svm-predict: %s", d)
			}
		})
	}
}

// comparePredictions compares lines of numbers. Classes are the same, probabilities and numbers differ
// by rounding only.
func comparePredictions(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Fields(want), strings.Fields(got)
	if len(w) != len(g) || strings.Count(want, "\n") != strings.Count(got, "\n") {
		t.Fatalf("%d fields, LIBSVM has %d", len(g), len(w))
	}
	for i := range w {
		if w[i] == g[i] {
			continue
		}
		a, errA := strconv.ParseFloat(w[i], 64)
		b, errB := strconv.ParseFloat(g[i], 64)
		if errA != nil || errB != nil || a == math.Trunc(a) || math.Abs(a-b) > 1e-6*math.Abs(a) {
			t.Fatalf("field %d is %s, LIBSVM's %s", i, g[i], w[i])
		}
	}
}

// output holds the lines that LIBSVM's programs printed, and the file that svm-predict wrote.
type output struct{ train, predict, out string }

// runLIBSVM runs LIBSVM's programs. It skips the test if they are not installed.
func runLIBSVM(t *testing.T, f fixture) output {
	t.Helper()
	dir := folder(t, f)
	o := output{train: withoutProgress(run(t, dir, "svm-train", append(strings.Fields(f.options), "train", "model")...))}
	if !strings.Contains(f.options, "-v") {
		o.predict, o.out = predictByLIBSVM(t, dir, f)
	}
	return o
}

// folder returns a folder with the texts of a fixture.
func folder(t *testing.T, f fixture) string {
	t.Helper()
	for _, program := range []string{"svm-train", "svm-predict"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: libsvm-tools)", program)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "train"), text(t, f.set, false))
	write(t, filepath.Join(dir, "test"), text(t, f.set, true))
	return dir
}

func predictByLIBSVM(t *testing.T, dir string, f fixture) (printed, out string) {
	t.Helper()
	args := []string{"test", "model", "out"}
	if f.probable {
		args = append([]string{"-b", "1"}, args...)
	}
	printed = run(t, dir, "svm-predict", args...)
	return printed, read(t, filepath.Join(dir, "out"))
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func writeGolden(t *testing.T, path string, o output) {
	t.Helper()
	write(t, path+".train", []byte(o.train))
	if o.out != "" {
		write(t, path+".predict", []byte(o.predict))
		write(t, path+".out", []byte(o.out))
	}
}

// TestModelsGoBothWays runs LIBSVM's programs, if they are installed: svm-predict predicts with our
// model as we do, we predict with svm-train's model as svm-predict does, and write that model back
// byte for byte.
func TestModelsGoBothWays(t *testing.T) {
	for _, f := range fixtures() {
		if strings.Contains(f.options, "-v") {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			dir := folder(t, f)
			_, ours := trained(t, f)
			file := filepath.Join(dir, "model")
			write(t, file, bytesOf(t, ours))
			agree(t, dir, ours, f)
			run(t, dir, "svm-train", append(strings.Fields("-q "+f.options), "train", "model")...)
			theirs, _, err := libsvm.ReadModel(strings.NewReader(read(t, file)), libsvm.Any())
			if err != nil {
				t.Fatal(err)
			}
			agree(t, dir, theirs, f)
			if d := cmp.Diff(read(t, file), string(bytesOf(t, theirs))); d != "" {
				t.Error(d)
			}
		})
	}
}

// agree compares our predictions with those of svm-predict by the model file in dir.
func agree(t *testing.T, dir string, m *libsvm.Model, f fixture) {
	t.Helper()
	wantPrinted, want := predictByLIBSVM(t, dir, f)
	got, printed := predicted(t, m, f)
	comparePredictions(t, want, got)
	if d := cmp.Diff(wantPrinted, printed); d != "" {
		t.Error(d)
	}
}

func bytesOf(t *testing.T, m *libsvm.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
