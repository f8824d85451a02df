//go:build !amd64

package prg

func newKeystream(key *[32]byte) keystream { return newCounterMode(key) }
