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

func transposers(Path) (through, past transposer) { return transpose, transpose }

func reflector(Path) twoReflections { return reflectPortable }

func pickers(Path) (pick, away picker) { return pickValues, pickValues }

func askingKernels(Path) []asking { return []asking{askingPortable} }
