package linear

import (
	"bufio"
	"compress/gzip"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// numbers reads a table of numbers with spaces between them.
func numbers(t testing.TB, name string) [][]float64 {
	t.Helper()
	plain, err := gzip.NewReader(file(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for lines := bufio.NewScanner(plain); lines.Scan(); {
		var row []float64
		for field := range strings.FieldsSeq(lines.Text()) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// diabetes has targets of mean 0.
func diabetes(t testing.TB) problem {
	t.Helper()
	rows, targets := numbers(t, "diabetes/diabetes_data_raw.csv.gz"), numbers(t, "diabetes/diabetes_target.csv.gz")
	p := problem{x: linalg.New[float64](len(rows), len(rows[0]))}
	mean := 0.0
	for _, y := range targets {
		mean += y[0] / float64(len(targets))
	}
	for i, r := range rows {
		copy(p.x.Row(i), r)
		p.y = append(p.y, targets[i][0]-mean)
	}
	return p.standardised()
}

// rmse is the root of the mean squared error.
func rmse(u, y []float64) float64 {
	sum := 0.0
	for i, v := range u {
		sum += (v - y[i]) * (v - y[i])
	}
	return math.Sqrt(sum / float64(len(y)))
}

// Regression on random features comes within 3 % of kernel ridge regression with
// the kernel that they stand for.
func TestDiabetes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := diabetes(t)
	const alpha = 1.0
	scale := 2 * p.medianDistance()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1 / (2 * scale * scale)})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		train, test := p.split(t, seed)
		gram := linalg.New[float64](len(train.y), len(train.y))
		linalg.Syrk(gram, train.x)
		model, err := ridge.Fit(kernel.Of(gram, k), train.y, alpha)
		if err != nil {
			t.Fatal(err)
		}
		want := rmse(model.Predict(cross(k, test.x, train.x)), test.y)
		losses := map[string]Loss{"square": Square{}}
		if seed == 0 {
			losses["huber"] = Huber{200} // hardly an error is as large
		}
		for name, loss := range losses {
			// The mean of the losses and lambda/2 |w|^2, against their sum and alpha |w|^2.
			lambda := 2 * alpha / float64(len(train.y)) * loss.Curvature() / 2
			got := rmse(setting{2048, 16, 2, lambda}.decide(t, train, test, loss, seed), test.y)
			t.Logf("%s: root mean squared error %.2f, of kernel ridge %.2f", name, got, want)
			if math.Abs(got/want-1) > .03 {
				t.Errorf("%s: root mean squared error %.2f, of kernel ridge regression %.2f", name, got, want)
			}
		}
	}
}
