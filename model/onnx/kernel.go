package onnx

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// kernelValues adds the kernel of the rows x with the rows of vectors: rows x vectors. The formulas
// are those of package kernel.
func (g *graph) kernelValues(s kernel.Spec, x value, vectors linalg.Matrix[float64]) (value, error) {
	p := products{graph: g, xz: g.do("MatMul", x, g.transposed(vectors))}
	p.xx, p.zz = g.sumRows(g.do("Mul", x, x)), g.row(squaredNorms(vectors))
	k, err := p.of(s)
	if err != nil || s.Amplitude == 0 {
		return k, err
	}
	return g.do("Mul", k, g.number(s.Amplitude)), nil
}

// squaredNorms adds up each row from left to right, so that a model has the same file on every
// machine.
func squaredNorms(m linalg.Matrix[float64]) []float64 {
	norms := make([]float64, m.Rows)
	for i := range norms {
		for _, v := range m.Row(i) {
			norms[i] += float64(v * v)
		}
	}
	return norms
}

// products are the inner products of rows with a model's rows.
type products struct {
	*graph
	xz, xx, zz value
}

// of returns the kernel without its amplitude.
func (p *products) of(s kernel.Spec) (value, error) {
	switch s.Name {
	case "linear":
		return p.xz, nil
	case "rbf":
		return p.exp(p.times(p.distance(), -s.Gamma)), nil
	case "polynomial":
		return p.do("Pow", p.plus(p.times(p.xz, s.Gamma), s.Coef0), p.number(float64(s.Degree))), nil
	case "rational-quadratic":
		return p.do("Pow", p.plus(p.times(p.distance(), 1/(2*s.Alpha*s.LengthScale*s.LengthScale)), 1), p.number(-s.Alpha)), nil
	case "laplacian":
		return p.exp(p.times(p.do("Sqrt", p.distance()), -s.Gamma)), nil
	case "matern":
		return p.matern(s), nil
	case "cosine":
		return p.cosine(), nil
	case "tanimoto":
		return p.tanimoto(), nil
	case "dot-product":
		return p.dotProduct(s.Coefficients), nil
	}
	return "", fmt.Errorf("there is no graph for kernel %s", s.Name)
}

func (g *graph) exp(v value) value { return g.do("Exp", v) }

// distance returns the squared distances. Those that rounding makes negative become 0.
func (p *products) distance() value {
	d := p.do("Sub", p.do("Add", p.xx, p.zz), p.times(p.xz, 2))
	return p.do("Where", p.do("Less", d, p.number(0)), p.number(0), d)
}

// matern returns the kernel of Rasmussen and Williams (2006), equations 4.14 and 4.17.
func (p *products) matern(s kernel.Spec) value {
	if s.Nu == 0.5 {
		return p.exp(p.times(p.do("Sqrt", p.distance()), -1/s.LengthScale))
	}
	r := p.times(p.do("Sqrt", p.distance()), math.Sqrt(2*s.Nu)/s.LengthScale)
	factor := p.plus(r, 1)
	if s.Nu == 2.5 {
		factor = p.do("Add", factor, p.times(p.do("Mul", r, r), 1./3))
	}
	return p.do("Mul", factor, p.exp(p.times(r, -1)))
}

// cosine returns the cosines, from -1 to 1. The cosine with a row of zeros is 0.
func (p *products) cosine() value {
	norms := p.do("Mul", p.xx, p.zz)
	none := p.do("Equal", norms, p.number(0))
	c := p.do("Div", p.xz, p.do("Sqrt", p.do("Where", none, p.number(1), norms)))
	return p.do("Where", none, p.number(0), p.between(c, -1, 1))
}

func (p *products) tanimoto() value {
	union := p.do("Sub", p.do("Add", p.xx, p.zz), p.xz)
	some := p.do("Greater", union, p.number(0))
	return p.do("Where", some, p.do("Div", p.xz, p.do("Where", some, union, p.number(1))), p.number(1))
}

func (p *products) dotProduct(coefficients []float64) value {
	last := len(coefficients) - 1
	sum := p.plus(p.times(p.xz, coefficients[last]), coefficients[last-1])
	for d := last - 2; d >= 0; d-- {
		sum = p.plus(p.do("Mul", sum, p.xz), coefficients[d])
	}
	return sum
}
