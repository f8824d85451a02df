package parquet

import "fmt"

// Kind names the type in which a column stores its values: parquet's physical type.
type Kind int64

// The physical types, as they are numbered in files.
const (
	Boolean Kind = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var kindNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// Column is a column of the table.
type Column struct {
	Name string
	Kind Kind
	// Width is the length in bytes of a FixedLenByteArray.
	Width int
	// Logical is the meaning of the values: STRING, INTEGER, DECIMAL, DATE, ... as
	// parquet's logical types are called; with "" Kind says it.
	Logical  string
	Bits     int   // of an INTEGER
	Unsigned bool  // INTEGER
	Second   int32 // of a TIMESTAMP: its parts in a second, 0 if the file does not say
	Scale    int   // of a DECIMAL: digits after the point

	optional bool
}

// Type returns the name of the values' type.
func (c Column) Type() string {
	if c.Logical != "" {
		return c.Logical
	}
	return kindNames[c.Kind]
}

// width returns the size of a value in bytes, or 0 if each has a length of its own. A
// bit is handed out as a byte.
func (c Column) width() int {
	switch c.Kind {
	case Boolean:
		return 1
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Int96:
		return 12
	case FixedLenByteArray:
		return c.Width
	}
	return 0
}

// Places of types in the union of logical types.
const (
	timestampType = 8
	integerType   = 10
)

var logicalTypes = [...]string{
	1: "STRING", 2: "MAP", 3: "LIST", 4: "ENUM", 5: "DECIMAL", 6: "DATE", 7: "TIME", timestampType: "TIMESTAMP",
	9: "INTERVAL", integerType: "INTEGER", 11: "NULL", 12: "JSON", 13: "BSON", 14: "UUID", 15: "FLOAT16",
	16: "VARIANT", 17: "GEOMETRY", 18: "GEOGRAPHY",
}

var convertedTypes = [...]string{
	"STRING", "MAP", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIME", "TIMESTAMP", "TIMESTAMP",
	"INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "JSON", "BSON", "INTERVAL",
}

// Among the converted types are the unsigned integers of 8 to 64 bits and then
// the signed ones.
const (
	firstUnsigned = 11
	firstSigned   = 15
	lastSigned    = 18
)

// Converted types of timestamps, and parts of a second by their place in the union of units.
const (
	timestampMillis = 9
	timestampMicros = 10
)

var unitSecond = [...]int32{1: 1e3, 2: 1e6, 3: 1e9}

// convert takes over a ConvertedType, unless a LogicalType has come.
func (c *Column) convert(v int64) {
	switch {
	case c.Logical != "":
		return
	case v < 0 || v >= int64(len(convertedTypes)):
		c.Logical = "UNKNOWN"
		return
	}
	c.Logical = convertedTypes[v]
	switch {
	case v == timestampMillis:
		c.Second = 1e3
	case v == timestampMicros:
		c.Second = 1e6
	case v >= firstSigned && v <= lastSigned:
		c.Bits = 8 << (v - firstSigned)
	case v >= firstUnsigned && v < firstSigned:
		c.Bits, c.Unsigned = 8<<(v-firstUnsigned), true
	}
}

// ColumnError refuses a column.
type ColumnError struct {
	Column string
	Err    error // "is nested; ..."
}

func (e *ColumnError) Error() string { return fmt.Sprintf("column %q %v", e.Column, e.Err) }

func (e *ColumnError) Unwrap() error { return e.Err }
