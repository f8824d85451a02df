package shamir

// The field is GF(2)[x] / (x^16 + x^12 + x^3 + x + 1).
const reduction = 0x100b

// lanes is sixteen elements of the field, four in each word.
type lanes [4]uint64

// perWord repeats an element for all four lanes of a word.
const perWord = 0x0001_0001_0001_0001

// double multiplies each lane by x, in a time that does not depend on them.
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

// scale multiplies each lane by c, which is public: the time depends on it.
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

// mul multiplies public elements: carry-less multiplication, then division.
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
