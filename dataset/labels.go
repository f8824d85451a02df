package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// Targets converts labels to the target numbers of a regression. The error names the row, from 1,
// with a label that is not a finite number, or that exceeds [MaxMagnitude].
func Targets(labels []string) ([]float64, error) {
	targets, row, err := targetsOf(labels)
	if err != nil {
		return nil, fmt.Errorf("label %s of row %d %w", quote(labels[row]), row+1, err)
	}
	return targets, nil
}

// Targets converts the labels to the target numbers of a regression. The error names the set, and the line
// (without Lines, the row) of a label that is not a finite number, or that exceeds [MaxMagnitude].
func (s *Set) Targets() ([]float64, error) {
	targets, row, err := targetsOf(s.Labels)
	if err != nil {
		return nil, fmt.Errorf("%s label %s %w", s.Place(row), quote(s.Labels[row]), err)
	}
	return targets, nil
}

// targetsOf converts labels to numbers, and returns the index of the first refused label.
func targetsOf(labels []string) (targets []float64, row int, err error) {
	targets = make([]float64, len(labels))
	for i, label := range labels {
		v, err := parseNumber(label)
		if err != nil {
			return nil, i, fmt.Errorf("%w; regression needs numbers", err)
		}
		if math.Abs(v) > MaxMagnitude {
			return nil, i, fmt.Errorf("exceeds %g in magnitude; correct the label, or use a larger unit", MaxMagnitude)
		}
		targets[i] = v
	}
	return targets, 0, nil
}

// CheckClasses returns an error if the labels of a table with the given number of rows seem to be numbers to
// predict, or ids, and not classes. The argument classes holds the distinct labels.
// They seem so if all labels are numbers and the number of distinct labels exceeds a third of the
// number of rows. In addition, at least fewMeasured labels must be distinct if some are not whole,
// and at least manyWhole otherwise. Words seem so if there are at least manyWords distinct ones for
// fewer than twice as many rows. With such labels, a classifier would be trained for each pair of
// distinct labels.
func CheckClasses(classes []string, rows int) error {
	numbers, err := Targets(classes)
	if err != nil {
		return checkWords(classes, rows)
	}
	if 3*len(classes) <= rows {
		return nil
	}
	measured := slices.ContainsFunc(numbers, func(v float64) bool { return v != math.Trunc(v) })
	switch {
	case measured && len(classes) >= fewMeasured:
		return fmt.Errorf("the labels are measured numbers: %d rows have %d different labels; use a regression, such as \"svr\" or \"ridge\", or write classes as words", rows, len(classes))
	case len(classes) >= manyWhole:
		return fmt.Errorf("the labels are numbers that hardly repeat: %d rows have %d different labels; use a regression, such as \"svr\" or \"ridge\", or write classes as words", rows, len(classes))
	}
	return nil
}

// checkWords returns an error if words hardly repeat.
func checkWords(classes []string, rows int) error {
	if len(classes) < manyWords || 2*len(classes) <= rows {
		return nil
	}
	return fmt.Errorf("the labels are words that hardly repeat: %d rows have %d different labels; name another column of labels, or, if the words are numbers with a unit or with signs between thousands, give the column \"unit\" or \"thousands\" in the catalogue", rows, len(classes))
}

// CheckClasses accepts labels that have fewer distinct values than these numbers.
const (
	fewMeasured = 5  // for labels that are numbers, some of them not whole
	manyWhole   = 30 // for labels that are whole numbers
	manyWords   = 50 // for labels that are words
)

// Classes returns the distinct labels and, for each row, the index of its class. The labels
// ascend as numbers if all of them are numbers, else as text.
func Classes(labels []string) (classes []string, codes []int) {
	code := make(map[string]int)
	for _, label := range labels {
		if _, ok := code[label]; !ok {
			code[label] = 0
			classes = append(classes, label)
		}
	}
	sortClasses(classes)
	for c, label := range classes {
		code[label] = c
	}
	codes = make([]int, len(labels))
	for i, label := range labels {
		codes[i] = code[label]
	}
	return classes, codes
}

// ClassesIn returns the distinct labels in the given order and, for each row, the index of its
// class. Labels that the order lacks come last. If order is nil, ClassesIn returns the result of
// [Classes].
func ClassesIn(order, labels []string) (classes []string, codes []int) {
	sorted, codes := Classes(labels)
	if order == nil {
		return sorted, codes
	}
	for _, class := range order {
		if slices.Contains(sorted, class) {
			classes = append(classes, class)
		}
	}
	for _, class := range sorted {
		if !slices.Contains(order, class) {
			classes = append(classes, class)
		}
	}
	place := make(map[string]int, len(classes))
	for c, class := range classes {
		place[class] = c
	}
	for i, c := range codes {
		codes[i] = place[sorted[c]]
	}
	return classes, codes
}

// ClassError reports a label that is not among the classes of a job.
type ClassError struct {
	Label   string
	Classes []string
}

// Error returns a predicate, to be written after the label.
func (e *ClassError) Error() string {
	for _, class := range e.Classes {
		if fuzzymatch.Differs(class, e.Label) {
			_, listed := fuzzymatch.Quote(e.Label, class)
			return fmt.Sprintf("differs from the job's class %s only by case, blanks or Unicode form; correct the cell, or map it by \"values\" in the catalogue", listed)
		}
	}
	return fmt.Sprintf("is not one of the classes that the job lists (%s); correct the cell, map it by \"values\" in the catalogue, or list the class in the job", list(e.Classes))
}

// CheckClass returns a [ClassError] if the label is not one of the given classes. Nil classes allow
// all labels.
func CheckClass(label string, classes []string) error {
	if classes == nil || slices.Contains(classes, label) {
		return nil
	}
	return &ClassError{label, classes}
}

func sortClasses(classes []string) {
	number := make(map[string]float64, len(classes))
	for _, label := range classes {
		v, err := parseNumber(label)
		if err != nil {
			slices.Sort(classes)
			return
		}
		number[label] = v
	}
	slices.SortFunc(classes, func(a, b string) int {
		return cmp.Or(cmp.Compare(number[a], number[b]), cmp.Compare(a, b))
	})
}

// rowsByClass returns the rows of each class, in the order of Classes.
func rowsByClass(labels []string) [][]int {
	classes, codes := Classes(labels)
	rows := make([][]int, len(classes))
	for i, c := range codes {
		rows[c] = append(rows[c], i)
	}
	return rows
}

// labeller converts labels to canonical form, so that "+1", "1" and "1.0" are the same class. It
// copies the name of each class, so that the lines of the text are not kept in memory: once for each of the
// first mostKnown classes, and in every row for others.
type labeller struct {
	known map[string]string // canonical form of each known label
	gaps  bool              // whether an empty label is allowed; it means no label
	among []string          // allowed classes; nil allows all
}

// MaxLabelBytes is the largest size in bytes of a label that is not a number. A file of a model cannot hold a
// longer name of a class.
const MaxLabelBytes = 1 << 10

var errLongLabel = fmt.Errorf("has more than the %d bytes that a class can have; write a shorter name", MaxLabelBytes)

// mostKnown bounds the labels that a labeller remembers, since a regression has many different
// targets.
const mostKnown = 1 << 12

func (l *labeller) canonical(label string) (string, error) {
	if c, ok := l.known[label]; ok {
		return c, nil
	}
	if label == "" && l.gaps {
		return "", nil
	}
	c, err := canonicalLabel(label)
	if err != nil {
		return "", err
	}
	if err := CheckClass(c, l.among); err != nil {
		return "", err
	}
	if l.known == nil {
		l.known = make(map[string]string)
	}
	if len(l.known) < mostKnown {
		l.known[strings.Clone(label)] = c
	}
	return c, nil
}

func canonicalLabel(label string) (string, error) {
	v, err := parseNumber(label)
	switch {
	case errors.Is(err, errNotNumber) && len(label) > MaxLabelBytes:
		return "", errLongLabel
	case errors.Is(err, errNotNumber):
		return strings.Clone(label), nil
	case err != nil:
		return "", err
	}
	if math.Abs(v) >= 1<<53 {
		return strings.Clone(label), nil // the text is kept, since two long numbers can round to the same float64
	}
	if v == math.Trunc(v) {
		return strconv.FormatInt(int64(v), 10), nil
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}

// NoLabel returns the error for a row whose label is missing. column is the name of the labels in jobs.
func NoLabel(column string) error {
	return fmt.Errorf("is empty, but every row needs a label; fill the cell, or write label: {column: %s, missing: drop-row} in the catalogue (in simulate, in the job) to leave out such rows", Quote(column))
}
