package ring192

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// Word is an element of Z_2^192: High 2^128 + Mid 2^64 + Low.
type Word struct{ High, Mid, Low uint64 }

// Lift returns the number from 0 to 2^128 - 1 that w stands for.
func Lift(w ring128.Word) Word { return Word{Mid: w.Hi, Low: w.Lo} }

// FromUint64 returns the word of v.
func FromUint64(v uint64) Word { return Word{Low: v} }

// Reduce returns w modulo 2^128.
func (w Word) Reduce() ring128.Word { return ring128.Word{Hi: w.Mid, Lo: w.Low} }

// Add returns w + v.
func (w Word) Add(v Word) Word {
	low, carry := bits.Add64(w.Low, v.Low, 0)
	mid, carry := bits.Add64(w.Mid, v.Mid, carry)
	high, _ := bits.Add64(w.High, v.High, carry)
	return Word{high, mid, low}
}

// Sub returns w - v.
func (w Word) Sub(v Word) Word {
	low, borrow := bits.Sub64(w.Low, v.Low, 0)
	mid, borrow := bits.Sub64(w.Mid, v.Mid, borrow)
	high, _ := bits.Sub64(w.High, v.High, borrow)
	return Word{high, mid, low}
}

// Neg returns -w.
func (w Word) Neg() Word { return Word{}.Sub(w) }

// Mul returns w v.
func (w Word) Mul(v Word) Word {
	high, low := bits.Mul64(w.Low, v.Low)
	sum := Word{Mid: high, Low: low}
	high, low = bits.Mul64(w.Low, v.Mid)
	sum = sum.Add(Word{High: high, Mid: low})
	high, low = bits.Mul64(w.Mid, v.Low)
	sum = sum.Add(Word{High: high, Mid: low})
	sum.High += w.Mid*v.Mid + w.Low*v.High + w.High*v.Low
	return sum
}

// Inner returns the inner product of x and y. It panics unless they have the same length.
func Inner(x, y []Word) (sum Word) {
	checkLengths(len(x), len(y))
	for i, v := range x {
		sum = sum.Add(v.Mul(y[i]))
	}
	return sum
}

// stripe is the number of a matrix's rows that a core takes at a time.
const stripe = 32

// AddProduct adds y X^T to dst for lifted words of X, n x n, and y, rows x n, row after row. It panics on other
// shapes. The work is rows n^2 multiply-adds; the cores divide the rows of X.
func AddProduct(dst, y []Word, x ring128.Matrix) { AddProductRows(dst, y, x, 0, x.Rows) }

// AddProductRows is the part of [AddProduct] that rows lo to hi-1 of X make: words lo to hi-1 of each row of dst.
func AddProductRows(dst, y []Word, x ring128.Matrix, lo, hi int) {
	n := x.Cols
	if n == 0 || len(y)%n != 0 || x.Rows != n {
		panic(fmt.Sprintf("ring192: the product of %d words and a matrix of %d x %d", len(y), x.Rows, x.Cols))
	}
	checkLengths(len(dst), len(y))
	if lo < 0 || hi < lo || hi > n {
		panic(fmt.Sprintf("ring192: rows %d to %d of %d", lo, hi, n))
	}
	linalg.For(hi-lo, stripe, func(from, to int) {
		for i := lo + from; i < lo+to; i++ {
			row := x.Row(i)
			for at := 0; at < len(y); at += n {
				dst[at+i] = dst[at+i].Add(dot(row, y[at:at+n]))
			}
		}
	})
}

// dot returns the inner product of lifted words and y.
func dot(x []ring128.Word, y []Word) Word {
	var high, mid, low, carry uint64
	y = y[:len(x)]
	for k, a := range x {
		b := y[k]
		h, l := bits.Mul64(a.Lo, b.Low)
		h1, m1 := bits.Mul64(a.Lo, b.Mid)
		h2, m2 := bits.Mul64(a.Hi, b.Low)
		low, carry = bits.Add64(low, l, 0)
		mid, carry = bits.Add64(mid, h, carry)
		high += a.Hi*b.Mid + a.Lo*b.High + h1 + h2 + carry
		mid, carry = bits.Add64(mid, m1, 0)
		high += carry
		mid, carry = bits.Add64(mid, m2, 0)
		high += carry
	}
	return Word{high, mid, low}
}

// LiftAll returns the lifted words ([Lift]).
func LiftAll(words []ring128.Word) []Word {
	lifted := make([]Word, len(words))
	for i, w := range words {
		lifted[i] = Lift(w)
	}
	return lifted
}

// Add adds x to dst, word by word. It panics unless there are equally many.
func Add(dst, x []Word) {
	checkLengths(len(dst), len(x))
	for i, w := range x {
		dst[i] = dst[i].Add(w)
	}
}

// Scale multiplies each word of v by c.
func Scale(v []Word, c Word) {
	for i, w := range v {
		v[i] = w.Mul(c)
	}
}

// Bytes is the length of an encoded word.
const Bytes = 24

// Append appends the words to dst, each in 24 bytes, little-endian.
func Append(dst []byte, words ...Word) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w.Low)
		dst = binary.LittleEndian.AppendUint64(dst, w.Mid)
		dst = binary.LittleEndian.AppendUint64(dst, w.High)
	}
	return dst
}

// Decode returns the n words of b. It refuses any length but 24 bytes for each; every sequence of 24 bytes
// is a word.
func Decode(b []byte, n int) ([]Word, error) {
	if len(b) != Bytes*n {
		return nil, fmt.Errorf("ring192: the encoding has %d bytes; %d words of %d bytes each are required", len(b), n, Bytes)
	}
	words := make([]Word, n)
	for i := range words {
		w := b[Bytes*i:]
		words[i] = Word{binary.LittleEndian.Uint64(w[16:]), binary.LittleEndian.Uint64(w[8:]), binary.LittleEndian.Uint64(w)}
	}
	return words, nil
}

// Draw sets words to the next words of a stream, in the encoding of [Append]. Words of a fresh stream are
// uniform.
func Draw(words []Word, s *prg.Stream) {
	for i := range words {
		low, mid := s.Uint64(), s.Uint64()
		words[i] = Word{s.Uint64(), mid, low}
	}
}

func checkLengths(n, m int) {
	if n != m {
		panic(fmt.Sprintf("ring192: %d words and %d", n, m))
	}
}
