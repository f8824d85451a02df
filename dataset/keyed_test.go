package dataset

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func someKey(n byte) SplitKey { return SplitKey{n, 1} }

// people are rows with names of columns, labels and no ids.
func people(n int) *Set {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	x := linalg.New[float64](n, 4)
	s := &Set{Name: "people", X: NewDense(x), Columns: []string{"weight", "age", "smokes", "height"}}
	for i := range n {
		copy(x.Row(i), []float64{50 + 40*r.Float64(), float64(r.IntN(90)), float64(r.IntN(2)), 1.5 + r.Float64()/2})
		s.Labels = append(s.Labels, strconv.Itoa(r.IntN(3)))
	}
	return s
}

func keyed(t *testing.T, s *Set, k SplitKey, fraction float64) (train, test []int) {
	t.Helper()
	train, test, err := k.Split(s, fraction)
	if err != nil {
		t.Fatal(err)
	}
	if all := slices.Sorted(slices.Values(slices.Concat(train, test))); !slices.Equal(all, linalg.Range(0, s.X.Rows())) {
		t.Fatalf("%d rows are in training and %d are held out, of %d", len(train), len(test), s.X.Rows())
	}
	return train, test
}

// About as many rows are held out as the fraction says, others under another key,
// and with a larger fraction these and more.
func TestSplitByKey(t *testing.T) {
	s := people(4000)
	before := []int(nil)
	for _, fraction := range []float64{0.05, 0.25, 0.5} {
		_, test := keyed(t, s, someKey(1), fraction)
		want := fraction * 4000
		if far := math.Abs(float64(len(test)) - want); far > 5*math.Sqrt(want*(1-fraction)) {
			t.Errorf("%d rows are held out, about %v should be", len(test), want)
		}
		for _, i := range before {
			if !slices.Contains(test, i) {
				t.Fatalf("row %d is held out with a smaller fraction than %v only", i, fraction)
			}
		}
		before = test
	}
	if _, other := keyed(t, s, someKey(2), 0.5); slices.Equal(before, other) {
		t.Error("two keys hold out the same rows")
	}
}

// What decides is the row: not where it stands, which rows stand beside it, how its
// columns are ordered or how its numbers are stored.
func TestSplitIsOfTheRowAlone(t *testing.T) {
	s := people(300)
	_, test := keyed(t, s, someKey(1), 0.25)
	held := func(s *Set, rows []int) []int { // the original places of what is held out
		t.Helper()
		var list []int
		_, test := keyed(t, s, someKey(1), 0.25)
		for _, i := range test {
			list = append(list, rows[i])
		}
		return slices.Sorted(slices.Values(list))
	}
	backwards := linalg.Range(0, 300)
	slices.Reverse(backwards)
	if got := held(s.Subset(backwards), backwards); !slices.Equal(got, test) {
		t.Error("other rows are held out of the table turned round")
	}
	half := linalg.Range(0, 150)
	if got := held(s.Subset(half), half); !slices.Equal(got, test[:len(got)]) || len(got) == 0 {
		t.Error("other rows are held out of half of the table")
	}
	if got := held(s.SelectColumns([]int{2, 0, 3, 1}), linalg.Range(0, 300)); !slices.Equal(got, test) {
		t.Error("other rows are held out where columns are in another order")
	}
	if got := held(s.SelectColumns([]int{2, 0, 3}), linalg.Range(0, 300)); slices.Equal(got, test) {
		t.Error("a column less changes nothing")
	}
	sparse := *s
	sparse.X = sparseOf(s.X.(*Dense))
	if got := held(&sparse, linalg.Range(0, 300)); !slices.Equal(got, test) {
		t.Error("other rows are held out of the sparse table")
	}
	relabelled := s.Subset(linalg.Range(0, 300))
	for i := range relabelled.Labels {
		relabelled.Labels[i] = "9"
	}
	if got := held(relabelled, linalg.Range(0, 300)); slices.Equal(got, test) {
		t.Error("labels change nothing")
	}
}

// A table without names of columns is held out alike before and after it was written
// as CSV, which gives them names.
func TestSplitOfAWrittenTable(t *testing.T) {
	s := people(300)
	wide, err := Beside(s, s, s)
	if err != nil {
		t.Fatal(err)
	}
	_, test := keyed(t, wide, someKey(1), 0.25)
	var b bytes.Buffer
	if err := WriteCSV(&b, wide); err != nil {
		t.Fatal(err)
	}
	back, err := ReadCSV(&b, CSVOptions{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	if _, again := keyed(t, back, someKey(1), 0.25); back.Columns == nil || !slices.Equal(test, again) {
		t.Error("other rows are held out of the table that was read back")
	}
}

// Equal rows fall on one side, and so do zeros of both signs.
func TestSplitOfEqualRows(t *testing.T) {
	x := linalg.New[float64](400, 3)
	for i := range 400 {
		copy(x.Row(i), []float64{float64(i / 4), math.Copysign(0, float64(i%2)-0.5), 1})
	}
	_, test := keyed(t, &Set{X: NewDense(x)}, someKey(1), 0.5)
	for _, i := range test {
		for twin := i / 4 * 4; twin < i/4*4+4; twin++ {
			if !slices.Contains(test, twin) {
				t.Fatalf("row %d is held out and its twin %d is not", i, twin)
			}
		}
	}
}

// Where rows have ids, they alone decide: a cell that is mended moves nobody.
func TestSplitById(t *testing.T) {
	s := people(200)
	for i := range 200 {
		s.IDs = append(s.IDs, fmt.Sprint("patient ", i))
	}
	_, test := keyed(t, s, someKey(1), 0.25)
	other := people(201).Subset(linalg.Range(0, 200))
	other.IDs = s.IDs
	if _, again := keyed(t, other, someKey(1), 0.25); !slices.Equal(test, again) {
		t.Error("other rows of the same people are held out")
	}
}

func TestSplitByKeyRefuses(t *testing.T) {
	if _, _, err := (SplitKey{}).Split(people(10), 0.25); err == nil {
		t.Error("rows are held out without a key")
	}
	for _, fraction := range []float64{0, 1, -0.5, math.NaN()} {
		if _, _, err := someKey(1).Split(people(10), fraction); err == nil {
			t.Errorf("a fraction of %v is held out", fraction)
		}
	}
}

// All rows of a group fall on one side, whatever their ids and values, and about the fraction of
// groups is held out.
func TestSplitByGroup(t *testing.T) {
	s := people(4000)
	for i := range 4000 {
		s.Groups, s.IDs = append(s.Groups, fmt.Sprint("p", i/4)), append(s.IDs, fmt.Sprint(i))
	}
	_, test := keyed(t, s, someKey(1), 0.25)
	held := make(map[string]int)
	for _, i := range test {
		held[s.Groups[i]]++
	}
	for group, n := range held {
		if n != 4 {
			t.Fatalf("%d of 4 rows of %s are held out", n, group)
		}
	}
	if far := math.Abs(float64(len(held)) - 250); far > 5*math.Sqrt(250*.75) {
		t.Errorf("%d of 1000 groups are held out, about 250 should be", len(held))
	}
}
