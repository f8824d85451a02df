// Package identity holds the keys of one process. All keys are derived from one 32-byte seed file:
//
//   - an Ed25519 key that signs every message,
//   - an ML-KEM-768 + X25519 key pair to which others seal messages until a session
//     has announced its own key pair ([DeriveSession]),
//   - a NATS user nkey with which the process logs in at the broker,
//   - an Ed25519 TLS key with which a coordinator proves that the broker is its own.
//
// Each key is HKDF-SHA256 (RFC 5869, no salt) of the seed under its own label, so
// that no key reveals anything about another.
//
//	id, err := identity.Load("/var/lib/mercer/identity")
//	if err != nil {
//		return err
//	}
//	fmt.Println(id.Public().Fingerprint()) // read this aloud to the others
//
// The package guarantees that the file is created once, never overwritten, flushed
// with its directory before Create returns, and refused if anybody but its owner can
// read it. No format verb prints a secret.
//
// The seed is in clear on the disk and in the process's memory; a reader of either
// can act as this process. A stolen seed signs in its owner's name until the roster
// changes, but opens no recorded session.
package identity
