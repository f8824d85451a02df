package kernel

import (
	"math"
)

// Kernel is a positive semidefinite function of two rows that sees their inner
// products only. It is safe for concurrent use. [New] makes one.
type Kernel interface {
	// Name returns the name that New knows the kernel by.
	Name() string
	// At returns k(x, z), given x.z, x.x and z.z.
	At(xz, xx, zz float64) float64
	// Map sets dst[j] to At(xz[j], xx, zz[j]). The three slices are of one
	// length; dst may be xz.
	Map(dst []float64, xz []float64, xx float64, zz []float64)
}

// pointwise is a kernel by its function.
type pointwise struct {
	name string
	at   func(xz, xx, zz float64) float64
}

func (k pointwise) Name() string { return k.name }

func (k pointwise) At(xz, xx, zz float64) float64 { return k.at(xz, xx, zz) }

func (k pointwise) Map(dst, xz []float64, xx float64, zz []float64) {
	dst, zz = dst[:len(xz)], zz[:len(xz)]
	for j, v := range xz {
		dst[j] = k.at(v, xx, zz[j])
	}
}

// mapped is a kernel by its map of many values.
type mapped struct {
	name string
	of   func(dst, xz []float64, xx float64, zz []float64)
}

func (k mapped) Name() string { return k.name }

// At goes the way of Map, because functions of single values may round
// otherwise.
func (k mapped) At(xz, xx, zz float64) float64 {
	value := [1]float64{xz}
	k.of(value[:], value[:], xx, []float64{zz})
	return value[0]
}

func (k mapped) Map(dst, xz []float64, xx float64, zz []float64) {
	k.of(dst[:len(xz)], xz, xx, zz[:len(xz)])
}

// amplified is a kernel times a number above 0.
type amplified struct {
	Kernel
	by float64
}

func (k amplified) At(xz, xx, zz float64) float64 { return k.by * k.Kernel.At(xz, xx, zz) }

func (k amplified) Map(dst, xz []float64, xx float64, zz []float64) {
	k.Kernel.Map(dst, xz, xx, zz)
	for j := range dst[:len(xz)] {
		dst[j] *= k.by
	}
}

// cosine is 0 when a row is 0, as in scikit-learn.
func cosine(xz, xx, zz float64) float64 {
	if xx == 0 || zz == 0 {
		return 0
	}
	return min(1, max(-1, xz/math.Sqrt(xx*zz)))
}
