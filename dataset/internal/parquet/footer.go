package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// group is a row group. It holds one chunk of each column.
type group struct {
	rows   int
	chunks []chunk
}

// chunk describes where and how a row group stores the values of a column.
type chunk struct {
	kind       Kind
	codec      codec
	values     int64
	compressed int64 // bytes of all pages with their headers
	data, dict int64 // offsets of the first data page and of the dictionary, or 0
	elsewhere  bool  // whether the values are in another file
	encrypted  bool
}

func (c *chunk) start() int64 {
	if c.dict > 0 && c.dict < c.data {
		return c.dict
	}
	return c.data
}

const (
	magic     = "PAR1"
	magicSize = int64(len(magic))
	tailSize  = magicSize + 4 // the footer's length takes 4 bytes
	maxFooter = 64 << 20
	// These bounds limit the memory for a footer. Without them, a short footer could declare a
	// column with every byte.
	maxColumns = 1 << 18
	maxChunks  = 1 << 20 // chunks of all columns and row groups
)

var (
	errNoParquet = errors.New("the file does not end like a parquet file; copy it again, or give it the suffix of its format")
	errEncrypted = errors.New("the file is encrypted; write it without encryption")
	errFooter    = errors.New("the footer cannot be decoded; write the file again")
	errNested    = errors.New("is nested; write each of its fields as a column")
	errRepeated  = errors.New("holds lists; write each entry as a column")
)

// readFooter returns the footer's bytes.
func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	var tail [tailSize]byte
	if size < magicSize+tailSize {
		return nil, errNoParquet
	}
	if err := readAt(r, tail[:], size-tailSize); err != nil {
		return nil, err
	}
	switch string(tail[4:]) {
	case magic:
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, errNoParquet
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-magicSize-tailSize {
		return nil, errFooter
	}
	if length > maxFooter {
		return nil, fmt.Errorf("the footer takes %d bytes, more than the %d allowed; write larger row groups", length, maxFooter)
	}
	footer := make([]byte, length)
	return footer, readAt(r, footer, size-tailSize-length)
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("reading fails (%w); copy the file again", err)
	}
	return nil
}

// footer reads parquet's FileMetaData and holds the fields that are used.
type footer struct {
	thrift
	rows      int64
	schema    []element
	groups    []group
	chunks    int
	encrypted bool
}

// element is parquet's SchemaElement, which is a column or a group of columns.
type element struct {
	Column
	leaf, repeated bool
	children       int64
}

func parseFooter(b []byte) (*footer, error) {
	m := &footer{thrift: thrift{rest: b}}
	m.structure(func(f field) {
		switch f.id {
		case 2:
			m.list(f, m.addElement)
		case 3:
			m.rows = m.int(f)
		case 4:
			m.list(f, m.addGroup)
		case 8:
			m.encrypted = true
			m.skip(f)
		default:
			m.skip(f)
		}
	})
	switch {
	case errors.Is(m.err, errThrift):
		return nil, errFooter
	case m.err != nil:
		return nil, m.err
	case m.encrypted:
		return nil, errEncrypted
	}
	return m, nil
}

// isAllowed reports whether n elements are within a limit. If they are not, it stores an error that
// ends the reading.
func (m *footer) isAllowed(n, most int, what string) bool {
	if n > most && m.err == nil {
		m.err = fmt.Errorf("the file has more than %d %s; write fewer, larger ones", most, what)
	}
	return m.err == nil
}

func (m *footer) addElement(kind byte) {
	if !m.isAllowed(len(m.schema), maxColumns, "columns") {
		return
	}
	var e element
	m.nested(field{kind: kind}, func(f field) {
		switch f.id {
		case 1:
			e.Kind, e.leaf = Kind(m.int(f)), true
		case 2:
			e.Width = int(int32(m.int(f)))
		case 3:
			r := m.int(f)
			e.optional, e.repeated = r == 1, r == 2
		case 4:
			e.Name = string(m.binary(f))
		case 5:
			e.children = m.int(f)
		case 6:
			e.convert(m.int(f))
		case 7:
			e.Scale = int(int32(m.int(f)))
		case 10:
			m.nested(f, func(f field) { m.logical(f, &e) })
		default:
			m.skip(f)
		}
	})
	m.schema = append(m.schema, e)
}

// logical reads LogicalType, which replaces ConvertedType.
func (m *footer) logical(f field, e *element) {
	e.Logical = "UNKNOWN"
	if f.id > 0 && f.id < len(logicalTypes) {
		e.Logical = logicalTypes[f.id]
	}
	switch f.id {
	case timestampType, timeType:
		m.nested(f, func(f field) { m.timestamp(f, e) })
	case integerType:
		m.nested(f, func(f field) { m.integer(f, e) })
	default:
		m.skip(f)
	}
}

// timestamp reads a field of TimestampType or TimeType. The second field of the types is a union of
// units.
func (m *footer) timestamp(f field, e *element) {
	if f.id != 2 {
		m.skip(f)
		return
	}
	m.nested(f, func(f field) {
		if f.id > 0 && f.id < len(unitSecond) {
			e.Second = unitSecond[f.id]
		}
		m.skip(f)
	})
}

// integer reads a field of IntType.
func (m *footer) integer(f field, e *element) {
	switch f.id {
	case 1:
		e.Bits = int(m.int(f))
	case 2:
		e.Unsigned = !m.bool(f)
	default:
		m.skip(f)
	}
}

func (m *footer) addGroup(kind byte) {
	var g group
	m.nested(field{kind: kind}, func(f field) {
		switch f.id {
		case 1:
			m.list(f, func(kind byte) {
				if m.chunks++; m.isAllowed(m.chunks, maxChunks, "parts of columns in row groups") {
					g.chunks = append(g.chunks, m.chunk(kind))
				}
			})
		case 3:
			g.rows = int(m.int(f))
		default:
			m.skip(f)
		}
	})
	if m.isAllowed(len(m.groups)+1, maxChunks, "row groups") {
		m.groups = append(m.groups, g)
	}
}

func (m *footer) chunk(kind byte) (c chunk) {
	m.nested(field{kind: kind}, func(f field) {
		switch f.id {
		case 1:
			c.elsewhere = true
			m.skip(f)
		case 3:
			m.nested(f, func(f field) { m.meta(f, &c) })
		case 8, 9:
			c.encrypted = true
			m.skip(f)
		default:
			m.skip(f)
		}
	})
	return c
}

// meta reads a field of ColumnMetaData.
func (m *footer) meta(f field, c *chunk) {
	switch f.id {
	case 1:
		c.kind = Kind(m.int(f))
	case 4:
		c.codec = codec(m.int(f))
	case 5:
		c.values = m.int(f)
	case 7:
		c.compressed = m.int(f)
	case 9:
		c.data = m.int(f)
	case 11:
		c.dict = m.int(f)
	default:
		m.skip(f)
	}
}

// source locates the values of a column.
type source struct {
	leaf  int   // index of the column among the leaves of the schema
	fault error // why the values cannot be read; nil if they can
}

// columns returns the columns of the schema with their sources, and the number of leaves. A column
// that holds other columns or lists has a fault.
func (m *footer) columns() (columns []Column, sources []source, leaves int, err error) {
	if len(m.schema) == 0 || m.schema[0].leaf {
		return nil, nil, 0, errFooter
	}
	for rest := m.schema[1:]; len(rest) > 0; {
		e := &rest[0]
		size, below := subtree(rest)
		if size == 0 || e.leaf && (e.Kind < Boolean || e.Kind > FixedLenByteArray || e.Kind == FixedLenByteArray && e.Width < 1) {
			return nil, nil, 0, errFooter
		}
		columns, sources = append(columns, e.Column), append(sources, source{leaves, e.fault()})
		leaves, rest = leaves+below, rest[size:]
	}
	if int64(len(columns)) != m.schema[0].children {
		return nil, nil, 0, errFooter
	}
	return columns, sources, leaves, nil
}

func (e *element) fault() error {
	switch {
	case e.repeated:
		return errRepeated
	case !e.leaf || e.children != 0:
		return errNested
	}
	return nil
}

// subtree returns the number of elements and of leaves in the subtree of the first element. The
// size counts the first element, and is 0 if elements are missing.
func subtree(list []element) (size, leaves int) {
	for missing := int64(1); missing > 0; size++ {
		if size == len(list) {
			return 0, 0
		}
		e := &list[size]
		if missing--; e.leaf && e.children == 0 {
			leaves++
			continue
		}
		if e.children < 0 || e.children > int64(len(list)) {
			return 0, 0
		}
		missing += e.children
	}
	return size, leaves
}
