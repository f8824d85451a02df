//go:build slow

package linear

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// columns reads a table that two files hold by columns.
func columns(t testing.TB, guest, host string) *dataset.Set {
	t.Helper()
	left, err := dataset.ReadCSV(file(t, guest), dataset.CSVOptions{Name: guest})
	if err != nil {
		t.Fatal(err)
	}
	right, err := dataset.ReadCSV(file(t, host), dataset.CSVOptions{Name: host, Label: "none"})
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.New[float64](left.X.Rows(), left.X.Cols()+right.X.Cols())
	for i := range x.Rows {
		if left.IDs[i] != right.IDs[i] {
			t.Fatalf("row %d is %s in %s and %s in %s", i, left.IDs[i], guest, right.IDs[i], host)
		}
		left.X.Row(i, x.Row(i)[:left.X.Cols()])
		right.X.Row(i, x.Row(i)[left.X.Cols():])
	}
	return &dataset.Set{X: dataset.NewDense(x), Labels: left.Labels}
}

func TestLarge(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    func() problem
		most float64
	}{
		{"a9a", func() problem { return classes(t, libsvm(t, 123, "a9a/a9a", "a9a/a9a.t"), "1") }, .152},
		{"default-credit", func() problem {
			return classes(t, columns(t, "default-credit/guest.csv", "default-credit/host.csv"), "1").standardised()
		}, .188},
		{"phishing", func() problem { return classes(t, libsvm(t, 68, "phishing/phishing"), "1") }, .040},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := recommended(2048).median(t, tt.p()); got > tt.most {
				t.Errorf("test error %.4f, want at most %v", got, tt.most)
			}
		})
	}
}

// On epsilon-5k features come within .01 of a support vector machine, with a
// larger lambda, since two labels of five are noise.
func TestEpsilon(t *testing.T) {
	p := classes(t, columns(t, "epsilon-5k/guest.csv", "epsilon-5k/host.csv"), "1").standardised()
	var ours, theirs []float64
	for seed := range uint64(3) {
		train, test := p.split(t, seed)
		ours = append(ours, wrong(setting{2048, 16, 1, 1e-4}.decide(t, train, test, Logistic{}, seed), test.y))
		theirs = append(theirs, wrong(machine(t, train, test), test.y))
	}
	t.Logf("test errors %.4f, of support vector machines %.4f", ours, theirs)
	slices.Sort(ours)
	slices.Sort(theirs)
	if ours[1] > theirs[1]+.01 {
		t.Errorf("test error %.4f, of a support vector machine %.4f", ours[1], theirs[1])
	}
}

// machine is the decisions of a support vector machine, scikit-learn's gamma
// "scale" and C = 1.
func machine(t *testing.T, train, test problem) []float64 {
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1 / float64(train.x.Cols)})
	if err != nil {
		t.Fatal(err)
	}
	gram := linalg.New[float64](len(train.y), len(train.y))
	linalg.Syrk(gram, train.x)
	codes := make([]int, len(train.y))
	for i, y := range train.y {
		if y > 0 {
			codes[i] = 1
		}
	}
	c, err := svm.TrainSVC(kernel.Of(gram, k), codes, []string{"-1", "1"}, svm.DefaultParams(), nil)
	if err != nil {
		t.Fatal(err)
	}
	u := make([]float64, len(test.y))
	for i, class := range c.Predict(c.Decisions(cross(k, test.x, train.choose(c.Support()).x))) {
		u[i] = float64(2*class - 1)
	}
	return u
}
