package bench

import (
	"encoding/binary"
	"io"
	"math"
)

// parquetFile writes a flat parquet file: columns without nulls, each row group one plain page for
// each column, not compressed (parquet.apache.org/docs/file-format). All columns are float32 except
// the last one, which is int32.
type parquetFile struct {
	out    io.Writer
	names  []string
	at     int64
	groups []byte // encoded row groups of the footer
	count  int    // number of row groups
	rows   int64
	err    error
}

func newParquetFile(out io.Writer, names []string) *parquetFile {
	p := &parquetFile{out: out, names: names}
	p.write([]byte("PAR1"))
	return p
}

func (p *parquetFile) write(b []byte) {
	if p.err == nil {
		_, p.err = p.out.Write(b)
		p.at += int64(len(b))
	}
}

// Types, and the encodings of values and of levels, as numbered in parquet files.
const (
	typeInt32, typeFloat          = 1, 4
	encodingPlain, encodingLevels = 0, 3
)

func (p *parquetFile) kind(column int) int64 {
	if column == len(p.names)-1 {
		return typeInt32
	}
	return typeFloat
}

// group writes a row group. values has the numbers of a row one after the other, labels the last
// column.
func (p *parquetFile) group(values []float32, labels []int32) {
	n, width := len(labels), len(p.names)-1
	chunks, total := compact{}, int64(0)
	body := make([]byte, 4*n)
	for c := range p.names {
		for i, label := range labels {
			word := uint32(label)
			if c < width {
				word = math.Float32bits(values[i*width+c])
			}
			binary.LittleEndian.PutUint32(body[4*i:], word)
		}
		head, start := pageHeader(n, len(body)), p.at
		p.write(head)
		p.write(body)
		size := int64(len(head) + len(body))
		total += size
		chunks.structure(func() { p.chunk(&chunks, c, int64(n), start, size) })
	}
	g := compact{b: p.groups}
	g.structure(func() {
		g.list(1, structType, len(p.names))
		g.b = append(g.b, chunks.b...)
		g.int(2, int64Type, total)
		g.int(3, int64Type, int64(n))
	})
	p.groups, p.count, p.rows = g.b, p.count+1, p.rows+int64(n)
}

// chunk describes a column of a row group.
func (p *parquetFile) chunk(to *compact, column int, values, start, size int64) {
	to.int(2, int64Type, start)
	to.field(3, structType)
	to.structure(func() {
		to.int(1, int32Type, p.kind(column))
		to.list(2, int32Type, 1)
		to.b = binary.AppendVarint(to.b, encodingPlain)
		to.list(3, binaryType, 1)
		to.text(p.names[column])
		to.int(4, int32Type, 0) // not compressed
		to.int(5, int64Type, values)
		to.int(6, int64Type, size)
		to.int(7, int64Type, size)
		to.int(9, int64Type, start)
	})
}

func pageHeader(values, size int) []byte {
	h := compact{}
	h.structure(func() {
		h.int(1, int32Type, 0) // a page of data
		h.int(2, int32Type, int64(size))
		h.int(3, int32Type, int64(size))
		h.field(5, structType)
		h.structure(func() {
			h.int(1, int32Type, int64(values))
			h.int(2, int32Type, encodingPlain)
			h.int(3, int32Type, encodingLevels)
			h.int(4, int32Type, encodingLevels)
		})
	})
	return h.b
}

// finish writes the footer.
func (p *parquetFile) finish() error {
	f := compact{}
	f.structure(func() {
		f.int(1, int32Type, 1)
		f.list(2, structType, len(p.names)+1)
		f.structure(func() {
			f.field(4, binaryType)
			f.text("schema")
			f.int(5, int32Type, int64(len(p.names)))
		})
		for c, name := range p.names {
			f.structure(func() {
				f.int(1, int32Type, p.kind(c))
				f.int(3, int32Type, 0) // without nulls
				f.field(4, binaryType)
				f.text(name)
			})
		}
		f.int(3, int64Type, p.rows)
		f.list(4, structType, p.count)
		f.b = append(f.b, p.groups...)
	})
	p.write(f.b)
	p.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(f.b))), "PAR1"...))
	return p.err
}

// compact writes Thrift's compact protocol.
type compact struct {
	b    []byte
	last int // number of the last field
}

// Types of values in the compact protocol.
const (
	int32Type, int64Type, binaryType, listType, structType = 5, 6, 8, 9, 12
)

// structure writes the fields of a struct.
func (c *compact) structure(fields func()) {
	before := c.last
	c.last = 0
	fields()
	c.b, c.last = append(c.b, 0), before
}

func (c *compact) field(id, kind int) {
	c.b = append(c.b, byte((id-c.last)<<4|kind))
	c.last = id
}

func (c *compact) int(id, kind int, v int64) {
	c.field(id, kind)
	c.b = binary.AppendVarint(c.b, v)
}

func (c *compact) text(s string) {
	c.b = append(binary.AppendUvarint(c.b, uint64(len(s))), s...)
}

// list begins a list of n values of a type, which follow.
func (c *compact) list(id, kind, n int) {
	c.field(id, listType)
	if n < 15 {
		c.b = append(c.b, byte(n<<4|kind))
		return
	}
	c.b = binary.AppendUvarint(append(c.b, byte(15<<4|kind)), uint64(n))
}
