package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/model"
)

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

// Classes that LIBSVM cannot write get numbers in their order.
func TestLIBSVMLabels(t *testing.T) {
	for _, tt := range []struct {
		classes, want []string
		renamed       bool
	}{
		{[]string{"-1", "1"}, []string{"-1", "1"}, false},
		{[]string{"ill", "well"}, []string{"0", "1"}, true},
		{[]string{"1", "01"}, []string{"0", "1"}, true},
		{[]string{"3000000000", "1"}, []string{"0", "1"}, true},
		{nil, nil, false},
	} {
		got, renamed := model.LIBSVMLabels(tt.classes)
		if d := cmp.Diff(tt.want, got); d != "" || renamed != tt.renamed {
			t.Errorf("%v: renamed %t %s", tt.classes, renamed, d)
		}
	}
	h := model.Head{Output: model.Output{Kind: model.SVC, Classes: []string{"ill", "well"}}, Functions: []model.Function{{Index: []int{0}, Coef: []float64{1}}}}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, matrix([]float64{1}), h)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := model.WriteLIBSVM(&b, m); err != nil || !strings.Contains(b.String(), "\nlabel 0 1\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestWriteLIBSVMRefuses(t *testing.T) {
	one := func(kind model.Kind, spec kernel.Spec, classes ...string) *model.Model {
		h := model.Head{Output: model.Output{Kind: kind, Classes: classes}, Functions: []model.Function{{Index: []int{0}, Coef: []float64{1}}}}
		m, err := model.New(spec, nil, matrix([]float64{1}), h)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	linear := kernel.Spec{Name: "linear"}
	for want, m := range map[string]*model.Model{
		"model: LIBSVM: the format cannot hold a ridge model":                                                        one(model.Ridge, linear),
		"model: LIBSVM: the format has no amplitude, but the kernel has the amplitude 2; train without an amplitude": one(model.SVR, kernel.Spec{Name: "rbf", Gamma: 1, Amplitude: 2}),
		"model: LIBSVM: the format cannot hold a cosine kernel; use a linear, rbf or polynomial kernel":              one(model.SVR, kernel.Spec{Name: "cosine"}),
	} {
		if err := model.WriteLIBSVM(&bytes.Buffer{}, m); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	mixed := model.Head{Output: model.Output{Kind: model.SVC, Classes: []string{"1", "2", "3"}}, Functions: []model.Function{
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
		{"gamma 0.5", "gamma x", `line 3: gamma: "x" is not a finite number`},
		{"gamma 0.5", "gamma nan", `line 3: gamma: "nan" is not a finite number`},
		{"gamma 0.5", "gamma 1 2", `line 3: gamma: the entry has 2 values; exactly one is allowed`},
		{"gamma 0.5", "degree 0", `line 3: degree: the degree must be at least 1`},
		{"gamma 0.5", "gama 0.5", `line 3: unknown entry "gama"`},
		{"gamma 0.5", "svm_type c_svc", `line 3: the entry "svm_type" occurs twice`},
		{"gamma 0.5\n", "", `line 11: kernel: rbf needs the parameter gamma; it must be a number above 0`},
		{"nr_class 2", "nr_class 5000", `line 4: nr_class: "5000" is not a whole number from 0 to 4096`},
		{"nr_class 2", "nr_class 1", `line 9: nr_class is 1`},
		{"nr_class 2", "nr_class 3", `line 9: rho has 1 numbers for 3 classes; it needs one for each pair of classes`},
		{"total_sv 2", "total_sv 9000000000", `line 5: total_sv: "9000000000" is not a whole number from 0 to 67108864`},
		{"total_sv 2", "total_sv 60000000", `line 9: 60000000 vectors of 3 numbers need more than the 1048576 bytes that are allowed`},
		{"total_sv 2", "total_sv 3", `line 9: the numbers of nr_sv add up to 2; they must add up to total_sv, which is 3`},
		{"label 1 -1", "label 1", `line 9: "label" has 1 entries for 2 classes; it needs one for each class`},
		{"label 1 -1", "label 1 1", `line 12: svm: class "1" is listed twice`},
		{"label 1 -1", "label 1 -1\nprobA 1", `line 10: probA has 1 numbers and probB has 0 for 2 classes; both need one for each pair of classes`},
		{"SV\n", "", `line 9: unknown entry "1"`},
		{soundLIBSVM[strings.Index(soundLIBSVM, "SV\n"):], "", `line 9: the file ends before its vectors; copy it again`},
		{"-1 2:1\n", "", `line 11: the file ends after 1 of 2 vectors; copy the file again`},
		{"-1 2:1\n", "-1 2:1\n1 1:1\n", `line 12: the file has more than the 2 vectors that total_sv announces`},
		{"-1 2:1\n", "-1 4:1\n", `line 11: index 4 follows index 0; indices must ascend and be at most 3`},
		{"1:0.5 3:2", "3:2 1:0.5", `line 10: index 1 follows index 3; indices must ascend and be at most 3`},
		{"1:0.5 3:2", "0:1", `line 10: index 0 follows index 0; indices must ascend and be at most 3`},
		{"1:0.5 3:2", "x:1", `line 10: index "x" is not a whole number`},
		{"1:0.5 3:2", "1:", `line 10: "" is not a finite number`},
		{"1 1:0.5", "inf 1:0.5", `line 10: "inf" is not a finite number`},
		{"-1 2:1\n", "\n", `line 11: the line has 0 fields, but it must begin with 1 coefficients`},
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
