package linalg

//go:generate go -C internal/asmgen run . -out ../../ring_amd64.s -stubs ../../ring_amd64.go -pkg linalg ring

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
