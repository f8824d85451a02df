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

// Edition describes a copy of a table that its home has frozen for a dictionary.
type Edition struct {
	ID         string `json:"id"` // ID of the edition's sealed rows
	Number     int    `json:"number"`
	Day        string `json:"day"`
	Table      string `json:"table"`
	Name       string `json:"dictionary"`
	Dictionary string `json:"dictionary_hash"`
	Training   int    `json:"training"`
	HeldOut    int    `json:"held_out"`
	// Unlabelled is the number of rows that the freeze left out because they had no label.
	Unlabelled int `json:"unlabelled,omitempty"`
	// Cuts lists the days or numbers in CutColumn at which jobs may split the rows. A job may hold out
	// the rows from a cut on.
	Cuts      []string `json:"cuts,omitempty"`
	CutColumn string   `json:"cut_column,omitempty"`
	// Lack is the number of people whom the next edition still needs. The home counts them when it
	// tries to freeze the table again. Lack is 0 if no edition waits.
	Lack int `json:"lack"`
	// Reading is a digest of the catalogue entry's settings for reading the rows. It is "" in lists of
	// earlier programs.
	Reading string `json:"reading,omitempty"`
	// The list Beside has the changes of few people that this edition and an earlier edition together
	// reveal. The newest earlier edition comes first. For editions that are not listed, the changes
	// are unknown.
	Beside []Beside `json:"beside"`
	// Compared records the rule, the columns and the labels of the comparison that filled Beside. It
	// is nil if an earlier program made the list.
	Compared *Compared `json:"compared,omitempty"`
}

// ErrNone reports that a table has not been frozen for a dictionary.
var ErrNone = errors.New("edition: the table has not been frozen for this dictionary")

// book is the decoded content of the file "list".
type book struct {
	Editions []Edition              `json:"editions"`
	Tables   map[string]*tableState `json:"tables"`
	Key      []byte                 `json:"key,omitempty"` // key for the digests of people who were withdrawn
}

// tableState records which people the editions of a table tell apart.
type tableState struct {
	Known        string                      `json:"known"`            // digest of the rule that identifies people
	People       string                      `json:"people,omitempty"` // ID of the groups of people; "" without ids or editions
	Dictionaries map[string]*dictionaryState `json:"dictionaries"`     // states of dictionaries by hash
	Left         leavers                     `json:"left,omitzero"`
}

// dictionaryState records the editions of a table for one dictionary.
type dictionaryState struct {
	Labels []string `json:"labels"` // labels that the catalogue offered
	ID     string   `json:"id"`     // ID of the item with the cells, or with the groups if the rows have no ids
	Last   int      `json:"last"`   // greatest number of an edition
	// Past is the ID of the item with the people in the editions. It is "" if there is no edition yet,
	// or if an earlier program made the last one.
	Past string `json:"past,omitempty"`
}

// table returns the state of a table, and makes one if necessary.
func (b *book) table(name string) *tableState {
	t := b.Tables[name]
	if t == nil {
		t = &tableState{Dictionaries: make(map[string]*dictionaryState)}
		b.Tables[name] = t
	}
	return t
}

// dictionary returns the state of a dictionary, and makes one if necessary.
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
		return nil, fmt.Errorf("edition: the list of editions %s cannot be read (%w); restore the list from a backup. Without a backup, move the folder away and approve the dictionaries again; the home then forgets who was withdrawn and which people the old editions tell apart", filepath.Join(s.Folder, "list"), err)
	}
	for _, e := range b.Editions {
		for i := range e.Beside {
			e.Beside[i].Compared = e.Compared
		}
	}
	return b, nil
}

// check rejects a list that this program cannot have written.
func (b *book) check() error {
	if b.Tables == nil {
		return errors.New("the list has no tables")
	}
	for name, t := range b.Tables {
		if t == nil || t.Dictionaries == nil {
			return fmt.Errorf("table %q has no dictionaries", name)
		}
		for hash, d := range t.Dictionaries {
			if d == nil || d.Last < 0 || d.Last > maxPast {
				return fmt.Errorf("table %q has no valid state of dictionary %s", name, hash)
			}
		}
	}
	for _, e := range b.Editions {
		if e.Number < 1 || e.Number > maxPast {
			return fmt.Errorf("an edition of table %q has number %d; 1 to %d are allowed", e.Table, e.Number, maxPast)
		}
	}
	return nil
}

// List returns all editions, from the oldest to the newest.
func (s Store) List() ([]Edition, error) {
	b, err := s.book()
	if err != nil {
		return nil, err
	}
	return b.Editions, nil
}

// Dictionaries returns the hashes of the dictionaries for which a table has been frozen. The map
// has, for each hash, the labels that the catalogue offered.
func (s Store) Dictionaries(table string) (map[string][]string, error) {
	b, err := s.book()
	if err != nil || b.Tables[table] == nil {
		return nil, err
	}
	all := make(map[string][]string)
	for hash, d := range b.Tables[table].Dictionaries {
		if d.ID != "" { // an empty ID means that the first edition still waits for more people
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

// ErrOtherColumns reports that the columns of a table without a dictionary have changed.
var ErrOtherColumns = errors.New("edition: the table's columns have changed since it was frozen, and no dictionary describes them. Jobs continue with the earlier edition. For the new columns, approve a dictionary (mercer data info --schema writes one), and name it in jobs")

// ErrOtherEntry reports that the catalogue's entry identified people by another rule, or offered other
// labels, when the table was frozen.
var ErrOtherEntry = errors.New("edition: when the table was frozen, the catalogue's entry named another id, group or label, or the home had another split key, so the home cannot find out who came or went. Put the entry back as it was; a further label needs a new dictionary")

// errLost reports that a part of the home's record of editions is missing. Either the list or an
// item that the list names is lost.
var errLost = errors.New("edition: the record of earlier editions is incomplete; restore the folder of editions from a backup, because without it a new edition could tell few people apart")

// Fits returns an error if a frozen table's catalogue entry now identifies people by another rule or
// offers other labels.
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

// change runs a function on the list under the lock of the folder. Then it erases the items that
// the list does not name.
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

// begin writes an empty list before any item. So if items are there later without the list, the home
// knows that the list was lost.
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

// sweep erases the items that the list does not name. They come from before the last change, or
// from a crash.
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

// note sets Lack in the newest edition of a table and dictionary.
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
