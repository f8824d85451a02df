package linalg

import "fmt"

// Path is a way to compute products: the instructions of the micro-kernel.
// Functions that are not told choose the fastest that the machine has. Results
// of two paths differ in rounding only: the vector paths fuse each product
// with its addition, the portable one rounds both.
type Path int

const (
	Portable Path = iota // plain Go
	AVX2                 // with FMA, 256 bits
	AVX512               // 512 bits
)

func (p Path) String() string {
	switch p {
	case Portable:
		return "portable"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("Path(%d)", int(p))
}

// micro is a micro-kernel: the innermost part of a product, which holds a
// small tile of it in registers (Goto, van de Geijn 2008, Anatomy of
// high-performance matrix multiplication).
type micro[T Float] struct {
	// The tile. Both divide minEdge and maxEdge.
	rows, cols int
	// fused says that a product is not rounded before it is added.
	fused bool
	// set writes the tile into c, whose rows are stride values apart: the
	// product of k columns of a panel of a (rows values per column) and one
	// of b (cols values per column), added from the first column to the last.
	// add adds the same to c.
	set, add func(k int, a, b, c []T, stride int)
	// peak does that many turns of perTurn multiplications and additions.
	peak    func(turns int)
	perTurn int
}

// microOf returns the micro-kernel of a path. It panics when the machine has
// not the instructions.
func microOf[T Float](p Path) micro[T] {
	for _, has := range Paths() {
		if p != has {
			continue
		}
		var zero T
		if _, single := any(zero).(float32); single {
			return any(micro32(p)).(micro[T])
		}
		return any(micro64(p)).(micro[T])
	}
	panic(fmt.Sprintf("linalg: this machine has no %v; Paths lists what it has", p))
}

// best returns the micro-kernel of the fastest path.
func best[T Float]() micro[T] { return microOf[T](Paths()[0]) }

// FMA multiplies and adds in registers, the given number of turns on each of
// as many cores as For uses, and returns how many floating-point operations it
// did: no product can exceed their number per second, which the caller
// measures. A turn takes some ten nanoseconds.
func FMA[T Float](p Path, cores, turns int) float64 {
	m := microOf[T](p)
	For(cores, 1, func(lo, hi int) { m.peak(turns) })
	return 2 * float64(m.perTurn) * float64(turns) * float64(cores)
}
