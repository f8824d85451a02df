package linalg

//go:generate go -C internal/asmgen run . -out ../../smo_amd64.s -stubs ../../smo_amd64.go -pkg linalg smo

func smo64(p Path) smo[float64] {
	switch p {
	case AVX512:
		return smo[float64]{smoMover[float64]{16, smoMove64AVX512}, smoChooser[float64]{16, smoPartner64AVX512}}
	case AVX2:
		return smo[float64]{smoMover[float64]{8, smoMove64AVX2}, smoChooser[float64]{8, smoPartner64AVX2}}
	}
	return smo[float64]{}
}

func smo32(p Path) smo[float32] {
	switch p {
	case AVX512:
		return smo[float32]{smoMover[float32]{16, smoMove32AVX512}, smoChooser[float32]{16, smoPartner32AVX512}}
	case AVX2:
		return smo[float32]{smoMover[float32]{8, smoMove32AVX2}, smoChooser[float32]{8, smoPartner32AVX2}}
	}
	return smo[float32]{}
}
