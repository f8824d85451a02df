// Package shamir shares a 32-byte secret among up to 65,535 holders, any
// threshold of whom can put it together and fewer of whom learn nothing
// (Shamir 1979). The field is GF(2^16), one polynomial for each two bytes.
//
//	shares := shamir.Split(secret, 3, []uint16{1, 2, 3, 4, 5}, prg.New(seed, "shamir"))
//	back, err := shamir.Combine(3, []uint16{5, 1, 2}, []shamir.Share{shares[4], shares[0], shares[1]})
//
// The holders' points are public and decide how long the work takes. Secrets
// and shares are only shifted, added and masked, so that they do not.
package shamir
