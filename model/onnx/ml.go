package onnx

import (
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/model"
)

const mlDomain = "ai.onnx.ml"

// mostMagnitude is the greatest magnitude of a support vector's number that EncodeML accepts. Beyond it,
// single precision costs decisions more than three digits.
const mostMagnitude = 100

// EncodeML writes a model with rows and a linear, rbf or polynomial kernel without an amplitude, whose outputs
// have the shape Pairs, Side or Number, as one operator of ai.onnx.ml. It computes in single precision, and no
// probabilities. The input and its preparation are those of [Encode], but a row with a cell that Mercer refuses
// gets a label, too. EncodeML refuses other models, and support vectors with numbers of a magnitude above 100.
func EncodeML(w io.Writer, m model.Predictor, made *prepare.Preparation) error {
	g, err := mlGraph(m, made)
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return write(w, g, m, opset("", opsetNumber), opset(mlDomain, mlNumber))
}

func mlGraph(p model.Predictor, made *prepare.Preparation) (*graph, error) {
	m, is := p.(*model.Model)
	if !is {
		return nil, fmt.Errorf("ai.onnx.ml has no operator for a model of random features; write --format onnx")
	}
	switch m.Kind().OutputShape() {
	case model.Pairs, model.Side, model.Number:
	default:
		return nil, fmt.Errorf("ai.onnx.ml has no operator for %s model; write --format onnx", humanize.A(string(m.Kind())))
	}
	settings, err := mlKernel(m.Kernel())
	if err != nil {
		return nil, err
	}
	vectors, err := mlVectors(m)
	if err != nil {
		return nil, err
	}
	g := newGraph()
	x, _, err := g.rows(m, made)
	if err != nil {
		return nil, err
	}
	x = g.with("to", int(float32s), "Cast", g.scaled(m.Scale(), x))
	if m.Kind().OutputShape() == model.Pairs {
		return g, g.svmClassifier(m, x, vectors, settings)
	}
	g.svmRegressor(m, x, vectors, settings)
	return g, nil
}

// mlKernel returns the attributes of a kernel.
func mlKernel(s kernel.Spec) ([]message, error) {
	names := map[string]string{"linear": "LINEAR", "rbf": "RBF", "polynomial": "POLY"}
	name, ok := names[s.Name]
	if !ok || s.Amplitude != 0 {
		return nil, fmt.Errorf("ai.onnx.ml has only the kernels linear, rbf and polynomial, without amplitude; write --format onnx")
	}
	return []message{
		attributeOf("kernel_type", name),
		attributeOf("kernel_params", []float32{float32(s.Gamma), float32(s.Coef0), float32(s.Degree)}),
	}, nil
}

// mlVectors returns the numbers of each support vector. It refuses numbers beyond mostMagnitude.
func mlVectors(m *model.Model) ([][]float32, error) {
	n, width := m.Vectors().Shape()
	rows, row := make([][]float32, n), make([]float64, width)
	for i := range rows {
		m.Vectors().ReadRow(i, row)
		rows[i] = make([]float32, width)
		for j, v := range row {
			if math.Abs(v) > mostMagnitude {
				return nil, fmt.Errorf(`a support vector has the number %g; the single precision of ai.onnx.ml needs scaled columns, with numbers up to %d; train with "scale", or write --format onnx`, v, mostMagnitude)
			}
			rows[i][j] = float32(v)
		}
	}
	return rows, nil
}

// svmClassifier adds an SVMClassifier. Of two classes, onnxruntime gives the decision for the second
// one in column 0, and its opposite in column 1.
func (g *graph) svmClassifier(m *model.Model, x value, vectors [][]float32, settings []message) error {
	h := m.Head()
	grouped, err := h.ByClass(len(vectors))
	if err != nil {
		return err
	}
	var support, rho []float32
	for _, i := range grouped.Rows {
		support = append(support, vectors[i]...)
	}
	for _, f := range h.Functions {
		rho = append(rho, float32(-f.Rho))
	}
	var coefficients []float32
	for other := range len(h.Classes) - 1 {
		for _, column := range grouped.Coef {
			coefficients = append(coefficients, float32(column[other]))
		}
	}
	settings = append(settings, attributeOf("support_vectors", support), attributeOf("coefficients", coefficients), attributeOf("rho", rho),
		attributeOf("vectors_per_class", grouped.Counts), attributeOf("classlabels_strings", h.Classes), attributeOf("post_transform", "NONE"))
	columns := len(h.Functions)
	if columns == 1 {
		columns = 2
	}
	out := g.node(mlDomain, "SVMClassifier", settings, []value{x}, "label", "scores")
	g.outputs = append(g.outputs, valueInfo(string(out[0]), texts, -1, "the predicted class"), valueInfo(string(out[1]), float32s, columns, mlScoreNote(h.Classes)))
	return nil
}

func mlScoreNote(classes []string) string {
	if len(classes) == 2 {
		return "column 0 above 0 predicts " + classes[1]
	}
	return "one number for each pair of classes (1,2), (1,3), ...; above 0 favours the first class of the pair"
}

// svmRegressor adds an SVMRegressor.
func (g *graph) svmRegressor(m *model.Model, x value, vectors [][]float32, settings []message) {
	f := m.Head().Functions[0]
	coefficients := make([]float32, len(vectors))
	for k, s := range f.Index {
		coefficients[s] = float32(f.Coef[k])
	}
	var support []float32
	for _, v := range vectors {
		support = append(support, v...)
	}
	oneClass, note := 0, "the predicted number"
	if m.Kind().OutputShape() == model.Side {
		oneClass, note = 1, "1 for a row inside, -1 for one outside"
	}
	settings = append(settings, attributeOf("support_vectors", support), attributeOf("coefficients", coefficients), attributeOf("rho", []float32{float32(-f.Rho)}),
		attributeOf("n_supports", len(vectors)), attributeOf("one_class", oneClass), attributeOf("post_transform", "NONE"))
	g.node(mlDomain, "SVMRegressor", settings, []value{x}, "prediction")
	g.outputs = append(g.outputs, valueInfo("prediction", float32s, 1, note))
}
