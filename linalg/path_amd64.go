package linalg

import "golang.org/x/sys/cpu"

//go:generate go -C internal/asmgen run . -out ../../micro_amd64.s -stubs ../../micro_amd64.go -pkg linalg

// Paths lists the paths that this machine has, the fastest first.
func Paths() []Path {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return []Path{Portable}
	case !cpu.X86.HasAVX512F:
		return []Path{AVX2, Portable}
	}
	return []Path{AVX512, AVX2, Portable}
}

func micro64(p Path) micro[float64] {
	switch p {
	case AVX512:
		return micro[float64]{8, 24, true, set64AVX512, add64AVX512, peak64AVX512, 8 * 24}
	case AVX2:
		return micro[float64]{4, 12, true, set64AVX2, add64AVX2, peak64AVX2, 4 * 12}
	}
	return portable[float64]()
}

func micro32(p Path) micro[float32] {
	switch p {
	case AVX512:
		return micro[float32]{8, 48, true, set32AVX512, add32AVX512, peak32AVX512, 8 * 48}
	case AVX2:
		return micro[float32]{4, 24, true, set32AVX2, add32AVX2, peak32AVX2, 4 * 24}
	}
	return portable[float32]()
}

func elementwise64(p Path) elementwise[float64] {
	switch p {
	case AVX512:
		return elementwise[float64]{
			vector: 8, exp: exp64AVX512, cos: cos64AVX512, polynomial: polynomial64AVX512,
			rbf: rbf64AVX512, laplacian: laplacian64AVX512, matern32: matern3264AVX512, matern52: matern5264AVX512, rational: rational64AVX512,
		}
	case AVX2:
		return elementwise[float64]{
			vector: 4, exp: exp64AVX2, cos: cos64AVX2, polynomial: polynomial64AVX2,
			rbf: rbf64AVX2, laplacian: laplacian64AVX2, matern32: matern3264AVX2, matern52: matern5264AVX2, rational: rational64AVX2,
		}
	}
	return portableElementwise[float64]()
}

func elementwise32(p Path) elementwise[float32] {
	switch p {
	case AVX512:
		return elementwise[float32]{
			vector: 16, exp: exp32AVX512, cos: cos32AVX512, polynomial: polynomial32AVX512,
			rbf: rbf32AVX512, laplacian: laplacian32AVX512, matern32: matern3232AVX512, matern52: matern5232AVX512, rational: rational32AVX512,
		}
	case AVX2:
		return elementwise[float32]{
			vector: 8, exp: exp32AVX2, cos: cos32AVX2, polynomial: polynomial32AVX2,
			rbf: rbf32AVX2, laplacian: laplacian32AVX2, matern32: matern3232AVX2, matern52: matern5232AVX2, rational: rational32AVX2,
		}
	}
	return portableElementwise[float32]()
}

func butterflies64(p Path) butterflies[float64] {
	switch p {
	case AVX512:
		return butterflies[float64]{8, quarters64AVX512, eighths64AVX512, lowest64AVX512, flip64AVX512}
	case AVX2:
		return butterflies[float64]{4, quarters64AVX2, eighths64AVX2, lowest64AVX2, flip64AVX2}
	}
	return portableButterflies[float64]()
}

func butterflies32(p Path) butterflies[float32] {
	switch p {
	case AVX512:
		return butterflies[float32]{16, quarters32AVX512, eighths32AVX512, lowest32AVX512, flip32AVX512}
	case AVX2:
		return butterflies[float32]{8, quarters32AVX2, eighths32AVX2, lowest32AVX2, flip32AVX2}
	}
	return portableButterflies[float32]()
}

func abreastOf(p Path) abreast {
	switch p {
	case AVX512:
		return abreast{turnRowsAVX512, copyStripsAVX512, askStripsAVX512, neighboursAVX512, scatterRowsAVX512, scatterEighthsAVX512}
	case AVX2:
		return abreast{turnRowsAVX2, copyStripsAVX2, askStripsAVX2, neighboursAVX2, scatterRowsAVX2, scatterEighthsAVX2}
	}
	return portableAbreast
}

// The first transposer is through the caches, the second past them where it
// writes whole lines.

func transposers64(p Path) (through, past transposer[float64]) {
	switch p {
	case AVX512:
		return transposer[float64]{8, transpose64AVX512}, transposer[float64]{8, transposeAway64AVX512}
	case AVX2:
		return twice(transposer[float64]{8, transpose64AVX2})
	}
	return twice(portableTransposer[float64]())
}

func transposers32(p Path) (through, past transposer[float32]) {
	switch p {
	case AVX512:
		return transposer[float32]{16, transpose32AVX512}, transposer[float32]{16, transposeAway32AVX512}
	case AVX2:
		return twice(transposer[float32]{16, transpose32AVX2})
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

func reflector(p Path) twoReflections {
	switch p {
	case AVX512:
		return reflect64AVX512
	case AVX2:
		return reflect64AVX2
	}
	return reflectPortable
}

func askingKernels(p Path) []asking {
	switch p {
	case AVX512:
		return []asking{set1Asking64AVX512, set2Asking64AVX512, set3Asking64AVX512}
	case AVX2:
		return []asking{set1Asking64AVX2, set2Asking64AVX2, set3Asking64AVX2}
	}
	return []asking{askingPortable}
}
