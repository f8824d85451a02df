//go:build !amd64

package linalg

// Paths lists the paths that this machine has, the fastest first.
func Paths() []Path { return []Path{Portable} }

func micro64(Path) micro[float64] { return portable[float64]() }
func micro32(Path) micro[float32] { return portable[float32]() }

func elementwise64(Path) elementwise[float64] { return portableElementwise[float64]() }
func elementwise32(Path) elementwise[float32] { return portableElementwise[float32]() }

func butterflies64(Path) butterflies[float64] { return portableButterflies[float64]() }
func butterflies32(Path) butterflies[float32] { return portableButterflies[float32]() }

func abreastOf(Path) abreast { return portableAbreast }

func transposers64(Path) (through, past transposer[float64]) {
	return twice(portableTransposer[float64]())
}

func transposers32(Path) (through, past transposer[float32]) {
	return twice(portableTransposer[float32]())
}

func reflector(Path) twoReflections { return reflectPortable }

func pickers(Path) (pick, away picker) { return pickValues, pickValues }

func askingKernels(Path) []asking { return []asking{askingPortable} }
