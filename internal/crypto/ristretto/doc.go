// Package ristretto implements the group ristretto255 (RFC 9496) for callers that multiply many
// elements by one secret. It provides hashing to the group (RFC 9380, suite
// ristretto255_XMD:SHA-512_R255MAP_RO_), strict decoding, and multiplication with encoding in
// batches.
//
//	e := ristretto.Hash("a domain", []byte("some message"))
//	k := ristretto.NewKey(&uniform)
//	encodings := make([]byte, ristretto.Size)
//	k.Multiply(encodings, []ristretto.Element{e})
//
// Encoding an element takes a square root. The encoding of twice an element
// takes an inversion only, which a batch shares; so a key multiplies by half of
// its scalar and encodes the doubles, as curve25519-dalek does under the name
// double_and_compress_batch.
//
// filippo.io/edwards25519 does the arithmetic in the field and on the curve.
// Every step that depends on a key or on a hashed message takes constant time.
// Decoding does not: its time reveals which encodings are refused.
package ristretto
