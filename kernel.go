package mercer

import (
	"errors"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Kernel specifies a positive semidefinite function of two rows. The types of this package, such as
// [RBF] or [Linear], are kernels; package kernel has the formulas.
type Kernel interface {
	prepare(rows linalg.Rows) (*prepared, error)
}

// prepared holds a kernel together with its training rows.
type prepared struct {
	spec  kernel.Spec
	scale *model.Scale // scale of the columns; nil if they are not scaled
	rows  linalg.Rows  // training rows, scaled if there is a scale
}

// Linear is the inner product of two rows.
type Linear struct{}

// RBF is Amplitude exp(-Gamma |x-z|^2), with |x-z| the Euclidean distance. Gamma 0 means 1 / (n v),
// where n is the number of columns and v the variance of all numbers in the training rows, once they are
// scaled, or 1 if v is 0, as "scale" in scikit-learn. Amplitude 0 means 1.
type RBF struct{ Gamma, Amplitude float64 }

// Polynomial is the kernel (Gamma x.z + Coef0)^Degree. Gamma is as in [RBF]. Coef0 0 is the number
// 0, as in scikit-learn's SVC. Degree is 1 to 64, and 0 means 3: a kernel of degree 0 would be the same for
// all rows.
type Polynomial struct {
	Gamma, Coef0 float64
	Degree       int
}

// Laplacian is exp(-Gamma |x-z|), with |x-z| the Euclidean distance. In scikit-learn, the kernel of
// this name uses the L1 distance. Gamma is as in [RBF].
type Laplacian struct{ Gamma float64 }

// Matern is the Matérn kernel. Nu is 0.5, 1.5 or 2.5, and 0 means 1.5; LengthScale 0 means 1.
type Matern struct{ LengthScale, Nu float64 }

// RationalQuadratic is the kernel Amplitude (1 + |x-z|^2 / (2 Alpha LengthScale^2))^-Alpha. A field
// of 0 means 1.
type RationalQuadratic struct{ LengthScale, Alpha, Amplitude float64 }

// Cosine is the cosine of the angle between two rows.
type Cosine struct{}

// Tanimoto is the kernel x.z / (x.x + z.z - x.z), for counts and fingerprints.
type Tanimoto struct{}

// DotProduct is the sum of Coefficients[d] (x.z)^d over all indices d. It needs 2 to 65
// coefficients, none below 0, the last above 0.
type DotProduct struct{ Coefficients []float64 }

// MinMax applies a kernel to columns that are scaled to the range from 0 to 1. The least and the greatest
// value of a column in the training rows determine its scale; a constant column becomes 0. The model keeps
// the scale and applies it to new rows.
type MinMax struct{ Kernel Kernel }

// Standard applies a kernel to columns that are scaled to mean 0 and standard deviation 1 over the
// training rows; a constant column becomes 0. The model keeps the scale and applies it to new rows.
type Standard struct{ Kernel Kernel }

func (Linear) prepare(rows linalg.Rows) (*prepared, error) { return plain("linear", rows) }

func (k RBF) prepare(rows linalg.Rows) (*prepared, error) {
	return &prepared{spec: kernel.Spec{Name: "rbf", Gamma: gamma(k.Gamma, rows), Amplitude: k.Amplitude}, rows: rows}, nil
}

func (k Polynomial) prepare(rows linalg.Rows) (*prepared, error) {
	s := kernel.Spec{Name: "polynomial", Gamma: gamma(k.Gamma, rows), Coef0: k.Coef0, Degree: k.Degree}
	return &prepared{spec: s, rows: rows}, nil
}

func (k Laplacian) prepare(rows linalg.Rows) (*prepared, error) {
	return &prepared{spec: kernel.Spec{Name: "laplacian", Gamma: gamma(k.Gamma, rows)}, rows: rows}, nil
}

func (k Matern) prepare(rows linalg.Rows) (*prepared, error) {
	return &prepared{spec: kernel.Spec{Name: "matern", LengthScale: k.LengthScale, Nu: k.Nu}, rows: rows}, nil
}

func (k RationalQuadratic) prepare(rows linalg.Rows) (*prepared, error) {
	s := kernel.Spec{Name: "rational-quadratic", LengthScale: k.LengthScale, Alpha: k.Alpha, Amplitude: k.Amplitude}
	return &prepared{spec: s, rows: rows}, nil
}

func (Cosine) prepare(rows linalg.Rows) (*prepared, error) { return plain("cosine", rows) }

func (Tanimoto) prepare(rows linalg.Rows) (*prepared, error) { return plain("tanimoto", rows) }

func (k DotProduct) prepare(rows linalg.Rows) (*prepared, error) {
	return &prepared{spec: kernel.Spec{Name: "dot-product", Coefficients: k.Coefficients}, rows: rows}, nil
}

func (k MinMax) prepare(rows linalg.Rows) (*prepared, error) {
	return scaled(k.Kernel, rows, scale.MinMax)
}

func (k Standard) prepare(rows linalg.Rows) (*prepared, error) {
	return scaled(k.Kernel, rows, scale.Standard)
}

// plain prepares a kernel that has no parameters.
func plain(name string, rows linalg.Rows) (*prepared, error) {
	return &prepared{spec: kernel.Spec{Name: name}, rows: rows}, nil
}

// scaled prepares a kernel for rows whose columns are first scaled by the given method.
func scaled(inner Kernel, rows linalg.Rows, method scale.Method) (*prepared, error) {
	switch inner.(type) {
	case nil:
		return nil, errors.New("a scale needs a kernel; give one, such as mercer.MinMax{Kernel: mercer.RBF{}}")
	case MinMax, Standard:
		return nil, errors.New("MinMax and Standard cannot be combined; choose one")
	}
	s, err := scale.Pooled(rows, method)
	if err != nil {
		return nil, err
	}
	p, err := inner.prepare(s.Rows(rows))
	if err != nil {
		return nil, err
	}
	p.scale = &model.Scale{Offset: s.Offset, Factor: s.Factor}
	return p, nil
}

// gamma returns the given gamma, or the default gamma if the given one is 0. The default is
// 1/(columns x variance of all numbers), or 1 if the variance is 0.
func gamma(given float64, rows linalg.Rows) float64 {
	if given != 0 {
		return given
	}
	n, width := rows.Shape()
	row := make([]float64, width)
	mean, squares, seen := 0.0, 0.0, 0.0
	for i := range n {
		rows.ReadRow(i, row)
		for _, v := range row { // algorithm of B. Welford 1962
			seen++
			d := v - mean
			mean += d / seen
			squares += d * (v - mean)
		}
	}
	if squares == 0 {
		return 1
	}
	return seen / (float64(width) * squares)
}
