package disclosure

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/method"
)

// Search is a release, and whether certain people's rows are in it.
type Search struct {
	ID      string
	Kind    method.ReleaseKind
	State   State // Released, or Admitted if nothing has left yet
	Job     string
	Day     string // date of the latest disclosure, YYYY-MM-DD; "" if there was none
	Peers   []string
	Table   string // "" in entries of earlier programs
	Edition int    // number of the edition; 0 without one
	In      bool
	// People is the number of digests of people, or of rows without ids, that the ledger has for the release. If it is
	// 0, the ledger cannot tell who is in the release.
	People int
}

// Search returns all releases, and says of each whether one of the ids is in it. The ledger knows only digests of
// ids, under a key of its own. Ids are compared as the catalogue's entry writes them.
func (l Ledger) Search(ids []string) (list []Search, err error) {
	key, err := l.storedKey()
	if err != nil || key == nil {
		return nil, err
	}
	d := &digest{mac: hmac.New(sha256.New, key)}
	var sought [][16]byte
	for _, id := range ids {
		sought = append(sought, d.sum("id", []byte(id)))
	}
	var failed error
	err = l.forEach(func(s State, _ string, e *Entry) {
		if e.everywhere() {
			return // no release, but a note about unknown ones
		}
		one := Search{ID: e.ID(), Kind: e.Kind, State: s, Job: e.Job, Day: e.Day, Peers: e.Peers, Table: e.Table, Edition: e.Number}
		people, err := l.listed(e)
		if err == nil {
			err = one.look(people, sought)
		}
		if err != nil && failed == nil {
			failed = err
		}
		list = append(list, one)
	})
	if err == nil {
		err = failed
	}
	return list, err
}

// listed returns the people of a release, or none if the ledger does not know them.
func (l Ledger) listed(e *Entry) (persons, error) {
	if e.Edition == "" {
		return e.persons(), nil
	}
	people, known, err := l.kept(e.Edition)
	if err != nil || !known {
		return func(func([16]byte, error) bool) {}, err
	}
	return people, nil
}

// look compares the people of a release with digests of ids.
func (s *Search) look(people persons, sought [][16]byte) error {
	for own, err := range people {
		if err != nil {
			return err
		}
		s.People++
		for _, one := range sought {
			s.In = s.In || bytes.Equal(one[:], own[:])
		}
	}
	return nil
}
