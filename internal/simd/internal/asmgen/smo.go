package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Predicates of comparisons. The last is true for NaN, the others are false.
const (
	lessOrEqual    = 0x12
	greaterOrEqual = 0x1d
	greater        = 0x1e
	notLess        = 0x15
)

// streams is the number of vectors that the loop examines in one turn. Each stream has its own best
// value, so that one comparison does not wait for the other.
const streams = 2

// lanes is a set of flags, one for each lane of a vector: a mask register, or the signs of a
// vector.
type lanes = Register

// selection holds an instruction set's operations on selected lanes of a vector.
type selection struct {
	u unit
	// flag returns the lanes whose byte at the address place has the given bit.
	flag func(place Mem, bit int) lanes
	// compare returns those lanes of the given set in which the comparison of v with w holds.
	compare func(predicate int, w, v VecVirtual, of lanes) lanes
	// put copies the given lanes from one vector to another.
	put func(from, to VecVirtual, of lanes)
	// jumpIfNone jumps to the label if no lane is set.
	jumpIfNone func(of lanes, label string)
}

// selection returns the operations on selected lanes in u's instruction set. bits lists the flags
// in use.
func (u unit) selection(bits ...int) selection {
	if u.width == 64 {
		return u.byMask(bits)
	}
	return u.bySign()
}

func (u unit) byMask(which []int) selection {
	s := selection{u: u}
	bits := map[int]VecVirtual{}
	for _, bit := range which {
		flag := GP64()
		MOVQ(U32(bit), flag)
		bits[bit] = u.everywhere(flag)
	}
	s.flag = func(place Mem, bit int) lanes {
		bytes, k := u.register(), K()
		VPMOVZXBQ(place, bytes)
		VPTESTMQ(bits[bit], bytes, k)
		return k
	}
	s.compare = func(predicate int, w, v VecVirtual, of lanes) lanes {
		k := K()
		VCMPPD(U8(predicate), w, v, of, k)
		return k
	}
	s.put = func(from, to VecVirtual, of lanes) { VMOVAPD(from, of, to) }
	s.jumpIfNone = func(of lanes, label string) {
		KORTESTW(of, of)
		JZ(LabelRef(label))
	}
	return s
}

func (u unit) bySign() selection {
	s := selection{u: u}
	s.flag = func(place Mem, bit int) lanes {
		bytes := u.register()
		VPMOVZXBQ(place, bytes)
		VPSLLQ(U8(64-bit), bytes, bytes) // the highest bit of a lane is now the flag
		return bytes
	}
	s.compare = func(predicate int, w, v VecVirtual, of lanes) lanes {
		m := u.register()
		VCMPPD(U8(predicate), w, v, m)
		VANDPD(of, m, m)
		return m
	}
	s.put = func(from, to VecVirtual, of lanes) { VBLENDVPD(of, from, to, to) }
	s.jumpIfNone = func(of lanes, label string) {
		signs := GP32()
		VMOVMSKPD(of, signs)
		TESTL(signs, signs)
		JZ(LabelRef(label))
	}
	return s
}

// loadWide loads values of the rows' precision as float64.
func (u unit) loadWide(size int, from Mem, to VecVirtual) {
	if size == 4 {
		VCVTPS2PD(from, to)
		return
	}
	u.load(from, to)
}

// smo writes both passes of sequential minimal optimisation for kernel rows with values of the
// given size. u is a unit of float64.
func (u unit) smo(size int) {
	u.smoMove(size)
	u.smoPartner(size)
}

func (u unit) smoName(name string, size int) (string, string) {
	set := u.suffix[2:]
	if size == 4 {
		return name + "32" + set, "float32"
	}
	return name + "64" + set, "float64"
}

// smoMove writes the pass that adds a x + b y to f. In each lane it finds the least value of the
// entries that can grow, with its turn, and the largest value of the entries that can shrink.
func (u unit) smoMove(size int) {
	name, value := u.smoName("smoMove", size)
	begin(name, fmt.Sprintf("func(n int, f []float64, a float64, x []%s, b float64, y []%s, place []uint8, low *[16]float64, at *[16]int64, high *[16]float64)", value, value),
		fmt.Sprintf("%s adds a x + b y to f, like SMO.Move, in %d lanes. The number n is a multiple of 16.", name, streams*u.width/8))
	n, f := integer("n"), slice("f")
	x, y, place := slice("x"), slice("y"), slice("place")
	a, b := u.number("a"), u.number("b")
	s := u.selection(1, 2)
	low, at, high := s.state("low"), s.state("at"), s.state("high")
	now, step := u.turns()
	i := GP64()
	XORQ(i, i)
	Label("turn")
	for k := range streams {
		v, xs, ys := u.register(), u.register(), u.register()
		u.loadWide(size, u.entry(x, i, size, k), xs)
		u.mul(a, xs, xs)
		u.loadWide(size, u.entry(y, i, size, k), ys)
		u.mul(b, ys, ys)
		u.add(ys, xs, xs)
		u.load(u.entry(f, i, 8, k), v)
		u.add(xs, v, v)
		u.store(v, u.entry(f, i, 8, k))
		grow := s.compare(lessOrEqual, low[k], v, s.flag(u.entry(place, i, 1, k), 1))
		s.put(v, low[k], grow)
		s.put(now, at[k], grow)
		larger := u.register()
		u.max(high[k], v, larger) // with this order of operands, max skips a NaN in v
		s.put(larger, high[k], s.flag(u.entry(place, i, 1, k), 2))
	}
	VPADDQ(step, now, now)
	ADDQ(U8(streams*u.width/8), i)
	CMPQ(i, n)
	JL(LabelRef("turn"))
	s.save("low", low)
	s.save("at", at)
	s.save("high", high)
	writeReturn()
}

// smoPartner writes the pass that finds the largest decrease in each lane. It records the turn of
// the decrease. It divides only where a cheaper product shows that the decrease can be the largest.
func (u unit) smoPartner(size int) {
	name, value := u.smoName("smoPartner", size)
	begin(name, fmt.Sprintf("func(n int, f, diagonal []float64, row []%s, place []uint8, fi, kii, tau, slack float64, best *[16]float64, at *[16]int64)", value),
		fmt.Sprintf("%s finds the largest decreases, like SMO.Partner, in %d lanes. The number n is a multiple of 16.", name, streams*u.width/8))
	n, f := integer("n"), slice("f")
	diagonal, row, place := slice("diagonal"), slice("row"), slice("place")
	fi, kii, slack, zero := u.number("fi"), u.number("kii"), u.number("slack"), u.register()
	u.zero(zero)
	s := u.selection(2)
	best, at := s.state("best"), s.state("at")
	enough := make([]VecVirtual, streams)
	for k := range enough {
		enough[k] = u.register()
		u.mul(slack, best[k], enough[k])
	}
	i := GP64()
	XORQ(i, i)
	Label("turn")
	for k := range streams {
		next := fmt.Sprint("next", k)
		d, curvature, twice := u.register(), u.register(), u.register()
		u.load(u.entry(f, i, 8, k), d)
		shrink := s.compare(greater, fi, d, s.flag(u.entry(place, i, 1, k), 2))
		u.sub(fi, d, d)
		u.mul(d, d, d)
		u.loadWide(size, u.entry(row, i, size, k), twice)
		u.add(twice, twice, twice)
		u.add(u.entry(diagonal, i, 8, k), kii, curvature)
		u.sub(twice, curvature, curvature)
		whole := u.number("tau")
		s.positive(curvature, whole, zero)
		bar := u.register()
		u.mul(whole, enough[k], bar)
		worth := s.compare(notLess, bar, d, shrink)
		s.jumpIfNone(worth, next)
		VDIVPD(whole, d, d)
		better := s.compare(greaterOrEqual, best[k], d, worth)
		s.put(d, best[k], better)
		s.put(u.everywhere(i), at[k], better)
		u.mul(slack, best[k], enough[k])
		Label(next)
	}
	ADDQ(U8(streams*u.width/8), i)
	CMPQ(i, n)
	JL(LabelRef("turn"))
	s.save("best", best)
	s.save("at", at)
	writeReturn()
}

// positive copies the entries of vector v that are above 0 into another vector.
func (s selection) positive(v, to, zero VecVirtual) {
	if s.u.width == 64 {
		k := K()
		VCMPPD(U8(greater), zero, v, k)
		s.put(v, to, k)
		return
	}
	m := s.u.register()
	VCMPPD(U8(greater), zero, v, m)
	s.put(v, to, m)
}

// state loads one vector for each stream from the array parameter with the given name.
func (s selection) state(name string) []VecVirtual {
	from := integer(name)
	v := make([]VecVirtual, streams)
	for k := range v {
		v[k] = s.u.register()
		s.u.load(Mem{Base: from, Disp: k * s.u.width}, v[k])
	}
	return v
}

func (s selection) save(name string, v []VecVirtual) {
	to := integer(name)
	for k := range v {
		s.u.store(v[k], Mem{Base: to, Disp: k * s.u.width})
	}
}

// turns returns a vector with the index 0 of the first turn, and a vector with the index's
// increment per turn.
func (u unit) turns() (now, step VecVirtual) {
	now, width := u.register(), GP64()
	u.zero(now)
	MOVQ(U32(streams*u.width/8), width)
	return now, u.everywhere(width)
}

// everywhere returns a register filled with an index.
func (u unit) everywhere(i Register) VecVirtual {
	low, all := XMM(), u.register()
	VMOVQ(i, low)
	VPBROADCASTQ(low, all)
	return all
}

// entry returns the address of the vector of stream k from index i on, in a slice of values of the
// given size.
func (u unit) entry(base, i Register, size, k int) Mem {
	return Mem{Base: base, Index: i, Scale: uint8(size), Disp: k * u.width / 8 * size}
}
