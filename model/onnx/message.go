package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded message of onnx.proto (IR version 9). The numbers of the fields below are
// those of that file.
type message []byte

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) integer(field protowire.Number, v int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

func (m *message) float(field protowire.Number, v float32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), math.Float32bits(v))
}

// element is the type of a tensor's elements: TensorProto.DataType.
type element int

const (
	float32s element = 1
	int64s   element = 7
	texts    element = 8
	float64s element = 11
)

// tensor returns a TensorProto without elements.
func tensor(name string, e element, shape []int) message {
	var m message
	for _, n := range shape {
		m.integer(1, n)
	}
	m.integer(2, int(e))
	m.text(8, name)
	return m
}

const rawData = 9 // field of the elements of a tensor of numbers, as bytes

func numberTensor(name string, values []float64, shape ...int) message {
	m, raw := tensor(name, float64s, shape), make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	m.bytes(rawData, raw)
	return m
}

func integerTensor(name string, values []int, shape ...int) message {
	m, raw := tensor(name, int64s, shape), make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	m.bytes(rawData, raw)
	return m
}

func textTensor(name string, values []string, shape ...int) message {
	m := tensor(name, texts, shape)
	for _, v := range values {
		m.text(6, v)
	}
	return m
}

// attributeOf returns an AttributeProto. The type of value selects the type of the attribute.
func attributeOf(name string, value any) message {
	var m message
	m.text(1, name)
	kind := 0
	switch v := value.(type) {
	case float32:
		kind = 1
		m.float(2, v)
	case int:
		kind = 2
		m.integer(3, v)
	case string:
		kind = 3
		m.text(4, v)
	case []float32:
		kind = 6
		for _, x := range v {
			m.float(7, x)
		}
	case []int:
		kind = 7
		for _, x := range v {
			m.integer(8, x)
		}
	case []string:
		kind = 8
		for _, x := range v {
			m.text(9, x)
		}
	default:
		panic(fmt.Sprintf("onnx: no attribute has the type %T", value))
	}
	m.integer(20, kind)
	return m
}

// valueInfo returns the ValueInfoProto of an input or output whose first dimension is the number of
// rows. columns is the second dimension; -1 stands for a tensor without one.
func valueInfo(name string, e element, columns int, note string) message {
	var rows, shape message
	rows.text(2, "rows")
	shape.bytes(1, rows)
	if columns >= 0 {
		var second message
		second.integer(1, columns)
		shape.bytes(1, second)
	}
	var array, kind, m message
	array.integer(1, int(e))
	array.bytes(2, shape)
	kind.bytes(1, array)
	m.text(1, name)
	m.bytes(2, kind)
	if note != "" {
		m.text(3, note)
	}
	return m
}

// pair returns a StringStringEntryProto.
func pair(key, value string) message {
	var m message
	m.text(1, key)
	m.text(2, value)
	return m
}

// opset returns an OperatorSetIdProto.
func opset(domain string, version int) message {
	var m message
	if domain != "" {
		m.text(1, domain)
	}
	m.integer(2, version)
	return m
}
