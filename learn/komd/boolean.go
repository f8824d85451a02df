package komd

import "math"

// universe is a number of formulas of which an item makes some true. Boolean
// kernels work in shares of it: the numbers of sets of users themselves would
// leave float64.
type universe struct{ size float64 }

// choose returns the universe of sets of d formulas. It may be infinite.
func (u universe) choose(d int) universe {
	size := 1.0
	for k := range d {
		size *= (u.size - float64(k)) / float64(k+1)
	}
	return universe{size}
}

// after turns counts into shares and then takes the steps in order.
func (u universe) after(steps ...func(triple) triple) func(triple) triple {
	return func(t triple) triple {
		t = triple{t.ii / u.size, t.jj / u.size, t.ij / u.size}
		for _, step := range steps {
			t = step(t)
		}
		return t
	}
}

// conjunction counts the sets of d formulas that are all true of both items:
// binom(C_ij, d).
func (u universe) conjunction(d int) func(triple) triple {
	return func(t triple) triple { return triple{u.all(t.ii, d), u.all(t.jj, d), u.all(t.ij, d)} }
}

// disjunction counts the sets of d formulas of which each item makes one true:
// those that touch i, and those that touch j, less those that touch either.
func (u universe) disjunction(d int) func(triple) triple {
	return func(t triple) triple {
		ii, jj := u.some(t.ii, d), u.some(t.jj, d)
		return triple{ii, jj, max(0, ii+jj-u.some(t.ii+t.jj-t.ij, d))}
	}
}

// all returns the share of the sets of d formulas that lie within a share x of
// them: binom(x size, d) / binom(size, d).
func (u universe) all(x float64, d int) float64 {
	share := 1.0
	for k := range d {
		share *= max(0, x-float64(k)/u.size) / (1 - float64(k)/u.size)
	}
	return share
}

// some returns the share of the sets of d formulas that touch a share x of them:
// 1 - binom(size - x size, d) / binom(size, d), exact also where x is tiny.
func (u universe) some(x float64, d int) float64 {
	log := 0.0
	for k := range d {
		hit := x / (1 - float64(k)/u.size)
		if hit >= 1 {
			return 1
		}
		log += math.Log1p(-hit)
	}
	return -math.Expm1(log)
}
