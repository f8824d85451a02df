// Package prg provides a pseudorandom generator, which is the only source of randomness of protocol
// machines. Its keys and streams are functions of a 32-byte seed and a label, so that a replay
// draws the same bytes.
//
// The construction is permanently fixed, because golden vectors, journals and the
// encoders of existing federations depend on it:
//
//   - info = prefix || len(label) || label || len(part) || part || ..., each
//     length 4 bytes little-endian, so that ("ab", "c") and ("a", "bc") are
//     different. The prefix distinguishes derived seeds from stream keys.
//   - key = HKDF-SHA256(secret = seed, salt = none, info), 32 bytes (RFC 5869).
//   - keystream = AES-256-CTR under that key, counter from 0, big-endian.
//
// Numbers are read from the keystream little-endian. Every sampler documents its
// method and uses no function of package math that differs between architectures, so
// that its values are the same bits everywhere.
//
//	s := prg.New(seed, "okra/hadamard", epoch)
//	order := s.Perm(10)
//	noise := s.NormFloat64()
//
// It is not constant-time: the time reveals rejections.
package prg
