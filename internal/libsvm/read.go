package libsvm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Reading bounds the model files that [ReadModel] accepts.
type Reading struct {
	Bytes   int64 // greatest size of the file
	Columns int   // greatest number of columns, counted from index 0
	First   int   // least index of a vector
	Cells   int64 // greatest number of vectors times features
	Classes int   // least number of classes of a classifier
	Kernels []KernelName
}

// Any accepts the models of svm-train in files of at most 8 GiB.
func Any() Reading {
	return Reading{Bytes: 8 << 30, Columns: dataset.MaxColumns, Cells: math.MaxInt64, Classes: 1, Kernels: Kernels()}
}

// ReadModel reads a model file of LIBSVM. The entry prob_density_marks is left out. line is the number
// of the line of the error, 0 for an error of r, or the number of the last line.
func ReadModel(r io.Reader, o Reading) (m *Model, line int, err error) {
	limited := &io.LimitedReader{R: r, N: o.Bytes + 1}
	p := &reader{Reading: o, lines: bufio.NewScanner(limited)}
	p.lines.Buffer(nil, int(min(o.Bytes, maxLine)))
	err = p.read()
	if scan := p.lines.Err(); scan != nil && !errors.Is(scan, bufio.ErrTooLong) {
		return nil, 0, fmt.Errorf("reading: %w", scan)
	}
	if limited.N == 0 {
		return nil, 0, fmt.Errorf("the file is longer than %d bytes", o.Bytes)
	}
	return &p.Model, p.line, err
}

const (
	maxLine    = 1 << 30 // largest length of a line in bytes; a vector of dense numbers is far shorter
	maxVectors = 1 << 26
)

// reader reads one model file.
type reader struct {
	Reading
	Model
	lines   *bufio.Scanner
	line    int
	classes int
	total   int
}

func (p *reader) read() error {
	if err := p.readHeader(); err != nil {
		return err
	}
	if err := p.checkHeader(); err != nil {
		return err
	}
	return p.readVectors()
}

// readHeader reads the lines before the support vectors.
func (p *reader) readHeader() error {
	seen := make(map[string]bool)
	for p.next() {
		key, rest, _ := strings.Cut(strings.TrimSpace(p.lines.Text()), " ")
		if key == "SV" {
			return nil
		}
		if seen[key] {
			return fmt.Errorf("the entry %s occurs twice", dataset.Quote(key))
		}
		seen[key] = true
		if err := p.setField(key, strings.Fields(rest)); err != nil {
			return err
		}
	}
	return errors.New("the file ends before its vectors; copy it again")
}

func (p *reader) next() bool {
	p.line++
	return p.lines.Scan()
}

// setField reads one line of the header.
func (p *reader) setField(key string, values []string) (err error) {
	switch key {
	case "svm_type":
		return p.setType(values)
	case "kernel_type":
		return p.setKernel(values)
	case "gamma":
		p.Kernel.Gamma, err = number(values)
	case "coef0":
		p.Kernel.Coef0, err = number(values)
	case "degree":
		if p.Kernel.Degree, err = whole(values, 1<<16); p.Kernel.Degree == 0 { // a degree of 0 would mean the default
			err = errors.New("the degree must be at least 1")
		}
	case "nr_class":
		p.classes, err = whole(values, svm.MaxClasses)
	case "total_sv":
		p.total, err = whole(values, maxVectors)
	case "rho":
		p.Rho, err = numbers(values)
	case "label":
		p.Labels, err = labels(values)
	case "probA":
		p.ProbA, err = numbers(values)
	case "probB":
		p.ProbB, err = numbers(values)
	case "nr_sv":
		p.Sizes, err = sizes(values)
	case "prob_density_marks":
	default:
		return fmt.Errorf("unknown entry %s", dataset.Quote(key))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (p *reader) setType(values []string) error {
	name := strings.Join(values, " ")
	if p.Machine = Machine(name); !slices.Contains(Machines(), p.Machine) {
		return fmt.Errorf("svm_type is %s; it must be %s", dataset.Quote(name), either(Machines()))
	}
	return nil
}

func (p *reader) setKernel(values []string) error {
	name := strings.Join(values, " ")
	if p.Kernel.Name = KernelName(name); slices.Contains(p.Kernels, p.Kernel.Name) {
		return nil
	}
	return fmt.Errorf("kernel_type is %s; it must be %s", dataset.Quote(name), either(p.Kernels))
}

// either lists names, such as "a, b or c".
func either[T ~string](names []T) string {
	list := string(names[0])
	for i, name := range names[1:] {
		separator := ", "
		if i == len(names)-2 {
			separator = " or "
		}
		list += separator + string(name)
	}
	return list
}

// checkHeader checks that the header's entries are complete and agree.
func (p *reader) checkHeader() error {
	pairs := p.classes * (p.classes - 1) / 2
	classifies := p.Machine.Classifies()
	functions := pairs
	if !classifies {
		functions = 1
	}
	switch {
	case p.Machine == "":
		return errors.New("svm_type is missing")
	case p.Kernel.Name == "":
		return errors.New("kernel_type is missing")
	case classifies && p.classes < p.Classes || !classifies && p.classes != 2:
		return fmt.Errorf("nr_class is %d; it must be at least %d in a classifier and exactly 2 in any other model", p.classes, p.Classes)
	case len(p.Rho) != functions:
		return fmt.Errorf("rho has %d numbers for %d classes; it needs one for each pair of classes", len(p.Rho), p.classes)
	case int64(p.total)*int64(p.Columns-1) > p.Cells:
		return fmt.Errorf("%d vectors of %d numbers need more than the %d bytes that are allowed", p.total, p.Columns-1, p.Bytes)
	case !classifies:
		return nil
	case len(p.Labels) != p.classes:
		return fmt.Errorf("\"label\" has %d entries for %d classes; it needs one for each class", len(p.Labels), p.classes)
	case len(p.Sizes) != p.classes:
		return fmt.Errorf("nr_sv has %d entries for %d classes; it needs one for each class", len(p.Sizes), p.classes)
	case linalg.Sum(p.Sizes) != p.total:
		return fmt.Errorf("the numbers of nr_sv add up to %d; they must add up to total_sv, which is %d", linalg.Sum(p.Sizes), p.total)
	case len(p.ProbA) != len(p.ProbB) || len(p.ProbA) != 0 && len(p.ProbA) != pairs:
		return fmt.Errorf("probA has %d numbers and probB has %d for %d classes; both need one for each pair of classes", len(p.ProbA), len(p.ProbB), p.classes)
	}
	return nil
}

// readVectors reads all support vectors and their coefficients. Memory grows with the lines that
// arrive, not with the stated number of vectors.
func (p *reader) readVectors() error {
	columns := max(1, p.classes-1)
	coef := linalg.Matrix[float64]{Cols: columns, Stride: columns}
	v := &vectors{start: []int{0}}
	for range p.total {
		if !p.next() {
			if errors.Is(p.lines.Err(), bufio.ErrTooLong) {
				return fmt.Errorf("the line is too long; a line can have at most %d bytes", min(p.Bytes, maxLine))
			}
			return fmt.Errorf("the file ends after %d of %d vectors; copy the file again", coef.Rows, p.total)
		}
		c := make([]float64, columns)
		if err := v.add(p.lines.Text(), c, p.Reading); err != nil {
			return err
		}
		coef.Data, coef.Rows = append(coef.Data, c...), coef.Rows+1
	}
	for p.next() {
		if strings.TrimSpace(p.lines.Text()) != "" {
			return fmt.Errorf("the file has more than the %d vectors that total_sv announces", p.total)
		}
	}
	p.Coef = coef
	var err error
	p.Vectors, err = dataset.NewCSR(v.columns, v.start, v.index, v.value)
	return err
}

// vectors are support vectors in the format of compressed sparse rows.
type vectors struct {
	columns int
	start   []int
	index   []int32
	value   []float64
}

// add reads a line of coefficients, followed by index:value pairs whose indices ascend.
func (v *vectors) add(line string, coef []float64, o Reading) error {
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
	last := o.First - 1
	for _, field := range fields[len(coef):] {
		index, value, _ := strings.Cut(field, ":")
		j, err := whole([]string{index}, math.MaxInt32)
		if err != nil {
			return fmt.Errorf("index %s is not a whole number", dataset.Quote(index))
		}
		if j <= last || j >= o.Columns {
			return fmt.Errorf("index %d follows index %d; indices must ascend and be at most %d", j, max(last, 0), o.Columns-1)
		}
		x, err := number([]string{value})
		if err != nil {
			return err
		}
		v.index, v.value, v.columns, last = append(v.index, int32(j)), append(v.value, x), max(v.columns, j+1), j
	}
	v.start = append(v.start, len(v.index))
	return nil
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
		if err != nil || v-v != 0 {
			return nil, fmt.Errorf("%s is not a finite number", dataset.Quote(s))
		}
		out[i] = v
	}
	return out, nil
}

func labels(values []string) ([]int, error) {
	out := make([]int, len(values))
	for i, s := range values {
		v, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s is not a 32-bit whole number", dataset.Quote(s))
		}
		out[i] = int(v)
	}
	return out, nil
}

func sizes(values []string) (out []int, err error) {
	for _, v := range values {
		n, err := whole([]string{v}, maxVectors)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func whole(values []string, most int) (int, error) {
	if len(values) != 1 {
		return 0, fmt.Errorf("the entry has %d values; exactly one is allowed", len(values))
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s is not a whole number from 0 to %d", dataset.Quote(values[0]), most)
	}
	return n, nil
}
