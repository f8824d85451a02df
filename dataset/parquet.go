package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset/internal/parquet"
	"github.com/mercer-fl/mercer/linalg"
)

// ParquetOptions holds the settings for reading a parquet file.
type ParquetOptions struct {
	Name string // name of the file in messages
	// Label and ID select the label and id columns as in [CSVOptions].
	Label, ID string
	// Gaps allows rows whose label is an empty text.
	Gaps bool
	// Classes are the allowed labels; nil allows all.
	Classes []string
	Uses
}

// ReadParquet reads a dense set from an Apache Parquet file of size bytes. Columns hold numbers
// (BOOLEAN, INT32, INT64, FLOAT, DOUBLE, DECIMAL, FLOAT16); labels and ids can also be strings and
// UUIDs. Pages can be plain or compressed by Snappy, gzip, Brotli, Zstandard or LZ4. Nested and
// repeated columns, dates and nulls are refused with the column's name, unless the column is not
// used. The index that pandas adds (__index_level_0__) is skipped unless it is label or id. The
// table is a Dense32 if float32 holds every value of all features' types (FLOAT, FLOAT16, BOOLEAN
// and integers of 8 or 16 bits), else a Dense; integers beyond 2^53 are rounded. Errors are
// *SyntaxError.
//
// The decoder is this package's own. It refuses pages of more than 256 MiB. It also refuses a file
// whose footer gives more than 2^24 numbers, if these are more than 1,024 numbers for each byte of
// the file. It holds in memory the table, the file's footer, one page with its dictionary, and some
// 24 bytes at most for each value of the page.
func ReadParquet(r io.ReaderAt, size int64, o ParquetOptions) (*Set, error) {
	return readParquet(r, size, o, defaultLimits())
}

func readParquet(r io.ReaderAt, size int64, o ParquetOptions, bounds limits) (*Set, error) {
	p := parquetReader{}
	set, err := p.read(r, size, o, bounds)
	if err != nil {
		return nil, text(o.Name).wrap(0, err)
	}
	return set, nil
}

// parquetReader makes a set from a file.
type parquetReader struct {
	file   *parquet.File
	source []int         // indices of the file's columns that are not skipped
	cells  []parquetCell // decoders of each column in source; zero for a column without a use
	head   csvHead       // columns of the file and their uses
}

// pandasIndex is the name that pandas gives to an index without a name.
const pandasIndex = "__index_level_0__"

func (p *parquetReader) read(r io.ReaderAt, size int64, o ParquetOptions, bounds limits) (*Set, error) {
	s, err := p.open(r, size, o, bounds)
	if err != nil {
		return nil, err
	}
	return p.set(o, s)
}

// open reads the footer and decides how each column is read.
func (p *parquetReader) open(r io.ReaderAt, size int64, o ParquetOptions, bounds limits) (s shape, err error) {
	if p.file, err = parquet.Open(r, size, parquet.Limits{Page: bounds.page}); err != nil {
		return s, ofColumn(err)
	}
	for j, c := range p.file.Columns {
		if c.Name != pandasIndex || o.Label == pandasIndex || o.ID == pandasIndex {
			p.source = append(p.source, j)
			p.head.names = append(p.head.names, strings.TrimSpace(c.Name))
		}
	}
	if p.head.width = len(p.source); p.head.width == 0 {
		return s, errors.New("there are no columns; give at least one feature")
	}
	p.head.names = nameUnnamed(p.head.names)
	if err := checkNames(p.head.names); err != nil {
		return s, err
	}
	if err := p.head.assign(CSVOptions{Label: o.Label, ID: o.ID, Uses: o.Uses}); err != nil {
		return s, err
	}
	if s, err = shapeOf([]int{p.file.Rows, len(p.head.features)}, bounds); err != nil {
		return s, err
	}
	return s, p.settleCells()
}

// ofColumn puts the name of the column before the text of a [parquet.ColumnError].
func ofColumn(err error) error {
	var c *parquet.ColumnError
	if errors.As(err, &c) {
		return fmt.Errorf("column %s %w", quote(c.Column), c.Err)
	}
	return err
}

// settleCells chooses how each column is read, and refuses unsupported types before any value is
// read.
func (p *parquetReader) settleCells() error {
	p.cells = make([]parquetCell, len(p.source))
	for b, j := range p.source {
		isText := b == p.head.label || b == p.head.id
		if !isText && !slices.Contains(p.head.features, b) {
			continue // the column is not used
		}
		err := p.file.Fault(j)
		if err == nil {
			p.cells[b], err = newParquetCell(p.file.Columns[j], isText)
		}
		if err != nil {
			return fmt.Errorf("%s %w", p.head.column(b), err)
		}
	}
	return nil
}

func (p *parquetReader) set(o ParquetOptions, s shape) (*Set, error) {
	out := &Set{Name: o.Name, Columns: p.head.featureNames()}
	var err error
	if out.X, err = p.table(s); err != nil {
		return nil, err
	}
	if out.Labels, err = p.strings(p.head.label, s.rows, labeller{gaps: o.Gaps, among: o.Classes}); err != nil {
		return nil, err
	}
	if out.IDs, err = p.strings(p.head.id, s.rows, labeller{}); err != nil {
		return nil, err
	}
	return out, out.checkIDs()
}

// table reads the features, as float32 if that holds every value of all features' types.
func (p *parquetReader) table(s shape) (Table, error) {
	for _, b := range p.head.features {
		if !p.cells[b].fits32 {
			m, err := readFeatures[float64](p, s)
			return NewDense(m), err
		}
	}
	m, err := readFeatures[float32](p, s)
	return NewDense32(m), err
}

func readFeatures[T linalg.Float](p *parquetReader, s shape) (linalg.Matrix[T], error) {
	m := linalg.New[T](s.rows, s.cols)
	for at, b := range p.head.features {
		number := p.cells[b].number
		err := p.eachValue(b, func(row int, value []byte) error {
			v := number(value)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return inRow(errNotFinite, row)
			}
			m.Data[row*m.Stride+at] = T(v)
			return nil
		})
		if err != nil {
			return linalg.Matrix[T]{}, err
		}
	}
	return m, nil
}

// strings reads the labels or ids from the column with index b in p.source. Column -1 gives nil.
func (p *parquetReader) strings(b, rows int, l labeller) ([]string, error) {
	if b < 0 {
		return nil, nil
	}
	out := make([]string, 0, rows)
	err := p.eachValue(b, func(row int, value []byte) error {
		s, err := p.cells[b].label(value)
		if err == nil {
			s, err = l.canonical(s)
		}
		if err != nil {
			return inRow(err, row)
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// eachValue calls f for each value of the column with index b in p.source.
func (p *parquetReader) eachValue(b int, f func(row int, value []byte) error) error {
	if err := p.file.Each(p.source[b], f); err != nil {
		return fmt.Errorf("%s %w", p.head.column(b), err)
	}
	return nil
}

func inRow(err error, row int) error {
	var unlisted *ClassError
	if errors.As(err, &unlisted) {
		return fmt.Errorf("holds %s in row %d, which %w", quote(unlisted.Label), row+1, err)
	}
	return fmt.Errorf("%w in row %d; correct the cell or drop the row", err, row+1)
}

// parquetCell holds two decoders of a column's values: one for numbers, which is nil for texts, and one for
// labels.
type parquetCell struct {
	number func([]byte) float64
	label  func([]byte) (string, error)
	fits32 bool // whether float32 holds every value of the column's type
}

// newParquetCell returns the decoders of a column. It refuses types that are not numbers, and text
// unless isText is true.
func newParquetCell(c parquet.Column, isText bool) (parquetCell, error) {
	switch c.Logical {
	case "DECIMAL":
		return decimalCell(c)
	case "FLOAT16":
		if c.Kind == parquet.FixedLenByteArray && c.Width == 2 {
			t := cellType{kind: 'f', size: 2, order: binary.LittleEndian}
			return parquetCell{t.number(), t.label(), true}, nil
		}
	case "UUID":
		if c.Kind == parquet.FixedLenByteArray && c.Width == 16 && isText {
			return parquetCell{label: uuid}, nil
		}
	case "", "INTEGER":
		if cell, ok := plainCell(c); ok {
			return cell, nil
		}
	}
	if c.Kind != parquet.ByteArray {
		return parquetCell{}, fmt.Errorf("holds values of type %s; write them as numbers, or leave the column out", c.Type())
	}
	if !isText {
		return parquetCell{}, fmt.Errorf("holds text (%s), but features must be numbers; code the text as numbers, or leave the column out", c.Type())
	}
	return parquetCell{label: shortText}, nil
}

// plainCell returns the decoders of a column of booleans, integers or floats.
func plainCell(c parquet.Column) (parquetCell, bool) {
	t := cellType{kind: 'i', order: binary.LittleEndian}
	if c.Unsigned {
		t.kind = 'u'
	}
	small := c.Bits == 8 || c.Bits == 16
	switch c.Kind {
	case parquet.Boolean:
		t.kind, t.size = 'b', 1
	case parquet.Int32:
		t.size = 4
	case parquet.Int64:
		t.size = 8
	case parquet.Float:
		t.kind, t.size = 'f', 4
	case parquet.Double:
		t.kind, t.size = 'f', 8
	default:
		return parquetCell{}, false
	}
	return parquetCell{t.number(), t.label(), t.fits32() || c.Kind == parquet.Int32 && small}, true
}

// shortText decodes a label or an id and refuses a long text.
func shortText(b []byte) (string, error) {
	if len(b) > maxText {
		return "", fmt.Errorf("holds a text of %d bytes, more than the %d allowed", len(b), maxText)
	}
	return plainText(string(b))
}

// uuid writes 16 bytes as 8-4-4-4-12 hexadecimal digits.
func uuid(b []byte) (string, error) {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// These constants bound the bytes and the digits after the point of a decimal. Parquet's writers
// use up to 16 bytes and 38 digits.
const (
	maxDecimalBytes = 32
	maxDecimalScale = 76
)

// decimalCell returns the decoders of a column of decimals. A decimal is an integer divided by a
// power of ten.
func decimalCell(c parquet.Column) (parquetCell, error) {
	var whole func([]byte) *big.Int
	switch {
	case c.Scale < 0 || c.Scale > maxDecimalScale:
	case c.Kind == parquet.Int32:
		whole = func(b []byte) *big.Int { return big.NewInt(int64(int32(binary.LittleEndian.Uint32(b)))) }
	case c.Kind == parquet.Int64:
		whole = func(b []byte) *big.Int { return big.NewInt(int64(binary.LittleEndian.Uint64(b))) }
	case c.Kind == parquet.FixedLenByteArray && c.Width <= maxDecimalBytes, c.Kind == parquet.ByteArray:
		whole = twosComplement
	}
	if whole == nil {
		return parquetCell{}, fmt.Errorf("holds decimals with %d digits after the point in an unsupported form; write them as DOUBLE", c.Scale)
	}
	exponent := "e-" + strconv.Itoa(c.Scale)
	number := func(b []byte) float64 {
		if len(b) == 0 || len(b) > maxDecimalBytes {
			return math.NaN()
		}
		v, _ := strconv.ParseFloat(whole(b).String()+exponent, 64) // the text is always a number within range
		return v
	}
	label := func(b []byte) (string, error) {
		v := number(b)
		if math.IsNaN(v) {
			return "", errNotFinite
		}
		return formatNumber(v), nil
	}
	return parquetCell{number, label, false}, nil
}

// twosComplement reads a signed big-endian integer.
func twosComplement(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}
