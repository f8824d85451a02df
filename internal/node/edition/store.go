// Package edition keeps tables as a home has frozen them for its dictionaries, and decides when a further
// edition may be made.
//
// Jobs see the newest edition of a table, never the table itself. A further edition is made only if all
// groups of people that the editions so far tell apart, with it, are empty or have [Least] people: who is
// in training, held out or gone, and whose cells have changed. So no two jobs tell of fewer.
//
//	ID/rows    the rows as they were read, sorted, sealed under a key of the edition
//	ID/people  groups of a table's people; of a table without ids, of a dictionary's rows
//	ID/cells   the cells of people as a dictionary's editions had them last, as digests
//	list       the editions (number, day, table, dictionary, people), and which groups and cells stand
//	lock       held while an edition is made or erased
//
// The list is replaced as a whole: what it does not name was left by a crash, and goes with the next change.
package edition

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	// Cuts are the first days, or numbers, of a column from which on jobs may hold later rows out.
	Cuts      []string `json:"cuts,omitempty"`
	CutColumn string   `json:"cut_column,omitempty"`
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

// book is the list.
type book struct {
	Editions []Edition              `json:"editions"`
	Tables   map[string]*tableState `json:"tables"`
	Key      []byte                 `json:"key,omitempty"` // of the digests of those who have left
}

// tableState is what the editions of a table have told apart.
type tableState struct {
	Known        string                      `json:"known"`            // by what people are known, as a digest
	People       string                      `json:"people,omitempty"` // the ID of the groups; "" of a table without ids
	Dictionaries map[string]*dictionaryState `json:"dictionaries"`     // by hash
	Left         leavers                     `json:"left,omitzero"`
}

// dictionaryState is what a dictionary's editions of a table have had.
type dictionaryState struct {
	Labels []string `json:"labels"` // that were offered
	ID     string   `json:"id"`     // of the cells of people or, of a table without ids, of the groups of rows
	Last   int      `json:"last"`   // the greatest number of an edition
}

// table returns the state of a table, and of a dictionary there.
func (b *book) table(table, dictionary string) (*tableState, *dictionaryState) {
	t := b.Tables[table]
	if t == nil {
		t = &tableState{Dictionaries: make(map[string]*dictionaryState)}
		b.Tables[table] = t
	}
	d := t.Dictionaries[dictionary]
	if d == nil {
		d = &dictionaryState{}
		t.Dictionaries[dictionary] = d
	}
	return t, d
}

func (s Store) book() (*book, error) {
	b := &book{}
	text, err := os.ReadFile(filepath.Join(s.Folder, "list"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.Tables = make(map[string]*tableState)
		return b, nil
	case err != nil:
		return nil, fmt.Errorf("edition: %w", err)
	}
	err = json.Unmarshal(text, b)
	if err == nil && b.Tables == nil {
		err = errors.New("it has no tables")
	}
	if err != nil {
		return nil, fmt.Errorf("edition: %s cannot be read (%w); restore it from a backup, or move the folder away and approve the dictionaries again, knowing that whom the old editions told apart, and who has left, is forgotten then", filepath.Join(s.Folder, "list"), err)
	}
	return b, nil
}

// List returns the editions, the oldest first.
func (s Store) List() ([]Edition, error) {
	b, err := s.book()
	if err != nil {
		return nil, err
	}
	return b.Editions, nil
}

// Dictionaries returns the dictionaries for which a table has been frozen, by their hashes, with the labels
// that were offered.
func (s Store) Dictionaries(table string) (map[string][]string, error) {
	b, err := s.book()
	if err != nil || b.Tables[table] == nil {
		return nil, err
	}
	all := make(map[string][]string)
	for hash, d := range b.Tables[table].Dictionaries {
		all[hash] = d.Labels
	}
	return all, nil
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
	Known  string   // by what people are known, as a digest
	Labels []string // that the catalogue offers
	// Rows are the people, or the rows of a table without ids.
	Rows Cut
	// Later are the rows that each of the cuts holds out.
	Later []Cut
	// Cells are the cells of each person; nil of a table without ids.
	Cells Cells
	// Others are the cells as other dictionaries of the table read them now, by hash.
	Others map[string]Cells
	// Keep writes the rows under an id of the estate.
	Keep func(e *vault.Estate, id job.ID) error
}

// Items of an estate.
const (
	groupsItem vault.Item = "people"
	cellsItem  vault.Item = "cells"
)

// ErrOtherEntry is about a table whose people were known otherwise when it was frozen.
var ErrOtherEntry = errors.New("edition: when the table was frozen, the catalogue's entry named another id, group or label, or the home had another split key: nobody could tell now who came or went. Put the entry back as it was; a further label needs a new dictionary")

// errLost is about groups or cells that the list names and that are not there.
var errLost = errors.New("edition: what the editions of this table told apart is lost; restore the folder of editions from a backup, since a further edition could tell few people apart")

// Make makes an edition, or returns a [LackError] and notes how many lack. A crash leaves the editions as
// they were, or with the new one.
func (s Store) Make(d Draft) (made Edition, err error) {
	err = s.change(func(b *book, estate *vault.Estate) error {
		if err := b.fits(d.Table, d.Dictionary, d.Known, d.Labels); err != nil {
			return err
		}
		table, dictionary := b.table(d.Table, d.Dictionary)
		if d.Cells != nil {
			if err := d.markAll(estate, table, dictionary); err != nil {
				return err
			}
		}
		before, err := groupsAt(estate, d.groupsOf(table, dictionary))
		if err != nil {
			return err
		}
		next, small := before.Refine(d.Rows)
		for _, cut := range d.Later {
			further, few := next.Refine(cut)
			next, small = further, append(small, few...)
		}
		if len(small) > 0 {
			lack := Least - slices.Min(small)
			b.note(d.Edition, lack)
			return errors.Join(&LackError{lack}, s.write(b))
		}
		made, err = d.put(estate, table, dictionary, next)
		if err != nil {
			return err
		}
		b.note(d.Edition, 0)
		b.Editions = append(b.Editions, made)
		return s.write(b)
	})
	return made, err
}

// Fits refuses people who are known otherwise, or other labels, than when a table was frozen for a dictionary.
func (s Store) Fits(table, dictionary, known string, labels []string) error {
	b, err := s.book()
	if err != nil {
		return err
	}
	return b.fits(table, dictionary, known, labels)
}

func (b *book) fits(table, dictionary, known string, labels []string) error {
	t, d := b.table(table, dictionary)
	if t.Known != "" && t.Known != known || d.ID != "" && !slices.Equal(d.Labels, labels) {
		return ErrOtherEntry
	}
	return nil
}

// groupsOf names the groups that the draft refines.
func (d *Draft) groupsOf(table *tableState, dictionary *dictionaryState) string {
	if d.Cells != nil {
		return table.People
	}
	return dictionary.ID
}

// markAll finds out whose cells have changed since the edition before, of this dictionary or of another: who
// compares the editions of two learns it, too.
func (d *Draft) markAll(estate *vault.Estate, table *tableState, own *dictionaryState) error {
	last, err := cellsAt(estate, own.ID)
	if err != nil {
		return err
	}
	d.Rows = maps.Clone(d.Rows)
	d.mark(last, d.Cells)
	for e, then := range last { // who is gone may come back
		if _, in := d.Cells[e]; !in {
			d.Cells[e] = then
		}
	}
	for hash, now := range d.Others {
		other := table.Dictionaries[hash]
		if other == nil || other == own {
			continue
		}
		if last, err = cellsAt(estate, other.ID); err != nil {
			return err
		}
		d.mark(last, now)
	}
	return nil
}

// mark notes whose cells are others than they were last.
func (d *Draft) mark(last, now Cells) {
	for e, part := range d.Rows {
		then, had := last[e]
		if own, has := now[e]; had && has && then != own {
			part.Changed = true
			d.Rows[e] = part
		}
	}
}

func cellsAt(estate *vault.Estate, id string) (Cells, error) {
	if id == "" {
		return nil, nil
	}
	b, err := at(estate, id, cellsItem)
	if err != nil {
		return nil, err
	}
	return DecodeCells(b)
}

// put writes all of an edition but its place in the list.
func (d *Draft) put(estate *vault.Estate, table *tableState, dictionary *dictionaryState, next Groups) (made Edition, err error) {
	var ids [3]job.ID // of rows, groups and cells
	for i := range ids {
		if ids[i], err = newID(); err != nil {
			return made, err
		}
	}
	if err := d.Keep(estate, ids[0]); err != nil {
		return made, err
	}
	if err := estate.Put(ids[1], groupsItem, next.Encode()); err != nil {
		return made, err
	}
	table.Known, dictionary.Labels, dictionary.ID = d.Known, d.Labels, ids[1].String()
	if d.Cells != nil {
		if err := estate.Put(ids[2], cellsItem, d.Cells.Encode()); err != nil {
			return made, err
		}
		table.People, dictionary.ID = ids[1].String(), ids[2].String()
	}
	dictionary.Last++
	made = d.Edition
	made.ID, made.Number = ids[0].String(), dictionary.Last
	return made, nil
}

func groupsAt(estate *vault.Estate, id string) (Groups, error) {
	if id == "" {
		return nil, nil
	}
	b, err := at(estate, id, groupsItem)
	if err != nil {
		return nil, err
	}
	return DecodeGroups(b)
}

func at(estate *vault.Estate, text string, item vault.Item) ([]byte, error) {
	id, err := job.ParseID(text)
	if err != nil {
		return nil, err
	}
	b, err := estate.Get(id, item)
	if errors.Is(err, vault.ErrNoKeepsake) {
		return nil, errLost
	}
	return b, err
}

// change changes the list beside no other change, and erases what it does not name.
func (s Store) change(do func(*book, *vault.Estate) error) (err error) {
	if err := disk.MakeDir(s.Folder); err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	lock, err := disk.WaitLock(filepath.Join(s.Folder, "lock"))
	if err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	estate, err := s.Sealed()
	if err != nil {
		return err
	}
	if err := s.begin(estate); err != nil {
		return err
	}
	b, err := s.book()
	if err != nil {
		return err
	}
	err = do(b, estate)
	return errors.Join(err, s.sweep(estate))
}

// begin writes an empty list before anything else is there, so that a list that is missing later is lost.
func (s Store) begin(estate *vault.Estate) error {
	_, err := os.Stat(filepath.Join(s.Folder, "list"))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	left, err := estate.Jobs()
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return errLost
	}
	return s.write(&book{Editions: []Edition{}, Tables: make(map[string]*tableState)})
}

// sweep erases what the list does not name: what was there before the last change, or what a crash left.
func (s Store) sweep(estate *vault.Estate) error {
	b, err := s.book()
	if err != nil {
		return err
	}
	named := make(map[string]bool)
	for _, e := range b.Editions {
		named[e.ID] = true
	}
	for _, t := range b.Tables {
		named[t.People] = true
		for _, d := range t.Dictionaries {
			named[d.ID] = true
		}
	}
	left, err := estate.Jobs()
	for _, l := range left {
		if !named[l.Job.String()] {
			_, erased := estate.Erase(l.Job)
			err = errors.Join(err, erased)
		}
	}
	return err
}

// note keeps in the newest edition how many lack to the next one.
func (b *book) note(of Edition, lack int) {
	for i := len(b.Editions) - 1; i >= 0; i-- {
		if b.Editions[i].Table == of.Table && b.Editions[i].Dictionary == of.Dictionary {
			b.Editions[i].Lack = lack
			return
		}
	}
}

func (s Store) write(b *book) error {
	text, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	return disk.Replace(filepath.Join(s.Folder, "list"), text)
}

func newID() (id job.ID, err error) {
	_, err = rand.Read(id[:])
	return id, err
}

// Erase overwrites the key of an edition's rows. What the editions tell apart stays known, so that a later
// one cannot tell few people apart from it. Of two dictionaries with one name it takes the one approved last.
func (s Store) Erase(table, dictionary string, number int) error {
	list, err := s.List()
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(list) {
		if e.Table == table && e.Name == dictionary && e.Number == number {
			return s.erase(func(one Edition) bool { return one.ID == e.ID })
		}
	}
	return ErrNone
}

// EraseBut erases all editions of a table but those with some ids.
func (s Store) EraseBut(table string, ids map[string]bool) error {
	return s.erase(func(e Edition) bool { return e.Table == table && !ids[e.ID] })
}

func (s Store) erase(which func(Edition) bool) error {
	return s.change(func(b *book, _ *vault.Estate) error {
		b.Editions = slices.DeleteFunc(b.Editions, which)
		return s.write(b)
	})
}
