// Package identity holds the keys of one process, all derived from one 32-byte
// seed file:
//
//   - an Ed25519 key that signs every message,
//   - an ML-KEM-768 + X25519 key pair that others seal to until a session has
//     announced a key pair of its own ([DeriveSession]),
//   - a NATS user nkey with which the process logs in at the broker,
//   - an Ed25519 key of TLS, by which a coordinator proves that the broker is its own.
//
// Each key is HKDF-SHA256 (RFC 5869, no salt) of the seed under a label of its
// own, so that no key tells anything about another.
//
//	id, err := identity.Load("/var/lib/mercer/identity")
//	if err != nil {
//		return err
//	}
//	fmt.Println(id.Public().Fingerprint()) // read this aloud to the others
//
// Promised: the file is created once, never overwritten, flushed with its
// directory before Create returns, and refused when anybody but its owner can
// read it. Nothing here prints a secret, with any format verb.
//
// Not promised: the seed lies in clear on the disk and in the process's
// memory; a reader of either can act as this process. A stolen seed signs in its
// owner's name until the roster changes, but opens no recorded session.
package identity
