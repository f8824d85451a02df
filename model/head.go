package model

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Function is a function of a new row x: the sum over k of Coef[k] K(x, row Index[k]), minus Rho.
// The learner of every model with rows produces such functions.
type Function struct {
	Index []int     // indices of the model's rows, ascending
	Coef  []float64 // coefficients of the rows in Index, finite and not 0
	Rho   float64
}

// Dense returns the function whose coefficient of row i is coef[i].
func Dense(coef []float64, rho float64) Function {
	f := Function{Rho: rho}
	for i, c := range coef {
		if c != 0 {
			f.Index, f.Coef = append(f.Index, i), append(f.Coef, c)
		}
	}
	return f
}

// Head is a learner's result. It computes outputs from the kernel of new rows with the rows of a
// model.
type Head struct {
	Output
	// Functions are the functions from which the outputs are computed. A model of shape Pairs has one
	// function for each pair of classes, in the order (0,1), (0,2), ... A model of another shape has
	// one for each component, cluster or class; a single one predicts a number, a side, or one of two
	// classes.
	Functions []Function
	// Sigmoids hold the calibration of each pair of classes of a model of shape Pairs, or nil without
	// a calibration.
	Sigmoids []svm.Sigmoid
	// Noise and Unit are the noise variance and the target scale of a Gaussian process. The process
	// was fitted to (targets - mean) / Unit. Only the deviations are computed from Noise and Unit.
	Noise, Unit float64
}

// Voters returns the head of a classifier. The calibration can be nil.
func Voters(kind Kind, c *svm.Classifier, calibration *svm.Calibration) Head {
	h := Head{Output: Output{Kind: kind, Classes: c.Classes}, Functions: make([]Function, len(c.Pairs))}
	for k, p := range c.Pairs {
		h.Functions[k] = Function{Index: p.Index, Coef: p.Coef, Rho: p.Rho}
	}
	if calibration != nil {
		h.Sigmoids = calibration.Sigmoids
	}
	return h
}

// Decisions computes the outputs, but not the deviations of a Gaussian process. The matrix cross
// has a row for each new row and a column for each of the model's rows.
func (h *Head) Decisions(cross linalg.Matrix[float64]) linalg.Matrix[float64] {
	m := len(h.Functions)
	out := linalg.New[float64](cross.Rows, h.outputs())
	linalg.For(cross.Rows, 16, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			for k := range m {
				out.Row(r)[k] = h.Functions[k].at(cross.Row(r))
			}
		}
	})
	if h.Sigmoids != nil {
		c := svm.Calibration{Classes: len(h.Classes), Sigmoids: h.Sigmoids}
		p := c.Probabilities(columns(out, 0, m))
		for r := range out.Rows {
			copy(out.Row(r)[m:], p.Row(r))
		}
	}
	return out
}

// outputs returns the number of outputs for each row.
func (h *Head) outputs() int {
	if h.Sigmoids != nil {
		return len(h.Functions) + len(h.Classes)
	}
	return len(h.Functions)
}

func (f *Function) at(cross []float64) float64 {
	sum := 0.0
	for k, s := range f.Index {
		sum += f.Coef[k] * cross[s]
	}
	return sum - f.Rho
}

// check returns an error if no training on the given number of rows can give this head.
func (h *Head) check(rows int) error {
	outputs := h.outputs()
	if h.Kind.OutputShape() == Deviation {
		outputs++
	}
	switch {
	case h.Kind.OutputShape() != "" && !h.Kind.holdsRows():
		return fmt.Errorf("%s model must hold random features, not rows", humanize.A(string(h.Kind)))
	case h.Kind.OutputShape() == Deviation && (!(h.Noise >= 0) || !(h.Unit > 0) || !finite(h.Noise) || !finite(h.Unit)):
		return fmt.Errorf("the noise is %v and the unit is %v; both must be finite, the noise at least 0 and the unit above 0", h.Noise, h.Unit)
	case h.Kind.OutputShape() != Deviation && (h.Noise != 0 || h.Unit != 0):
		return fmt.Errorf("the noise is %v and the unit is %v; both must be 0 in %s model", h.Noise, h.Unit, humanize.A(string(h.Kind)))
	case h.Sigmoids != nil && (h.Kind.OutputShape() != Pairs || len(h.Sigmoids) != len(h.Functions)):
		return fmt.Errorf("there are %d sigmoids for %d functions of %s model; only a model that decides between pairs of classes can have sigmoids, one for each function", len(h.Sigmoids), len(h.Functions), humanize.A(string(h.Kind)))
	case h.Kind.OutputShape() == Deviation && rows > MaxProcess:
		return fmt.Errorf("a Gaussian process has %d rows; at most %d are allowed", rows, MaxProcess)
	}
	for k, s := range h.Sigmoids {
		if !finite(s.A) || !finite(s.B) {
			return fmt.Errorf("sigmoid %d is (%v, %v); both numbers must be finite", k, s.A, s.B)
		}
	}
	if err := h.checkFunctions(rows, outputs); err != nil {
		return err
	}
	return h.checkUse(rows)
}

func (h *Head) checkFunctions(rows, outputs int) error {
	if h.Kind.Classifies() {
		if err := h.checkClasses(); err != nil {
			return err
		}
	}
	if h.Kind.OutputShape() == Pairs {
		return h.checkPairs(rows)
	}
	if err := h.Check(outputs); err != nil {
		return err
	}
	for k := range h.Functions {
		if err := h.Functions[k].check(rows); err != nil {
			return fmt.Errorf("function %d: %w", k, err)
		}
	}
	return nil
}

// checkUse returns an error if a row is used by no function. A file must not reveal rows that the
// model does not need.
func (h *Head) checkUse(rows int) error {
	if i := slices.Index(h.neededRows(rows), false); i >= 0 {
		return fmt.Errorf("no function uses row %d of %d; leave the row out", i, rows)
	}
	return nil
}

// neededRows returns true for each row that a function or a standard deviation uses.
func (h *Head) neededRows(rows int) []bool {
	used, all := make([]bool, rows), h.Kind.OutputShape() == Deviation // the deviations of a Gaussian process use every row
	for i := range used {
		used[i] = all
	}
	for _, f := range h.Functions {
		for _, s := range f.Index {
			used[s] = true
		}
	}
	return used
}

// Compact returns a copy of the head whose indices count only the rows that the head needs. The
// second result holds the indices of these rows among all rows, in ascending order. [New] takes the
// copy together with the vectors of these rows. The argument rows is the number of all rows.
func (h *Head) Compact(rows int) (Head, []int) {
	kept, place := []int{}, make([]int, rows)
	for i, used := range h.neededRows(rows) {
		if place[i] = len(kept); used {
			kept = append(kept, i)
		}
	}
	out := *h
	out.Functions = slices.Clone(h.Functions)
	for k, f := range h.Functions {
		index := make([]int, len(f.Index))
		for i, s := range f.Index {
			index[i] = place[s]
		}
		out.Functions[k].Index = index
	}
	return out, kept
}

// checkPairs checks the pairs of classes with the rules of package svm.
func (h *Head) checkPairs(rows int) error {
	pairs := make([]svm.Pair, len(h.Functions))
	for k, f := range h.Functions {
		pairs[k] = svm.Pair{Index: f.Index, Coef: f.Coef, Rho: f.Rho}
	}
	_, err := svm.NewClassifier(h.Classes, pairs, rows)
	return err
}

// checkClasses refuses class names that are too long or that package svm refuses.
func (h *Head) checkClasses() error {
	for _, class := range h.Classes {
		if len(class) > maxClassName {
			return fmt.Errorf("a class name has %d bytes; at most %d are allowed", len(class), maxClassName)
		}
	}
	n := len(h.Classes)
	_, err := svm.NewClassifier(h.Classes, make([]svm.Pair, n*(n-1)/2), 0)
	return err
}

func (f *Function) check(rows int) error {
	if len(f.Index) != len(f.Coef) {
		return fmt.Errorf("the function has %d indices for %d coefficients; it needs one index for each coefficient", len(f.Index), len(f.Coef))
	}
	if !finite(f.Rho) {
		return fmt.Errorf("rho is %v; it must be finite", f.Rho)
	}
	last := -1
	for k, s := range f.Index {
		if s <= last || s >= rows {
			return fmt.Errorf("index %d follows index %d in a model of %d rows; indices must ascend and be below the number of rows", s, last, rows)
		}
		if v := f.Coef[k]; v == 0 || !finite(v) {
			return fmt.Errorf("coefficient %d is %v; it must be finite and not 0", k, v)
		}
		last = s
	}
	return nil
}

func finite(v float64) bool { return v-v == 0 }

// coefOf returns the coefficient of a row, or 0 if Index does not list the row.
func (f *Function) coefOf(row int) float64 {
	if k, ok := slices.BinarySearch(f.Index, row); ok {
		return f.Coef[k]
	}
	return 0
}
