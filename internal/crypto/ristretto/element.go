package ristretto

import (
	"bytes"
	"crypto/sha512"
	"errors"
	"fmt"
	"math"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// Size is the length of an encoded element in bytes.
const Size = 32

// Element is an element of the group, which is a coset of points of the curve. It is stored as one
// of these points. The zero value is not valid.
type Element struct{ p edwards25519.Point }

// Errors of Decode.
var (
	ErrEncoding = errors.New("ristretto: the bytes do not encode an element")
	ErrIdentity = errors.New("ristretto: the bytes encode the identity")
)

// Decode decodes an element. Each element has one encoding only (RFC 9496, section 4.3.1). Decode
// refuses the identity.
func Decode(b []byte) (Element, error) {
	s, err := new(field.Element).SetBytes(b)
	if err != nil {
		return Element{}, fmt.Errorf("%w: %d bytes", ErrEncoding, len(b))
	}
	if !bytes.Equal(s.Bytes(), b) || s.IsNegative() == 1 {
		return Element{}, ErrEncoding
	}
	if s.Equal(new(field.Element)) == 1 {
		return Element{}, ErrIdentity
	}
	return lift(s)
}

// lift returns the element whose encoding is s.
func lift(s *field.Element) (Element, error) {
	var ss, u1, u2, u2sq, v, x, y, t field.Element
	ss.Square(s)
	u1.Subtract(one, &ss)
	u2.Add(one, &ss)
	u2sq.Square(&u2)
	v.Multiply(d, t.Square(&u1)) // v is -d u1^2 - u2^2
	v.Negate(&v).Subtract(&v, &u2sq)
	inv, wasSquare := new(field.Element).SqrtRatio(one, t.Multiply(&v, &u2sq))
	x.Multiply(inv, &u2) // first the denominator of x, then the denominator of y
	y.Multiply(inv, &x).Multiply(&y, &v)
	x.Multiply(&x, t.Add(s, s)).Absolute(&x)
	y.Multiply(&y, &u1)
	t.Multiply(&x, &y)
	if wasSquare == 0 || t.IsNegative() == 1 || y.Equal(new(field.Element)) == 1 {
		return Element{}, ErrEncoding
	}
	return onCurve(&x, &y, one, &t), nil
}

// onCurve returns the element for a point that is on the curve by construction.
func onCurve(x, y, z, t *field.Element) (e Element) {
	if _, err := e.p.SetExtendedCoordinates(x, y, z, t); err != nil {
		panic("ristretto: " + err.Error())
	}
	return e
}

// Hash maps a message to the group like a random function. Each domain has its own function. Hash
// implements the suite ristretto255_XMD:SHA-512_R255MAP_RO_ of RFC 9380, appendix B. It panics on a
// domain of more than 255 bytes.
func Hash(domain string, message []byte) Element {
	uniform := expand(domain, message)
	return fromUniform(&uniform)
}

// expand computes expand_message_xmd of RFC 9380, section 5.3.1, for 64 bytes, which are one hash
// of SHA-512.
func expand(domain string, message []byte) [sha512.Size]byte {
	if len(domain) > math.MaxUint8 {
		panic(fmt.Sprintf("ristretto: a domain of %d bytes", len(domain)))
	}
	suffix := append([]byte(domain), byte(len(domain)))
	b := make([]byte, sha512.BlockSize, sha512.BlockSize+len(message)+3+len(suffix))
	b = append(b, message...)
	b = append(b, 0, sha512.Size, 0)
	first := sha512.Sum512(append(b, suffix...))
	b = append(b[:0], first[:]...)
	b = append(b, 1)
	return sha512.Sum512(append(b, suffix...))
}

// fromUniform computes the one-way map of RFC 9496, section 4.3.4. The result is the sum of the
// images of the two halves of b.
func fromUniform(b *[64]byte) Element {
	first, second := elligator(b[:32]), elligator(b[32:])
	first.p.Add(&first.p, &second.p)
	return first
}

// elligator computes the function MAP of RFC 9496, section 4.3.4. It maps 32 bytes, without the
// highest bit, to a point.
func elligator(b []byte) Element {
	t, err := new(field.Element).SetBytes(b)
	if err != nil {
		panic("ristretto: " + err.Error()) // unreachable: 32 bytes are always accepted
	}
	var r, u, v, c, n, w0, w1, w2, w3, h field.Element
	r.Multiply(sqrtMinus1, h.Square(t))
	u.Multiply(h.Add(&r, one), oneMinusDSq)
	v.Multiply(&r, d)
	v.Subtract(minusOne, &v).Multiply(&v, h.Add(&r, d))
	s, wasSquare := new(field.Element).SqrtRatio(&u, &v)
	h.Multiply(s, t)
	h.Absolute(&h).Negate(&h)
	s.Select(s, &h, wasSquare)
	c.Select(minusOne, &r, wasSquare)
	n.Multiply(&c, h.Subtract(&r, one)).Multiply(&n, dMinusOneSq).Subtract(&n, &v)
	w0.Multiply(s, &v)
	w0.Add(&w0, &w0)
	w1.Multiply(&n, sqrtADMinus1)
	h.Square(s)
	w2.Subtract(one, &h)
	w3.Add(one, &h)
	return onCurve(u.Multiply(&w0, &w3), v.Multiply(&w2, &w1), r.Multiply(&w1, &w3), c.Multiply(&w0, &w2))
}

// These are the constants of RFC 9496, section 4.1, computed by their definitions. The curve is a
// x^2 + y^2 = 1 + d x^2 y^2 with a = -1.
var (
	one         = new(field.Element).One()
	minusOne    = new(field.Element).Negate(one)
	d           = quotient(new(field.Element).Negate(small(121665)), small(121666))
	sqrtMinus1  = root(minusOne, one)
	oneMinusDSq = new(field.Element).Subtract(one, new(field.Element).Square(d))
	dMinusOneSq = square(new(field.Element).Subtract(d, one))
	aMinusD     = new(field.Element).Subtract(minusOne, d)
	// sqrtADMinus1 is the odd one of the two roots of a d - 1.
	sqrtADMinus1   = new(field.Element).Negate(root(aMinusD, one)) // a d - 1 = -d - 1 = a - d
	invSqrtAMinusD = root(one, aMinusD)
)

func small(n uint32) *field.Element { return new(field.Element).Mult32(one, n) }

func square(x *field.Element) *field.Element { return new(field.Element).Square(x) }

func quotient(x, y *field.Element) *field.Element {
	return new(field.Element).Multiply(x, new(field.Element).Invert(y))
}

// root returns the even square root of u/v, which must be a square.
func root(u, v *field.Element) *field.Element {
	r, _ := new(field.Element).SqrtRatio(u, v)
	return r
}
