package libsvm

import (
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
)

// Problem holds the rows of a text of LIBSVM. Column j of X has index j, so column 0 is empty unless
// the text uses index 0, as texts of precomputed kernels do.
type Problem struct {
	Name string // name of the text in messages
	X    *dataset.CSR
	Y    []float64 // label of each row
}

// ReadProblem reads a text of LIBSVM. Errors name the line.
func ReadProblem(r io.Reader, name string) (*Problem, error) {
	set, err := dataset.ReadLIBSVM(r, dataset.LIBSVMOptions{Name: name, FromZero: true})
	if err != nil {
		return nil, err
	}
	p := &Problem{Name: name, X: set.X.(*dataset.CSR), Y: make([]float64, len(set.Labels))}
	for i, label := range set.Labels {
		if p.Y[i], err = strconv.ParseFloat(label, 64); err != nil {
			return nil, p.errorf(i, "the label %s is not a number; correct it", dataset.Quote(label))
		}
	}
	return p, nil
}

// labels returns the labels as classes, which are 32-bit whole numbers.
func (p *Problem) labels() ([]int, error) {
	out := make([]int, len(p.Y))
	for i, y := range p.Y {
		if y != math.Trunc(y) || math.Abs(y) > math.MaxInt32 {
			return nil, p.errorf(i, "the label %v is no class; write a 32-bit whole number, or predict numbers with -s 3", y)
		}
		out[i] = int(y)
	}
	return out, nil
}

// Names returns the names of classes in package svm: their labels in decimal digits.
func Names(labels []int) []string {
	names := make([]string, len(labels))
	for i, label := range labels {
		names[i] = strconv.Itoa(label)
	}
	return names
}

// group orders rows by class and returns the classes in LIBSVM's order: by first row, except that +1
// comes before -1 if these are the only classes. The rows of a class keep their order. labels has
// the label of each row of the problem.
func group(rows, labels []int) (classes, grouped, codes []int) {
	of := make(map[int][]int)
	for _, r := range rows {
		label := labels[r]
		if of[label] == nil {
			classes = append(classes, label)
		}
		of[label] = append(of[label], r)
	}
	if slices.Equal(classes, []int{-1, 1}) {
		slices.Reverse(classes)
	}
	for code, label := range classes {
		grouped = append(grouped, of[label]...)
		for range of[label] {
			codes = append(codes, code)
		}
	}
	return classes, grouped, codes
}
