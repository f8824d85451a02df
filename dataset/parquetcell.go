package dataset

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"

	"github.com/mercer-fl/mercer/dataset/internal/parquet"
)

// parquetCell reads the values of a column.
type parquetCell struct {
	number func([]byte) float64
	label  func([]byte) (string, error)
	fits32 bool
}

// newParquetCell refuses types that are no numbers, and with isText no text
// either.
func newParquetCell(c parquet.Column, isText bool) (parquetCell, error) {
	switch c.Logical {
	case "DECIMAL":
		return decimalCell(c)
	case "", "INTEGER":
		if cell, ok := plainCell(c); ok {
			return cell, nil
		}
	}
	if c.Kind != parquet.ByteArray {
		return parquetCell{}, fmt.Errorf("holds values of type %s; write them as numbers, or leave the column out", c.Type())
	}
	if !isText {
		return parquetCell{}, fmt.Errorf("holds text (%s), and features are numbers; code it as numbers, or leave the column out", c.Type())
	}
	return parquetCell{label: shortText}, nil
}

// plainCell knows the numbers that the processor knows.
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

// shortText bounds labels and ids.
func shortText(b []byte) (string, error) {
	if len(b) > maxText {
		return "", fmt.Errorf("holds a text of %d bytes, more than the %d allowed", len(b), maxText)
	}
	return plainText(string(b))
}

// Bounds of decimals: parquet's writers use 16 bytes and 38 digits.
const (
	maxDecimalBytes = 32
	maxDecimalScale = 76
)

// decimalCell reads an integer that is to be divided by a power of ten.
func decimalCell(c parquet.Column) (parquetCell, error) {
	var whole func([]byte) *big.Int
	switch {
	case c.Scale < 0 || c.Scale > maxDecimalScale:
	case c.Kind == parquet.Int32:
		whole = func(b []byte) *big.Int { return big.NewInt(int64(int32(binary.LittleEndian.Uint32(b)))) }
	case c.Kind == parquet.Int64:
		whole = func(b []byte) *big.Int { return big.NewInt(int64(binary.LittleEndian.Uint64(b))) }
	case c.Kind == parquet.FixedLenByteArray && c.Width <= maxDecimalBytes:
		whole = twosComplement
	}
	if whole == nil {
		return parquetCell{}, fmt.Errorf("holds decimals of %d digits after the point in a form that is not read; write them as DOUBLE", c.Scale)
	}
	exponent := "e-" + strconv.Itoa(c.Scale)
	number := func(b []byte) float64 {
		v, _ := strconv.ParseFloat(whole(b).String()+exponent, 64) // always a number within range
		return v
	}
	return parquetCell{number, func(b []byte) (string, error) { return formatNumber(number(b)), nil }, false}, nil
}

// twosComplement reads a signed integer whose highest byte comes first.
func twosComplement(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}
