package ristretto

import "filippo.io/edwards25519/field"

// The constants of RFC 9496, section 4.1, by their definitions: the curve is
// a x^2 + y^2 = 1 + d x^2 y^2 with a = -1.
var (
	one         = new(field.Element).One()
	minusOne    = new(field.Element).Negate(one)
	d           = quotient(new(field.Element).Negate(small(121665)), small(121666))
	sqrtMinus1  = root(minusOne, one)
	oneMinusDSq = new(field.Element).Subtract(one, new(field.Element).Square(d))
	dMinusOneSq = square(new(field.Element).Subtract(d, one))
	aMinusD     = new(field.Element).Subtract(minusOne, d)
	// The odd one of the two roots of a d - 1.
	sqrtADMinus1   = new(field.Element).Negate(root(aMinusD, one)) // a d - 1 = -d - 1 = a - d
	invSqrtAMinusD = root(one, aMinusD)
)

func small(n uint32) *field.Element { return new(field.Element).Mult32(one, n) }

func square(x *field.Element) *field.Element { return new(field.Element).Square(x) }

func quotient(x, y *field.Element) *field.Element {
	return new(field.Element).Multiply(x, new(field.Element).Invert(y))
}

// root returns the even root of u/v, which must be a square.
func root(u, v *field.Element) *field.Element {
	r, _ := new(field.Element).SqrtRatio(u, v)
	return r
}
