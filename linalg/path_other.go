//go:build !amd64

package linalg

// Paths lists the paths that this machine has, the fastest first.
func Paths() []Path { return []Path{Portable} }

func micro64(Path) micro[float64] { return portable[float64]() }
func micro32(Path) micro[float32] { return portable[float32]() }
