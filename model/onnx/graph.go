package onnx

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mercer-fl/mercer/linalg"
)

// value names a tensor within a graph.
type value string

// graph collects the fields of a GraphProto.
type graph struct {
	nodes, constants, inputs, outputs []message
	numbers                           map[float64]value // constant tensor of each number
	count                             int               // number of names that name has returned
}

func newGraph() *graph { return &graph{numbers: make(map[float64]value)} }

// do adds a node of the standard operators and returns its output.
func (g *graph) do(operator string, inputs ...value) value {
	return g.node("", operator, nil, inputs, g.name(operator))[0]
}

// with is do with one attribute.
func (g *graph) with(attribute string, setting any, operator string, inputs ...value) value {
	return g.node("", operator, []message{attributeOf(attribute, setting)}, inputs, g.name(operator))[0]
}

// as gives a tensor the name of an output of the graph.
func (g *graph) as(name string, v value) { g.node("", "Identity", nil, []value{v}, value(name)) }

// node adds a node of a domain, and returns its outputs.
func (g *graph) node(domain, operator string, settings []message, inputs []value, outputs ...value) []value {
	var m message
	for _, in := range inputs {
		m.text(1, string(in))
	}
	for _, out := range outputs {
		m.text(2, string(out))
	}
	m.text(4, operator)
	for _, setting := range settings {
		m.bytes(5, setting)
	}
	if domain != "" {
		m.text(7, domain)
	}
	g.nodes = append(g.nodes, m)
	return outputs
}

// prefix begins the names of tensors that are neither inputs nor outputs.
const prefix = "mercer/"

// name returns a name that no other tensor has.
func (g *graph) name(of string) value {
	g.count++
	return value(prefix + of + strconv.Itoa(g.count))
}

// number returns a constant tensor that broadcasts to every shape.
func (g *graph) number(v float64) value {
	if known, ok := g.numbers[v]; ok { // NaN is never found, and added each time
		return known
	}
	name := g.name("number")
	g.constants = append(g.constants, numberTensor(string(name), []float64{v}, 1))
	g.numbers[v] = name
	return name
}

// row returns a constant tensor of one row.
func (g *graph) row(values []float64) value {
	name := g.name("row")
	g.constants = append(g.constants, numberTensor(string(name), values, 1, len(values)))
	return name
}

// transposed returns a constant tensor with the transpose of m.
func (g *graph) transposed(m linalg.Matrix[float64]) value {
	values := make([]float64, 0, m.Rows*m.Cols)
	for j := range m.Cols {
		for i := range m.Rows {
			values = append(values, m.Row(i)[j])
		}
	}
	name := g.name("matrix")
	g.constants = append(g.constants, numberTensor(string(name), values, m.Cols, m.Rows))
	return name
}

// words returns a constant tensor of one row of texts.
func (g *graph) words(list []string) value {
	name := g.name("words")
	g.constants = append(g.constants, textTensor(string(name), list, 1, len(list)))
	return name
}

// list returns a constant tensor of integers with one dimension.
func (g *graph) list(values ...int) value {
	name := g.name("list")
	g.constants = append(g.constants, integerTensor(string(name), values, len(values)))
	return name
}

// doubles converts a tensor of booleans or integers to numbers.
func (g *graph) doubles(v value) value { return g.with("to", int(float64s), "Cast", v) }

// between replaces numbers outside a range by the nearer end. NaN stays.
func (g *graph) between(v value, least, most float64) value {
	v = g.do("Where", g.do("Less", v, g.number(least)), g.number(least), v)
	return g.do("Where", g.do("Greater", v, g.number(most)), g.number(most), v)
}

func (g *graph) times(v value, by float64) value { return g.do("Mul", v, g.number(by)) }

func (g *graph) plus(v value, more float64) value {
	if more == 0 {
		return v
	}
	return g.do("Add", v, g.number(more))
}

// sumRows adds up each row. The result has one column.
func (g *graph) sumRows(v value) value { return g.do("ReduceSum", v, g.list(1)) }

// input adds an input with a number of columns, and returns it.
func (g *graph) input(name string, e element, columns int, note string) value {
	g.inputs = append(g.inputs, valueInfo(name, e, columns, note))
	return value(name)
}

// output makes a tensor an output of the graph.
func (g *graph) output(name string, e element, columns int, note string, v value) {
	g.as(name, v)
	g.outputs = append(g.outputs, valueInfo(name, e, columns, note))
}

// encode returns the GraphProto.
func (g *graph) encode() message {
	var m message
	for _, part := range []struct {
		field protowire.Number
		list  []message
	}{{1, g.nodes}, {5, g.constants}, {11, g.inputs}, {12, g.outputs}} {
		for _, one := range part.list {
			m.bytes(part.field, one)
		}
	}
	m.text(2, "mercer")
	return m
}
