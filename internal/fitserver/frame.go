package fitserver

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// These constants limit a frame: the length of its header in bytes, and the numbers of one array.
const (
	maxHeader = 1 << 20
	maxValues = 1 << 37 // 1 TiB of float64
)

// array describes one array of a frame, and holds its numbers once it is read or made.
type array struct {
	Name  string `json:"name"`
	Type  string `json:"type"`  // f8, i8 or i4
	Shape []int  `json:"shape"` // one or two dimensions

	floats []float64 // numbers of type f8
	ints   []int     // numbers of type i8 or i4
}

// floatArray returns an array of type f8.
func floatArray(name string, values []float64, shape ...int) array {
	return array{Name: name, Type: "f8", Shape: shape, floats: values}
}

// intArray returns an array of type i8 with one dimension.
func intArray(name string, values []int) array {
	return array{Name: name, Type: "i8", Shape: []int{len(values)}, ints: values}
}

// width returns the number of bytes of one number.
func (a *array) width() (int, error) {
	switch a.Type {
	case "f8", "i8":
		return 8, nil
	case "i4":
		return 4, nil
	}
	return 0, fmt.Errorf("array %q has the type %q; it must be f8, i8 or i4", a.Name, a.Type)
}

// count returns the number of entries.
func (a *array) count() (int, error) {
	if len(a.Shape) != 1 && len(a.Shape) != 2 {
		return 0, fmt.Errorf("array %q has %d dimensions, but must have 1 or 2", a.Name, len(a.Shape))
	}
	count := 1
	for _, n := range a.Shape {
		if n < 0 {
			return 0, fmt.Errorf("array %q has the shape %v; no number of a shape can be negative", a.Name, a.Shape)
		}
		if n > 0 && count > maxValues/n {
			return 0, fmt.Errorf("array %q has the shape %v, which is more than %d numbers", a.Name, a.Shape, maxValues)
		}
		count *= n
	}
	return count, nil
}

// readHeader reads the header of a frame into header. It returns io.EOF if there is no further
// frame.
func readHeader(r io.Reader, header any) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return fmt.Errorf("the header has %d bytes, but at most %d are allowed", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return fmt.Errorf("the header is cut off: %w", noEOF(err))
	}
	if err := json.Unmarshal(text, header); err != nil {
		return fmt.Errorf("the header is no JSON of a request: %w", err)
	}
	return nil
}

// noEOF replaces io.EOF, which only means the end between two frames, by io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// chunk is the greatest number of bytes of an array that are read and decoded, or written, at a time.
const chunk = 1 << 20

// read reads the numbers of the array.
func (a *array) read(r io.Reader) error {
	count, err := a.count()
	if err != nil {
		return err
	}
	width, err := a.width()
	if err != nil {
		return err
	}
	buffer := make([]byte, min(chunk, count*width))
	for left := count * width; left > 0; left -= len(buffer) {
		buffer = buffer[:min(len(buffer), left)]
		if _, err := io.ReadFull(r, buffer); err != nil {
			return fmt.Errorf("array %q is cut off: %w", a.Name, noEOF(err))
		}
		a.decode(buffer, width, count)
	}
	return nil
}

// decode appends the numbers in some bytes. The array will have count numbers.
func (a *array) decode(b []byte, width, count int) {
	more := len(b) / width
	if a.Type == "f8" {
		a.floats = grow(a.floats, more, count)
		fresh := a.floats[len(a.floats)-more:]
		for i := range fresh {
			fresh[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return
	}
	a.ints = grow(a.ints, more, count)
	fresh := a.ints[len(a.ints)-more:]
	for i := range fresh {
		if width == 4 {
			fresh[i] = int(int32(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			fresh[i] = int(int64(binary.LittleEndian.Uint64(b[8*i:])))
		}
	}
}

// atOnce is the number of values for which an array gets memory before they have arrived: 32 MB.
const atOnce = 1 << 22

// grow lengthens v by more values. It allocates memory for twice as many values as have arrived, but for
// at least atOnce and at most all.
func grow[T any](v []T, more, all int) []T {
	if need := len(v) + more; need > cap(v) {
		bigger := make([]T, len(v), min(all, max(2*need, atOnce)))
		copy(bigger, v)
		v = bigger
	}
	return v[:len(v)+more]
}

// writeFrame writes a header and the numbers of its arrays.
func writeFrame(w io.Writer, header any, arrays []array) error {
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		return err
	}
	for _, a := range arrays {
		if err := a.write(w); err != nil {
			return err
		}
	}
	return nil
}

// write writes the numbers of an array of type f8 or i8.
func (a *array) write(w io.Writer) error {
	buffer := make([]byte, 0, min(chunk, 8*(len(a.floats)+len(a.ints))))
	flush := func(limit int) error {
		if len(buffer) < limit {
			return nil
		}
		_, err := w.Write(buffer)
		buffer = buffer[:0]
		return err
	}
	for _, v := range a.floats {
		buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
		if err := flush(chunk); err != nil {
			return err
		}
	}
	for _, v := range a.ints {
		buffer = binary.LittleEndian.AppendUint64(buffer, uint64(v))
		if err := flush(chunk); err != nil {
			return err
		}
	}
	return flush(1)
}
