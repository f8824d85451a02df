package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// pages reads the pages of one chunk, one after the other.
type pages struct {
	file   *File
	column Column
	codec  codec
	in     *bufio.Reader
	left   int64 // number of bytes of the chunk not yet read
	dict   *dictionary

	stored, plain []byte // buffers that every page reuses
	defined       []uint32
	unpack        unpacker
	inflate       decompressor
}

// maxHeader bounds the bytes of a page header. It is enough for statistics, which hold a smallest
// and a largest value.
const maxHeader = 64 << 10

func (p *pages) reset(f *File, c *chunk, column Column) {
	section := io.NewSectionReader(f.in, c.start(), c.compressed)
	if p.in == nil {
		p.in = bufio.NewReaderSize(section, maxHeader)
	} else {
		p.in.Reset(section)
	}
	p.file, p.column, p.codec, p.left, p.dict = f, column, c.codec, c.compressed, nil
}

// header holds parquet's PageHeader. Its fields include those of the nested header, such as
// DataPageHeader, which depends on the kind of the page.
type header struct {
	kind          int64
	size, stored  int64 // length of the page after decompression, and length in the file
	crc           uint32
	checked       bool
	values        int64
	encoding      encoding
	levels        encoding // encoding of the levels in a page of version 1
	levelBytes    int64    // bytes of the levels in a page of version 2
	repeated      int64    // bytes of the repetition levels in a page of version 2
	notCompressed bool     // whether a page of version 2 is not compressed
}

// These are the kinds of pages, numbered as in parquet files.
const (
	dataPage       = 0
	indexPage      = 1
	dictionaryPage = 2
	dataPageV2     = 3
)

var errPage = errors.New("holds a page that cannot be decoded; write the file again")

// next returns the values of the next data page. It refuses a page without values, or with
// more than most values.
func (p *pages) next(most int) (values, error) {
	for {
		h, body, err := p.page()
		if err != nil {
			return nil, err
		}
		switch h.kind {
		case indexPage:
		case dictionaryPage:
			if err := p.addDictionary(h, body); err != nil {
				return nil, err
			}
		case dataPage, dataPageV2:
			if h.values < 1 || h.values > int64(most) {
				return nil, errPage
			}
			return p.values(h, body)
		default:
			return nil, errPage
		}
	}
}

// page reads the header and the stored bytes of the next page.
func (p *pages) page() (header, []byte, error) {
	h, err := p.header()
	if err != nil {
		return h, nil, err
	}
	if h.stored < 0 || h.stored > p.left || h.size < 0 {
		return h, nil, errChunks
	}
	if most := int64(p.file.limits.Page); h.size > most || h.stored > most {
		return h, nil, fmt.Errorf("has a page of %d bytes, more than the %d allowed; write smaller pages", max(h.size, h.stored), most)
	}
	p.left -= h.stored
	p.stored = sized(p.stored, int(h.stored))
	if _, err := io.ReadFull(p.in, p.stored); err != nil {
		return h, nil, fmt.Errorf("cannot be read (%w); copy the file again", err)
	}
	if h.checked && crc32.ChecksumIEEE(p.stored) != h.crc {
		return h, nil, errors.New("holds a page whose checksum is wrong; copy the file again")
	}
	return h, p.stored, nil
}

func (p *pages) header() (h header, err error) {
	if p.left == 0 {
		return h, errors.New("holds fewer values than the table has rows; write the file again")
	}
	b, err := p.in.Peek(int(min(p.left, maxHeader)))
	if err != nil {
		return h, fmt.Errorf("cannot be read (%w); copy the file again", err)
	}
	t := thrift{rest: b}
	t.structure(func(f field) { t.header(f, &h) })
	if t.err != nil {
		return h, errPage
	}
	used := len(b) - len(t.rest)
	p.left -= int64(used)
	_, err = p.in.Discard(used)
	return h, err
}

func (t *thrift) header(f field, h *header) {
	switch f.id {
	case 1:
		h.kind = t.int(f)
	case 2:
		h.size = t.int(f)
	case 3:
		h.stored = t.int(f)
	case 4:
		h.crc, h.checked = uint32(t.int(f)), true
	case 5:
		t.nested(f, func(f field) { t.dataHeader(f, h, 2, 3) })
	case 7:
		t.nested(f, func(f field) { t.dataHeader(f, h, 2, -1) })
	case 8:
		t.nested(f, func(f field) { t.dataHeaderV2(f, h) })
	default:
		t.skip(f)
	}
}

// dataHeader reads a field of DataPageHeader or DictionaryPageHeader. values and levels are the
// numbers of the fields that name the encodings.
func (t *thrift) dataHeader(f field, h *header, values, levels int) {
	switch f.id {
	case 1:
		h.values = t.int(f)
	case values:
		h.encoding = encoding(t.int(f))
	case levels:
		h.levels = encoding(t.int(f))
	default:
		t.skip(f)
	}
}

func (t *thrift) dataHeaderV2(f field, h *header) {
	switch f.id {
	case 1:
		h.values = t.int(f)
	case 4:
		h.encoding = encoding(t.int(f))
	case 5:
		h.levelBytes = t.int(f)
	case 6:
		h.repeated = t.int(f)
	case 7:
		h.notCompressed = !t.bool(f)
	default:
		t.skip(f)
	}
}

func (p *pages) addDictionary(h header, body []byte) error {
	if p.dict != nil || h.encoding != plain && h.encoding != plainDictionary {
		return errPage
	}
	body, err := p.decompress(body, h.size)
	if err != nil {
		return err
	}
	// The dictionary is copied, since codes refer to it until the whole chunk is read.
	p.dict, err = newDictionary(append([]byte(nil), body...), p.column, h.values)
	return err
}

func newDictionary(b []byte, c Column, n int64) (*dictionary, error) {
	d := &dictionary{b: b, width: c.width()}
	least := d.width
	switch {
	case c.Kind == Boolean:
		return nil, errPage
	case d.width == 0:
		least = bytesBeforeValue
	}
	if n < 0 || n > int64(len(b)/least) {
		return nil, errPage
	}
	d.n = int(n)
	if d.width > 0 {
		return d, nil
	}
	d.start = make([]uint32, 0, d.n)
	for rest := b; len(d.start) < d.n; {
		_, tail, ok := prefixed(rest)
		if !ok {
			return nil, errPage
		}
		d.start = append(d.start, uint32(len(b)-len(rest)))
		rest = tail
	}
	return d, nil
}

// values decodes a page of data.
func (p *pages) values(h header, body []byte) (values, error) {
	var err error
	p.defined = p.defined[:0]
	if h.kind == dataPageV2 {
		body, err = p.splitV2(h, body)
	} else {
		body, err = p.splitV1(h, body)
	}
	if err != nil {
		return nil, err
	}
	return p.decodeDefined(h.encoding, body, int(h.values))
}

// decodeDefined decodes the values of the rows that are not null.
func (p *pages) decodeDefined(e encoding, body []byte, n int) (values, error) {
	nulls := 0
	for _, d := range p.defined {
		if d == 0 {
			nulls++
		}
	}
	switch nulls {
	case 0:
		return p.decode(e, body, n)
	case n:
		return &gaps{defined: p.defined}, nil
	}
	v, err := p.decode(e, body, n-nulls)
	return &gaps{p.defined, v}, err
}

// splitV1 decompresses a page and splits off the levels, which say which rows are null.
func (p *pages) splitV1(h header, body []byte) ([]byte, error) {
	body, err := p.decompress(body, h.size)
	if err != nil || !p.column.optional {
		return body, err
	}
	if h.levels != runLength {
		return nil, h.levels.unknown()
	}
	levels, rest, ok := prefixed(body)
	if !ok {
		return nil, errPage
	}
	return rest, p.define(levels, int(h.values))
}

// splitV2 splits off the levels, which are not compressed, and decompresses the rest.
func (p *pages) splitV2(h header, body []byte) ([]byte, error) {
	before := h.repeated + h.levelBytes
	if h.repeated < 0 || h.levelBytes < 0 || before < 0 || before > h.size || before > int64(len(body)) {
		return nil, errPage
	}
	// A column without lists needs no repetition levels, but some writers store them.
	levels, rest := body[h.repeated:before], body[before:]
	if p.column.optional {
		if err := p.define(levels, int(h.values)); err != nil {
			return nil, err
		}
	}
	if h.notCompressed || len(rest) == 0 { // some writers store no compressed bytes for a page of nulls
		return rest, nil
	}
	return p.decompress(rest, h.size-before)
}

// define records which rows of a page are not null. It copies the unpacked levels, because the
// values are later unpacked into the same memory.
func (p *pages) define(levels []byte, n int) error {
	defined, err := p.unpack.hybrid(levels, 1, n)
	p.defined = append(p.defined, defined...)
	return err
}

// decompress returns the decompressed page, which must have exactly size bytes.
func (p *pages) decompress(b []byte, size int64) ([]byte, error) {
	if p.file.spare -= size; p.file.spare < 0 {
		return nil, errors.New("decompresses to more than is allowed for a file of this size; if the table is that large, write the file without compression")
	}
	if p.codec == uncompressed {
		if int64(len(b)) != size {
			return nil, errPage
		}
		return b, nil
	}
	var err error
	p.plain, err = p.inflate.decompress(p.codec, p.plain[:0], b, int(size))
	return p.plain, err
}

// prefixed splits off a byte array that is stored after its length.
func prefixed(b []byte) (head, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// sized returns a slice of length n, in the memory of b if it is large enough.
func sized(b []byte, n int) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	return make([]byte, n)
}
