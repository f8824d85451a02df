// Package edition keeps tables as a home has frozen them for its dictionaries, and decides when a further
// edition may be made.
//
// Jobs see the newest edition of a table, never the table itself. A further edition is made only if all
// groups of people that the editions so far tell apart, with it, are empty or have [Least] people: who is
// in training, held out or gone, and whose cells have changed. So no two jobs tell of fewer.
//
//	ID/rows    the rows as they were read, sorted, sealed under a key of the edition
//	ID/people  groups of people, of a table with ids; groups of people with their cells, of a dictionary
//	list       the editions: number, day, table, dictionary, people
//	lock       held while an edition is made or erased
package edition

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Edition is a table as its home froze it for a dictionary.
type Edition struct {
	ID         string `json:"id"` // of its sealed rows
	Number     int    `json:"number"`
	Day        string `json:"day"`
	Table      string `json:"table"`
	Name       string `json:"dictionary"`
	Dictionary string `json:"dictionary_hash"`
	Training   int    `json:"training"`
	HeldOut    int    `json:"held_out"`
	// Lack is how many people more it takes until the table can be frozen again, when that was tried last; 0
	// where nothing waits.
	Lack int `json:"lack"`
}

// ErrNone is about a table that has not been frozen for a dictionary.
var ErrNone = errors.New("edition: the table has not been frozen for this dictionary")

// LackError says that a further edition would tell few people apart from all others.
type LackError struct{ Lack int }

func (e *LackError) Error() string {
	return fmt.Sprintf("edition: a group of people who came, went or changed would have fewer than %d; %d more are lacking", Least, e.Lack)
}

// Store is the folder of a home's editions. It need not exist.
type Store struct {
	Folder string
	Sealed func() (*vault.Estate, error) // opens the folder to write
}

// List returns the editions, the oldest first.
func (s Store) List() (list []Edition, err error) {
	b, err := os.ReadFile(filepath.Join(s.Folder, "list"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("edition: %w", err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("edition: %s: %w", filepath.Join(s.Folder, "list"), err)
	}
	return list, nil
}

// Newest returns the newest edition of a table for a dictionary.
func (s Store) Newest(table, dictionary string) (Edition, error) {
	list, err := s.List()
	if err != nil {
		return Edition{}, err
	}
	for _, e := range slices.Backward(list) {
		if e.Table == table && e.Dictionary == dictionary {
			return e, nil
		}
	}
	return Edition{}, ErrNone
}

// Draft is an edition that is about to be made.
type Draft struct {
	Edition
	People Cut // nil of a table without ids
	Cells  Cut
	// Keep writes the rows under an id of the estate.
	Keep func(e *vault.Estate, id job.ID) error
}

// groupsItem is the item of an estate that holds groups.
const groupsItem vault.Item = "people"

// groupsID names the place of the groups of a table, or of a table and a dictionary.
func groupsID(table, dictionary string) job.ID {
	sum := sha256.Sum256([]byte("mercer/v1/groups/" + dictionary + "/" + table))
	return job.ID(sum[:len(job.ID{})])
}

// Make makes an edition, or returns a [LackError] and notes how many lack. A crash leaves the editions as
// they were, or with the new one: groups are written before the list, and a second try refines them by an
// equal cut.
func (s Store) Make(d Draft) (made Edition, err error) {
	if err := disk.MakeDir(s.Folder); err != nil {
		return made, fmt.Errorf("edition: %w", err)
	}
	lock, err := disk.WaitLock(filepath.Join(s.Folder, "lock"))
	if err != nil {
		return made, fmt.Errorf("edition: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	list, err := s.List()
	if err != nil {
		return made, err
	}
	estate, err := s.Sealed()
	if err != nil {
		return made, err
	}
	var groups []placed
	var small []int
	for _, p := range []placed{{groupsID(d.Table, ""), nil, d.People}, {groupsID(d.Table, d.Dictionary), nil, d.Cells}} {
		if p.cut == nil {
			continue
		}
		before, err := groupsAt(estate, p.id)
		if err != nil {
			return made, err
		}
		next, few := before.Refine(p.cut)
		groups, small = append(groups, placed{p.id, next, p.cut}), append(small, few...)
	}
	if len(small) > 0 {
		lack := Least - slices.Min(small)
		return made, errors.Join(&LackError{lack}, s.note(list, d.Edition, lack))
	}
	made = d.Edition
	id, err := newID()
	if err != nil {
		return made, err
	}
	made.ID, made.Number = id.String(), 1
	for _, e := range list {
		if e.Table == d.Table && e.Dictionary == d.Dictionary {
			made.Number = max(made.Number, e.Number+1)
		}
	}
	if err := d.Keep(estate, id); err != nil {
		return made, err
	}
	for _, g := range groups {
		if err := estate.Put(g.id, groupsItem, g.groups.Encode()); err != nil {
			return made, err
		}
	}
	for i := range list {
		if list[i].Table == d.Table && list[i].Dictionary == d.Dictionary {
			list[i].Lack = 0
		}
	}
	return made, s.write(append(list, made))
}

// placed are groups with their place.
type placed struct {
	id     job.ID
	groups Groups
	cut    Cut
}

func groupsAt(estate *vault.Estate, id job.ID) (Groups, error) {
	b, err := estate.Get(id, groupsItem)
	switch {
	case errors.Is(err, vault.ErrNoKeepsake):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return DecodeGroups(b)
}

// note keeps in the newest edition how many lack to the next one.
func (s Store) note(list []Edition, of Edition, lack int) error {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Table == of.Table && list[i].Dictionary == of.Dictionary {
			list[i].Lack = lack
			return s.write(list)
		}
	}
	return nil
}

func (s Store) write(list []Edition) error {
	b, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	return disk.Replace(filepath.Join(s.Folder, "list"), b)
}

func newID() (id job.ID, err error) {
	_, err = rand.Read(id[:])
	return id, err
}

// Erase overwrites the key of an edition's rows. What the editions tell apart stays known, so that a later
// one cannot tell few people apart from it.
func (s Store) Erase(table, dictionary string, number int) error {
	found := false
	err := s.erase(func(e Edition) bool {
		is := e.Table == table && e.Name == dictionary && e.Number == number
		found = found || is
		return is
	})
	if err == nil && !found {
		return ErrNone
	}
	return err
}

// EraseBut erases all editions of a table but those with some ids.
func (s Store) EraseBut(table string, ids map[string]bool) error {
	return s.erase(func(e Edition) bool { return e.Table == table && !ids[e.ID] })
}

func (s Store) erase(which func(Edition) bool) (err error) {
	if err := disk.MakeDir(s.Folder); err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	lock, err := disk.WaitLock(filepath.Join(s.Folder, "lock"))
	if err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	list, err := s.List()
	if err != nil {
		return err
	}
	estate, err := s.Sealed()
	if err != nil {
		return err
	}
	var ids []job.ID
	left := make([]Edition, 0, len(list))
	for _, e := range list {
		if !which(e) {
			left = append(left, e)
			continue
		}
		id, err := job.ParseID(e.ID)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	if err := s.write(left); err != nil {
		return err
	}
	for _, id := range ids {
		_, erased := estate.Erase(id)
		err = errors.Join(err, erased)
	}
	return err
}
