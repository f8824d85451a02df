package parquet

import (
	"encoding/binary"
	"errors"
)

// thrift reads structures in Thrift's compact protocol, in which parquet's footer and page headers
// are written. It stores nothing that it reads. After a failure it reads nothing more.
type thrift struct {
	rest  []byte
	depth int
	err   error
}

// field is the header of a structure's field.
type field struct {
	id   int
	kind byte
}

// These numbers name the kinds of values in Thrift's compact protocol.
const (
	isTrue   = 1
	isFalse  = 2
	isByte   = 3
	isInt16  = 4
	isInt32  = 5
	isInt64  = 6
	isDouble = 7
	isBinary = 8
	isList   = 9
	isSet    = 10
	isStruct = 12
)

// maxNesting bounds the depth of nested structures. Parquet's structures are not that deep.
const maxNesting = 16

var errThrift = errors.New("the bytes are not valid Thrift")

func (t *thrift) fail() {
	if t.err == nil {
		t.err = errThrift
	}
	t.rest = nil
}

func (t *thrift) take(n uint64) []byte {
	if n > uint64(len(t.rest)) {
		t.fail()
		return nil
	}
	b := t.rest[:n]
	t.rest = t.rest[n:]
	return b
}

func (t *thrift) byte() byte {
	if b := t.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (t *thrift) varint() uint64 {
	v, n := binary.Uvarint(t.rest)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.rest = t.rest[n:]
	return v
}

func (t *thrift) zigzag() int64 {
	v := t.varint()
	return int64(v>>1) ^ -int64(v&1)
}

// structure calls visit(f) for every field f of a structure. The function visit must read or skip
// the value of the field.
func (t *thrift) structure(visit func(f field)) {
	if t.depth++; t.depth > maxNesting {
		t.fail()
	}
	for id := 0; t.err == nil; {
		b := t.byte()
		if b == 0 {
			break
		}
		if delta := int(b >> 4); delta != 0 {
			id += delta
		} else {
			id = int(int16(t.zigzag()))
		}
		if t.err == nil {
			visit(field{id, b & 15})
		}
	}
	t.depth--
}

// nested reads a field that is a structure.
func (t *thrift) nested(f field, visit func(f field)) {
	if f.kind != isStruct {
		t.fail()
		return
	}
	t.structure(visit)
}

// list calls visit for every element of a list, with the element's kind.
func (t *thrift) list(f field, visit func(kind byte)) {
	if f.kind != isList && f.kind != isSet {
		t.fail()
		return
	}
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.varint()
	}
	// A huge n is harmless, since every element takes at least one byte.
	for ; n > 0 && t.err == nil; n-- {
		visit(head & 15)
	}
}

func (t *thrift) int(f field) int64 {
	switch f.kind {
	case isInt16, isInt32, isInt64:
		return t.zigzag()
	case isByte:
		return int64(int8(t.byte()))
	}
	t.fail()
	return 0
}

func (t *thrift) bool(f field) bool {
	if f.kind != isTrue && f.kind != isFalse {
		t.fail()
	}
	return f.kind == isTrue
}

// binary reads a byte string and returns it without copying it.
func (t *thrift) binary(f field) []byte {
	if f.kind != isBinary {
		t.fail()
		return nil
	}
	return t.take(t.varint())
}

// skip skips the value of a field.
func (t *thrift) skip(f field) {
	switch f.kind {
	case isTrue, isFalse:
	case isByte, isInt16, isInt32, isInt64:
		t.int(f)
	case isDouble:
		t.take(8)
	case isBinary:
		t.binary(f)
	case isList, isSet:
		t.skipList(f)
	case isStruct:
		t.structure(t.skip)
	default: // a map or a UUID, which parquet does not use
		t.fail()
	}
}

func (t *thrift) skipList(f field) {
	if t.depth++; t.depth > maxNesting {
		t.fail()
	}
	t.list(f, func(kind byte) {
		if kind == isTrue || kind == isFalse {
			t.take(1) // in a list, a boolean takes a byte; in a field, it takes none
			return
		}
		t.skip(field{kind: kind})
	})
	t.depth--
}
