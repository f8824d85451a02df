package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// IsLIBSVM reports whether a file that begins with head is a model of LIBSVM.
func IsLIBSVM(head []byte) bool { return bytes.HasPrefix(head, []byte("svm_type ")) }

// ReadLIBSVM reads a model file of LIBSVM under the default limits. It accepts C-SVC, nu-SVC,
// one-class, and regressions of both kinds, with a linear, rbf or polynomial kernel. The argument
// width is the number of features, which the file does not state. It must be at least the largest
// index in the file. The model keeps the file's order of classes, and LIBSVM's sigmoids for
// probabilities. ReadLIBSVM discards a regression's noise and a one-class machine's densities.
func ReadLIBSVM(r io.Reader, width int) (*Model, error) { return Limits{}.ReadLIBSVM(r, width) }

// ReadLIBSVM reads a model file of LIBSVM. Limits.Bytes bounds the size of the file and the size of
// the vectors in memory. In memory, vectors include the zeros that the file omits.
func (l Limits) ReadLIBSVM(r io.Reader, width int) (*Model, error) {
	limit := l.Bytes
	if limit == 0 {
		limit = DefaultBytes
	}
	p := &libsvmReader{lines: bufio.NewScanner(io.LimitReader(r, limit)), width: width, limit: limit}
	p.lines.Buffer(nil, int(min(limit, maxLine)))
	m, err := p.model()
	if scan := p.lines.Err(); scan != nil && !errors.Is(scan, bufio.ErrTooLong) {
		return nil, fmt.Errorf("model: reading: %w", scan)
	}
	if err != nil {
		return nil, formatError("LIBSVM, line %d: %w", p.line, err)
	}
	return m, nil
}

// maxLine is the largest length of a line in bytes. A vector of dense numbers is far shorter.
const maxLine = 1 << 30

// libsvmReader reads one model file of LIBSVM.
type libsvmReader struct {
	lines   *bufio.Scanner
	line    int
	width   int
	limit   int64
	head    Head
	spec    kernel.Spec
	classes int
	total   int
	rho     []float64
	labels  []string
	sizes   []int
	a, b    []float64
}

func (p *libsvmReader) model() (*Model, error) {
	if p.width < 1 || p.width > maxWidth {
		return nil, fmt.Errorf("the number of features is %d; 1 to %d are allowed", p.width, maxWidth)
	}
	if err := p.readHeader(); err != nil {
		return nil, err
	}
	if err := p.checkHeader(); err != nil {
		return nil, err
	}
	vectors, coef, err := p.readVectors()
	if err != nil {
		return nil, err
	}
	if p.head.Kind.Classifies() {
		p.pairs(coef)
	} else {
		p.head.Functions = []Function{Dense(coef.Column(0), p.rho[0])}
	}
	head, kept := p.head.Compact(vectors.Rows)
	for i, row := range kept {
		copy(vectors.Row(i), vectors.Row(row))
	}
	return build(p.spec, nil, vectors.Panel(0, len(kept)), head)
}

// readHeader reads the lines before the support vectors.
func (p *libsvmReader) readHeader() error {
	seen := make(map[string]bool)
	for p.next() {
		key, rest, _ := strings.Cut(strings.TrimSpace(p.lines.Text()), " ")
		if key == "SV" {
			return nil
		}
		if seen[key] {
			return fmt.Errorf("the entry %s occurs twice", quoted(key))
		}
		seen[key] = true
		if err := p.setField(key, strings.Fields(rest)); err != nil {
			return err
		}
	}
	return errors.New("the file ends before its vectors; copy it again")
}

func (p *libsvmReader) next() bool {
	p.line++
	return p.lines.Scan()
}

// setField reads one line of the header.
func (p *libsvmReader) setField(key string, values []string) (err error) {
	switch key {
	case "svm_type":
		return p.setType(values)
	case "kernel_type":
		return p.setKernel(values)
	case "gamma":
		p.spec.Gamma, err = number(values)
	case "coef0":
		p.spec.Coef0, err = number(values)
	case "degree":
		if p.spec.Degree, err = whole(values, 1<<16); p.spec.Degree == 0 { // a degree of 0 would mean the default
			err = errors.New("the degree must be at least 1")
		}
	case "nr_class":
		p.classes, err = whole(values, svm.MaxClasses)
	case "total_sv":
		p.total, err = whole(values, maxVectors)
	case "rho":
		p.rho, err = numbers(values)
	case "label":
		p.labels = slices.Clone(values)
	case "probA":
		p.a, err = numbers(values)
	case "probB":
		p.b, err = numbers(values)
	case "nr_sv":
		for _, v := range values {
			var n int
			if n, err = whole([]string{v}, maxVectors); err != nil {
				break
			}
			p.sizes = append(p.sizes, n)
		}
	case "prob_density_marks":
	default:
		return fmt.Errorf("unknown entry %s", quoted(key))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (p *libsvmReader) setType(values []string) error {
	name := strings.Join(values, " ")
	if name == "nu_svr" { // trained machines of nu-SVR and epsilon-SVR have the same form
		name = "epsilon_svr"
	}
	for kind, known := range libsvmTypes() {
		if name == known {
			p.head.Kind = kind
		}
	}
	if p.head.Kind == "" {
		return fmt.Errorf("svm_type is %s; it must be c_svc, nu_svc, one_class, epsilon_svr or nu_svr", quoted(name))
	}
	return nil
}

func (p *libsvmReader) setKernel(values []string) error {
	p.spec.Name = strings.Join(values, " ")
	if !slices.Contains([]string{"linear", "polynomial", "rbf"}, p.spec.Name) {
		return fmt.Errorf("kernel_type is %s; it must be linear, polynomial or rbf", quoted(p.spec.Name))
	}
	return nil
}

// checkHeader checks that the header's entries are complete and agree.
func (p *libsvmReader) checkHeader() error {
	pairs := p.classes * (p.classes - 1) / 2
	switch {
	case p.head.Kind == "" || p.spec.Name == "":
		return errors.New("svm_type or kernel_type is missing")
	case p.classes < 2 || !p.head.Kind.Classifies() && p.classes != 2:
		return fmt.Errorf("nr_class is %d; it must be at least 2 in a classifier and exactly 2 in any other model", p.classes)
	case len(p.rho) != pairs:
		return fmt.Errorf("rho has %d numbers for %d classes; it needs one for each pair of classes", len(p.rho), p.classes)
	case int64(p.total)*int64(p.width) > p.limit/8:
		return fmt.Errorf("%d vectors of %d numbers need more than the %d bytes that are allowed", p.total, p.width, p.limit)
	case !p.head.Kind.Classifies():
		return nil
	case len(p.labels) != p.classes || len(p.sizes) != p.classes || linalg.Sum(p.sizes) != p.total:
		return fmt.Errorf("\"label\" and nr_sv must have %d entries each, and nr_sv must add up to %d", p.classes, p.total)
	case len(p.a) != len(p.b) || len(p.a) != 0 && len(p.a) != pairs:
		return fmt.Errorf("probA has %d numbers and probB has %d for %d classes; both need one for each pair of classes", len(p.a), len(p.b), p.classes)
	}
	p.head.Classes = p.labels
	for k := range p.a {
		p.head.Sigmoids = append(p.head.Sigmoids, svm.Sigmoid{A: p.a[k], B: p.b[k]})
	}
	return nil
}

// readVectors reads all support vectors and their coefficients. Memory grows with the lines that
// arrive, not with the stated number of vectors.
func (p *libsvmReader) readVectors() (x, coef linalg.Matrix[float64], err error) {
	x.Cols, x.Stride = p.width, p.width
	coef.Cols, coef.Stride = p.classes-1, p.classes-1
	for range p.total {
		if !p.next() {
			return x, coef, fmt.Errorf("the file ends after %d of %d vectors, or its next line is too long; copy the file again", x.Rows, p.total)
		}
		row, c := make([]float64, p.width), make([]float64, p.classes-1)
		if err := readVector(p.lines.Text(), row, c); err != nil {
			return x, coef, err
		}
		x.Data, coef.Data = append(x.Data, row...), append(coef.Data, c...)
		x.Rows, coef.Rows = x.Rows+1, coef.Rows+1
	}
	for p.next() {
		if strings.TrimSpace(p.lines.Text()) != "" {
			return x, coef, fmt.Errorf("the file has more than the %d vectors that total_sv announces", p.total)
		}
	}
	return x, coef, nil
}

// readVector reads a line of coefficients, followed by index:value pairs whose indices ascend from
// 1.
func readVector(line string, row, coef []float64) error {
	fields := strings.Fields(line)
	if len(fields) < len(coef) {
		return fmt.Errorf("the line has %d fields, but it must begin with %d coefficients", len(fields), len(coef))
	}
	for k := range coef {
		var err error
		if coef[k], err = number(fields[k : k+1]); err != nil {
			return err
		}
	}
	last := 0
	for _, field := range fields[len(coef):] {
		index, value, _ := strings.Cut(field, ":")
		j, err := whole([]string{index}, maxWidth)
		if err != nil {
			return fmt.Errorf("index %s is not a whole number", quoted(index))
		}
		if j <= last || j > len(row) {
			return fmt.Errorf("index %d follows index %d; indices must ascend and be at most %d", j, last, len(row))
		}
		if row[j-1], err = number([]string{value}); err != nil {
			return err
		}
		last = j
	}
	return nil
}

// pairs converts the coefficients to a function for each pair of classes. For two classes, i before
// j, the coefficients of the vectors of class i are in column j-1, and those of class j in column
// i.
func (p *libsvmReader) pairs(coef linalg.Matrix[float64]) {
	first := 0
	for i := range p.classes {
		second := first + p.sizes[i]
		for j := i + 1; j < p.classes; j++ {
			f := Function{Rho: p.rho[len(p.head.Functions)]}
			f.appendColumn(coef, j-1, first, first+p.sizes[i])
			f.appendColumn(coef, i, second, second+p.sizes[j])
			p.head.Functions = append(p.head.Functions, f)
			second += p.sizes[j]
		}
		first += p.sizes[i]
	}
}

// appendColumn appends the nonzero entries of one column of coef, in the rows lo to hi-1.
func (f *Function) appendColumn(coef linalg.Matrix[float64], column, lo, hi int) {
	for i := lo; i < hi; i++ {
		if c := coef.Row(i)[column]; c != 0 {
			f.Index, f.Coef = append(f.Index, i), append(f.Coef, c)
		}
	}
}

func number(values []string) (float64, error) {
	v, err := numbers(values)
	if err != nil {
		return 0, err
	}
	if len(v) != 1 {
		return 0, fmt.Errorf("the entry has %d values; exactly one is allowed", len(v))
	}
	return v[0], nil
}

func numbers(values []string) ([]float64, error) {
	out := make([]float64, len(values))
	for i, s := range values {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !finite(v) {
			return nil, fmt.Errorf("%s is not a finite number", quoted(s))
		}
		out[i] = v
	}
	return out, nil
}

func whole(values []string, most int) (int, error) {
	if len(values) != 1 {
		return 0, fmt.Errorf("the entry has %d values; exactly one is allowed", len(values))
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s is not a whole number from 0 to %d", quoted(values[0]), most)
	}
	return n, nil
}

// quoted quotes the beginning of foreign text for a message.
func quoted(s string) string { return strconv.Quote(s[:min(len(s), 40)]) }
