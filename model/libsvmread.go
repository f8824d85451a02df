package model

import (
	"bytes"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/libsvm"
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
	if width < 1 || width > maxWidth {
		return nil, formatError("LIBSVM: the number of features is %d; 1 to %d are allowed", width, maxWidth)
	}
	file, line, err := libsvm.ReadModel(r, libsvm.Reading{
		Bytes: limit, Columns: width + 1, First: 1, Cells: limit / 8, Classes: 2,
		Kernels: []libsvm.KernelName{libsvm.Linear, libsvm.Polynomial, libsvm.RBF},
	})
	if err != nil && line == 0 {
		return nil, fmt.Errorf("model: %w", err)
	}
	var m *Model
	if err == nil {
		m, err = ofLIBSVM(file, width)
	}
	if err != nil {
		return nil, formatError("LIBSVM, line %d: %w", line, err)
	}
	return m, nil
}

// ofLIBSVM converts the content of a model file of LIBSVM to a model for rows of width numbers.
func ofLIBSVM(file *libsvm.Model, width int) (*Model, error) {
	h := Head{Output: Output{Kind: kindOf(file.Machine)}}
	if file.Machine.Classifies() {
		h.Classes = libsvm.Names(file.Labels)
		for _, p := range file.Pairs() {
			h.Functions = append(h.Functions, Function{Index: p.Index, Coef: p.Coef, Rho: p.Rho})
		}
		for k, a := range file.ProbA {
			h.Sigmoids = append(h.Sigmoids, svm.Sigmoid{A: a, B: file.ProbB[k]})
		}
	} else {
		h.Functions = []Function{Dense(file.Coef.Column(0), file.Rho[0])}
	}
	head, kept := h.Compact(file.Vectors.Rows())
	vectors := linalg.New[float64](len(kept), width)
	for i, row := range kept {
		cols, values := file.Vectors.Entries(row)
		for a, j := range cols {
			vectors.Row(i)[j-1] = values[a]
		}
	}
	k := file.Kernel
	return build(kernel.Spec{Name: string(k.Name), Gamma: k.Gamma, Coef0: k.Coef0, Degree: k.Degree}, nil, vectors, head)
}

// kindOf returns the kind of model that a machine of LIBSVM is. Trained machines of nu-SVR and
// epsilon-SVR have the same form.
func kindOf(machine libsvm.Machine) Kind {
	if machine == libsvm.NuSVR {
		machine = libsvm.SVR
	}
	for kind, known := range libsvmTypes() {
		if known == string(machine) {
			return kind
		}
	}
	return ""
}
