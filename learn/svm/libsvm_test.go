package svm_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// TestAgainstSVMTrain: the program of LIBSVM, where it is installed, reaches
// the same objective to a millionth with as many support vectors to a hundredth,
// from dense rows and from sparse ones.
func TestAgainstSVMTrain(t *testing.T) {
	if _, err := exec.LookPath("svm-train"); err != nil {
		t.Skip("svm-train is not installed (Debian: libsvm-tools)")
	}
	x, codes := rings(1200, 8)
	objective, support := svmTrain(t, x, codes, "-g", "0.125", "-c", "2")
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.125})
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]kernel.Source{
		"dense":  kernel.NewLazy(x, k),
		"sparse": kernel.NewLazySparse(sparse(t, x), k),
		"gram":   kernel.Of(kernel.LinearGram(x), k),
	} {
		c, err := svm.TrainSVC(src, codes, []string{"in", "out"}, svm.Params{C: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := c.Pairs[0].Report
		if math.Abs(r.Objective-objective) > 1e-6*math.Abs(objective) {
			t.Errorf("%s: objective %v, svm-train %v", name, r.Objective, objective)
		}
		if math.Abs(float64(r.Support)-support) > 0.01*support {
			t.Errorf("%s: %d support vectors, svm-train %v", name, r.Support, support)
		}
	}
}

// rings are rows of which a third of the entries are 0, told apart by their
// distance from the origin, with some noise.
func rings(n, f int) (linalg.Matrix[float64], []int) {
	rng := rand.New(rand.NewPCG(9, 9))
	x, codes := linalg.New[float64](n, f), make([]int, n)
	for i := range n {
		r := rng.NormFloat64()
		for j := range f {
			if rng.IntN(3) > 0 {
				x.Row(i)[j] = float64(float32(rng.NormFloat64()))
			}
			r += x.Row(i)[j] * x.Row(i)[j]
		}
		if r > 0.65*float64(f) {
			codes[i] = 1
		}
	}
	return x, codes
}

func sparse(t *testing.T, x linalg.Matrix[float64]) *dataset.CSR {
	t.Helper()
	indptr, indices, values := []int{0}, []int32(nil), []float64(nil)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v != 0 {
				indices, values = append(indices, int32(j)), append(values, v)
			}
		}
		indptr = append(indptr, len(indices))
	}
	c, err := dataset.NewCSR(x.Cols, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// svmTrain returns what svm-train prints.
func svmTrain(t *testing.T, x linalg.Matrix[float64], codes []int, args ...string) (objective, support float64) {
	t.Helper()
	var rows bytes.Buffer
	for i, code := range codes {
		fmt.Fprint(&rows, 1-2*code)
		for j, v := range x.Row(i) {
			if v != 0 {
				fmt.Fprintf(&rows, " %d:%v", j+1, v)
			}
		}
		fmt.Fprintln(&rows)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "rows")
	if err := os.WriteFile(file, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("svm-train", append(args, file, filepath.Join(folder, "model"))...).CombinedOutput()
	if err != nil {
		t.Fatalf("svm-train: %v\n%s", err, out)
	}
	return printed(t, out, `obj = (\S+),`), printed(t, out, `nSV = (\d+),`)
}

func printed(t *testing.T, out []byte, pattern string) float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindSubmatch(out)
	if m == nil {
		t.Fatalf("svm-train prints no %q:\n%s", pattern, out)
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
