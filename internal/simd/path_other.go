//go:build !amd64

package simd

// Paths lists the paths that this machine supports, the fastest first.
func Paths() []Path { return []Path{Portable} }

func micro64(Path) Micro[float64] { return portableMicro[float64]() }
func micro32(Path) Micro[float32] { return portableMicro[float32]() }

func elementwise64(Path) Elementwise[float64] { return portableElementwise[float64]() }
func elementwise32(Path) Elementwise[float32] { return portableElementwise[float32]() }

func Butterflies64(Path) Butterflies[float64] { return portableButterflies[float64]() }

func butterflies32(Path) Butterflies[float32] { return portableButterflies[float32]() }

func InterleavedOf(Path) Interleaved { return portableInterleaved }

func Transposers64(Path) (through, past Transposer[float64]) {
	return twice(portableTransposer[float64]())
}

func transposers32(Path) (through, past Transposer[float32]) {
	return twice(portableTransposer[float32]())
}

func ReflectionsOf(Path) Reflections { return reflectPortable }

func pickers(Path) (pick, away picker) { return pickValues, pickValues }

func AskingOf(Path) []Asking { return []Asking{askingPortable} }

func ringOf(Path) ring { return portableRing() }

func smo64(Path) SMO[float64] { return SMO[float64]{} }
func smo32(Path) SMO[float32] { return SMO[float32]{} }

func NarrowingOf(Path) Narrowing { return nil }

func wordsOf(Path) words { return portableWords() }
