package pool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/linalg"
)

func parse(t *testing.T, protocol, learner, scale string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {source: all, label: label, partition: {parties: [north, south]}, scale: %s}
  protocol: {name: %s}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: %s}
`, scale, protocol, learner))
}

// prepared returns sparse rows, or dense ones, one in four of them held out.
func prepared(t *testing.T, j *job.Job, rows, columns int, dense bool) *Rows {
	t.Helper()
	set, err := generated.Marks(rows, columns, .1)
	if err != nil {
		t.Fatal(err)
	}
	if dense {
		set.X = dataset.DenseOf(set.X)
	}
	test := make([]bool, rows)
	for i := range test {
		test[i] = i%4 == 3
	}
	s := []method.Split{{Set: set, Test: test}}
	p, err := Prepare(j, s, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A learner gets a Gram matrix of few rows, or where it needs the whole or parties have one, and
// else the rows, as sparse as they are.
func TestInput(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		protocol, learner, scale string
		rows                     int
		dense, gram, sparse      bool
	}{
		{"pooled", "svc", "minmax", smallRows, false, true, false},
		{"pooled", "svc", "none", smallRows + 4, false, false, true},
		{"pooled", "nu-svc", "minmax", smallRows + 4, false, false, true},
		{"pooled", "svr", "standard", smallRows + 4, false, false, false},
		{"pooled", "one-class", "none", smallRows + 4, true, false, false},
		{"pooled", "ridge", "none", smallRows + 4, false, true, false},
		{"okra", "svc", "none", smallRows + 4, false, true, false},
	} {
		j := parse(t, c.protocol, c.learner, c.scale)
		p := prepared(t, j, c.rows, 40, c.dense)
		got, err := p.Input(j)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		_, sparse := got.X.(linalg.SparseRows)
		if gram := got.Gram.Rows == c.rows; gram != c.gram || gram == (got.X != nil) || sparse != c.sparse {
			t.Errorf("%+v: a matrix of %d rows, rows %T", c, got.Gram.Rows, got.X)
		}
		if got.X == nil {
			continue
		}
		a, b := make([]float64, 40), make([]float64, 40)
		for i := range 50 {
			got.X.ReadRow(i, a)
			p.X.ReadRow(i, b)
			for k := range a {
				if a[k] != b[k] {
					t.Fatalf("%+v: row %d, column %d is %v, want %v", c, i, k, a[k], b[k])
				}
			}
		}
	}
}

func TestInputRefuses(t *testing.T) {
	many := parse(t, "pooled", "ridge", "none")
	_, err := prepared(t, many, learner.MaxRows+1, 40, false).Input(many)
	const want = "the table has 16385 rows; learner ridge needs the whole Gram matrix, which can have at most 16384 rows (2 GiB); bring fewer rows, or use svc, nu-svc, svr or one-class"
	if err == nil || err.Error() != want || fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	filled := parse(t, "pooled", "svc", "none")
	p := prepared(t, filled, smallRows+4, 1000, false)
	p.Scaling.Offset, p.Scaling.Factor = make([]float64, 1000), make([]float64, 1000)
	p.Scaling.Offset[3], p.Scaling.Factor[3] = 1, 1
	if _, err := p.Input(filled); err != nil {
		t.Errorf("4 million numbers: %v", err)
	}
	p.X, p.raw = wide{p.X}, wideSparse{p.raw.(linalg.SparseRows), p.raw}
	p.Scaling.Offset, p.Scaling.Factor = make([]float64, 1<<20), make([]float64, 1<<20)
	p.Scaling.Offset[3], p.Scaling.Factor[3] = 1, 1
	if _, err := p.Input(filled); err == nil || !strings.Contains(err.Error(), `4100 rows of 1048576 columns without zeros take more than 2 GiB; use "scale: none"`) {
		t.Errorf("error %v", err)
	}
}

// wide says that rows have 2^20 columns.
type wide struct{ linalg.Rows }

func (w wide) Shape() (rows, cols int) {
	rows, _ = w.Rows.Shape()
	return rows, 1 << 20
}

type wideSparse struct {
	linalg.SparseRows
	rows linalg.Rows
}

func (wideSparse) Cols() int                      { return 1 << 20 }
func (w wideSparse) Shape() (rows, cols int)      { return wide{w.rows}.Shape() }
func (w wideSparse) ReadRow(i int, dst []float64) { w.rows.ReadRow(i, dst) }
