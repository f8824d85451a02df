package linear

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// problem is rows with their targets: +1 and -1, or numbers.
type problem struct {
	x linalg.Matrix[float64]
	y []float64
}

// file opens a file of the project's real data, or skips the test.
func file(t testing.TB, name string) io.Reader {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real data (set MERCER_DATA): %v", err)
	}
	t.Cleanup(func() { _ = f.Close() }) // read only
	return f
}

func libsvm(t testing.TB, columns int, names ...string) *dataset.Set {
	t.Helper()
	var sets []*dataset.Set
	for _, name := range names {
		set, err := dataset.ReadLIBSVM(file(t, name), dataset.LIBSVMOptions{Name: name, Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	set, err := dataset.Append(sets...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func load(t testing.TB, name string) *dataset.Set {
	t.Helper()
	set, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// classes is a problem of which the rows with those labels are the positive ones.
func classes(t testing.TB, set *dataset.Set, positive ...string) problem {
	t.Helper()
	p := problem{dataset.DenseOf(set.X).Matrix(), make([]float64, set.X.Rows())}
	found := 0
	for i, label := range set.Labels {
		p.y[i] = -1
		for _, l := range positive {
			if l == label {
				p.y[i] = 1
				found++
			}
		}
	}
	if found == 0 {
		t.Fatalf("no row has a label of %v", positive)
	}
	return p
}

// standardised scales the columns to mean 0 and variance 1.
func (p problem) standardised() problem {
	x := linalg.New[float64](p.x.Rows, p.x.Cols)
	for j := range x.Cols {
		var sum, square float64
		for i := range x.Rows {
			sum += p.x.Row(i)[j]
		}
		mean := sum / float64(x.Rows)
		for i := range x.Rows {
			d := p.x.Row(i)[j] - mean
			square += d * d
		}
		for i := range x.Rows {
			if square > 0 {
				x.Row(i)[j] = (p.x.Row(i)[j] - mean) / math.Sqrt(square/float64(x.Rows))
			}
		}
	}
	return problem{x, p.y}
}

// medianDistance returns the median distance of about a thousand rows.
func (p problem) medianDistance() float64 {
	step := max(1, p.x.Rows/1000)
	some := linalg.New[float64](p.x.Rows/step, p.x.Cols)
	for i := range some.Rows {
		copy(some.Row(i), p.x.Row(i*step))
	}
	gram := linalg.New[float64](some.Rows, some.Rows)
	linalg.Syrk(gram, some)
	return math.Sqrt(kernel.MedianSquaredDistance(gram, all(some.Rows)))
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// split draws a quarter of the rows for testing.
func (p problem) split(t testing.TB, seed uint64) (train, test problem) {
	t.Helper()
	learn, hold, err := dataset.SplitPlain(p.x.Rows, 0.25, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p.choose(learn), p.choose(hold)
}

func (p problem) choose(rows []int) problem {
	out := problem{linalg.New[float64](len(rows), p.x.Cols), make([]float64, len(rows))}
	for i, r := range rows {
		copy(out.x.Row(i), p.x.Row(r))
		out.y[i] = p.y[r]
	}
	return out
}

// gaussian are directions of exp(-|x-z|^2 / (2 s^2)).
func gaussian(columns int, s float64, seed uint64) feature.Directions {
	key := [32]byte{}
	binary.LittleEndian.PutUint64(key[:], seed)
	return feature.Directions{
		Spectrum: feature.RBF(1 / (2 * s * s)), Columns: columns,
		Entries: func(block, column int) feature.Numbers {
			at := binary.LittleEndian.AppendUint64(nil, uint64(block))
			return prg.New(key, "entries", binary.LittleEndian.AppendUint64(at, uint64(column)))
		},
	}
}

// phases is a table of a problem's rows.
func phases[T linalg.Float](p problem, d feature.Directions, directions, bits int) *Phases[T] {
	table, made := NewPhases[T](p.x.Rows, directions, bits), feature.NewPhases(p.x, d, bits)
	words := make([]byte, 256*directions*bits/8)
	for _, rows := range spans(p.x.Rows, 256) {
		some := words[:rows.len()*directions*bits/8]
		made.Block(some, all(p.x.Rows)[rows.lo:rows.hi], 0, directions)
		table.Put(some, rows.lo, rows.len(), 0, directions)
	}
	return table
}

// row is targets as a matrix of one row.
func row(y []float64) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: 1, Cols: len(y), Stride: len(y), Data: y}
}

// wrong is the part of decisions on the wrong side.
func wrong(u, y []float64) float64 {
	n := 0
	for i, v := range u {
		if Sign(v) != y[i] {
			n++
		}
	}
	return float64(n) / float64(len(y))
}

// cross returns the kernel of the rows of a with the rows of b.
func cross(k kernel.Kernel, a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
	m := linalg.New[float64](a.Rows, b.Rows)
	linalg.MulTransB(m, a, b)
	aa, bb := make([]float64, a.Rows), make([]float64, b.Rows)
	linalg.SquaredNorms(aa, a)
	linalg.SquaredNorms(bb, b)
	kernel.Cross(k, m, aa, bb)
	return m
}
