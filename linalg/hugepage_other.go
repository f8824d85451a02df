//go:build !linux

package linalg

// preferHugePages leaves pages to the system.
func preferHugePages[T Float]([]T) {}
