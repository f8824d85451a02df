package onnx

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// These are the versions of the format that Encode writes.
const (
	irVersion   = 9
	opsetNumber = 19
	mlNumber    = 3
)

// Encode writes a model as a graph of plain operations in double precision. made is the preparation
// of the model's rows, or nil. Encode refuses a model of random features whose scaling is not known,
// with [model.ErrUnscaled].
func Encode(w io.Writer, m model.Predictor, made *prepare.Preparation) error {
	g, err := graphOf(m, made)
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return write(w, g, m, opset("", opsetNumber))
}

func graphOf(m model.Predictor, made *prepare.Preparation) (*graph, error) {
	g := newGraph()
	if r, is := m.(*model.Random); is {
		if _, known := r.Scaling(); !known {
			return nil, model.ErrUnscaled
		}
	}
	x, width, err := g.rows(m, made)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *model.Model:
		return g, g.kernelMachine(m, x)
	case *model.Random:
		return g, g.randomFeatures(m, x, width)
	}
	return nil, fmt.Errorf("a model of type %T has no graph", m)
}

// checkNames refuses columns that have the name of another tensor of the graph.
func checkNames(columns []string) error {
	for _, name := range columns {
		if slices.Contains(outputs(), name) {
			return fmt.Errorf("the column %q has the name of an output of the graph; rename the column, and train again", name)
		}
		if strings.HasPrefix(name, prefix) {
			return fmt.Errorf("the name of the column %q begins with %q, like names within the graph; rename the column, and train again", name, prefix)
		}
	}
	return nil
}

// rows adds the inputs and returns the rows that the model's scale expects, and their width.
func (g *graph) rows(m model.Predictor, made *prepare.Preparation) (x value, width int, err error) {
	if made == nil {
		if m.Width() == 0 {
			return "", 0, fmt.Errorf("the file does not say how many columns the rows of the model have; predict with mercer predict")
		}
		return g.input("X", float64s, m.Width(), "the columns of the training table, not scaled"), m.Width(), nil
	}
	if err := checkNames(made.Schema().Names()); err != nil {
		return "", 0, err
	}
	x, names := g.prepared(made), made.Names()
	if m.Columns() == nil || slices.Equal(m.Columns(), names) {
		return x, len(names), nil
	}
	order := make([]int, len(m.Columns()))
	for i, name := range m.Columns() {
		if order[i] = slices.Index(names, name); order[i] < 0 {
			return "", 0, fmt.Errorf("the model has a column %q that its preparation does not make", name)
		}
	}
	return g.with("axis", 1, "Gather", x, g.list(order...)), len(order), nil
}

// scaled applies a scale to rows.
func (g *graph) scaled(s *model.Scale, x value) value {
	if s == nil {
		return x
	}
	return g.do("Mul", g.do("Sub", x, g.row(s.Offset)), g.row(s.Factor))
}

// kernelMachine adds the functions of a model with rows, and its outputs.
func (g *graph) kernelMachine(m *model.Model, x value) error {
	n, width := m.Vectors().Shape()
	vectors := linalg.New[float64](n, width)
	linalg.Gather(vectors, m.Vectors(), 0)
	k, err := g.kernelValues(m.Kernel(), g.scaled(m.Scale(), x), vectors)
	if err != nil {
		return err
	}
	h := m.Head()
	coef, rho := linalg.New[float64](len(h.Functions), n), make([]float64, len(h.Functions))
	for i, f := range h.Functions {
		rho[i] = f.Rho
		for k, s := range f.Index {
			coef.Row(i)[s] = f.Coef[k]
		}
	}
	f := g.do("Sub", g.do("MatMul", k, g.transposed(coef)), g.row(rho))
	g.answer(h.Output, f, len(rho), h.Sigmoids)
	return nil
}

// randomFeatures adds the functions of a model of random features, or of bounded rows, and its outputs.
func (g *graph) randomFeatures(m *model.Random, x value, width int) error {
	scale, _ := m.Scaling() // known: graphOf has checked it
	if weights, offset, bound, linear := m.Bounded(); linear {
		g.answer(m.Output(), g.bounded(g.scaled(scale, x), weights, offset, bound), len(offset), nil)
		return nil
	}
	directions, err := m.Directions(width)
	if err != nil {
		return err
	}
	phases := g.do("MatMul", g.scaled(scale, x), g.transposed(directions))
	phi := g.with("axis", 1, "Concat", g.do("Cos", phases), g.do("Sin", phases))
	s := m.Solution()
	f := g.do("Add", g.do("MatMul", phi, g.transposed(s.Weights)), g.row(s.Offset))
	g.answer(m.Output(), f, len(s.Offset), nil)
	return nil
}

// bounded returns the function of rows, each divided by its length or by the bound, whichever is larger.
func (g *graph) bounded(x value, weights linalg.Matrix[float64], offset []float64, bound float64) value {
	length := g.do("Max", g.do("Sqrt", g.sumRows(g.do("Mul", x, x))), g.number(bound))
	return g.do("Add", g.do("MatMul", g.do("Div", x, length), g.transposed(weights)), g.row(offset))
}

// write writes the ModelProto.
func write(w io.Writer, g *graph, m model.Predictor, operators ...message) error {
	var file message
	file.integer(1, irVersion)
	file.text(2, "mercer")
	file.bytes(7, g.encode())
	for _, one := range operators {
		file.bytes(8, one)
	}
	for _, one := range metadata(m) {
		file.bytes(14, one)
	}
	if _, err := w.Write(file); err != nil {
		return fmt.Errorf("onnx: writing: %w", err)
	}
	return nil
}

// metadata describes the model, and what its file reveals.
func metadata(m model.Predictor) []message {
	reveals := "no row of the training data"
	if rows, is := m.(*model.Model); is {
		n, _ := rows.Vectors().Shape()
		reveals = humanize.Count(n, "row") + " of the training data, with their classes or coefficients: anybody with this file can read them"
	}
	list := []message{pair("learner", string(m.Output().Kind)), pair("reveals", reveals)}
	if classes := m.Output().Classes; classes != nil {
		list = append(list, pair("classes", jsonList(classes)))
	}
	if columns := m.Columns(); columns != nil {
		list = append(list, pair("columns", jsonList(columns)))
	}
	return list
}

// jsonList returns names as a list in JSON.
func jsonList(names []string) string {
	text, err := json.Marshal(names)
	if err != nil {
		panic(err) // unreachable: every text has an encoding
	}
	return string(text)
}
