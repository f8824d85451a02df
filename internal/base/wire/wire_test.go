package wire

import (
	"bytes"
	"errors"
	"math"
	"slices"
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

// Floats are written and read as little-endian, copied from memory or one by one.
func TestFloatsAreLittleEndian(t *testing.T) {
	t.Run("copied", testFloats)
	t.Run("one by one", func(t *testing.T) {
		defer func(was bool) { littleEndian = was }(littleEndian)
		littleEndian = false
		testFloats(t)
	})
}

func testFloats(t *testing.T) {
	doubles, singles := []float64{1, -2.5}, []float32{1, -0.5}
	want := []byte{
		0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0x04, 0xc0,
		0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf,
		0, 0, 0, 0, 0, 0, 0xe0, 0x3f,
	}
	var w Writer
	w.Float64s(doubles)
	w.Float64s(nil)
	w.Float32s(singles)
	w.Float64(0.5)
	if !bytes.Equal(w.Bytes(), want) {
		t.Fatalf("got %x, want %x", w.Bytes(), want)
	}

	r := NewReader(want)
	gotDoubles, gotSingles := make([]float64, 2), make([]float32, 2)
	r.Float64s(gotDoubles)
	r.Float32s(gotSingles)
	if !slices.Equal(gotDoubles, doubles) || !slices.Equal(gotSingles, singles) || r.Float64() != 0.5 {
		t.Fatalf("read %v and %v", gotDoubles, gotSingles)
	}
	if err := r.Close("t"); err != nil {
		t.Fatal(err)
	}

	short := NewReader(want[:7])
	short.Float64s(gotDoubles)
	short.Float32s(gotSingles)
	if !slices.Equal(gotDoubles, doubles) || !errors.Is(short.Err(), ErrShort) {
		t.Fatalf("a short input gave %v and error %v", gotDoubles, short.Err())
	}
}

// Every limit is inclusive.
func TestReaderAccepts(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		read func(*Reader) bool
	}{
		{"bytes", []byte{7, 8}, func(r *Reader) bool { var b [2]byte; r.Fixed(b[:]); return b == [2]byte{7, 8} }},
		{"a count at its limit", []byte{8, 0, 0, 0}, func(r *Reader) bool { return r.Count(8, 0) == 8 }},
		{"a count that fills the bytes", []byte{1, 0, 0, 0, 5, 0, 0, 0}, func(r *Reader) bool { return r.Count(8, 4) == 1 && r.Uint32() == 5 }},
		{"a name at its limit", []byte{2, 0, 'a', 'b'}, func(r *Reader) bool { return r.String(2) == "ab" }},
		{"the rest", []byte{1, 2, 3}, func(r *Reader) bool { return r.Uint8() == 1 && len(r.Rest()) == 2 && r.Len() == 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.in)
			if !tt.read(r) {
				t.Error("read something else")
			}
			if err := r.Close("t"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A refused value reads as zero, and so do all later ones.
func TestRefusedReadsAsZero(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		read func(*Reader) bool
	}{
		{"a count above its limit", []byte{9, 0, 0, 0, 1}, func(r *Reader) bool { return r.Count(8, 0) == 0 }},
		{"a count of things above the bytes", []byte{2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7}, func(r *Reader) bool { return r.Count(8, 4) == 0 }},
		{"a count after an error", nil, func(r *Reader) bool { r.Uint8(); return r.Count(8, 0) == 0 }},
		{"a name above its limit", []byte{2, 0, 'a', 'b'}, func(r *Reader) bool { return r.String(1) == "" }},
		{"integers", []byte{}, func(r *Reader) bool { return r.Uint16() == 0 && r.Uint32() == 0 && r.Uint64() == 0 && !r.Bool() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.in)
			if !tt.read(r) || r.Err() == nil || r.Uint8() != 0 {
				t.Errorf("something other than zero, error %v", r.Err())
			}
		})
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
		{"left over", []byte{1, 2}, func(r *Reader) { r.Uint8() }, "t: 1 bytes are left over"},
		{"second encoding of true", []byte{2}, func(r *Reader) { r.Bool() }, "t: a flag is 2; it must be 0 or 1"},
		{"count above the limit", []byte{9, 0, 0, 0}, func(r *Reader) { r.Count(8, 1) }, "t: a count is 9; at most 8 are allowed"},
		{"count above the bytes", []byte{8, 0, 0, 0, 1}, func(r *Reader) { r.Count(8, 1) }, "t: the bytes end too early"},
		{"name above the limit", []byte{3, 0, 'a', 'b', 'c'}, func(r *Reader) { r.String(2) }, "t: a name has 3 bytes; at most 2 are allowed"},
		{"name above the bytes", []byte{3, 0, 'a'}, func(r *Reader) { r.String(9) }, "t: the bytes end too early"},
		{"floats above the bytes", []byte{1}, func(r *Reader) { r.Float64s(make([]float64, 1)) }, "t: the bytes end too early"},
		{"the first error stays", []byte{2}, func(r *Reader) { r.Bool(); r.Uint64() }, "t: a flag is 2; it must be 0 or 1"},
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

// An encoding in reused memory holds nothing of the earlier one, and Grow reserves the
// requested room.
func TestWriterReuses(t *testing.T) {
	var w Writer
	w.Uint32(7)
	w.Grow(100)
	if room := cap(w.Bytes()) - len(w.Bytes()); room < 100 || len(w.Bytes()) != 4 {
		t.Fatalf("%d bytes written, room for %d", len(w.Bytes()), room)
	}
	before := &w.Bytes()[0]
	w.Grow(100)
	w.Reset()
	w.Fixed(make([]byte, 104))
	if &w.Bytes()[0] != before || len(w.Bytes()) != 104 {
		t.Fatal("memory that was big enough was not used again")
	}
}

func TestWriterTakesLongestName(t *testing.T) {
	var w Writer
	name := strings.Repeat("x", math.MaxUint16)
	w.String(name)
	if got := NewReader(w.Bytes()).String(math.MaxUint16); got != name {
		t.Fatalf("a name of %d bytes came back with %d", len(name), len(got))
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
