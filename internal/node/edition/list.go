package edition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/disk"
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
	// Reading is how the catalogue's entry had the rows read, as a digest; "" in lists of earlier programs.
	Reading string `json:"reading,omitempty"`
	// Beside says what it would tell together with earlier editions of the dictionary, the newest first. What
	// it is to tell together with one that is not listed, nobody knows.
	Beside []Beside `json:"beside"`
	// Compared says what that rests on; nothing where an earlier program made the list.
	Compared *Compared `json:"compared,omitempty"`
}

// ErrNone is about a table that has not been frozen for a dictionary.
var ErrNone = errors.New("edition: the table has not been frozen for this dictionary")

// book is the list.
type book struct {
	Editions []Edition              `json:"editions"`
	Tables   map[string]*tableState `json:"tables"`
	Key      []byte                 `json:"key,omitempty"` // of the digests of those who have left
}

// tableState remembers whom the editions of a table have told apart.
type tableState struct {
	Known        string                      `json:"known"`            // by what people are known, as a digest
	People       string                      `json:"people,omitempty"` // the ID of the groups; "" of a table without ids
	Dictionaries map[string]*dictionaryState `json:"dictionaries"`     // by hash
	Left         leavers                     `json:"left,omitzero"`
}

// dictionaryState remembers a dictionary's editions of a table.
type dictionaryState struct {
	Labels []string `json:"labels"` // that were offered
	ID     string   `json:"id"`     // of the cells of people or, of a table without ids, of the groups of rows
	Last   int      `json:"last"`   // the greatest number of an edition
	// Past is the ID of who is in the editions; "" where an earlier program made the last edition.
	Past string `json:"past,omitempty"`
}

// table returns the state of a table.
func (b *book) table(name string) *tableState {
	t := b.Tables[name]
	if t == nil {
		t = &tableState{Dictionaries: make(map[string]*dictionaryState)}
		b.Tables[name] = t
	}
	return t
}

// dictionary returns the state of a dictionary.
func (t *tableState) dictionary(hash string) *dictionaryState {
	d := t.Dictionaries[hash]
	if d == nil {
		d = &dictionaryState{}
		t.Dictionaries[hash] = d
	}
	return d
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
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, fmt.Errorf("edition: %s cannot be read (%w); restore it from a backup, or move the folder away and approve the dictionaries again, knowing that whom the old editions told apart, and who has left, is forgotten then", filepath.Join(s.Folder, "list"), err)
	}
	for _, e := range b.Editions {
		for i := range e.Beside {
			e.Beside[i].Compared = e.Compared
		}
	}
	return b, nil
}

// check refuses a list that this program did not write.
func (b *book) check() error {
	if b.Tables == nil {
		return errors.New("it has no tables")
	}
	for name, t := range b.Tables {
		if t == nil || t.Dictionaries == nil {
			return fmt.Errorf("table %q has no dictionaries", name)
		}
		for hash, d := range t.Dictionaries {
			if d == nil || d.Last < 0 || d.Last > maxPast {
				return fmt.Errorf("table %q has nothing of dictionary %s", name, hash)
			}
		}
	}
	for _, e := range b.Editions {
		if e.Number < 1 || e.Number > maxPast {
			return fmt.Errorf("it has an edition with number %d", e.Number)
		}
	}
	return nil
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
		if d.ID != "" { // or it waits for company since the first
			all[hash] = d.Labels
		}
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

// ErrOtherColumns is about a table whose columns nobody has described, and which has others than before.
var ErrOtherColumns = errors.New("edition: the table has other columns than when it was frozen, and no dictionary describes them: jobs go on with the earlier edition. For the new columns, approve a dictionary (mercer data info --schema writes one), and jobs name it")

// ErrOtherEntry is about a table whose people were known otherwise when it was frozen.
var ErrOtherEntry = errors.New("edition: when the table was frozen, the catalogue's entry named another id, group or label, or the home had another split key: nobody could tell now who came or went. Put the entry back as it was; a further label needs a new dictionary")

// errLost is about groups or cells that the list names and that are not there.
var errLost = errors.New("edition: what the editions of this table told apart is lost; restore the folder of editions from a backup, since a further edition could tell few people apart")

// Fits refuses people who are known otherwise, or other labels, than when a table was frozen for a dictionary.
func (s Store) Fits(table, dictionary, known string, labels []string) error {
	b, err := s.book()
	if err != nil {
		return err
	}
	return b.fits(table, dictionary, known, labels)
}

func (b *book) fits(table, dictionary, known string, labels []string) error {
	t := b.table(table)
	d := t.dictionary(dictionary)
	if t.Known != "" && t.Known != known || d.ID != "" && !slices.Equal(d.Labels, labels) {
		return ErrOtherEntry
	}
	return nil
}

// change changes the list beside no other change, and erases what it does not name.
func (s Store) change(do func(*book, *vault.Artifacts) error) (err error) {
	if err := disk.MakeDir(s.Folder); err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	lock, err := disk.WaitLock(filepath.Join(s.Folder, "lock"))
	if err != nil {
		return fmt.Errorf("edition: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	artifacts, err := s.Sealed()
	if err != nil {
		return err
	}
	if err := s.begin(artifacts); err != nil {
		return err
	}
	b, err := s.book()
	if err != nil {
		return err
	}
	err = do(b, artifacts)
	return errors.Join(err, s.sweep(artifacts))
}

// begin writes an empty list before anything else is there, so that a list that is missing later is lost.
func (s Store) begin(artifacts *vault.Artifacts) error {
	_, err := os.Stat(filepath.Join(s.Folder, "list"))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	left, err := artifacts.Jobs()
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return errLost
	}
	return s.write(&book{Editions: []Edition{}, Tables: make(map[string]*tableState)})
}

// sweep erases what the list does not name: what was there before the last change, or what a crash left.
func (s Store) sweep(artifacts *vault.Artifacts) error {
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
			named[d.ID], named[d.Past] = true, true
		}
	}
	left, err := artifacts.Jobs()
	for _, l := range left {
		if !named[l.Job.String()] {
			_, erased := artifacts.Erase(l.Job)
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
