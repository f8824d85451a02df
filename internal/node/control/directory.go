package control

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

const maxKeyBytes = 4 << 10 // maximum length of a public key in bytes; a key of ML-KEM-768 with X25519 has 1,216 bytes

// Acceptance is a party's agreement to a session. It carries the party's public key for the
// session, signed with the party's identity key. Each session has a key of its own, so a stolen
// identity key does not decrypt earlier sessions. The session key is signed, so nobody can
// substitute another.
type Acceptance struct {
	Member    string
	Key       []byte // public key for encryption, derived from the session's seed
	Signature []byte
}

// Accept returns a signed acceptance of a session with the member's session key.
func Accept(id protocol.SessionID, member string, key []byte, sign ed25519.PrivateKey) Acceptance {
	return Acceptance{member, key, ed25519.Sign(sign, accepted(id, member, key))}
}

// Absent reports whether the acceptance is empty, which means that the member has not accepted.
func (a *Acceptance) Absent() bool { return len(a.Key) == 0 && len(a.Signature) == 0 }

// Verify checks the signature with the member's public identity key.
func (a *Acceptance) Verify(id protocol.SessionID, identity ed25519.PublicKey) error {
	if len(identity) != ed25519.PublicKeySize || !ed25519.Verify(identity, accepted(id, a.Member, a.Key), a.Signature) {
		return protocol.Blame(protocol.Transport, protocol.KindMalformed, fmt.Errorf("the session key of %s does not have that member's signature", a.Member))
	}
	return nil
}

// accepted returns the bytes that a member signs to accept a session.
func accepted(id protocol.SessionID, member string, key []byte) []byte {
	var w wire.Writer
	w.String("mercer/v1/session-key")
	w.Fixed(id[:])
	w.String(member)
	w.Bytes32(key)
	return w.Bytes()
}

// Encode returns the canonical encoding of the acceptance.
func (a *Acceptance) Encode() []byte {
	var w wire.Writer
	a.appendTo(&w)
	return w.Bytes()
}

func (a *Acceptance) appendTo(w *wire.Writer) {
	w.String(a.Member)
	w.Bytes32(a.Key)
	w.Bytes32(a.Signature)
}

func readAcceptance(r *wire.Reader) Acceptance {
	return Acceptance{r.String(protocol.MaxNameBytes), r.Bytes32(maxKeyBytes), r.Bytes32(ed25519.SignatureSize)}
}

// DecodeAcceptance decodes an acceptance that Encode has encoded.
func DecodeAcceptance(b []byte) (*Acceptance, error) {
	r := wire.NewReader(b)
	a := readAcceptance(r)
	return &a, r.Close("control: acceptance")
}

// Directory holds one acceptance for each member, in the order of members in the session's
// descriptor. The acceptance of an absent member has only the name.
type Directory []Acceptance

// Encode returns the canonical encoding of the directory.
func (d Directory) Encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(len(d)))
	for i := range d {
		d[i].appendTo(&w)
	}
	return w.Bytes()
}

// DecodeDirectory decodes a directory that Encode has encoded.
func DecodeDirectory(b []byte) (Directory, error) {
	r := wire.NewReader(b)
	d := make(Directory, r.Count(protocol.MaxMembers, 10))
	for i := range d {
		d[i] = readAcceptance(r)
	}
	return d, r.Close("control: directory")
}

// Verify checks the directory's signed keys, one for each member of the session. The number of
// members without a key must not exceed absences, and a server must have a key. The entry of the
// member self must have the given key.
func (d Directory) Verify(s *protocol.Session, identity func(member string) ed25519.PublicKey, self string, key []byte, absences int) error {
	if len(d) != len(s.Members) {
		return fmt.Errorf("control: the directory has %d keys for %d members; it must have one for each", len(d), len(s.Members))
	}
	for i := range d {
		if d[i].Member != s.Members[i].Name {
			return fmt.Errorf("control: the directory names %q, but the session's member in that place is %q", d[i].Member, s.Members[i].Name)
		}
		if d[i].Member == self && string(d[i].Key) != string(key) {
			return errors.New("control: the directory has a wrong key for this party; it must have the key that the party sent")
		}
		if d[i].Absent() && absences > 0 && s.Members[i].Role != protocol.RoleServer {
			absences--
			continue
		}
		if err := d[i].Verify(s.ID(), identity(d[i].Member)); err != nil {
			return err
		}
	}
	return nil
}
