// Package edition stores frozen copies of tables, called editions, and decides when a home may make
// another edition. A home is a party's folder of keys, settings and data.
//
// A job sees an edition of a table, never the table itself: the one that was the newest when the job first
// read the table. A home makes a further edition only if each group of people that the editions so far,
// and the new one, tell apart is empty or has at least [Least] people. Editions tell apart who is in
// training, held out or gone, who is on which side of a cut, and whose cells have changed. So no two jobs
// reveal anything about fewer people.
//
//	ID/rows    the rows as they were read, sorted, sealed under a key of the edition
//	ID/held    which of the rows are held out
//	ID/people  groups of a table's people; of a table without ids, of a dictionary's rows
//	ID/cells   the last cells of people in a dictionary's editions, as digests
//	ID/past    the people of a dictionary's newest edition, with digests of cells and labels, and
//	           how they differed in the editions before
//	list       the editions (number, day, table, dictionary, people), the IDs of groups and cells, and
//	           the people who were withdrawn, as digests under a key that is here, too
//	lock       held while the list changes
//	making     held while a command or the daemon freezes a table, or withdraws people from it
//
// The list is replaced as a whole. Items that it does not name come from a crash; the next change
// erases them.
package edition

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// LackError reports that a new edition would tell a group of fewer than [Least] people apart from
// all others.
type LackError struct {
	Lack int // number of people that are missing in the smallest group
	Rows int // number of rows in the table
}

func (e *LackError) Error() string {
	return fmt.Sprintf("edition: a group of people who came, went or changed would have fewer than %d members; %d more are needed", Least, e.Lack)
}

// Store is a home's store of editions, in a folder. The folder need not exist.
type Store struct {
	Folder string
	Sealed func() (*vault.Artifacts, error) // opens the store of sealed items
}

// Draft describes an edition that is to be made.
type Draft struct {
	Edition
	Known  string   // digest of the rule that identifies people
	Labels []string // labels that the catalogue offers
	// Rows yields the people in the edition, or the rows of a table without ids.
	Rows Stream[Part]
	// Later holds one division of the people for each day or number in Cuts. Held says that a person has
	// rows from the day or number on, Changed that the person has rows on both sides.
	Later []Stream[Part]
	// Cells yields the cells of each person. It is nil for a table without ids.
	Cells Stream[Element]
	// Columns lists the dictionary's columns. People yields all people in the edition.
	Columns []string
	People  People
	// The map Others holds the people's present cells under each other dictionary of the table. The
	// keys are the hashes of these dictionaries.
	Others map[string]Stream[Element]
	// Keep stores the edition's rows under the given id.
	Keep func(e *vault.Artifacts, id job.ID) error
}

// These are the names of an edition's stored items.
const (
	groupsItem vault.Item = "people"
	cellsItem  vault.Item = "cells"
)

// Make makes an edition. If a group would be too small, it records how many people are missing and
// returns a [LackError]. A crash leaves the editions as they were, or with the new one. Its memory
// grows with the groups, and not with the people.
func (s Store) Make(d Draft) (made Edition, err error) {
	err = s.change(func(b *book, artifacts *vault.Artifacts) error {
		if err := b.fits(d.Table, d.Dictionary, d.Known, d.Labels); err != nil {
			return err
		}
		table := b.table(d.Table)
		dictionary := table.dictionary(d.Dictionary)
		if d.Cells != nil {
			d.markAll(artifacts, table, dictionary)
		}
		parts, err := divide(storedGroups(at(artifacts, d.groupsOf(table, dictionary), groupsItem)), slices.Concat([]Stream[Part]{d.Rows}, d.Later)...)
		if err != nil {
			return err
		}
		if len(parts.small) > 0 {
			lack := Least - slices.Min(parts.small)
			b.note(d.Edition, lack)
			return errors.Join(&LackError{lack, d.Training + d.HeldOut}, s.write(b))
		}
		past, err := d.past(artifacts, dictionary)
		if err != nil {
			return err
		}
		made, err = s.put(d, artifacts, table, dictionary, parts, past)
		if err != nil {
			return err
		}
		b.note(d.Edition, 0)
		b.Editions = append(b.Editions, made)
		return s.write(b)
	})
	return made, err
}

// past returns the record of the people in all editions so far. It returns an empty past if there is no
// edition, if an earlier program made the last one, because its people are unknown, or if the order of
// the columns has changed.
func (d *Draft) past(artifacts *vault.Artifacts, dictionary *dictionaryState) (*past, error) {
	fresh := &past{columns: d.Columns, labels: d.Labels, byRows: d.Cells == nil}
	if dictionary.Past == "" {
		return fresh, nil
	}
	p, err := readPast(at(artifacts, dictionary.Past, pastItem))
	switch {
	case err != nil:
		return nil, err
	case !slices.Equal(slices.Sorted(slices.Values(p.columns)), slices.Sorted(slices.Values(d.Columns))):
		return nil, ErrOtherColumns
	case !slices.Equal(p.columns, d.Columns): // the order of the columns has changed, so cells cannot be compared
		return fresh, nil
	case !slices.Equal(p.labels, d.Labels):
		return nil, ErrOtherEntry
	}
	return p, nil
}

// groupsOf returns the ID of the stored groups that the new edition will split further.
func (d *Draft) groupsOf(table *tableState, dictionary *dictionaryState) string {
	if d.Cells != nil {
		return table.People
	}
	return dictionary.ID
}

// markAll marks the people whose cells have changed since the previous edition of this dictionary
// or of another one. Editions of two dictionaries together reveal such changes, too.
func (d *Draft) markAll(artifacts *vault.Artifacts, table *tableState, own *dictionaryState) {
	last := func(of *dictionaryState) Stream[Element] { return storedCells(at(artifacts, of.ID, cellsItem)) }
	d.Rows = marked(d.Rows, last(own), d.Cells)
	d.Cells = withGone(last(own), d.Cells)
	for hash, now := range d.Others {
		if other := table.Dictionaries[hash]; other != nil && other != own {
			d.Rows = marked(d.Rows, last(other), now)
		}
	}
}

// put writes all items of an edition. It does not add the edition to the list.
func (s Store) put(d Draft, artifacts *vault.Artifacts, table *tableState, dictionary *dictionaryState, parts *division, so *past) (made Edition, err error) {
	var ids [4]job.ID // ids of the rows, the groups, the cells and the past
	for i := range ids {
		if ids[i], err = newID(); err != nil {
			return made, err
		}
	}
	made = d.Edition
	made.ID, made.Number = ids[0].String(), dictionary.Last+1
	if err := so.add(made.ID, made.Number, d.People); err != nil {
		return made, err
	}
	if d.Training+d.HeldOut > 0 && so.count == 0 {
		return made, errors.New("edition: the draft has rows but no people")
	}
	if made.Beside, err = s.beside(so); err != nil {
		return made, err
	}
	made.Compared = so.compared()
	if err := d.Keep(artifacts, ids[0]); err != nil {
		return made, err
	}
	if err := write(artifacts, ids[1], groupsItem, groupsMagic, parts.all, parts.groups(), (*wire.Writer).Uint32); err != nil {
		return made, err
	}
	table.Known, dictionary.Labels, dictionary.ID = d.Known, d.Labels, ids[1].String()
	if d.Cells != nil {
		n, err := count(d.Cells)
		if err != nil {
			return made, err
		}
		if err := write(artifacts, ids[2], cellsItem, cellsMagic, n, d.Cells, putCells); err != nil {
			return made, err
		}
		table.People, dictionary.ID = ids[1].String(), ids[2].String()
	}
	dictionary.Past, dictionary.Last = ids[3].String(), made.Number
	return made, artifacts.Write(ids[3], pastItem, so.writeTo)
}

// beside compares the last edition with the earlier ones. It sorts on the disk.
func (s Store) beside(p *past) (list []Beside, err error) {
	space, err := scratch.New(s.Folder)
	if err != nil {
		return nil, err
	}
	list, err = p.beside(space)
	return list, errors.Join(err, space.Close())
}

func write[V any](artifacts *vault.Artifacts, id job.ID, item vault.Item, magic string, n int, list Stream[V], put func(*wire.Writer, V)) error {
	return artifacts.Write(id, item, func(to io.Writer) error { return writeList(to, magic, n, list, put) })
}

// at returns the opener of an item. The argument text is the ID of the item. It is "" if there is no such
// item yet; then at returns nil.
func at(artifacts *vault.Artifacts, text string, item vault.Item) opener {
	if text == "" {
		return nil
	}
	return func() (io.ReadCloser, error) {
		id, err := job.ParseID(text)
		if err != nil {
			return nil, err
		}
		in, err := artifacts.Open(id, item)
		if errors.Is(err, vault.ErrNoState) {
			return nil, errLost
		}
		return in, err
	}
}

func newID() (id job.ID, err error) {
	_, err = rand.Read(id[:])
	return id, err
}

// Erase destroys the key of an edition's rows. The groups that the editions tell apart stay
// recorded, so that a later edition cannot tell few people apart. If two dictionaries have the
// name, it erases the edition that was made last.
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

// EraseBut erases all editions of a table except those with the given ids.
func (s Store) EraseBut(table string, ids map[string]bool) error {
	return s.erase(func(e Edition) bool { return e.Table == table && !ids[e.ID] })
}

func (s Store) erase(which func(Edition) bool) error {
	return s.change(func(b *book, _ *vault.Artifacts) error {
		b.Editions = slices.DeleteFunc(b.Editions, which)
		return s.write(b)
	})
}
