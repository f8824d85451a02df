// Package shamir shares a 32-byte secret among up to 65,535 holders. The threshold is the number of
// holders who can reconstruct the secret together. Fewer holders learn nothing (Shamir 1979). The
// field is GF(2^16), with one polynomial for each two bytes.
//
//	shares, err := shamir.Split(secret, 3, []uint16{1, 2, 3, 4, 5}, prg.New(seed, "shamir"))
//	back, err := shamir.Combine(3, []uint16{5, 1, 2}, []shamir.Share{shares[4], shares[0], shares[1]})
//
// The holders' points are public, and the time depends on them. Secrets and shares
// are only shifted, added, masked and multiplied by a constant, so the time does not depend on them.
package shamir
