package shamir

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// slow multiplies polynomials by shifting, adding and reducing.
func slow(a, b uint16) uint16 {
	sum := uint16(0)
	for i := 15; i >= 0; i-- {
		top := sum >> 15
		sum <<= 1
		if top == 1 {
			sum ^= reduction
		}
		if b>>i&1 == 1 {
			sum ^= a
		}
	}
	return sum
}

func TestFieldAgainstShiftAndAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := uint16(rng.Uint32()), uint16(rng.Uint32())
		if got, want := mul(a, b), slow(a, b); got != want {
			t.Fatalf("%#x * %#x = %#x, want %#x", a, b, got, want)
		}
	}
}

// The polynomial is irreducible: every element but 0 has an inverse.
func TestEveryElementHasAnInverse(t *testing.T) {
	for a := uint16(1); a != 0; a++ {
		if mul(a, inverse(a)) != 1 {
			t.Fatalf("%#x has no inverse", a)
		}
	}
}

func TestLanesDoNotMix(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		v, c := lanes{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}, uint16(rng.Uint32())
		scaled := v
		scaled.scale(c)
		for w := range v {
			for shift := 0; shift < 64; shift += 16 {
				if got, want := uint16(scaled[w]>>shift), slow(uint16(v[w]>>shift), c); got != want {
					t.Fatalf("a lane of %#x times %#x is %#x, want %#x", v[w], c, got, want)
				}
			}
		}
	}
}

func stream(seed uint64) io.Reader {
	return rand.NewChaCha8(sha256.Sum256([]byte{byte(seed), byte(seed >> 8)}))
}

func TestAnyThresholdOfSharesCombines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "holders")
		threshold := rapid.IntRange(1, n).Draw(t, "threshold")
		points := rapid.SliceOfNDistinct(rapid.Uint16Min(1), n, n, rapid.ID).Draw(t, "points")
		secret := [Size]byte(rapid.SliceOfN(rapid.Byte(), Size, Size).Draw(t, "secret"))
		shares, err := Split(secret, threshold, points, stream(rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		order := rapid.Permutation(indices(n)).Draw(t, "order")
		count := rapid.IntRange(threshold, n).Draw(t, "count")
		var held []uint16
		var parts []Share
		for _, i := range order[:count] {
			held, parts = append(held, points[i]), append(parts, shares[i])
		}
		if back, err := Combine(threshold, held, parts); err != nil || back != secret {
			t.Fatalf("%d of %d shares, threshold %d: %x, %v", count, n, threshold, back, err)
		}
		if _, err := Combine(threshold, held[:threshold-1], parts[:threshold-1]); err == nil {
			t.Fatal("fewer shares than the threshold are accepted")
		}
		if count > threshold {
			parts[count-1][rapid.IntRange(0, Size-1).Draw(t, "byte")] ^= 1
			if _, err := Combine(threshold, held, parts); !errors.Is(err, ErrInconsistent) {
				t.Fatalf("a changed share beyond the threshold: %v", err)
			}
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// One share less than the threshold fits every secret: for each secret there is a last
// share that completes it.
func TestFewerSharesFitEverySecret(t *testing.T) {
	points := []uint16{7, 8, 9}
	shares, err := Split([Size]byte{1, 2, 3}, 3, points, stream(1))
	if err != nil {
		t.Fatal(err)
	}
	for other := range byte(20) {
		secret := [Size]byte{other, 200}
		// The polynomial through the secret at 0 and two true shares.
		last := interpolateWith(secret, points[:2], shares[:2], points[2])
		back, err := Combine(3, points, []Share{shares[0], shares[1], last})
		if err != nil || back != secret {
			t.Errorf("secret %x cannot be told from %x: %v", secret, back, err)
		}
	}
}

// interpolateWith uses the secret as the share of point 0.
func interpolateWith(secret [Size]byte, points []uint16, shares []Share, x uint16) Share {
	return newBasis(append([]uint16{0}, points...)).at(x, append([]Share{secret}, shares...))
}

func TestSplitIsAFunctionOfItsStream(t *testing.T) {
	points := []uint16{1, 2, 65535}
	a, err := Split([Size]byte{9}, 2, points, stream(5))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Split([Size]byte{9}, 2, points, stream(5))
	c, _ := Split([Size]byte{9}, 2, points, stream(6))
	for i := range a {
		if a[i] != b[i] || a[i] == c[i] {
			t.Errorf("share %d: the same stream gives %x and %x, another %x", i, a[i], b[i], c[i])
		}
	}
}

func TestRefusals(t *testing.T) {
	var secret [Size]byte
	for name, try := range map[string]func() error{
		"threshold 0":         func() error { _, err := Split(secret, 0, []uint16{1}, stream(1)); return err },
		"threshold above all": func() error { _, err := Split(secret, 2, []uint16{1}, stream(1)); return err },
		"point 0":             func() error { _, err := Split(secret, 1, []uint16{0}, stream(1)); return err },
		"point twice":         func() error { _, err := Split(secret, 1, []uint16{4, 4}, stream(1)); return err },
		"short stream": func() error {
			_, err := Split(secret, 2, []uint16{1, 2}, bytes.NewReader(make([]byte, 31)))
			return err
		},
		"points and shares":   func() error { _, err := Combine(1, []uint16{1, 2}, make([]Share, 1)); return err },
		"combine point 0":     func() error { _, err := Combine(1, []uint16{0}, make([]Share, 1)); return err },
		"combine point twice": func() error { _, err := Combine(1, []uint16{3, 3}, make([]Share, 2)); return err },
	} {
		if try() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	points := make([]uint16, 74)
	for i := range points {
		points[i] = uint16(100*i + 1)
	}
	random := stream(1)
	for b.Loop() {
		if _, err := Split([Size]byte{1}, 49, points, random); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCombine(b *testing.B) {
	points := make([]uint16, 60)
	for i := range points {
		points[i] = uint16(100*i + 1)
	}
	shares, err := Split([Size]byte{1}, 49, points, stream(1))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Combine(49, points, shares); err != nil {
			b.Fatal(err)
		}
	}
}
