package ristretto

import (
	"crypto/sha512"
	"fmt"
	"math"

	"filippo.io/edwards25519/field"
)

// Hash maps a message to the group like a random function that belongs to the
// domain: suite ristretto255_XMD:SHA-512_R255MAP_RO_ of RFC 9380, appendix B.
// It panics on a domain of more than 255 bytes.
func Hash(domain string, message []byte) Element {
	uniform := expand(domain, message)
	return fromUniform(&uniform)
}

// expand is expand_message_xmd of RFC 9380, section 5.3.1, for 64 bytes, which
// are one block of SHA-512.
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

// fromUniform is the one-way map of RFC 9496, section 4.3.4: the sum of what
// the two halves are mapped to.
func fromUniform(b *[64]byte) Element {
	first, second := elligator(b[:32]), elligator(b[32:])
	first.p.Add(&first.p, &second.p)
	return first
}

// elligator is MAP of the same section: 32 bytes, of which the highest bit does
// not count, to a point.
func elligator(b []byte) Element {
	t, err := new(field.Element).SetBytes(b)
	if err != nil {
		panic("ristretto: " + err.Error()) // 32 bytes are always taken
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
