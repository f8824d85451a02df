// Package wire defines the canonical encoding of messages, of journals, and of most other bytes that
// are signed or hashed. It has little-endian integers, length-prefixed bytes, no optional fields and no padding, so
// that a value has exactly one encoding.
//
// A [Reader] never panics and never allocates more than its input justifies:
// it checks every length against the caller's limit and against the remaining
// bytes.
package wire
