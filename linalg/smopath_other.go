//go:build !amd64

package linalg

func smo64(Path) smo[float64] { return smo[float64]{} }
func smo32(Path) smo[float32] { return smo[float32]{} }
