package libsvm

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Write writes the model as a model file of LIBSVM.
func (m *Model) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	p := &printer{w: b}
	m.writeHeader(p)
	for s := range m.Vectors.Rows() {
		m.writeVector(p, s)
	}
	if p.err == nil {
		p.err = b.Flush()
	}
	return p.err
}

func (m *Model) writeHeader(p *printer) {
	classes := max(len(m.Labels), 1)
	if !m.Machine.Classifies() {
		classes = 2
	}
	p.print(fmt.Sprintf("svm_type %s\nkernel_type %s\n", m.Machine, m.Kernel.Name))
	k := m.Kernel
	if k.Name == Polynomial {
		p.print(fmt.Sprintf("degree %d\n", k.Degree))
	}
	if k.Name == Polynomial || k.Name == RBF || k.Name == Sigmoid {
		p.print(fmt.Sprintf("gamma %.17g\n", k.Gamma))
	}
	if k.Name == Polynomial || k.Name == Sigmoid {
		p.print(fmt.Sprintf("coef0 %.17g\n", k.Coef0))
	}
	p.print(fmt.Sprintf("nr_class %d\ntotal_sv %d\n", classes, m.Vectors.Rows()))
	entry(p, "rho", "%.17g", m.Rho)
	if m.Labels != nil {
		entry(p, "label", "%d", m.Labels)
	}
	if m.ProbA != nil {
		entry(p, "probA", "%.17g", m.ProbA)
	}
	if m.ProbB != nil {
		entry(p, "probB", "%.17g", m.ProbB)
	}
	if m.Labels != nil {
		entry(p, "nr_sv", "%d", m.Sizes)
	}
	p.print("SV\n")
}

// entry writes a line of the header with a list of numbers.
func entry[T any](p *printer, name, format string, values []T) {
	p.print(name)
	for _, v := range values {
		p.print(fmt.Sprintf(" "+format, v))
	}
	p.print("\n")
}

// writeVector writes the line of a support vector. With a precomputed kernel, the vector is the
// number of a training row.
func (m *Model) writeVector(p *printer, s int) {
	for _, c := range m.Coef.Row(s) {
		p.print(fmt.Sprintf("%.17g ", c))
	}
	cols, values := m.Vectors.Entries(s)
	if m.Kernel.Name == Precomputed {
		cols, values = cols[:1], values[:1]
	}
	for a, j := range cols {
		p.print(strconv.Itoa(int(j)) + ":" + shortest(values[a]) + " ")
	}
	p.print("\n")
}

// shortest returns v with the eight digits that LIBSVM writes, or with more if it needs more.
func shortest(v float64) string {
	text := strconv.FormatFloat(v, 'g', 8, 64)
	if back, err := strconv.ParseFloat(text, 64); err == nil && back == v {
		return fmt.Sprintf("%.8g", v)
	}
	return fmt.Sprintf("%.17g", v)
}
