package devices

import (
	"crypto/rand"
	"errors"

	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// sessions holds the open sessions of one member by id.
type sessions map[protocol.SessionID]vault.Session

// reopened returns the sessions that an earlier process left open, by id.
func reopened(open []vault.Session) sessions {
	s := make(sessions)
	for _, k := range open {
		s[k.ID()] = k
	}
	return s
}

// openOrCreate returns the session with an id, and creates it if no earlier process did. It stores
// the note in a new session before anything else of that session is on disk.
func (s sessions) openOrCreate(v vault.Vault, id protocol.SessionID, note []byte) (vault.Session, error) {
	if k := s[id]; k != nil {
		return k, nil
	}
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // rand.Read never returns an error
	k, err := v.Create(id, seed, note)
	if err == nil {
		s[id] = k
	}
	return k, err
}

// destroy erases the secrets of all sessions in the map.
func (s sessions) destroy(outcome string) error {
	return s.destroyAllBut(protocol.SessionID{}, outcome)
}

// destroyAllBut erases the secrets of all sessions except the given one.
func (s sessions) destroyAllBut(one protocol.SessionID, outcome string) error {
	var errs error
	for id, k := range s {
		if id != one {
			errs = errors.Join(errs, k.Destroy(outcome))
			delete(s, id)
		}
	}
	return errs
}
