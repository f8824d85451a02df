package sealed

import (
	"io"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
)

// blocks reads a set in blocks of some rows.
type blocks struct {
	set      *dataset.Set
	rows, at int
}

func (b *blocks) Next() (*dataset.Set, error) {
	if b.at == b.set.X.Rows() {
		return nil, io.EOF
	}
	lo, hi := b.at, min(b.at+b.rows, b.set.X.Rows())
	b.at = hi
	return b.set.Subset(linalg.Range(lo, hi)), nil
}

func (b *blocks) Close() error { return nil }

// A party that reads its table in blocks shares the same sums, and releases the same rows, as one that has it in memory.
func TestStreamedRows(t *testing.T) {
	j := read(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: stream}
spec:
  data: {source: digits, label: label, partition: {parties: [north, south, east]}, test: {fraction: 0.25}, scale: none}
  protocol: {name: sealed, features: 32, classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]}
  kernel: {name: rbf, gamma: 0.0005}
  learner: {name: ridge-classifier}
`)
	c := methodtest.Instance(j)
	c.Limits = method.DefaultLimits()
	set := deal(t, j, 500)["north"].Set
	sumsOf := func(table method.Table) (sums []int64, count int) {
		t.Helper()
		own, err := newParty(c, "north", table)
		if err != nil {
			t.Fatal(err)
		}
		own.declared.list = slices.Repeat([]declaration{{rows: own.Count(false), columns: 64}}, 3)
		problem, err := own.public().problem(j)
		if err == nil {
			err = own.checkDeclared()
		}
		if err != nil {
			t.Fatal(err)
		}
		found, err := own.sums(problem)
		if err != nil {
			t.Fatal(err)
		}
		list, err := own.release()
		if err != nil {
			t.Fatal(err)
		}
		return append(found.Outer, found.Cross...), len(list[0].Among) + list[0].Count
	}
	want, count := sumsOf(method.Table{Set: set, Key: dataset.SplitKey{1}})
	if count < 350 || count > 400 {
		t.Errorf("%d rows are released", count)
	}
	for _, size := range []int{1, 50, 1000} {
		got, n := sumsOf(method.Table{Key: dataset.SplitKey{1}, Stream: func() (method.StreamReader, error) { return &blocks{set, size, 0}, nil }})
		if !slices.Equal(got, want) || n != count {
			t.Errorf("in blocks of %d rows: other sums, or %d rows", size, n)
		}
	}
}
