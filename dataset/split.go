package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// Split draws a stratified test set of about the given fraction of the rows, in (0, 1). It returns the rows
// of both sets (from 0) in ascending order. The test set has the nearest whole number of rows, at least one;
// its share of each class is the fraction, rounded by largest remainder. Every class keeps a row for
// training, so the test set is smaller if many classes have a single row. If no class has two rows, Split
// returns an error.
func Split(labels []string, fraction float64, seed uint64) (train, test []int, err error) {
	if err := checkFraction(len(labels), fraction); err != nil {
		return nil, nil, err
	}
	classes := rowsByClass(labels)
	sizes := testSizes(classes, fraction)
	s := newStream(seed, streamSplit)
	for c, rows := range classes {
		s.shuffle(rows)
		test = append(test, rows[:sizes[c]]...)
		train = append(train, rows[sizes[c]:]...)
	}
	if len(test) == 0 {
		return nil, nil, errors.New("dataset: no class has two rows, so none can be split; use SplitPlain if the labels are targets")
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test, nil
}

// SplitPlain is like [Split] for n rows without classes; n is at least 2.
func SplitPlain(n int, fraction float64, seed uint64) (train, test []int, err error) {
	if err := checkFraction(n, fraction); err != nil {
		return nil, nil, err
	}
	rows := newStream(seed, streamSplit).permutation(n)
	size := min(max(int(math.Round(fraction*float64(n))), 1), n-1)
	test, train = rows[:size], rows[size:]
	slices.Sort(train)
	slices.Sort(test)
	return train, test, nil
}

func checkFraction(n int, fraction float64) error {
	if !(fraction > 0 && fraction < 1) {
		return fmt.Errorf("dataset: the test fraction is %v; choose one between 0 and 1", fraction)
	}
	if n < 2 {
		return fmt.Errorf("dataset: %d rows cannot be split; give at least two", n)
	}
	return nil
}

// testSizes returns the number of test rows of each class. It rounds fraction*len(rows) by largest
// remainder, so that the total is the rounded fraction of all rows, if the classes are large enough.
func testSizes(classes [][]int, fraction float64) []int {
	sizes := make([]int, len(classes))
	rest := make([]float64, len(classes))
	n, total := 0, 0
	for c, rows := range classes {
		// The conversion keeps the compiler from fusing the product with the
		// subtraction below, which would round differently on arm64.
		quota := float64(fraction * float64(len(rows)))
		sizes[c] = min(int(quota), len(rows)-1)
		rest[c] = quota - float64(sizes[c])
		n, total = n+len(rows), total+sizes[c]
	}
	want := max(int(math.Round(fraction*float64(n))), 1)
	order := linalg.Range(0, len(classes))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, c := range order {
		if total < want && sizes[c] < len(classes[c])-1 {
			sizes[c]++
			total++
		}
	}
	return sizes
}

// Every makes a test set of every k-th of n rows. These are the rows k-1, 2k-1, and so on. It
// refuses a k outside 2 to n.
func Every(n, k int) (train, test []int, err error) {
	if k < 2 || k > n {
		return nil, nil, fmt.Errorf("dataset: cannot hold out every %d-th of %d rows; choose a number from 2 to the number of rows", k, n)
	}
	for i := range n {
		if i%k == k-1 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test, nil
}

// Folds divides all rows into k stratified test sets. The rows of a set ascend. The sizes of any
// two sets differ by one row at most. For each class, the numbers of its rows in any two sets
// differ by one at most. Folds returns an error if k is below 2 or above the number of rows.
func Folds(labels []string, k int, seed uint64) ([][]int, error) {
	if err := checkFolds(len(labels), k); err != nil {
		return nil, err
	}
	return newStream(seed, streamFolds).deal(rowsByClass(labels), k), nil
}

// FoldsPlain is like [Folds] for n rows without classes.
func FoldsPlain(n, k int, seed uint64) ([][]int, error) {
	if err := checkFolds(n, k); err != nil {
		return nil, err
	}
	return newStream(seed, streamFolds).deal([][]int{linalg.Range(0, n)}, k), nil
}

func checkFolds(n, k int) error {
	if k < 2 || k > n {
		return fmt.Errorf("cannot make %d folds from %d rows; choose at least 2 folds and at most one for each row", k, n)
	}
	return nil
}

// deal shuffles the rows of each class and deals them in turn to the given number of hands, like
// cards. The smallest class comes first: the rows of classes that are too small for all hands are
// then dealt one after the other, which gives every hand as many classes as possible.
func (s *stream) deal(classes [][]int, hands int) [][]int {
	slices.SortStableFunc(classes, func(a, b []int) int { return cmp.Compare(len(a), len(b)) })
	dealt := make([][]int, hands)
	next := 0
	for _, rows := range classes {
		s.shuffle(rows)
		for _, i := range rows {
			dealt[next] = append(dealt[next], i)
			next = (next + 1) % hands
		}
	}
	for _, hand := range dealt {
		slices.Sort(hand)
	}
	return dealt
}

// Complement returns the row numbers from 0 to n-1 that are not in rows, in ascending order. If
// rows is the test set of a fold, the result is the training set.
func Complement(n int, rows []int) []int {
	drop := make([]bool, n)
	for _, i := range rows {
		drop[i] = true
	}
	rest := make([]int, 0, max(n-len(rows), 0))
	for i, d := range drop {
		if !d {
			rest = append(rest, i)
		}
	}
	return rest
}
