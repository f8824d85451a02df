package secagg

import (
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// plainMasks is the dumb twin of AESCTR: block by block, as the definition says.
type plainMasks struct{}

func (plainMasks) Add(dst []uint64, first int, masks []Mask) {
	for _, m := range masks {
		block := blockOf(m)
		for i := range dst {
			var counter, out [aes.BlockSize]byte
			word := first + i
			binary.BigEndian.PutUint64(counter[8:], uint64(word/2))
			block.Encrypt(out[:], counter[:])
			v := binary.LittleEndian.Uint64(out[word%2*8:])
			if m.Subtract {
				v = -v
			}
			dst[i] += v
		}
	}
}

// Masks consist of equal words, whatever pieces a caller requests.
func TestTwinMasksAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		masks := make([]Mask, rapid.IntRange(0, 5).Draw(t, "masks"))
		for i := range masks {
			masks[i] = Mask{[32]byte{byte(i), rapid.Byte().Draw(t, "key")}, rapid.Bool().Draw(t, "subtract")}
		}
		first := 2 * rapid.IntRange(0, 3*tileWords).Draw(t, "first")
		got := make([]uint64, rapid.IntRange(0, 40*tileWords).Draw(t, "words"))
		for i := range got {
			got[i] = uint64(i) * 0x9e3779b97f4a7c15
		}
		want := slices.Clone(got)
		AESCTR{}.Add(got, first, masks)
		plainMasks{}.Add(want, first, masks)
		if !slices.Equal(want, got) {
			t.Fatalf("masks %+v from word %d on differ from their twins", masks, first)
		}
	})
}

// Client and server know masks through their Masker alone: with the twin in its
// place, at some members or at all, the session is the same byte for byte.
func TestTwinMasksGiveTheSameSession(t *testing.T) {
	gone := sim.Schedule{Gone: map[string]int{"c002": afterShares}}
	want := newCohort(t, few(Active), 4).run(t, gone, nil)
	for name, plain := range map[string]func(i int) bool{
		"all":   func(int) bool { return true },
		"mixed": func(i int) bool { return i%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCohort(t, few(Active), 4)
			c.masker = func(i int) Masker {
				if plain(i) {
					return plainMasks{}
				}
				return AESCTR{}
			}
			r := c.run(t, gone, nil)
			c.checkSum(t, r, 3)
			if d := cmp.Diff(want.Transcript(), r.Transcript()); d != "" {
				t.Error(d)
			}
		})
	}
}

// noMasks hides nothing.
type noMasks struct{}

func (noMasks) Add([]uint64, int, []Mask) {}

// The sum comes from the vectors and not from the masks: where nobody masks, it
// is the same, and what travels are the vectors.
func TestWithoutMasksVectorsTravelInClear(t *testing.T) {
	c := newCohort(t, few(Active), 4)
	c.masker = func(int) Masker { return noMasks{} }
	clear := 0
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundMasked && sha256.Sum256(m.Body) == must(Hash(c.params, c.vectors[c.index(m.Sender)]))(t) {
			clear++
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 4)
	if clear != 4 {
		t.Errorf("%d of 4 vectors travel in clear", clear)
	}
}

// A mask is AES-128 in counter mode: known words of a known key, all 128 bits of
// which count.
func TestPitfall03TheStreamIsACipher(t *testing.T) {
	key := [32]byte{0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c}
	words := make([]uint64, 2)
	AESCTR{}.Add(words, 0, []Mask{{Key: key}})
	// AES-128 of a block of zeros under that key: RFC 4493, section 4.
	if want := []uint64{0xb399b81a0c6bf77d, 0x6f541bb947f0423e}; !slices.Equal(want, words) {
		t.Errorf("words %x, want %x", words, want)
	}
	seen := map[uint64]bool{words[0]: true}
	for bit := range 128 {
		other, first := key, make([]uint64, 1)
		other[bit/8] ^= 1 << (bit % 8)
		AESCTR{}.Add(first, 0, []Mask{{Key: other}})
		if seen[first[0]] {
			t.Errorf("bit %d of the key does not count", bit)
		}
		seen[first[0]] = true
	}
}

// Both ends of a pair agree on the mask and on who adds it.
func TestPitfall13MasksOfAPairCancel(t *testing.T) {
	id := protocol.SessionID{4}
	a, _ := newSecrets([32]byte{1}, id)
	b, _ := newSecrets([32]byte{2}, id)
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {255, 256}} {
		x, err := pairMask(id, a.mask, pair[0], pair[1], [32]byte(b.mask.PublicKey().Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		y, err := pairMask(id, b.mask, pair[1], pair[0], [32]byte(a.mask.PublicKey().Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		words := make([]uint64, 100)
		AESCTR{}.Add(words, 0, []Mask{x})
		if !slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
			t.Fatal("no mask")
		}
		AESCTR{}.Add(words, 0, []Mask{y})
		if slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
			t.Errorf("masks of %v do not cancel", pair)
		}
	}
}

// Only whole numbers are masked, modulo 2^64, where a mask is removed without a trace. In
// floating point it is not: the remainder reveals something of the vector, and the sum is
// wrong. A client with fractions rounds them first.
func TestPitfall16OnlyIntegersAreMasked(t *testing.T) {
	if entries := reflect.TypeFor[Vector]().Method(0).Type.In(2); entries != reflect.TypeFor[[]int64]() {
		t.Errorf("a vector's entries are %v", entries)
	}
	const x, mask = .1, float64(1 << 40)
	if y := x + mask; y-mask == x {
		t.Error("floats could be masked after all")
	}
	// The same number in every place, also the largest and the smallest, gives
	// sums without an error and masked words without a pattern.
	for _, x := range []int64{-1 << 40, -1, 0, 1 << 40} {
		s := spec(Active)
		s.Groups = []Group{{Entries: 500, Bound: 1 << 40, Signed: true}}
		c := newCohort(t, s, 6)
		for _, v := range c.vectors {
			for i := range v[0] {
				v[0][i] = x
			}
		}
		seen := make(map[uint64]bool)
		words := 0
		r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
			for i := 0; m.Round == roundMasked && i < len(m.Body); i += 8 {
				seen[binary.LittleEndian.Uint64(m.Body[i:])] = true
				words++
			}
			return []protocol.Message{m}
		})
		c.checkSum(t, r, 6)
		if words != 6*c.params.Layout().Words() || len(seen) != words {
			t.Errorf("vectors of %d: %d different masked words of %d", x, len(seen), words)
		}
	}
}

// A vector of zeros under masks is uniform, byte by byte and bit by bit.
func TestPitfall18ZerosLookUniform(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := spec(Active)
	s.Groups = []Group{{Entries: 200_000, Bound: 1}, {Entries: 60_000, Bound: 1 << 40}} // a vector travels in two pieces
	c := newCohort(t, s, 6)
	for _, v := range c.vectors {
		for _, group := range v {
			clear(group)
		}
	}
	if n := c.params.Layout().chunks(); n != 2 {
		t.Fatalf("%d pieces", n)
	}
	bytes, ones := make([]float64, 256), make([]float64, 64) // ones at each place of a word
	words := 0.0
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		for i := 0; m.Round == roundMasked && i < len(m.Body); i += 8 {
			word := binary.LittleEndian.Uint64(m.Body[i:])
			for place := range ones {
				ones[place] += float64(word >> place & 1)
			}
			for _, b := range m.Body[i : i+8] {
				bytes[b]++
			}
			words++
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 6)
	if words != 6*float64(c.params.Layout().Words()) {
		t.Fatalf("%v words", words)
	}
	if chi := chiSquare(bytes, 8*words/256); math.Abs(chi-255) > 6*math.Sqrt(2*255) {
		t.Errorf("chi-square %.0f on 256 values of bytes", chi)
	}
	// Twice: a place that has too many ones has too few zeros.
	if chi := 2 * chiSquare(ones, words/2); math.Abs(chi-64) > 6*math.Sqrt(2*64) {
		t.Errorf("chi-square %.0f on 64 places of bits", chi)
	}
}

// chiSquare is the sum of (count - mean)^2 / mean.
func chiSquare(counts []float64, mean float64) (chi float64) {
	for _, n := range counts {
		chi += (n - mean) * (n - mean) / mean
	}
	return chi
}
