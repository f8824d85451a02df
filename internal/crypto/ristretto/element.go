package ristretto

import (
	"bytes"
	"errors"
	"fmt"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// Size is the length of an encoding.
const Size = 32

// Element is an element of the group: a point of the curve that stands for its
// coset. The zero value is not valid.
type Element struct{ p edwards25519.Point }

// What Decode refuses.
var (
	ErrEncoding = errors.New("ristretto: not the encoding of an element")
	ErrIdentity = errors.New("ristretto: the identity, which nobody has to send")
)

// Decode decodes the one encoding that an element has (RFC 9496, section
// 4.3.1). It refuses the identity.
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

// lift finds the point whose encoding is s.
func lift(s *field.Element) (Element, error) {
	var ss, u1, u2, u2sq, v, x, y, t field.Element
	ss.Square(s)
	u1.Subtract(one, &ss)
	u2.Add(one, &ss)
	u2sq.Square(&u2)
	v.Multiply(d, t.Square(&u1)) // v = -d u1^2 - u2^2
	v.Negate(&v).Subtract(&v, &u2sq)
	inv, wasSquare := new(field.Element).SqrtRatio(one, t.Multiply(&v, &u2sq))
	x.Multiply(inv, &u2) // the denominator of x, then of y
	y.Multiply(inv, &x).Multiply(&y, &v)
	x.Multiply(&x, t.Add(s, s)).Absolute(&x)
	y.Multiply(&y, &u1)
	t.Multiply(&x, &y)
	if wasSquare == 0 || t.IsNegative() == 1 || y.Equal(new(field.Element)) == 1 {
		return Element{}, ErrEncoding
	}
	return onCurve(&x, &y, one, &t), nil
}

// onCurve is the element of a point that its caller has made from the curve's
// equation.
func onCurve(x, y, z, t *field.Element) (e Element) {
	if _, err := e.p.SetExtendedCoordinates(x, y, z, t); err != nil {
		panic("ristretto: " + err.Error())
	}
	return e
}
