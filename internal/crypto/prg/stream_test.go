package prg

import (
	"bytes"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var _ io.Reader = (*Stream)(nil)

func sequentialSeed() (seed [32]byte) {
	for i := range seed {
		seed[i] = byte(i)
	}
	return seed
}

func draw(s *Stream, n int) []byte {
	b := make([]byte, n)
	_, _ = s.Read(b) // never fails
	return b
}

// The values are permanently fixed. The vectors of Derive, Read,
// Uint64n, Perm and Signs were computed independently, by Python's hmac module
// and OpenSSL's AES-256-CTR, from the comments of this package.
func TestGoldenVectors(t *testing.T) {
	seed := sequentialSeed()
	derived := Derive(seed, "okra/epoch", []byte("abc"), nil)
	checkHex(t, "Derive", derived[:], "cf908ac7f4af859dae56124da0e59861b43aa6f6bab0ec17ec2788306f485a29")
	checkHex(t, "Read", draw(New(seed, "okra/epoch", []byte("abc"), nil), 40), "3a9ba4c7d207cae09756e3d18f9e152644616be1d074f6e5dbefab0d71709e3a09084fa88433cd0d")

	s := New(seed, "golden")
	var numbers []uint64
	for _, n := range []uint64{1, 2, 3, 10, 1000, 1 << 40, 1<<63 + 1, math.MaxUint64} {
		numbers = append(numbers, s.Uint64n(n))
	}
	check(t, "Uint64n", numbers, []uint64{0x0, 0x1, 0x0, 0x0, 0x99, 0x9be15680f, 0x73dc03dd529a9b54, 0x92fb4b9e9285aa0a})
	check(t, "Perm", s.Perm(12), []int{7, 3, 2, 6, 8, 10, 0, 11, 4, 9, 1, 5})
	signs := make([]int8, 12)
	s.Signs(signs)
	check(t, "Signs", signs, []int8{1, -1, 1, -1, -1, -1, -1, -1, 1, 1, -1, 1})
	var normals []uint64
	for range 6 {
		normals = append(normals, math.Float64bits(s.NormFloat64()))
	}
	check(t, "NormFloat64", normals, []uint64{
		0xbfbb1106974e5266, 0x3fcd6edf1092a6ef, 0x3fe29a0464ff30f6,
		0x3faf7a51706002ba, 0xbfd1831cddea0407, 0x3fea5dd3c84e52e3,
	})
	check(t, "Float64", []float64{s.Float64(), s.Float64()}, []float64{0.9639152925983062, 0.1914609025480286})
}

// A million normals pass through the wedges and the tail; their sum in bits
// pins every branch of the sampler.
func TestGoldenNormals(t *testing.T) {
	s := New(sequentialSeed(), "golden/normals")
	var sum uint64
	for range 1 << 20 {
		sum = sum*31 + math.Float64bits(s.NormFloat64())
	}
	if sum != 0x6bee77ad343626cf {
		t.Errorf("the hash of 2^20 normals is %#x", sum)
	}
}

func checkHex(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if hex.EncodeToString(got) != want {
		t.Errorf("%s = %x, want %s", what, got, want)
	}
}

func check[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %#v, want %#v", what, got, want)
	}
}

func TestLabelsSeparate(t *testing.T) {
	type name struct {
		label string
		parts []string
	}
	seen := make(map[[32]byte]name)
	for _, n := range []name{
		{"ab", []string{"c"}}, {"a", []string{"bc"}}, {"abc", nil}, {"", []string{"abc"}},
		{"ab", []string{"c", ""}}, {"ab", []string{"", "c"}}, {"ab", nil}, {"ab", []string{""}},
		{"a", []string{"b", "c"}}, {"a\x01\x00\x00\x00b", []string{"c"}}, {"", nil},
	} {
		var parts [][]byte
		for _, p := range n.parts {
			parts = append(parts, []byte(p))
		}
		d := Derive([32]byte{1}, n.label, parts...)
		stream := [32]byte(draw(New([32]byte{1}, n.label, parts...), 32))
		for _, key := range [][32]byte{d, stream} {
			if old, dup := seen[key]; dup {
				t.Errorf("%q and %q give the same bytes", old, n)
			}
			seen[key] = n
		}
		if d == Derive([32]byte{2}, n.label, parts...) {
			t.Errorf("%q does not depend on the seed", n)
		}
	}
}

// The stream is one sequence of bytes, however it is read.
func TestReadsAgree(t *testing.T) {
	want := draw(New([32]byte{9}, "reads"), 8192)
	rapid.Check(t, func(t *rapid.T) {
		s := New([32]byte{9}, "reads")
		at := 0
		for at < 4096 {
			switch rapid.IntRange(0, 2).Draw(t, "operation") {
			case 0:
				n := rapid.IntRange(0, 1500).Draw(t, "length")
				if got := draw(s, n); !bytes.Equal(got, want[at:at+n]) {
					t.Fatalf("Read of %d at %d differs", n, at)
				}
				at += n
			case 1:
				var b [8]byte
				for i, v := 0, s.Uint64(); i < 8; i, v = i+1, v>>8 {
					b[i] = byte(v)
				}
				if !bytes.Equal(b[:], want[at:at+8]) {
					t.Fatalf("Uint64 at %d differs", at)
				}
				at += 8
			case 2:
				block := rapid.IntRange(0, 250).Draw(t, "block")
				s.Seek(uint64(block))
				at = block * BlockBytes
			}
		}
	})
}

func TestSeekFar(t *testing.T) {
	s := New([32]byte{9}, "far")
	s.Seek(math.MaxUint64)
	last := draw(s, 2*BlockBytes)
	s.Seek(0)
	if bytes.Equal(last[BlockBytes:], draw(s, BlockBytes)) {
		t.Error("the counter wraps to the first block after 2^64")
	}
	s.Seek(math.MaxUint64)
	if !bytes.Equal(last, draw(s, 2*BlockBytes)) {
		t.Error("the same block reads differently")
	}
}

func TestUint64nIsUniform(t *testing.T) {
	const each = 4000
	for _, n := range []uint64{1, 2, 3, 7, 64, 1000} {
		s := New([32]byte{3}, "uniform")
		count := make([]int, n)
		for range n * each {
			count[s.Uint64n(n)]++
		}
		if chi := chiSquare(count, each); math.Abs(chi-float64(n-1)) > 6*math.Sqrt(2*float64(n)) {
			t.Errorf("n = %d: chi-square %v", n, chi)
		}
	}
}

// For n = 3 2^62 the plain product would give the multiples of three twice as
// often as the rest.
func TestUint64nRejects(t *testing.T) {
	s := New([32]byte{3}, "reject")
	var count [3]int
	const each = 20000
	for range 3 * each {
		count[s.Uint64n(3<<62)%3]++
	}
	if chi := chiSquare(count[:], each); chi > 30 {
		t.Errorf("chi-square %v, counts %v", chi, count)
	}
}

func TestFloat64IsUniform(t *testing.T) {
	const cells, each = 512, 1000
	s := New([32]byte{4}, "float")
	count := make([]int, cells)
	for range cells * each {
		x := s.Float64()
		if x < 0 || x >= 1 {
			t.Fatalf("Float64 = %v", x)
		}
		count[int(x*cells)]++
	}
	if chi := chiSquare(count, each); math.Abs(chi-(cells-1)) > 6*math.Sqrt(2*cells) {
		t.Errorf("chi-square %v", chi)
	}
}

// All 24 permutations of four come up equally often.
func TestPermIsUniform(t *testing.T) {
	const each = 3000
	s := New([32]byte{7}, "perm")
	index := make(map[[4]int]int)
	count := make([]int, 24)
	for range 24 * each {
		p := [4]int(s.Perm(4))
		i, ok := index[p]
		if !ok {
			i = len(index)
			index[p] = i
		}
		count[i]++
	}
	if chi := chiSquare(count, each); math.Abs(chi-23) > 6*math.Sqrt(2*23) {
		t.Errorf("chi-square %v", chi)
	}
}

func TestPermsAgree(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, 4097} {
		p, q := New([32]byte{8}, "perm").Perm(n), New([32]byte{8}, "perm").Perm32(n)
		seen := make([]bool, n)
		for i, v := range p {
			if v != int(q[i]) || seen[v] {
				t.Fatalf("n = %d: place %d holds %d and %d, seen before: %v", n, i, v, q[i], seen[v])
			}
			seen[v] = true
		}
	}
}

func TestSignsAreFair(t *testing.T) {
	signs := make([]int8, 1<<20)
	New([32]byte{2}, "signs").Signs(signs)
	sum, runs := 0, 0
	for i, v := range signs {
		if v != 1 && v != -1 {
			t.Fatalf("sign %d", v)
		}
		sum += int(v)
		if i > 0 && v != signs[i-1] {
			runs++
		}
	}
	if math.Abs(float64(sum)) > 6*1024 || math.Abs(float64(runs)-1<<19) > 6*512 {
		t.Errorf("sum %d, %d changes of sign", sum, runs)
	}
}

func BenchmarkNormFloat64(b *testing.B) {
	s := New([32]byte{}, "bench")
	var sum float64
	for b.Loop() {
		for range 1000 {
			sum += s.NormFloat64()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/normal")
	_ = sum
}

func BenchmarkUint64(b *testing.B) {
	s := New([32]byte{}, "bench")
	var sum uint64
	for b.Loop() {
		for range 1000 {
			sum += s.Uint64()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/word")
	_ = sum
}

func BenchmarkRead(b *testing.B) {
	s := New([32]byte{}, "bench")
	p := make([]byte, 1<<20)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		_, _ = s.Read(p)
	}
}

func BenchmarkPerm32(b *testing.B) {
	s := New([32]byte{}, "bench")
	for b.Loop() {
		s.Perm32(1 << 16)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<16), "ns/element")
}
