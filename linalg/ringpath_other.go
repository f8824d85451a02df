//go:build !amd64

package linalg

func ringOf(Path) ring { return portableRing() }
