//go:build !linux

package linalg

// preferHugePages does nothing on this system.
func preferHugePages[T Float]([]T) {}
