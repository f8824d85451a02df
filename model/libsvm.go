package model

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/kernel"
)

// libsvmTypes maps kinds to LIBSVM's names (svm.cpp of version 3.24, svm_save_model).
func libsvmTypes() map[Kind]string {
	return map[Kind]string{SVC: "c_svc", NuSVC: "nu_svc", OneClass: "one_class", SVR: "epsilon_svr"}
}

// WriteLIBSVM writes m as a model file of LIBSVM, for svm-predict and other readers of such files.
// It accepts svc, nu-svc, one-class and svr models with a linear, rbf or polynomial kernel without an
// amplitude. In such a file, classes are 32-bit whole numbers: see [LIBSVMLabels]. The file has no scale, so LIBSVM's
// programs need rows that are already scaled according to [Scale]; [WriteLIBSVMRange] writes a file
// for svm-scale.
//
// The file keeps the order of classes and the signs of coefficients and decisions. LIBSVM's
// decisions differ from those of m by rounding only. In the function of a pair of classes, a vector
// with a positive coefficient belongs to the first class.
func WriteLIBSVM(w io.Writer, m *Model) error {
	l := &libsvmWriter{lineWriter: lineWriter{w: bufio.NewWriter(w)}, m: m, row: make([]float64, m.width)}
	if err := l.write(); err != nil {
		return fmt.Errorf("model: LIBSVM: %w", err)
	}
	return l.flush()
}

// LIBSVMLabels returns the labels that represent a model's classes in a file of LIBSVM. They are
// the classes themselves if all are 32-bit whole numbers, written without + and leading zeros, otherwise
// 0, 1, ... in the order of the classes. renamed reports whether the labels differ from the classes.
func LIBSVMLabels(classes []string) (labels []string, renamed bool) {
	for _, class := range classes {
		v, err := strconv.ParseInt(class, 10, 32)
		renamed = renamed || err != nil || strconv.FormatInt(v, 10) != class
	}
	if !renamed {
		return classes, false
	}
	for i := range classes {
		labels = append(labels, strconv.Itoa(i))
	}
	return labels, true
}

// WriteLIBSVMRange writes a scale as the file that svm-scale -r reads. It has bounds 0 and 1;
// svm-scale omits features that are constant.
func WriteLIBSVMRange(w io.Writer, s *Scale) error {
	t := &lineWriter{w: bufio.NewWriter(w)}
	t.printf("x\n0 1\n")
	for j, offset := range s.Offset {
		if s.Factor[j] != 0 {
			t.printf("%d %.17g %.17g\n", j+1, offset, offset+1/s.Factor[j])
		}
	}
	return t.flush()
}

// lineWriter writes formatted text and keeps the first error.
type lineWriter struct {
	w   *bufio.Writer
	err error
}

func (t *lineWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *lineWriter) flush() error {
	if t.err == nil {
		t.err = t.w.Flush()
	}
	if t.err != nil {
		return fmt.Errorf("model: writing: %w", t.err)
	}
	return nil
}

// libsvmWriter writes one model file of LIBSVM.
type libsvmWriter struct {
	lineWriter
	m   *Model
	row []float64
}

func (l *libsvmWriter) write() error {
	name, ok := libsvmTypes()[l.m.head.Kind]
	if !ok {
		return fmt.Errorf("the format cannot hold %s model", humanize.A(string(l.m.head.Kind)))
	}
	kernel, err := libsvmKernel(l.m.spec)
	if err != nil {
		return err
	}
	top := fmt.Sprintf("svm_type %s\n%s", name, kernel)
	if l.m.head.Kind.Classifies() {
		return l.classifier(top)
	}
	f := l.m.head.Functions[0]
	l.printf("%snr_class 2\ntotal_sv %d\nrho %.17g\nSV\n", top, l.m.count, f.Rho)
	for i := range l.m.count {
		l.writeVector(i, []float64{f.coefOf(i)})
	}
	return nil
}

func (l *libsvmWriter) classifier(top string) error {
	grouped, err := l.m.head.ByClass(l.m.count)
	if err != nil {
		return err
	}
	l.writeHeader(top, grouped.Counts)
	for k, i := range grouped.Rows {
		l.writeVector(i, grouped.Coef[k])
	}
	return nil
}

// libsvmKernel returns the lines of the file that describe the kernel.
func libsvmKernel(s kernel.Spec) (string, error) {
	if s.Amplitude != 0 {
		return "", fmt.Errorf("the format has no amplitude, but the kernel has the amplitude %g; train without an amplitude", s.Amplitude)
	}
	switch s.Name {
	case "linear":
		return "kernel_type linear\n", nil
	case "rbf":
		return fmt.Sprintf("kernel_type rbf\ngamma %.17g\n", s.Gamma), nil
	case "polynomial":
		return fmt.Sprintf("kernel_type polynomial\ndegree %d\ngamma %.17g\ncoef0 %.17g\n", s.Degree, s.Gamma, s.Coef0), nil
	}
	return "", fmt.Errorf("the format cannot hold a %s kernel; use a linear, rbf or polynomial kernel", s.Name)
}

// writeHeader writes the header of a classifier's file. The slice counts has the number of support
// vectors of each class.
func (l *libsvmWriter) writeHeader(top string, counts []int) {
	h := &l.m.head
	l.printf("%snr_class %d\ntotal_sv %d\nrho", top, len(h.Classes), l.m.count)
	for _, f := range h.Functions {
		l.printf(" %.17g", f.Rho)
	}
	l.printf("\nlabel")
	labels, _ := LIBSVMLabels(h.Classes)
	for _, label := range labels {
		l.printf(" %s", label)
	}
	if h.Sigmoids != nil {
		l.printf("\nprobA")
		for _, s := range h.Sigmoids {
			l.printf(" %.17g", s.A)
		}
		l.printf("\nprobB")
		for _, s := range h.Sigmoids {
			l.printf(" %.17g", s.B)
		}
	}
	l.printf("\nnr_sv")
	for _, n := range counts {
		l.printf(" %d", n)
	}
	l.printf("\nSV\n")
}

// writeVector writes the line of support vector i: its coefficients, then its nonzero numbers.
func (l *libsvmWriter) writeVector(i int, coef []float64) {
	for _, c := range coef {
		l.printf("%.17g ", c)
	}
	l.m.vectors.ReadRow(i, l.row)
	for j, v := range l.row {
		if v != 0 {
			l.printf("%d:%.17g ", j+1, v)
		}
	}
	l.printf("\n")
}

// ByClass lists the support vectors of a classifier class by class, as LIBSVM's and ONNX's files do.
type ByClass struct {
	Rows   []int       // the model's rows: first those of class 0, then those of class 1, ...
	Counts []int       // number of rows of each class
	Coef   [][]float64 // for each of Rows its coefficients: one for each class except its own
}

// ByClass groups a classifier's rows by class. The argument rows is the number of the model's rows.
// It returns an error if a row has coefficients of two classes.
func (h *Head) ByClass(rows int) (ByClass, error) {
	owner, err := h.owners(rows)
	if err != nil {
		return ByClass{}, err
	}
	b := ByClass{Counts: make([]int, len(h.Classes))}
	for code := range h.Classes {
		for i, own := range owner {
			if own == code {
				b.Rows, b.Coef = append(b.Rows, i), append(b.Coef, h.columnOf(i, own))
				b.Counts[code]++
			}
		}
	}
	return b, nil
}

// owners returns the class of each vector.
func (h *Head) owners(rows int) ([]int, error) {
	owner := make([]int, rows)
	for i := range owner {
		owner[i] = -1
	}
	for first := range h.Classes {
		for second := first + 1; second < len(h.Classes); second++ {
			f := h.Functions[pairOf(first, second, len(h.Classes))]
			for k, row := range f.Index {
				code := first
				if f.Coef[k] < 0 {
					code = second
				}
				if owner[row] >= 0 && owner[row] != code {
					return nil, errors.New("a support vector has coefficients of two classes; it must belong to one class")
				}
				owner[row] = code
			}
		}
	}
	return owner, nil
}

// columnOf returns the coefficients of a support vector, one for each class except the vector's
// own, in LIBSVM's order.
func (h *Head) columnOf(row, own int) []float64 {
	var column []float64
	for other := range h.Classes {
		if other != own {
			f := h.Functions[pairOf(min(own, other), max(own, other), len(h.Classes))]
			column = append(column, f.coefOf(row))
		}
	}
	return column
}

// pairOf returns the index of the pair of classes i and j among all pairs of n classes. The code i
// must be below j.
func pairOf(i, j, n int) int { return i*(2*n-i-1)/2 + j - i - 1 }
