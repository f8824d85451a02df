package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// encoding is a value of the enumeration Encoding in parquet files, such as PLAIN.
type encoding int64

const (
	plain            encoding = 0
	plainDictionary  encoding = 2
	runLength        encoding = 3
	deltaBinary      encoding = 5
	deltaLength      encoding = 6
	deltaBytes       encoding = 7
	dictionaryCodes  encoding = 8
	byteStreamSplit  encoding = 9
	maxBits                   = 32 // most bits of a number in run-length encoding
	deltaMaxBits              = 64
	deltaMaxBlock             = 1 << 20
	bytesBeforeValue          = 4 // size in bytes of the length that precedes a byte array
)

var encodingNames = [...]string{"PLAIN", "", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED",
	"DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"}

func (e encoding) unknown() error {
	name := fmt.Sprint(int64(e))
	if e >= 0 && int(e) < len(encodingNames) {
		name = encodingNames[e]
	}
	return fmt.Errorf("is encoded by %s, which is unknown or does not fit the column's type; write it with PLAIN or a dictionary", name)
}

// values is an iterator over the values of a page.
type values interface {
	len() int
	next() ([]byte, error) // returns the next value; must not be called more than len times
}

// decode returns an iterator over the n values in b.
func (p *pages) decode(e encoding, b []byte, n int) (values, error) {
	kind, width := p.column.Kind, p.column.width()
	switch {
	case e == plainDictionary || e == dictionaryCodes:
		return p.codes(b, n)
	case kind == Boolean && e == plain:
		return packedBits(b, n)
	case kind == Boolean && e == runLength:
		return p.runs(b, n)
	case kind == ByteArray && e == plain:
		return &texts{b, n}, nil
	case e == plain:
		return newFixed(b, n, width)
	case (kind == Int32 || kind == Int64) && e == deltaBinary:
		return p.deltas(b, n, width)
	case kind == ByteArray && e == deltaLength:
		return p.cut(b, n)
	case kind == ByteArray && e == deltaBytes:
		return p.continued(b, n)
	case kind != Boolean && kind != ByteArray && e == byteStreamSplit:
		return newStreams(b, n, width)
	}
	return nil, e.unknown()
}

// packedBits reads booleans of one bit each, lowest first.
func packedBits(b []byte, n int) (values, error) {
	if (n+7)/8 > len(b) {
		return nil, errPage
	}
	v := &bits{number: make([]uint32, n)}
	for i := range n {
		v.number[i] = uint32(b[i/8]>>(i%8)) & 1
	}
	return v, nil
}

// fixed is an iterator over values of one width, stored one after the other.
type fixed struct {
	rest     []byte
	n, width int
}

func newFixed(b []byte, n, width int) (values, error) {
	if n > len(b)/width {
		return nil, errPage
	}
	return &fixed{b, n, width}, nil
}

func (v *fixed) len() int { return v.n }

func (v *fixed) next() ([]byte, error) {
	b := v.rest[:v.width]
	v.rest = v.rest[v.width:]
	return b, nil
}

// texts is an iterator over byte arrays, each stored after its length.
type texts struct {
	rest []byte
	n    int
}

func (v *texts) len() int { return v.n }

func (v *texts) next() (b []byte, err error) {
	b, rest, ok := prefixed(v.rest)
	if !ok {
		return nil, errPage
	}
	v.rest = rest
	return b, nil
}

// bits is an iterator over booleans, each returned as one byte.
type bits struct {
	number []uint32
	value  [1]byte
}

func (v *bits) len() int { return len(v.number) }

func (v *bits) next() ([]byte, error) {
	v.value[0] = byte(v.number[0])
	v.number = v.number[1:]
	return v.value[:], nil
}

// streams is an iterator over values in the encoding BYTE_STREAM_SPLIT. The first bytes of all
// values come first, then their second bytes, and so on.
type streams struct {
	b        []byte
	at, n    int
	assembly []byte
}

func newStreams(b []byte, n, width int) (values, error) {
	if n > len(b)/width {
		return nil, errPage
	}
	return &streams{b, 0, n, make([]byte, width)}, nil
}

func (v *streams) len() int { return v.n }

func (v *streams) next() ([]byte, error) {
	for k := range v.assembly {
		v.assembly[k] = v.b[k*v.n+v.at]
	}
	v.at++
	return v.assembly, nil
}

// dictionary holds the distinct values of a column chunk.
type dictionary struct {
	b     []byte
	width int
	start []uint32 // start of each byte array in b; used if width is 0
	n     int
}

func (d *dictionary) at(i uint32) []byte {
	if d.width > 0 {
		lo := int(i) * d.width
		return d.b[lo : lo+d.width]
	}
	value, _, _ := prefixed(d.b[d.start[i]:])
	return value
}

// coded is an iterator over values that are stored as indices into a dictionary.
type coded struct {
	dict  *dictionary
	codes []uint32
}

var errNoDictionary = errors.New("refers to a dictionary that the file lacks; write the file again")

func (p *pages) codes(b []byte, n int) (values, error) {
	if p.dict == nil {
		return nil, errNoDictionary
	}
	if len(b) == 0 {
		return nil, errPage
	}
	codes, err := p.unpack.hybrid(b[1:], int(b[0]), n)
	if err != nil {
		return nil, err
	}
	if int64(slices.Max(codes)) >= int64(p.dict.n) {
		return nil, errPage
	}
	return &coded{p.dict, codes}, nil
}

func (v *coded) len() int { return len(v.codes) }

func (v *coded) next() ([]byte, error) {
	b := v.dict.at(v.codes[0])
	v.codes = v.codes[1:]
	return b, nil
}

// deltas is an iterator over integers that are stored as differences.
type deltas struct {
	number []int64
	width  int
	value  [8]byte
}

func (v *deltas) len() int { return len(v.number) }

func (v *deltas) next() ([]byte, error) {
	binary.LittleEndian.PutUint64(v.value[:], uint64(v.number[0])) // an INT32 is the lower 4 bytes, which an overflow does not change
	v.number = v.number[1:]
	return v.value[:v.width], nil
}

func (p *pages) deltas(b []byte, n, width int) (values, error) {
	number, _, err := p.unpack.delta(b, n)
	return &deltas{number: number, width: width}, err
}

// cutTexts is an iterator over byte arrays that are stored after a list of all their lengths.
type cutTexts struct {
	lengths []int64
	rest    []byte
}

func (p *pages) cut(b []byte, n int) (values, error) {
	lengths, rest, err := p.unpack.delta(b, n)
	return &cutTexts{lengths, rest}, err
}

func (v *cutTexts) len() int { return len(v.lengths) }

func (v *cutTexts) next() ([]byte, error) {
	n := v.lengths[0]
	if n < 0 || n > int64(len(v.rest)) {
		return nil, errPage
	}
	b := v.rest[:n]
	v.lengths, v.rest = v.lengths[1:], v.rest[n:]
	return b, nil
}

// continuedTexts is an iterator over byte arrays, each of which shares a prefix with the previous
// array. Only the length of the prefix and the rest of each array are stored.
type continuedTexts struct {
	prefixes []int64
	suffixes values
	value    []byte
}

func (p *pages) continued(b []byte, n int) (values, error) {
	prefixes, rest, err := p.unpack.delta(b, n)
	if err != nil {
		return nil, err
	}
	prefixes = slices.Clone(prefixes) // p.cut overwrites the memory of prefixes
	suffixes, err := p.cut(rest, n)
	return &continuedTexts{prefixes: prefixes, suffixes: suffixes}, err
}

func (v *continuedTexts) len() int { return len(v.prefixes) }

func (v *continuedTexts) next() ([]byte, error) {
	n := v.prefixes[0]
	suffix, err := v.suffixes.next()
	if err != nil || n < 0 || n > int64(len(v.value)) {
		return nil, errPage
	}
	v.prefixes, v.value = v.prefixes[1:], append(v.value[:n], suffix...)
	return v.value, nil
}
