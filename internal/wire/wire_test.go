package wire

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(0, 40, 200).Draw(t, "name")
		blob := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "blob")
		floats := rapid.SliceOfN(rapid.Float64(), 0, 20).Draw(t, "floats")
		flag := rapid.Bool().Draw(t, "flag")
		n := rapid.Uint64().Draw(t, "n")

		var w Writer
		w.String(name)
		w.Bytes32(blob)
		w.Uint32(uint32(len(floats)))
		w.Float64s(floats)
		w.Bool(flag)
		w.Uint64(n)
		w.Uint16(uint16(n))
		w.Uint8(uint8(n))

		r := NewReader(w.Bytes())
		if got := r.String(200); got != name {
			t.Fatalf("name %q, want %q", got, name)
		}
		if got := r.Bytes32(100); !bytes.Equal(got, blob) {
			t.Fatalf("blob %x, want %x", got, blob)
		}
		back := make([]float64, r.Count(20, 8))
		r.Float64s(back)
		for i := range floats {
			if math.Float64bits(back[i]) != math.Float64bits(floats[i]) {
				t.Fatalf("float %d is %v, want %v", i, back[i], floats[i])
			}
		}
		if r.Bool() != flag || r.Uint64() != n || r.Uint16() != uint16(n) || r.Uint8() != uint8(n) {
			t.Fatal("integers differ")
		}
		if err := r.Close("test"); err != nil {
			t.Fatal(err)
		}
	})
}

// The fast copy of float slices must write what the portable loop writes.
func TestFloatsAreLittleEndian(t *testing.T) {
	var w Writer
	w.Float64s([]float64{1, -2.5})
	w.Float32s([]float32{1})
	want := []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0x04, 0xc0, 0, 0, 0x80, 0x3f}
	if !bytes.Equal(w.Bytes(), want) {
		t.Fatalf("got %x, want %x", w.Bytes(), want)
	}
}

func TestReaderRefuses(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		read func(*Reader)
		want string
	}{
		{"short integer", []byte{1, 2}, func(r *Reader) { r.Uint32() }, "t: the bytes end too early"},
		{"left over", []byte{1, 2}, func(r *Reader) { r.Uint8() }, "t: 1 bytes too many"},
		{"second encoding of true", []byte{2}, func(r *Reader) { r.Bool() }, "t: 2 where 0 or 1 stands"},
		{"count above the limit", []byte{9, 0, 0, 0}, func(r *Reader) { r.Count(8, 1) }, "t: a count of 9, at most 8 are allowed"},
		{"count above the bytes", []byte{8, 0, 0, 0, 1}, func(r *Reader) { r.Count(8, 1) }, "t: the bytes end too early"},
		{"name above the limit", []byte{3, 0, 'a', 'b', 'c'}, func(r *Reader) { r.String(2) }, "t: a name of 3 bytes, at most 2 are allowed"},
		{"name above the bytes", []byte{3, 0, 'a'}, func(r *Reader) { r.String(9) }, "t: the bytes end too early"},
		{"floats above the bytes", []byte{1}, func(r *Reader) { r.Float64s(make([]float64, 1)) }, "t: the bytes end too early"},
		{"the first error stays", []byte{2}, func(r *Reader) { r.Bool(); r.Uint64() }, "t: 2 where 0 or 1 stands"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.in)
			tt.read(r)
			if err := r.Close("t"); err == nil || err.Error() != tt.want {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// A count of four billion must not make the reader allocate.
func TestCountDoesNotAllocate(t *testing.T) {
	in := []byte{0xff, 0xff, 0xff, 0xff}
	allocated := testing.AllocsPerRun(10, func() {
		r := NewReader(in)
		if r.Bytes32(math.MaxInt32) != nil || r.Err() == nil {
			t.Error("accepted a length of four billion")
		}
	})
	if allocated > 4 {
		t.Fatalf("%v allocations", allocated)
	}
	if r := NewReader(nil); r.Uint8() != 0 || !errors.Is(r.Err(), ErrShort) {
		t.Fatal("an empty input does not give ErrShort")
	}
}

func TestWriterPanicsOnLongNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a name of 65,536 bytes was written behind a 16-bit length")
		}
	}()
	var w Writer
	w.String(strings.Repeat("x", 1<<16))
}
