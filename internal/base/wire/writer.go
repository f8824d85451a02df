package wire

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Writer builds an encoding. The zero value is ready.
type Writer struct{ b []byte }

// Bytes returns the written bytes.
func (w *Writer) Bytes() []byte { return w.b }

// Reset starts a new encoding in the memory of the last one. The last result of Bytes becomes
// invalid.
func (w *Writer) Reset() { w.b = w.b[:0] }

// Grow reserves memory for n more bytes.
func (w *Writer) Grow(n int) {
	if cap(w.b)-len(w.b) < n {
		w.b = append(make([]byte, 0, len(w.b)+n), w.b...)
	}
}

// Fixed appends the bytes b without their length.
func (w *Writer) Fixed(b []byte) { w.b = append(w.b, b...) }

// Uint8 appends one byte.
func (w *Writer) Uint8(v uint8) { w.b = append(w.b, v) }

// Bool appends 0 or 1.
func (w *Writer) Bool(v bool) {
	if v {
		w.Uint8(1)
	} else {
		w.Uint8(0)
	}
}

// Uint16 appends two bytes.
func (w *Writer) Uint16(v uint16) { w.b = binary.LittleEndian.AppendUint16(w.b, v) }

// Uint32 appends four bytes.
func (w *Writer) Uint32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }

// Uint64 appends eight bytes.
func (w *Writer) Uint64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }

// Float64 appends the IEEE 754 bits of v.
func (w *Writer) Float64(v float64) { w.Uint64(math.Float64bits(v)) }

// Bytes32 appends the length of b as 32 bits, and then b. It panics on 4 GiB or more, which no
// caller can have built.
func (w *Writer) Bytes32(b []byte) {
	if uint64(len(b)) > math.MaxUint32 {
		panic("wire: more than 4 GiB behind a 32-bit length")
	}
	w.Uint32(uint32(len(b)))
	w.Fixed(b)
}

// String appends the length of s as 16 bits, and then s. It panics on more than 65,535 bytes: the
// encoding is for names, which callers bound.
func (w *Writer) String(s string) {
	if len(s) > math.MaxUint16 {
		panic("wire: a name of more than 65,535 bytes")
	}
	w.Uint16(uint16(len(s)))
	w.b = append(w.b, s...)
}

// Strings appends the number of texts and then each text.
func (w *Writer) Strings(list []string) {
	w.Uint32(uint32(len(list)))
	for _, s := range list {
		w.String(s)
	}
}

// Float64s appends the values of v without a count.
func (w *Writer) Float64s(v []float64) { add(w, v) }

// Float32s appends the values of v without a count.
func (w *Writer) Float32s(v []float32) { add(w, v) }

func add[T float32 | float64](w *Writer, v []T) {
	if littleEndian {
		w.Fixed(bytesOf(v))
		return
	}
	w.b, _ = binary.Append(w.b, binary.LittleEndian, v) // cannot fail: binary.Append accepts all numbers of a fixed size
}

// littleEndian reports whether this machine stores numbers in the byte order of the wire. On such a
// machine, a copy is ten times faster than a loop.
var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

func bytesOf[T float32 | float64](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
