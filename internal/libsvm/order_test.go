package libsvm

import (
	"slices"
	"strings"
	"testing"
)

// TestClassesComeByFirstRow: votes that tie go to the class whose row comes first, and +1 comes before
// -1 if these are all classes.
func TestClassesComeByFirstRow(t *testing.T) {
	for _, test := range []struct{ labels, classes, rows []int }{
		{[]int{3, 1, 2, 1, 3}, []int{3, 1, 2}, []int{0, 4, 1, 3, 2}},
		{[]int{-1, 1, -1}, []int{1, -1}, []int{1, 0, 2}},
		{[]int{1, -1, 1}, []int{1, -1}, []int{0, 2, 1}},
		{[]int{-1, 2}, []int{-1, 2}, []int{0, 1}},
		{[]int{-1, 1, 2}, []int{-1, 1, 2}, []int{0, 1, 2}},
	} {
		classes, rows, codes := group([]int{0, 1, 2, 3, 4}[:len(test.labels)], test.labels)
		if !slices.Equal(classes, test.classes) || !slices.Equal(rows, test.rows) || !slices.IsSorted(codes) {
			t.Errorf("%v: classes %v, rows %v, codes %v", test.labels, classes, rows, codes)
		}
	}
}

// TestTiesGoToTheFirstClass: three classes with one vote each are decided by the order of their rows.
func TestTiesGoToTheFirstClass(t *testing.T) {
	for _, order := range [][]string{{"1", "2", "3"}, {"3", "1", "2"}} {
		// Each class votes for itself against the next one: a circle.
		model := "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho -1 1 -1\nlabel " +
			strings.Join(order, " ") + "\nnr_sv 1 1 1\nSV\n1 1 1:0.5 \n-1 1 1:0.5 \n-1 -1 1:0.5 \n"
		m, _, err := ReadModel(strings.NewReader(model), Any())
		if err != nil {
			t.Fatal(err)
		}
		p, err := ReadProblem(strings.NewReader("1 1:0.25\n"), "rows")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if _, err := m.Predict(&out, p, false); err != nil {
			t.Fatal(err)
		}
		if want := order[0] + "\n"; out.String() != want {
			t.Errorf("labels %v: predicted %q, want %q", order, out.String(), want)
		}
	}
}

// TestSequence compares with the first numbers of rand in the GNU C library.
func TestSequence(t *testing.T) {
	s := newSequence()
	for _, want := range []int{1804289383, 846930886, 1681692777, 1714636915, 1957747793} {
		if got := s.draw(); got != want {
			t.Fatalf("drew %d, want %d", got, want)
		}
	}
}

// A file that is longer than allowed is refused, not cut.
func TestLongFileIsNotCut(t *testing.T) {
	const text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:0.5\n-1 1:0.123456\n"
	o := Any()
	o.Bytes = int64(len(text))
	if _, _, err := ReadModel(strings.NewReader(text), o); err != nil {
		t.Error(err)
	}
	o.Bytes -= 4
	if m, _, err := ReadModel(strings.NewReader(text), o); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%+v, %v", m, err)
	}
}
