package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A file of one column, made by hand so that any part of it can lie. Parts of
// footer and header are fields of Thrift's compact protocol, in order.

type part struct {
	id    int
	kind  byte
	bytes []byte
}

func varint(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func zigzag(v int64) []byte { return varint(uint64(v<<1) ^ uint64(v>>63)) }

func number(id int, v int64) part { return part{id, isInt64, zigzag(v)} }

func word(id int, s string) part { return part{id, isBinary, append(varint(uint64(len(s))), s...)} }

func inside(id int, parts ...part) part { return part{id, isStruct, structure(parts...)} }

// all is a list of structures; count may lie.
func all(id, count int, elements ...[]byte) part {
	b := append([]byte{0xf0 | isStruct}, varint(uint64(count))...)
	return part{id, isList, append(b, bytes.Join(elements, nil)...)}
}

func structure(parts ...part) []byte {
	var b []byte
	last := 0
	for _, p := range parts {
		b = append(b, byte(p.id-last)<<4|p.kind)
		b = append(b, p.bytes...)
		last = p.id
	}
	return append(b, 0)
}

// table is a file with one column; the zero value of a field means what is true.
type table struct {
	kind, width int64
	rows        int64
	codec       codec
	body        []byte // pages with their headers
	optional    bool
	start       int64  // of the pages in the file
	length      int64  // of the pages
	extra       []part // after the metadata of the chunk
}

// or returns the number that is said, or else the true one.
func or(said, truth int64) int64 {
	if said != 0 {
		return said
	}
	return truth
}

func (h table) file() []byte {
	repetition := int64(0)
	if h.optional {
		repetition = 1
	}
	element := []part{number(1, h.kind), number(2, h.width), number(3, repetition), word(4, "x")}
	meta := inside(3, number(1, h.kind), number(4, int64(h.codec)), number(5, h.rows), number(7, or(h.length, int64(len(h.body)))), number(9, or(h.start, magicSize)))
	footer := structure(
		all(2, 2, structure(word(4, "schema"), number(5, 1)), structure(element...)),
		number(3, h.rows),
		all(4, 1, structure(all(1, 1, structure(append([]part{meta}, h.extra...)...)), number(3, h.rows))))
	return closed(append([]byte(magic), h.body...), footer)
}

func closed(b, footer []byte) []byte {
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, magic...)
}

// data is a page of version 1.
func data(values, size int64, e encoding, body []byte) []byte {
	return append(structure(number(1, dataPage), number(2, size), number(3, int64(len(body))),
		inside(5, number(1, values), number(2, int64(e)), number(3, int64(runLength)))), body...)
}

// dataV2 returns a page of version 2, with the number of bytes that it says are levels.
func dataV2(values, size, levels, repeated int64, e encoding, body []byte) []byte {
	return append(structure(number(1, dataPageV2), number(2, size), number(3, int64(len(body))),
		inside(8, number(1, values), number(4, int64(e)), number(5, levels), number(6, repeated), part{7, isFalse, nil})), body...)
}

func dict(values, size int64, body []byte) []byte {
	return append(structure(number(1, dictionaryPage), number(2, size), number(3, int64(len(body))),
		inside(7, number(1, values), number(2, int64(plain)))), body...)
}

func zipped(n int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(make([]byte, n)); err != nil {
		panic(err) // into memory
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func zstandard(n int) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are right
	}
	return z.EncodeAll(make([]byte, n), nil)
}

func lz4Zeros(n int) []byte {
	b := make([]byte, lz4.CompressBlockBound(n))
	size, err := lz4.CompressBlock(make([]byte, n), b, nil)
	if err != nil {
		panic(err) // the buffer suffices
	}
	return b[:size]
}

// hadoopLZ4 writes the lengths before each block of zeros.
func hadoopLZ4(blocks ...int) (b []byte) {
	for _, n := range blocks {
		block := lz4Zeros(n)
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, uint32(n)), uint32(len(block)))
		b = append(b, block...)
	}
	return b
}

func brotliZeros(n int) []byte {
	var b bytes.Buffer
	z := brotli.NewWriter(&b)
	if _, err := z.Write(make([]byte, n)); err != nil {
		panic(err) // into memory
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// grouped is a file with a column x, and a group of columns before it. The group has two columns
// and says that it has some other number.
func grouped(children int64) []byte {
	leaf := func(name string) []byte {
		return structure(number(1, int64(Double)), number(3, 0), word(4, name))
	}
	body := data(1, 8, plain, make([]byte, 8))
	chunk := func(start int64) []byte {
		return structure(inside(3, number(1, int64(Double)), number(5, 1), number(7, int64(len(body))), number(9, start)))
	}
	footer := structure(
		all(2, 5, structure(word(4, "schema"), number(5, 2)), structure(word(4, "g"), number(5, children)), leaf("a"), leaf("b"), leaf("x")),
		number(3, 1),
		all(4, 1, structure(all(1, 3, chunk(0), chunk(-9), chunk(magicSize)), number(3, 1))))
	return closed(append([]byte(magic), body...), footer)
}

// Spark writes a page of nulls without any compressed byte.
func TestCompressedPageOfNulls(t *testing.T) {
	page := append(structure(number(1, dataPageV2), number(2, 2), number(3, 2),
		inside(8, number(1, 1), number(4, int64(plain)), number(5, 2), number(6, 0))), 1<<1, 0)
	in := table{kind: int64(Int32), rows: 1, optional: true, codec: snappyCodec, body: page}.file()
	f, err := Open(bytes.NewReader(in), int64(len(in)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, null, err := f.Cursor(0).Next(); !null || err != nil {
		t.Errorf("null %v, error %v", null, err)
	}
}

// The columns beside a group of columns are read, whatever the group holds.
func TestColumnBesideAGroup(t *testing.T) {
	in := grouped(2)
	f, err := Open(bytes.NewReader(in), int64(len(in)), Limits{})
	if err != nil || len(f.Columns) != 2 || f.Fault(0) == nil || f.Fault(1) != nil {
		t.Fatalf("%+v, error %v", f, err)
	}
	rows := 0
	if err := f.Each(1, func(int, []byte) error { rows++; return nil }); err != nil || rows != 1 {
		t.Errorf("%d rows, error %v", rows, err)
	}
	if err := f.Each(0, nil); !errors.Is(err, errNested) {
		t.Error(err)
	}
	if _, _, err := f.Cursor(0).Next(); !errors.Is(err, errNested) {
		t.Error(err)
	}
}

func readAll(in []byte, l Limits) (rows int, err error) {
	f, err := Open(bytes.NewReader(in), int64(len(in)), l)
	if err != nil {
		return 0, err
	}
	for j := range f.Columns {
		rows = 0
		err := f.Each(j, func(row int, value []byte) error {
			if row != rows {
				return errors.New("a row is left out; test")
			}
			if w := f.Columns[j].width(); w > 0 && len(value) != w {
				return errors.New("a value is not as wide as its type; test")
			}
			rows++
			return nil
		})
		if err != nil {
			return rows, err
		}
		if rows != f.Rows {
			return rows, errors.New("rows are missing; test")
		}
	}
	return rows, nil
}

// allocated returns the number of bytes that f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestHandMadeFileReads(t *testing.T) {
	eight := make([]byte, 8)
	for name, h := range map[string]table{
		"plain":      {kind: int64(Double), rows: 1, body: data(1, 8, plain, eight)},
		"two pages":  {kind: int64(Double), rows: 2, body: append(data(1, 8, plain, eight), data(1, 8, plain, eight)...)},
		"dictionary": {kind: int64(Double), rows: 9, body: append(dict(1, 8, eight), data(9, 3, dictionaryCodes, []byte{1, 9 << 1, 0})...)},
		"zstd":       {kind: int64(Double), rows: 100, codec: zstdCodec, body: data(100, 800, plain, zstandard(800))},
		"gzip":       {kind: int64(Double), rows: 100, codec: gzipCodec, body: data(100, 800, plain, zipped(800))},
		"version 2":  {kind: int64(Double), rows: 1, body: dataV2(1, 8, 0, 0, plain, eight)},
		"levels":     {kind: int64(Int32), rows: 2, optional: true, body: dataV2(2, 10, 2, 0, plain, append([]byte{2 << 1, 1}, eight...))},
		"brotli":     {kind: int64(Double), rows: 100, codec: brotliCodec, body: data(100, 800, plain, brotliZeros(800))},
		"lz4":        {kind: int64(Double), rows: 100, codec: lz4RawCodec, body: data(100, 800, plain, lz4Zeros(800))},
		"old lz4":    {kind: int64(Double), rows: 100, codec: lz4Codec, body: data(100, 800, plain, lz4Zeros(800))},
		"hadoop lz4": {kind: int64(Double), rows: 100, codec: lz4Codec, body: data(100, 800, plain, hadoopLZ4(320, 480))},
		"repetition": {kind: int64(Int32), rows: 2, optional: true, body: dataV2(2, 12, 2, 2, plain, append([]byte{2 << 1, 0, 2 << 1, 1}, eight...))},
		"old codes":  {kind: int64(Double), rows: 9, body: append(dict(1, 8, eight), data(9, 3, plainDictionary, []byte{1, 9 << 1, 0})...)},
		"packed":     {kind: int64(Double), rows: 9, body: append(dict(1, 8, eight), data(9, 4, dictionaryCodes, []byte{1, 2<<1 | 1, 0, 0})...)},
		"padded":     {kind: int64(Int32), rows: 2, optional: true, body: data(2, 49, plain, append(append([]byte{37, 0, 0, 0, 36<<1 | 1, 3}, make([]byte, 35)...), eight...))},
		"optional":   {kind: int64(Int32), rows: 2, optional: true, body: data(2, 14, plain, append([]byte{2, 0, 0, 0, 2 << 1, 1}, eight...))},
	} {
		if rows, err := readAll(h.file(), Limits{}); err != nil || rows != int(h.rows) {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// TestHostileFiles reads files that lie about sizes, and holds what that
// allocates against a bound that their announcements are far beyond.
func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const huge = 1<<31 - 1
	eight := make([]byte, 8)
	delta := func(count uint64) []byte { return append(append([]byte{0x80, 1, 4}, varint(count)...), 0) }
	run := append(varint(1<<40), 0) // a run of 2^39 times 0
	codes := func(rows int64, width byte, b []byte) []byte {
		b = append([]byte{width}, b...)
		return table{kind: int64(Double), rows: rows, body: append(dict(1, 8, eight), data(rows, int64(len(b)), dictionaryCodes, b)...)}.file()
	}
	for _, tt := range []struct {
		name  string
		in    []byte
		most  uint64 // bytes allocated
		error string
	}{
		{"rows without pages", table{kind: int64(Double), rows: 1 << 40}.file(), 1 << 20, "the footer gives 1099511627776 rows of 1 columns, which is more than a file of this size can have"},
		{"negative rows", table{kind: int64(Double), rows: -1}.file(), 1 << 20, "the footer cannot be decoded"},
		{"no pages", table{kind: int64(Double), rows: 5}.file(), 1 << 20, "holds fewer values than the table has rows"},
		{"page larger than the chunk", table{kind: int64(Double), rows: 1, body: structure(number(1, 0), number(2, 8), number(3, huge))}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"negative page", table{kind: int64(Double), rows: 1, body: structure(number(1, 0), number(2, -8), number(3, -8))}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"page above the limit", table{kind: int64(Double), rows: 1, codec: zstdCodec, body: data(1, huge, plain, zstandard(8))}.file(), 1 << 20, "has a page of 2147483647 bytes, more than the 268435456 allowed"},
		{"zstd shorter than announced", table{kind: int64(Double), rows: 1, codec: zstdCodec, body: data(1, 1<<28, plain, zstandard(8))}.file(), 16 << 20, "holds a page that cannot be decompressed"},
		{"zstd longer than announced", table{kind: int64(Double), rows: 1, codec: zstdCodec, body: data(1, 8, plain, zstandard(1<<26))}.file(), 64 << 20, "holds a page that cannot be decompressed"},
		{"zstd with a window of 2 GiB", table{kind: int64(Double), rows: 1, codec: zstdCodec, body: data(1, 1<<28, plain, []byte("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"))}.file(), 2 << 20, "holds a page that cannot be decompressed"},
		{"gzip longer than announced", table{kind: int64(Double), rows: 1, codec: gzipCodec, body: data(1, 8, plain, zipped(1<<26))}.file(), 4 << 20, "holds a page that cannot be decompressed (the page is longer than its header says)"},
		{"snappy of 4 GiB", table{kind: int64(Double), rows: 1, codec: snappyCodec, body: data(1, 8, plain, varint(1<<32-1))}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"snappy shorter than announced", table{kind: int64(Double), rows: 1, codec: snappyCodec, body: data(1, 1<<20, plain, varint(1<<20))}.file(), 4 << 20, "holds a page that cannot be decompressed"},
		{"lzo", table{kind: int64(Double), rows: 1, codec: 3, body: data(1, huge, plain, eight)}.file(), 1 << 20, `is compressed by LZO, which is not supported; write`},
		{"codec of another world", table{kind: int64(Double), rows: 1, codec: -7, body: data(1, huge, plain, eight)}.file(), 1 << 20, `is compressed by -7, which is not supported; write`},
		{"lz4 of 256 MiB", table{kind: int64(Double), rows: 1, codec: lz4RawCodec, body: data(1, 1<<28, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decompressed"},
		{"lz4 shorter than announced", table{kind: int64(Double), rows: 1, codec: lz4RawCodec, body: data(1, 1000, plain, lz4Zeros(800))}.file(), 1 << 20, "holds a page that cannot be decompressed"},
		{"lz4 longer than announced", table{kind: int64(Double), rows: 1, codec: lz4RawCodec, body: data(1, 8, plain, lz4Zeros(1<<26))}.file(), 4 << 20, "holds a page that cannot be decompressed"},
		{"old lz4 of 4 GiB", table{kind: int64(Double), rows: 1, codec: lz4Codec, body: data(1, 1<<28, plain, []byte("\xff\xff\xff\xff\x00\x00\x00\x00"))}.file(), 1 << 20, "holds a page that cannot be decompressed"},
		{"old lz4 of many blocks", table{kind: int64(Double), rows: 1, codec: lz4Codec, body: data(1, 1<<28, plain, bytes.Repeat([]byte("\x00\x00\x00\xff\x00\x00\x00\x01\x00"), 1000))}.file(), 2 << 20, "holds a page that cannot be decompressed"},
		{"brotli longer than announced", table{kind: int64(Double), rows: 1, codec: brotliCodec, body: data(1, 8, plain, brotliZeros(1<<26))}.file(), 24 << 20, "holds a page that cannot be decompressed (the page is longer than its header says)"},
		{"brotli shorter than announced", table{kind: int64(Double), rows: 1, codec: brotliCodec, body: data(1, 1<<28, plain, brotliZeros(8))}.file(), 16 << 20, "holds a page that cannot be decompressed"},
		{"repetition levels beyond the page", table{kind: int64(Double), rows: 1, body: dataV2(1, 8, 0, 9, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"repetition levels of 2^63", table{kind: int64(Double), rows: 1, body: dataV2(1, 8, 1<<62, 1<<62, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"group of 2^40 columns", grouped(1 << 40), 1 << 20, "the footer cannot be decoded"},
		{"group of -1 columns", grouped(-1), 1 << 20, "the footer cannot be decoded"},
		{"group without its columns", grouped(9), 1 << 20, "the footer cannot be decoded"},
		{"more values than rows", table{kind: int64(Double), rows: 1, body: data(huge, 8, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"page without values", table{kind: int64(Double), rows: 1, body: bytes.Repeat(data(0, 0, plain, nil), 1000)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"dictionary of 2^31 values", table{kind: int64(ByteArray), rows: 1, body: dict(huge, 8, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"two dictionaries", table{kind: int64(Double), rows: 1, body: append(dict(1, 8, eight), dict(1, 8, eight)...)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"no dictionary", table{kind: int64(Double), rows: 1, body: data(1, 3, dictionaryCodes, []byte{1, 2, 0})}.file(), 1 << 20, "refers to a dictionary that the file lacks"},
		{"code beyond the dictionary", table{kind: int64(Double), rows: 1, body: append(dict(1, 8, eight), data(1, 3, dictionaryCodes, []byte{1, 2, 1})...)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"codes of 200 bits", table{kind: int64(Double), rows: 1, body: append(dict(1, 8, eight), data(1, 3, dictionaryCodes, []byte{200, 2, 1})...)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"run of 2^39 levels", table{kind: int64(Double), rows: 1, optional: true, body: data(1, int64(4+len(run)), plain, append([]byte{byte(len(run)), 0, 0, 0}, run...))}.file(), 1 << 20, "is null in row 1; fill the cell"},
		{"2^60 deltas", table{kind: int64(Int64), rows: 3, body: data(3, int64(len(delta(1<<60))), deltaBinary, delta(1<<60))}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"deltas that end", table{kind: int64(Int64), rows: 3, body: data(3, int64(len(delta(3))), deltaBinary, delta(3))}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"text longer than its page", table{kind: int64(ByteArray), rows: 1, body: data(1, 4, plain, []byte{255, 255, 255, 255})}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"fixed length of 2^30", table{kind: int64(FixedLenByteArray), width: 1 << 30, rows: 1, body: data(1, 8, byteStreamSplit, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"zstd of nothing", table{kind: int64(Double), rows: 1, codec: zstdCodec, body: data(1, 0, plain, zstandard(0))}.file(), 2 << 20, "holds a page that cannot be dec"},
		{"codes packed beyond the page", codes(100, 8, append(varint(13<<1|1), 0, 0)), 1 << 20, "holds a page that cannot be decoded"},
		{"2^60 packed groups", codes(100, 16, varint(1<<61|1)), 1 << 20, "holds a page that cannot be decoded"},
		{"codes without an end", codes(1, 8, nil), 1 << 20, "holds a page that cannot be decoded"},
		{"pages before the file", table{kind: int64(Double), rows: 1, start: -8, body: data(1, 8, plain, eight)}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"pages over the mark", table{kind: int64(Double), rows: 1, start: magicSize - 1, body: data(1, 8, plain, eight)}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"pages after the file", table{kind: int64(Double), rows: 1, start: 1 << 40, body: data(1, 8, plain, eight)}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"pages of negative length", table{kind: int64(Double), rows: 1, length: -1, body: data(1, 8, plain, eight)}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"pages of 2^62 bytes", table{kind: int64(Double), rows: 1, length: 1 << 62, body: data(1, 8, plain, eight)}.file(), 1 << 20, "has pages that do not fit into the file"},
		{"encrypted pages", table{kind: int64(Double), rows: 1, body: data(1, 8, plain, eight), extra: []part{inside(8)}}.file(), 1 << 20, "the file is encrypted"},
		{"levels beyond the page", table{kind: int64(Double), rows: 1, body: dataV2(1, 100, 9, 0, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"levels beyond the size", table{kind: int64(Double), rows: 1, body: dataV2(1, 4, 5, 0, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"negative levels", table{kind: int64(Double), rows: 1, body: dataV2(1, 8, -1, 0, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"repeated values", table{kind: int64(Double), rows: 1, body: dataV2(1, 8, 0, 1, plain, eight)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"dictionary of deltas", table{kind: int64(Double), rows: 1, body: append(structure(number(1, dictionaryPage), number(2, 8), number(3, 8),
			inside(7, number(1, 1), number(2, int64(deltaBinary)))), append(eight, data(1, 3, dictionaryCodes, []byte{1, 2, 0})...)...)}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"schema that is a number", closed([]byte(magic), structure(number(2, 1), number(3, 0))), 1 << 20, "the footer cannot be decoded"},
		{"rows that are a text", closed([]byte(magic), structure(word(3, "1"))), 1 << 20, "the footer cannot be decoded"},
		{"name that is a number", closed([]byte(magic), structure(all(2, 1, structure(number(4, 5))))), 1 << 20, "the footer cannot be decoded"},
		{"page header that cannot be decoded", table{kind: int64(Double), rows: 1, body: []byte{0x1d, 0, 0, 0}}.file(), 1 << 20, "holds a page that cannot be decoded"},
		{"deltas of text", table{kind: int64(ByteArray), rows: 1, body: data(1, 8, deltaBinary, eight)}.file(), 1 << 20, "is encoded by DELTA_BINARY_PACKED, which"},
		{"streams of booleans", table{kind: int64(Boolean), rows: 1, body: data(1, 8, byteStreamSplit, eight)}.file(), 1 << 20, "is encoded by BYTE_STREAM_SPLIT, which"},
		{"type below all", table{kind: -1, rows: 1, body: data(1, 8, plain, eight)}.file(), 1 << 20, "the footer cannot be decoded"},
		{"unknown encoding", table{kind: int64(Double), rows: 1, body: data(1, 8, 77, eight)}.file(), 1 << 20, "is encoded by 77, which"},
		{"unknown type", table{kind: 99, rows: 1, body: data(1, 8, 77, eight)}.file(), 1 << 20, "the footer cannot be decoded"},
		{"deep footer", closed([]byte(magic), bytes.Repeat([]byte{0x1c}, 1<<20)), 4 << 20, "the footer cannot be decoded"},
		{"2^21 elements", closed([]byte(magic), structure(all(2, 1<<21, make([]byte, 1<<21)))), 128 << 20, "the file has more than 262144 columns; write fewer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			took := allocated(func() { _, err = readAll(tt.in, Limits{}) })
			if err == nil || !strings.Contains(err.Error(), tt.error) {
				t.Errorf("error %v, want %q", err, tt.error)
			}
			if took > tt.most {
				t.Errorf("%d bytes of file took %d bytes of memory, more than %d", len(tt.in), took, tt.most)
			}
		})
	}
}

// TestSpentBudget decompresses the same page until the file has held more than
// its size can mean.
func TestSpentBudget(t *testing.T) {
	const pages = 200
	page := data(1, 1<<20, plain, zstandard(1<<20))
	h := table{kind: int64(Double), rows: pages, codec: zstdCodec, body: bytes.Repeat(page, pages)}
	rows, err := readAll(h.file(), Limits{Page: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "decompresses to more than is allowed for a file of this size") || rows == 0 || rows == pages {
		t.Errorf("%d of %d rows, error %v", rows, pages, err)
	}
}

// FuzzFile reads whatever comes within small limits, and bounds the memory that
// this takes.
func FuzzFile(f *testing.F) {
	eight := make([]byte, 8)
	f.Add(table{kind: int64(Double), rows: 9, body: append(dict(1, 8, eight), data(9, 3, dictionaryCodes, []byte{1, 9 << 1, 0})...)}.file())
	f.Add(table{kind: int64(Double), rows: 100, codec: gzipCodec, body: data(100, 800, plain, zipped(800))}.file())
	f.Add(table{kind: int64(Int32), rows: 2, optional: true, body: data(2, 14, plain, append([]byte{2, 0, 0, 0, 2 << 1, 1}, eight...))}.file())
	for _, name := range []string{
		"people.snappy", "people.gzip", "people.zstd", "people.delta", "writers/pyarrow-rows-9", "writers/duckdb-rows-9", "writers/polars-rows-8", "writers/fastparquet-rows-8",
		"writers/fastparquet-lz4-int96", "writers/fastparquet-lz4_raw-int64", "writers/fastparquet-brotli-int64",
	} {
		in, err := os.ReadFile(filepath.Join("..", "..", "testdata", filepath.FromSlash(name)+".parquet"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in)
	}
	// A decoder of Zstandard has tables and a window, gzip's a window; the rest
	// grows with the limits and the file.
	const most = 48 << 20
	f.Fuzz(func(t *testing.T, in []byte) {
		var err error
		took := allocated(func() { _, err = readAll(in, Limits{Page: 1 << 16, Values: 1 << 12}) })
		if err != nil && (!strings.Contains(err.Error(), "; ") || strings.Contains(err.Error(), "; test")) {
			t.Errorf("error %q", err)
		}
		if took > most+uint64(4*spread*len(in)) {
			t.Errorf("%d bytes of file took %d bytes of memory; %v", len(in), took, err)
		}
	})
}
