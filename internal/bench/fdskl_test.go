package bench

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
)

// shorter has fewer directions in every mode.
func (e exam) shorter() exam {
	var short []course
	for _, c := range e.courses {
		c.directions /= 32
		c.reference = nil
		short = append(short, c)
	}
	e.courses = short
	return e
}

// Every mode learns through the protocol, and pages show it.
func TestExam(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "curves")
	b := Benchmark{examined([]exam{exams()[0].shorter()}, catalogue.New(""), curvePages{folder})}
	r, err := b.Measure(t.Context(), 1, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, r.Rows)
	errs := make(map[string]float64)
	for _, row := range r.Rows {
		errs[row.Name] = row.Value
	}
	for _, name := range []string{"wdbc, faithful, 512 iterations", "wdbc, block, 2 iterations", "wdbc, precond, 1 iterations", "wdbc, cached, 8 passes"} {
		if v, there := errs[name+", test error"]; !there || v > .2 || errs[name+", processor time"] <= 0 {
			t.Errorf("%s: test error %v, there is one: %v", name, v, there)
		}
	}
	page, err := os.ReadFile(filepath.Join(folder, "fdskl-wdbc.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"faithful", "block", "precond", "cached", "<polyline", "by iterations", "by processor time", "rate 4"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// A data set that is not there is a note.
func TestExamWithoutData(t *testing.T) {
	_, err := exams()[2].lesson(catalogue.New(""))
	var missing unavailable
	if !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}

// By a moment counts what was learnt until then: at first nothing, whose
// decisions are all +1.
func TestLinesAreSteps(t *testing.T) {
	l := learnt{
		lesson: lesson{targets: linalg.Matrix[float64]{Rows: 1, Cols: 5, Stride: 5, Data: []float64{1, -1, -1, -1, 1}}, train: 1, courses: []course{{mode: "it"}}},
		curves: [][]snapshot{{{iterations: 2, wrong: .3}, {iterations: 4, wrong: .2}}},
	}
	want := []float64{.75, .3, .3, .2, .2}
	if got := l.lines([]float64{1, 2, 3, 4, 9}, snapshot.count); cmp.Diff(want, got[0].Values) != "" || got[0].Name != "it" {
		t.Errorf("%v", got)
	}
}

// A turn leaves nothing of the size of its table, beside which the next would
// have another.
func TestTurnLeavesNoTable(t *testing.T) {
	size := cachedSize{rows: 4000, columns: 8, directions: 1024, bits: 16}
	r, err := raceWhole(size)
	if err != nil {
		t.Fatal(err)
	}
	before := inUse()
	if err := r.runs[0](t.Context()); err != nil {
		t.Fatal(err)
	}
	table := int64(size.rows * size.directions * size.bits / 8)
	if left := inUse() - before; left > table/4 {
		t.Errorf("%d bytes are left of a turn whose table had %d", left, table)
	}
	runtime.KeepAlive(r)
}

// inUse counts the bytes that the collector cannot free.
func inUse() int64 {
	for range 2 { // pools give up what they hold at the second
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A diary is the library's table, the other way round.
func TestDiary(t *testing.T) {
	const rows, directions = 7, 5
	plain := linear.NewPhases[float64](rows, directions, 16).Unscaled()
	d := newDiary(rows, directions, 16, 1)
	for r := range rows {
		words := make([]byte, 2*3)
		for i := range words {
			words[i] = byte(37*r + 91*i)
		}
		plain.Put(words, r, 1, 2, 3)
		d.put(words, r, 2)
	}
	want, got := linalg.New[float64](6, 3), linalg.New[float64](6, 3)
	plain.ReadAt(want, 4, []int{6, 0, 3})
	d.ReadAt(got, 4, []int{6, 0, 3})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	plain.Read(want, 2, 4)
	excerpt{d, 4, 3, 8}.Read(got, 2, 0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
