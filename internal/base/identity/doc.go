// Package identity holds the keys of one process. All keys are derived from one seed of 32 bytes in a file:
//
//   - an Ed25519 key that signs every message,
//   - an ML-KEM-768 + X25519 key pair to which others seal control messages, and the process files;
//     messages of a protocol are sealed to a key pair of their session ([DeriveSession]),
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
// Create never overwrites a file, and flushes the file and its directory before it returns.
// Only [Secrets.Seal] and [Rotation.Commit] replace the file. Load refuses a file that
// anybody but its owner can read. No format verb prints a secret of an
// [Identity] or of [SessionKeys].
//
// The seed is in clear in the process's memory, and on the disk unless a passphrase seals the
// file ([Secrets.Seal]). Whoever reads the seed can act as this process. A stolen seed signs in
// its owner's name until the roster changes, but opens no recorded message that was sealed
// to a session's own key.
package identity
