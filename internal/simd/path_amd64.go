package simd

import "golang.org/x/sys/cpu"

//go:generate go -C internal/asmgen run . -out ../../micro_amd64.s -stubs ../../micro_amd64.go -pkg simd
//go:generate go -C internal/asmgen run . -out ../../ring_amd64.s -stubs ../../ring_amd64.go -pkg simd ring
//go:generate go -C internal/asmgen run . -out ../../smo_amd64.s -stubs ../../smo_amd64.go -pkg simd smo
//go:generate go -C internal/asmgen run . -out ../../words_amd64.s -stubs ../../words_amd64.go -pkg simd words

// Paths lists the paths that this machine supports, the fastest first.
func Paths() []Path {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return []Path{Portable}
	case !cpu.X86.HasAVX512F:
		return []Path{AVX2, Portable}
	}
	return []Path{AVX512, AVX2, Portable}
}

func micro64(p Path) Micro[float64] {
	switch p {
	case AVX512:
		return Micro[float64]{8, 24, true, set64AVX512, add64AVX512, peak64AVX512, 8 * 24}
	case AVX2:
		return Micro[float64]{4, 12, true, set64AVX2, add64AVX2, peak64AVX2, 4 * 12}
	}
	return portableMicro[float64]()
}

func micro32(p Path) Micro[float32] {
	switch p {
	case AVX512:
		return Micro[float32]{8, 48, true, set32AVX512, add32AVX512, peak32AVX512, 8 * 48}
	case AVX2:
		return Micro[float32]{4, 24, true, set32AVX2, add32AVX2, peak32AVX2, 4 * 24}
	}
	return portableMicro[float32]()
}

func elementwise64(p Path) Elementwise[float64] {
	switch p {
	case AVX512:
		return Elementwise[float64]{
			Vector: 8, Exp: exp64AVX512, Cos: cos64AVX512, Polynomial: polynomial64AVX512,
			RBF: rbf64AVX512, Laplacian: laplacian64AVX512, Matern32: matern3264AVX512, Matern52: matern5264AVX512, Rational: rational64AVX512,
		}
	case AVX2:
		return Elementwise[float64]{
			Vector: 4, Exp: exp64AVX2, Cos: cos64AVX2, Polynomial: polynomial64AVX2,
			RBF: rbf64AVX2, Laplacian: laplacian64AVX2, Matern32: matern3264AVX2, Matern52: matern5264AVX2, Rational: rational64AVX2,
		}
	}
	return portableElementwise[float64]()
}

func elementwise32(p Path) Elementwise[float32] {
	switch p {
	case AVX512:
		return Elementwise[float32]{
			Vector: 16, Exp: exp32AVX512, Cos: cos32AVX512, Polynomial: polynomial32AVX512,
			RBF: rbf32AVX512, Laplacian: laplacian32AVX512, Matern32: matern3232AVX512, Matern52: matern5232AVX512, Rational: rational32AVX512,
		}
	case AVX2:
		return Elementwise[float32]{
			Vector: 8, Exp: exp32AVX2, Cos: cos32AVX2, Polynomial: polynomial32AVX2,
			RBF: rbf32AVX2, Laplacian: laplacian32AVX2, Matern32: matern3232AVX2, Matern52: matern5232AVX2, Rational: rational32AVX2,
		}
	}
	return portableElementwise[float32]()
}

// Butterflies64 returns the functions of a float64 Walsh-Hadamard transform for a path.
func Butterflies64(p Path) Butterflies[float64] {
	switch p {
	case AVX512:
		return Butterflies[float64]{8, quarters64AVX512, eighths64AVX512, lowest64AVX512, flip64AVX512}
	case AVX2:
		return Butterflies[float64]{4, quarters64AVX2, eighths64AVX2, lowest64AVX2, flip64AVX2}
	}
	return portableButterflies[float64]()
}

func butterflies32(p Path) Butterflies[float32] {
	switch p {
	case AVX512:
		return Butterflies[float32]{16, quarters32AVX512, eighths32AVX512, lowest32AVX512, flip32AVX512}
	case AVX2:
		return Butterflies[float32]{8, quarters32AVX2, eighths32AVX2, lowest32AVX2, flip32AVX2}
	}
	return portableButterflies[float32]()
}

// InterleavedOf returns the functions on rows of eight values for a path.
func InterleavedOf(p Path) Interleaved {
	switch p {
	case AVX512:
		return Interleaved{turnRowsAVX512, copyStripsAVX512, askStripsAVX512, neighboursAVX512, scatterRowsAVX512, scatterEighthsAVX512}
	case AVX2:
		return Interleaved{turnRowsAVX2, copyStripsAVX2, askStripsAVX2, neighboursAVX2, scatterRowsAVX2, scatterEighthsAVX2}
	}
	return portableInterleaved
}

// Transposers64 returns the functions that transpose squares of float64: one writes into the
// caches, and one writes past the caches.
func Transposers64(p Path) (through, past Transposer[float64]) {
	switch p {
	case AVX512:
		return Transposer[float64]{8, transpose64AVX512}, Transposer[float64]{8, transposeAway64AVX512}
	case AVX2:
		return twice(Transposer[float64]{8, transpose64AVX2})
	}
	return twice(portableTransposer[float64]())
}

func transposers32(p Path) (through, past Transposer[float32]) {
	switch p {
	case AVX512:
		return Transposer[float32]{16, transpose32AVX512}, Transposer[float32]{16, transposeAway32AVX512}
	case AVX2:
		return twice(Transposer[float32]{16, transpose32AVX2})
	}
	return twice(portableTransposer[float32]())
}

func pickers(p Path) (pick, away picker) {
	switch p {
	case AVX512:
		return pickValues64AVX512, pickValuesAway64AVX512
	case AVX2:
		return pickValues64AVX2, pickValuesAway64AVX2
	}
	return pickValues, pickValues
}

// ReflectionsOf returns the function that applies Householder reflections on a path.
func ReflectionsOf(p Path) Reflections {
	switch p {
	case AVX512:
		return reflect64AVX512
	case AVX2:
		return reflect64AVX2
	}
	return reflectPortable
}

// AskingOf returns the micro-kernels with prefetching for a panel's first vector, its first two
// vectors, and so on up to all vectors.
func AskingOf(p Path) []Asking {
	switch p {
	case AVX512:
		return []Asking{set1Asking64AVX512, set2Asking64AVX512, set3Asking64AVX512}
	case AVX2:
		return []Asking{set1Asking64AVX2, set2Asking64AVX2, set3Asking64AVX2}
	}
	return []Asking{askingPortable}
}

func ringOf(p Path) ring {
	switch p {
	case AVX512:
		return ring{
			8, [3]rounding{roundTurns8AVX512, roundTurns16AVX512, roundTurns32AVX512},
			16, [3]waves{waves8AVX512, waves16AVX512, waves32AVX512},
		}
	case AVX2:
		return ring{
			4, [3]rounding{roundTurns8AVX2, roundTurns16AVX2, roundTurns32AVX2},
			8, [3]waves{waves8AVX2, waves16AVX2, waves32AVX2},
		}
	}
	return portableRing()
}

func smo64(p Path) SMO[float64] {
	switch p {
	case AVX512:
		return SMO[float64]{16, smoMove64AVX512, smoPartner64AVX512, doubts64AVX512}
	case AVX2:
		return SMO[float64]{8, smoMove64AVX2, smoPartner64AVX2, doubts64AVX2}
	}
	return SMO[float64]{}
}

func smo32(p Path) SMO[float32] {
	switch p {
	case AVX512:
		return SMO[float32]{16, smoMove32AVX512, smoPartner32AVX512, doubts32AVX512}
	case AVX2:
		return SMO[float32]{8, smoMove32AVX2, smoPartner32AVX2, doubts32AVX2}
	}
	return SMO[float32]{}
}

func NarrowingOf(p Path) Narrowing {
	switch p {
	case AVX512:
		return narrowAVX512
	case AVX2:
		return narrowAVX2
	}
	return nil
}

func wordsOf(p Path) words {
	switch p {
	case AVX512:
		return words{32, addWordsAVX512, subtractWordsAVX512}
	case AVX2:
		return words{16, addWordsAVX2, subtractWordsAVX2}
	}
	return portableWords()
}
