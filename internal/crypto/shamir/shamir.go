package shamir

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Size is the size of a secret and of a share, in bytes.
const Size = 32

// Share is one holder's part of a secret. As many shares as the threshold reveal the secret.
type Share [Size]byte

// ErrInconsistent reports that the shares are not on one polynomial. At least one of them differs
// from the share that was dealt.
var ErrInconsistent = errors.New("shamir: the shares do not belong together")

// Split divides secret into one share for each point. A point identifies a holder. The points must
// be distinct and not 0. As many holders as the threshold can combine their shares. The
// polynomials' coefficients are read from random, 32 bytes for each degree from 1 on.
func Split(secret [Size]byte, threshold int, points []uint16, random io.Reader) ([]Share, error) {
	if err := check(threshold, points); err != nil {
		return nil, err
	}
	polynomial := make([]lanes, threshold)
	polynomial[0] = load(secret)
	for d := 1; d < threshold; d++ {
		var coefficient [Size]byte
		if _, err := io.ReadFull(random, coefficient[:]); err != nil {
			return nil, fmt.Errorf("shamir: %w", err)
		}
		polynomial[d] = load(coefficient)
	}
	shares := make([]Share, len(points))
	for i, point := range points {
		shares[i] = store(evaluate(polynomial, point))
	}
	return shares, nil
}

// check returns an error if a secret cannot be shared or reconstructed with the parameters.
func check(threshold int, points []uint16) error {
	if threshold < 1 || threshold > len(points) {
		return fmt.Errorf("shamir: the threshold is %d with %d holders; use 1 to the number of holders", threshold, len(points))
	}
	seen := make(map[uint16]bool, len(points))
	for _, p := range points {
		if p == 0 {
			return errors.New("shamir: a point is 0; the points must not be 0")
		}
		if seen[p] {
			return fmt.Errorf("shamir: point %d is repeated; the points must be distinct", p)
		}
		seen[p] = true
	}
	return nil
}

// evaluate returns the polynomial's values at x by Horner's rule.
func evaluate(polynomial []lanes, x uint16) lanes {
	var v lanes
	for d := len(polynomial) - 1; d >= 0; d-- {
		v.scale(x)
		v.add(&polynomial[d])
	}
	return v
}

// Combine reconstructs the secret from the shares of the holders with the given points. It needs at
// least threshold shares. Shares beyond the threshold must agree with the others; otherwise the
// error is ErrInconsistent.
func Combine(threshold int, points []uint16, shares []Share) ([Size]byte, error) {
	if len(points) != len(shares) {
		return [Size]byte{}, fmt.Errorf("shamir: there are %d points for %d shares; the numbers must be equal", len(points), len(shares))
	}
	if err := check(threshold, points); err != nil {
		return [Size]byte{}, err
	}
	base := newBasis(points[:threshold])
	for i := threshold; i < len(points); i++ {
		expected := base.at(points[i], shares)
		if subtle.ConstantTimeCompare(expected[:], shares[i][:]) == 0 {
			return [Size]byte{}, ErrInconsistent
		}
	}
	return base.at(0, shares), nil
}

// basis interpolates through points with the barycentric formula.
type basis struct {
	points  []uint16
	weights []uint16 // 1 / product of the differences from the other points
}

func newBasis(points []uint16) basis {
	b := basis{points, make([]uint16, len(points))}
	for i, p := range points {
		product := uint16(1)
		for j, q := range points {
			if i != j {
				product = mul(product, p^q)
			}
		}
		b.weights[i] = inverse(product)
	}
	return b
}

// inverse returns a^(2^16 - 2), the inverse of a public element a != 0.
func inverse(a uint16) uint16 {
	result := uint16(1)
	for range 15 {
		a = mul(a, a)
		result = mul(result, a)
	}
	return result
}

// at returns the value at x of the polynomial through the shares. It weighs the share of a point by
// the point's weight and by the distances of x to all other points.
func (b basis) at(x uint16, shares []Share) [Size]byte {
	after := make([]uint16, len(b.points)+1) // products of the distances to the points from each index on
	after[len(b.points)] = 1
	for i := len(b.points) - 1; i >= 0; i-- {
		after[i] = mul(after[i+1], x^b.points[i])
	}
	before := uint16(1)
	var sum lanes
	for i, p := range b.points {
		v := load(shares[i])
		v.scale(mul(b.weights[i], mul(before, after[i+1])))
		sum.add(&v)
		before = mul(before, x^p)
	}
	return store(sum)
}

func load(b [Size]byte) (v lanes) {
	for w := range v {
		v[w] = binary.LittleEndian.Uint64(b[8*w:])
	}
	return v
}

func store(v lanes) (b [Size]byte) {
	for w, word := range v {
		binary.LittleEndian.PutUint64(b[8*w:], word)
	}
	return b
}

// reduction holds the low terms of the polynomial that defines the field, GF(2)[x] / (x^16 + x^12 +
// x^3 + x + 1).
const reduction = 0x100b

// lanes holds sixteen elements of the field, four in each word.
type lanes [4]uint64

// perWord is a word with the number 1 in all four lanes.
const perWord = 0x0001_0001_0001_0001

// double multiplies each lane by x. Its time does not depend on the lanes.
func (v *lanes) double() {
	for w, word := range v {
		carry := word >> 15 & perWord
		v[w] = word<<1&^perWord ^ carry*reduction
	}
}

func (v *lanes) add(u *lanes) {
	for w := range v {
		v[w] ^= u[w]
	}
}

// scale multiplies each lane by the public element c. Its time depends on c.
func (v *lanes) scale(c uint16) {
	var sum lanes
	for power := *v; c != 0; c >>= 1 {
		if c&1 == 1 {
			sum.add(&power)
		}
		power.double()
	}
	*v = sum
}

// mul multiplies two public elements by carry-less multiplication and then division.
func mul(a, b uint16) uint16 {
	product := uint32(0)
	for shifted := uint32(a); b != 0; b >>= 1 {
		product ^= shifted & -uint32(b&1)
		shifted <<= 1
	}
	for i := 31; i >= 16; i-- {
		product ^= (1<<16 | reduction) << (i - 16) & -(product >> i & 1)
	}
	return uint16(product)
}
