package ring128

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Word is an element of Z_2^128: Hi 2^64 + Lo.
type Word struct{ Hi, Lo uint64 }

// Add returns w + v.
func (w Word) Add(v Word) Word {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	hi, _ := bits.Add64(w.Hi, v.Hi, carry)
	return Word{hi, lo}
}

// Sub returns w - v.
func (w Word) Sub(v Word) Word {
	lo, borrow := bits.Sub64(w.Lo, v.Lo, 0)
	hi, _ := bits.Sub64(w.Hi, v.Hi, borrow)
	return Word{hi, lo}
}

// Neg returns -w.
func (w Word) Neg() Word { return Word{}.Sub(w) }

// Mul returns w v.
func (w Word) Mul(v Word) Word {
	hi, lo := bits.Mul64(w.Lo, v.Lo)
	return Word{hi + w.Hi*v.Lo + w.Lo*v.Hi, lo}
}

// Lsh returns w 2^n.
func (w Word) Lsh(n uint) Word {
	if n >= 64 {
		return Word{Hi: w.Lo << (n - 64)}
	}
	return Word{w.Hi<<n | w.Lo>>(64-n), w.Lo << n}
}

// Rsh returns floor(w / 2^n) of the signed number w.
func (w Word) Rsh(n uint) Word {
	if n >= 64 {
		sign := uint64(int64(w.Hi) >> 63)
		return Word{sign, uint64(int64(w.Hi) >> (n - 64))}
	}
	return Word{uint64(int64(w.Hi) >> n), w.Lo>>n | w.Hi<<(64-n)}
}

// Negative reports whether the signed number w is below 0.
func (w Word) Negative() bool { return int64(w.Hi) < 0 }

// FromInt64 returns the word of v.
func FromInt64(v int64) Word { return Word{uint64(v >> 63), uint64(v)} }

// Int64 returns the signed number w, and whether it is an int64.
func (w Word) Int64() (int64, bool) {
	v := int64(w.Lo)
	return v, w == FromInt64(v)
}

// FromBig returns the word of v. It refuses numbers outside -2^127 to 2^127 - 1.
func FromBig(v *big.Int) (Word, error) {
	magnitude := v
	if v.Sign() < 0 {
		magnitude = new(big.Int).Not(v) // -v - 1 has at most 127 bits if v is at least -2^127
	}
	if magnitude.BitLen() > 127 {
		return Word{}, fmt.Errorf("ring128: the number has %d bits; a word holds a sign and 127 bits", v.BitLen())
	}
	var b [Bytes]byte
	magnitude.FillBytes(b[:])
	w := Word{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
	if v.Sign() < 0 {
		w = Word{^w.Hi, ^w.Lo}
	}
	return w, nil
}

// Big returns the signed number w.
func (w Word) Big() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(int64(w.Hi)), 64)
	return v.Add(v, new(big.Int).SetUint64(w.Lo))
}

// FromFloat returns the number with the given fraction bits nearest to x, the even one if two are as
// near. It refuses NaN, infinities and numbers whose product with 2^fraction is 2^127 or more in magnitude.
func FromFloat(x float64, fraction uint) (Word, error) {
	mantissa, exponent := math.Frexp(x)
	exponent += int(fraction)
	if math.IsNaN(x) || math.IsInf(x, 0) || exponent > 127 {
		return Word{}, fmt.Errorf("ring128: the number %v with %d fraction bits is not in a word's range", x, fraction)
	}
	if exponent <= 53 { // a float64 holds the word exactly
		return FromInt64(int64(math.RoundToEven(math.Ldexp(mantissa, exponent)))), nil
	}
	return FromInt64(int64(math.Ldexp(mantissa, 53))).Lsh(uint(exponent - 53)), nil
}

// Float returns the float64 nearest to the signed number w with the given fraction bits, the even one
// if two are as near.
func (w Word) Float(fraction uint) float64 {
	sign := 1.0
	if w.Negative() {
		sign, w = -1, w.Neg()
	}
	shift := 0
	if w.Hi != 0 {
		// Keep the highest 64 bits. If a lower bit is 1, set the last of them, which decides a tie.
		shift = bits.Len64(w.Hi)
		top := w.rshUnsigned(uint(shift))
		if w.Lo<<(64-uint(shift)) != 0 {
			top.Lo |= 1
		}
		w = top
	}
	return sign * math.Ldexp(float64(w.Lo), shift-int(fraction))
}

// rshUnsigned returns floor(w / 2^n) of the number from 0 to 2^128 - 1, for n from 1 to 64.
func (w Word) rshUnsigned(n uint) Word { return Word{w.Hi >> n, w.Lo>>n | w.Hi<<(64-n)} }
