package vault

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// ErrInput reports that the input of a session is not the input that an earlier process had, or that this is not known.
var ErrInput = errors.New("vault: the session has begun with another input")

// AllowAnew stores, before a machine's first message, what a session needs to begin anew if its journal is lost: the
// hash of the machine's input, and the name that the machine claims before its session can no longer begin anew. It
// stores nothing for a machine whose session can never begin anew. A later process calls it again. It returns
// [ErrInput] if the input is another one than before, or if the session was begun anew and the stored hash is lost.
func AllowAnew(s Session, m protocol.Machine, input [32]byte) error {
	until := protocol.AnewUntil(m)
	if until == "" {
		return nil
	}
	want := renewalOf(s.Seed(), input, until)
	stored, err := s.Get(Renewal)
	switch {
	case err != nil:
		return err
	case stored == nil && s.Anew() == nil:
		return s.Put(Renewal, want)
	case !bytes.Equal(stored, want):
		return fmt.Errorf("session %v: %w", s.ID(), ErrInput)
	}
	return nil
}

// renewalOf returns the document Renewal. Its hash has the seed as a key, as the document is no secret file: it is not
// overwritten when the session ends.
func renewalOf(seed, input [32]byte, until string) []byte {
	hash := prg.Derive(seed, "mercer/v1/renewal", input[:])
	return append(hash[:], until...)
}

// whole returns an error if the journal of a session that can begin anew is lost. It reads the whole journal, since a
// body that is damaged in place shows only then. An error of another kind is left to those who run the session.
func (s *diskSession) whole() error {
	if stored, err := s.Get(Renewal); err != nil || stored == nil || s.anew != nil {
		return err
	}
	for _, err := range s.Records() {
		if errors.Is(err, journal.ErrLost) {
			return err
		}
	}
	return nil
}

// renew begins a session anew whose journal is lost. It returns an error if the session cannot begin anew.
func (v *Disk) renew(id protocol.SessionID) (*diskSession, error) {
	stored, err := (&diskSession{vault: v, id: id}).Get(Renewal)
	if err != nil {
		return nil, err
	}
	if len(stored) <= sha256.Size {
		return nil, fmt.Errorf("vault: session %v does not begin anew: %w", id, journal.ErrLost)
	}
	if err := v.Unclaimed(protocol.SessionID{}, string(stored[sha256.Size:])); err != nil { // no session has this id
		return nil, fmt.Errorf("vault: session %v no longer begins anew: %w", id, errors.Join(err, journal.ErrLost))
	}
	j, err := v.store.Renew(id, v.build)
	if err != nil {
		return nil, err
	}
	return v.sessionOf(id, j)
}
