package onnx

import (
	"strconv"

	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// outputs lists the names of the graphs' outputs.
func outputs() []string { return []string{"label", "prediction", "scores", "probability"} }

// answer adds the outputs of the graph. f has the numbers that a learner's functions give: rows x n.
// sigmoids calibrate the pairs of classes; nil without a calibration.
func (g *graph) answer(o model.Output, f value, n int, sigmoids []svm.Sigmoid) {
	switch o.Kind.OutputShape() {
	case model.Number, model.Deviation:
		g.output("prediction", float64s, 1, "the predicted number", f)
		return
	case model.Components:
		g.output("scores", float64s, n, "the score of each principal component", f)
		return
	}
	g.output("label", texts, -1, "the prediction; \"\" where a number of the row is missing or not finite", g.label(o, f, n))
	if o.Kind.OutputShape() == model.Pairs && n == 1 {
		g.calibrated(f, sigmoids)
		f = g.times(f, -1) // LIBSVM's sign is the opposite
	}
	g.output("scores", float64s, n, scoreNote(o), f)
}

func scoreNote(o model.Output) string {
	switch shape := o.Kind.OutputShape(); {
	case len(o.Classes) == 2 && shape != model.Each:
		return "above 0 predicts " + o.Classes[1]
	case shape == model.Pairs:
		return "one number for each pair of classes (1,2), (1,3), ...; above 0 favours the first class of the pair"
	case shape == model.Distances:
		return "the squared distance to each mean, up to a number that depends on the row"
	case shape == model.Side:
		return "above 0 is inside"
	}
	return "one number for each class"
}

// label returns the text of each row's prediction.
func (g *graph) label(o model.Output, f value, n int) value {
	names, code := o.Classes, value("")
	switch shape := o.Kind.OutputShape(); {
	case shape == model.Pairs:
		code = g.largest("ArgMax", g.votes(f, len(o.Classes)))
	case shape == model.Side:
		names, code = []string{model.Outside, model.Inside}, g.oneIf("Greater", f)
	case shape == model.Distances:
		names, code = ordinals(n), g.largest("ArgMin", f)
	case n == 1:
		code = g.oneIf("GreaterOrEqual", f)
	default:
		code = g.largest("ArgMax", f)
	}
	list := g.name("classes")
	g.constants = append(g.constants, textTensor(string(list), append([]string{""}, names...), len(names)+1))
	refused := g.do("IsNaN", g.do("Squeeze", g.sumRows(f), g.list(1)))
	return g.do("Gather", list, g.do("Where", refused, g.list(0), g.do("Add", code, g.list(1))))
}

func ordinals(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list
}

// largest returns the index of the largest or least number of each row, the first among equal ones.
func (g *graph) largest(operator string, f value) value {
	settings := []message{attributeOf("axis", 1), attributeOf("keepdims", 0)}
	return g.node("", operator, settings, []value{f}, g.name(operator))[0]
}

// oneIf returns 1 for the rows whose only number compares with 0, and 0 for the others.
func (g *graph) oneIf(comparison string, f value) value {
	return g.do("Squeeze", g.with("to", int(int64s), "Cast", g.do(comparison, f, g.number(0))), g.list(1))
}

// votes counts the pairs that each class wins. A pair votes for its first class if its decision is
// above 0, and for the second one otherwise.
func (g *graph) votes(f value, classes int) value {
	pairs := classes * (classes - 1) / 2
	difference, second := linalg.New[float64](classes, pairs), make([]float64, classes)
	k := 0
	for i := range classes {
		for j := i + 1; j < classes; j++ {
			difference.Row(i)[k], difference.Row(j)[k] = 1, -1
			second[j]++
			k++
		}
	}
	won := g.doubles(g.do("Greater", f, g.number(0)))
	return g.do("Add", g.do("MatMul", won, g.transposed(difference)), g.row(second))
}

// calibrated adds the probabilities of two classes, from the decision of their pair (Platt 1999).
func (g *graph) calibrated(f value, sigmoids []svm.Sigmoid) {
	if sigmoids == nil {
		return
	}
	const least = 1e-7 // as in svm.Calibration
	t := g.plus(g.times(f, sigmoids[0].A), sigmoids[0].B)
	first := g.between(g.do("Sigmoid", g.times(t, -1)), least, 1-least)
	second := g.do("Sub", g.number(1), first)
	both := g.with("axis", 1, "Concat", first, second)
	g.output("probability", float64s, 2, "the probability of each class", both)
}
