package parquet

import "fmt"

// Kind is the physical type in which a column stores its values.
type Kind int64

// These are the physical types, numbered as in files.
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

// Column holds the name of a column and the type of its values.
type Column struct {
	Name string
	Kind Kind
	// Width is the length in bytes of a FixedLenByteArray.
	Width int
	// Logical is the logical type of the values, such as STRING, INTEGER, DECIMAL or DATE. If
	// Logical is "", the type of the values is Kind.
	Logical  string
	Bits     int   // size of an INTEGER in bits
	Unsigned bool  // whether an INTEGER is unsigned
	Second   int32 // number of TIMESTAMP or TIME units in a second; 0 if the file does not say
	Scale    int   // digits of a DECIMAL after the point

	optional bool
}

// Type returns the name of the values' type.
func (c Column) Type() string {
	if c.Logical != "" {
		return c.Logical
	}
	return kindNames[c.Kind]
}

// width returns the size of a value in bytes, or 0 if values differ in length. A boolean has the
// width of a byte.
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

// These are the field numbers of three types in parquet's union of logical types.
const (
	timeType      = 7
	timestampType = 8
	integerType   = 10
)

var logicalTypes = [...]string{
	1: "STRING", 2: "MAP", 3: "LIST", 4: "ENUM", 5: "DECIMAL", 6: "DATE", timeType: "TIME", timestampType: "TIMESTAMP",
	9: "INTERVAL", integerType: "INTEGER", 11: "NULL", 12: "JSON", 13: "BSON", 14: "UUID", 15: "FLOAT16",
	16: "VARIANT", 17: "GEOMETRY", 18: "GEOGRAPHY",
}

var convertedTypes = [...]string{
	"STRING", "MAP", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIME", "TIMESTAMP", "TIMESTAMP",
	"INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "JSON", "BSON", "INTERVAL",
}

// These are the values of ConvertedType for integers. The unsigned integers of 8 to 64
// bits precede the signed integers.
const (
	firstUnsigned = 11
	firstSigned   = 15
	lastSigned    = 18
)

// These are the values of ConvertedType for times and timestamps.
const (
	timeMillis      = 7
	timeMicros      = 8
	timestampMillis = 9
	timestampMicros = 10
)

// unitSecond holds the number of time units in a second, by the field number of the unit in
// parquet's union TimeUnit.
var unitSecond = [...]int32{1: 1e3, 2: 1e6, 3: 1e9}

// convert sets the logical type from a ConvertedType, unless a LogicalType has been read.
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
	case v == timestampMillis, v == timeMillis:
		c.Second = 1e3
	case v == timestampMicros, v == timeMicros:
		c.Second = 1e6
	case v >= firstSigned && v <= lastSigned:
		c.Bits = 8 << (v - firstSigned)
	case v >= firstUnsigned && v < firstSigned:
		c.Bits, c.Unsigned = 8<<(v-firstUnsigned), true
	}
}

// ColumnError reports a column that cannot be read.
type ColumnError struct {
	Column string
	Err    error // text to be written after the name of the column, such as "is nested; ..."
}

func (e *ColumnError) Error() string { return fmt.Sprintf("column %q %v", e.Column, e.Err) }

func (e *ColumnError) Unwrap() error { return e.Err }
