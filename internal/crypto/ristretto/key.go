package ristretto

import (
	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// Key is a secret scalar that multiplies elements.
type Key struct{ half edwards25519.Scalar }

// NewKey makes a key from 64 uniformly random bytes.
func NewKey(uniform *[64]byte) *Key {
	s, err := edwards25519.NewScalar().SetUniformBytes(uniform[:])
	if err != nil {
		panic("ristretto: " + err.Error()) // unreachable: 64 bytes are always accepted
	}
	return newKey(s)
}

func newKey(s *edwards25519.Scalar) *Key {
	k := new(Key)
	k.half.Multiply(s, halfScalar)
	return k
}

// halfScalar is the inverse of 2 modulo the order of the group.
var halfScalar = func() *edwards25519.Scalar {
	two := make([]byte, 32)
	two[0] = 2
	s, err := edwards25519.NewScalar().SetCanonicalBytes(two)
	if err != nil {
		panic("ristretto: " + err.Error()) // unreachable: 2 is below the order
	}
	return s.Invert(s)
}()

// Multiply multiplies each element by the key and writes the encodings to dst. dst holds [Size]
// bytes for each element. In a batch of 64 the common inversion is cheap.
func (k *Key) Multiply(dst []byte, elements []Element) {
	halves := make([]double, len(elements))
	var p edwards25519.Point
	for i := range elements {
		halves[i].set(p.ScalarMult(&k.half, &elements[i].p))
	}
	invert(halves)
	for i := range halves {
		copy(dst[i*Size:(i+1)*Size], halves[i].encode().Bytes())
	}
}

// double holds the factors that the encoding of twice a point needs. With the point's extended
// coordinates, doubling gives x = e/f and y = g/h.
type double struct {
	e, f, g, h, eg, fh field.Element
	inverse            field.Element // inverse of the result of factor; set by invert
}

// set computes the factors for twice the point p.
func (w *double) set(p *edwards25519.Point) {
	x, y, z, t := p.ExtendedCoordinates()
	var xx, yy, zz, dtt field.Element
	xx.Square(x)
	yy.Square(y)
	zz.Square(z)
	dtt.Multiply(d, t.Square(t))
	w.e.Multiply(x, y)
	w.e.Add(&w.e, &w.e)
	w.f.Add(&zz, &dtt)
	w.g.Add(&yy, &xx)
	w.h.Subtract(&zz, &dtt)
	w.eg.Multiply(&w.e, &w.g)
	w.fh.Multiply(&w.f, &w.h)
}

// invert computes the inverses of the factors of all points by one inversion (Montgomery's trick).
// The factor of a point that doubles to the identity is 1, because it would have no inverse.
func invert(all []double) {
	product := *one
	for i := range all {
		w := &all[i]
		w.inverse.Set(&product) // product of the earlier factors; the second loop completes the inverse
		product.Multiply(&product, w.factor())
	}
	product.Invert(&product)
	for i := len(all) - 1; i >= 0; i-- {
		w := &all[i]
		w.inverse.Multiply(&w.inverse, &product)
		product.Multiply(&product, w.factor())
	}
}

// factor returns the product of eg and fh, or 1 if the product is 0.
func (w *double) factor() *field.Element {
	v := new(field.Element).Multiply(&w.eg, &w.fh)
	return v.Select(one, v, v.Equal(new(field.Element)))
}

// encode returns the encoding of twice the point, as in RFC 9496, section 4.3.2. It needs no square
// root, because the coordinates are those of a double.
func (w *double) encode() *field.Element {
	var zInv, tInv, minusE, turned, magic, s, h field.Element
	zInv.Multiply(&w.eg, &w.inverse)
	tInv.Multiply(&w.fh, &w.inverse)
	rotate := h.Multiply(&w.eg, &zInv).IsNegative()
	minusE.Negate(&w.e)
	turned.Multiply(&w.f, sqrtMinus1)
	e, g := new(field.Element).Select(&w.g, &w.e, rotate), new(field.Element).Select(&minusE, &w.g, rotate)
	hh := new(field.Element).Select(&turned, &w.h, rotate)
	magic.Select(sqrtMinus1, invSqrtAMinusD, rotate)
	negative := h.Multiply(hh, e).Multiply(&h, &zInv).IsNegative()
	g.Select(h.Negate(g), g, negative)
	s.Subtract(hh, g)
	s.Multiply(&s, magic.Multiply(&magic, h.Multiply(g, &tInv)))
	return s.Absolute(&s)
}
