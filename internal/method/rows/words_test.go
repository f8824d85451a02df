package rows

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
)

func TestWords(t *testing.T) {
	lists := [][]string{{"blue", "red"}, nil, {"\u00fc"}}
	b, err := encodeWords(lists, 64)
	if err != nil || len(b) != 64 {
		t.Fatalf("%d bytes, error %v", len(b), err)
	}
	back, err := decodeWords(b, 3)
	if err != nil || !slices.EqualFunc(lists, back, slices.Equal) {
		t.Errorf("%q, error %v", back, err)
	}
	if _, err := encodeWords(lists, 16); err == nil || err.Error() != "the categories to send take 27 bytes, but their message has room for 16; list the categories in the schema" {
		t.Error(err)
	}
	for name, bad := range map[string][][]string{
		"not sorted": {{"red", "blue"}, nil, nil}, "equal": {{"red", "red"}, nil, nil}, "empty": {{""}, nil, nil},
		"long": {{strings.Repeat("x", prepare.MaxWord+1)}, nil, nil}, "many": {slices.Repeat([]string{"x"}, prepare.MaxUnited+1), nil, nil},
	} {
		b, err := encodeWords(bad, 8<<10)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeWords(b, 3); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
	b[len(b)-1] = 1
	if _, err := decodeWords(b, 3); err == nil {
		t.Error("padding that is not zero is read")
	}
}

func TestSum(t *testing.T) {
	v := []int64{0, 1, prepare.EntryTop, -1}
	back, err := decodeSum(encodeSum(v), 4)
	if err != nil || !slices.Equal(back, v) {
		t.Errorf("%v, error %v", back, err)
	}
	for _, n := range []int{3, 5} {
		if _, err := decodeSum(encodeSum(v), n); err == nil {
			t.Errorf("4 numbers are read as %d", n)
		}
	}
}

func FuzzDecodeWords(f *testing.F) {
	good, err := encodeWords([][]string{{"blue", "red"}, {"x"}}, 64)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, uint8(2))
	f.Add([]byte{255, 255, 255, 255}, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, lists uint8) {
		words, err := decodeWords(b, int(lists))
		if err != nil {
			return
		}
		again, err := encodeWords(words, len(b))
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x, after %x, error %v", again, b, err)
		}
	})
}

func FuzzDecodeSum(f *testing.F) {
	f.Add(encodeSum([]int64{1, 2}), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		if v, err := decodeSum(b, int(n)); err == nil && !bytes.Equal(encodeSum(v), b) {
			t.Fatalf("%v of %x", v, b)
		}
	})
}
