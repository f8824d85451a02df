// Package edition stores frozen copies of tables, called editions, and decides when a home may make
// another edition.
//
// Jobs see the newest edition of a table, never the table itself. A home makes a further edition only
// if each group of people that the editions so far, and the new one, tell apart is empty or has [Least]
// people. Editions tell apart who is in training, held out or gone, and whose cells have changed. So no
// two jobs reveal anything about fewer people.
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

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// LackError reports that a new edition would tell a group of fewer than [Least] people apart from
// all others.
type LackError struct {
	Lack int
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
	Known  string   // digest of how people are identified
	Labels []string // labels that the catalogue offers
	// Rows lists the people in the edition, or the rows of a table without ids.
	Rows Cut
	// Later holds one division of the people for each day or number in Cuts. It says whether a
	// person's rows lie before the day or number, after it, or both.
	Later []Cut
	// Cells holds the cells of each person. It is nil for a table without ids.
	Cells Cells
	// Columns lists the dictionary's columns. People lists all people in the edition, in any order.
	Columns []string
	People  []Person
	// The map Others holds the people's present cells under each other dictionary of the table. The
	// keys are the hashes of these dictionaries.
	Others map[string]Cells
	// Keep stores the edition's rows under the given id.
	Keep func(e *vault.Artifacts, id job.ID) error
}

// These are the names of an edition's stored items.
const (
	groupsItem vault.Item = "people"
	cellsItem  vault.Item = "cells"
)

// Make makes an edition. If a group would be too small, it records how many people are missing and
// returns a [LackError]. A crash leaves the editions as they were, or with the new one.
func (s Store) Make(d Draft) (made Edition, err error) {
	if d.Training+d.HeldOut > 0 && len(d.People) == 0 {
		return made, errors.New("edition: the draft has rows but no people")
	}
	err = s.change(func(b *book, artifacts *vault.Artifacts) error {
		if err := b.fits(d.Table, d.Dictionary, d.Known, d.Labels); err != nil {
			return err
		}
		table := b.table(d.Table)
		dictionary := table.dictionary(d.Dictionary)
		if d.Cells != nil {
			if err := d.markAll(artifacts, table, dictionary); err != nil {
				return err
			}
		}
		before, err := groupsAt(artifacts, d.groupsOf(table, dictionary))
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
			return errors.Join(&LackError{lack, d.Training + d.HeldOut}, s.write(b))
		}
		past, err := d.past(artifacts, dictionary)
		if err != nil {
			return err
		}
		made, err = d.put(artifacts, table, dictionary, next, past)
		if err != nil {
			return err
		}
		b.note(d.Edition, 0)
		b.Editions = append(b.Editions, made)
		return s.write(b)
	})
	return made, err
}

// past returns the record of the people in all editions so far. It returns an empty past if an
// earlier program made the editions, because their people are unknown.
func (d *Draft) past(artifacts *vault.Artifacts, dictionary *dictionaryState) (*past, error) {
	slices.SortFunc(d.People, func(a, b Person) int { return compareElements(a.ID, b.ID) })
	fresh := &past{columns: d.Columns, labels: d.Labels, byRows: d.Cells == nil}
	if dictionary.Past == "" {
		return fresh, nil
	}
	b, err := at(artifacts, dictionary.Past, pastItem)
	if err != nil {
		return nil, err
	}
	p, err := decodePast(b)
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
func (d *Draft) markAll(artifacts *vault.Artifacts, table *tableState, own *dictionaryState) error {
	last, err := cellsAt(artifacts, own.ID)
	if err != nil {
		return err
	}
	d.Rows = slices.Clone(d.Rows)
	d.mark(last, d.Cells)
	d.Cells = d.Cells.withGone(last)
	for hash, now := range d.Others {
		other := table.Dictionaries[hash]
		if other == nil || other == own {
			continue
		}
		if last, err = cellsAt(artifacts, other.ID); err != nil {
			return err
		}
		d.mark(last, now)
	}
	return nil
}

// mark marks the people whose present cells differ from their last cells.
func (d *Draft) mark(last, now Cells) {
	merge(last, now, func(e Element, then, own *Element) {
		if then == nil || own == nil || *then == *own {
			return
		}
		if i, in := slices.BinarySearchFunc(d.Rows, e, func(k Known[Part], e Element) int { return compareElements(k.Element, e) }); in {
			d.Rows[i].Of.Changed = true
		}
	})
}

// withGone adds the last known cells of people who are gone, because they may come back.
func (c Cells) withGone(last Cells) Cells {
	all := make(Cells, 0, max(len(c), len(last)))
	merge(last, c, func(e Element, then, own *Element) {
		if own == nil {
			own = then
		}
		all = append(all, Known[Element]{e, *own})
	})
	return all
}

func cellsAt(artifacts *vault.Artifacts, id string) (Cells, error) {
	if id == "" {
		return nil, nil
	}
	b, err := at(artifacts, id, cellsItem)
	if err != nil {
		return nil, err
	}
	return DecodeCells(b)
}

// put writes all items of an edition. It does not add the edition to the list.
func (d *Draft) put(artifacts *vault.Artifacts, table *tableState, dictionary *dictionaryState, next Groups, so *past) (made Edition, err error) {
	var ids [4]job.ID // ids of the rows, the groups, the cells and the past
	for i := range ids {
		if ids[i], err = newID(); err != nil {
			return made, err
		}
	}
	if err := d.Keep(artifacts, ids[0]); err != nil {
		return made, err
	}
	if err := write(artifacts, ids[1], groupsItem, next); err != nil {
		return made, err
	}
	table.Known, dictionary.Labels, dictionary.ID = d.Known, d.Labels, ids[1].String()
	if d.Cells != nil {
		if err := write(artifacts, ids[2], cellsItem, d.Cells); err != nil {
			return made, err
		}
		table.People, dictionary.ID = ids[1].String(), ids[2].String()
	}
	dictionary.Past = ids[3].String()
	dictionary.Last++
	made = d.Edition
	made.ID, made.Number = ids[0].String(), dictionary.Last
	so.add(made.ID, made.Number, d.People)
	made.Beside, made.Compared = so.beside(), so.compared()
	return made, artifacts.Write(ids[3], pastItem, so.writeTo)
}

func write(artifacts *vault.Artifacts, id job.ID, item vault.Item, what io.WriterTo) error {
	return artifacts.Write(id, item, func(to io.Writer) error {
		_, err := what.WriteTo(to)
		return err
	})
}

func groupsAt(artifacts *vault.Artifacts, id string) (Groups, error) {
	if id == "" {
		return nil, nil
	}
	b, err := at(artifacts, id, groupsItem)
	if err != nil {
		return nil, err
	}
	return DecodeGroups(b)
}

func at(artifacts *vault.Artifacts, text string, item vault.Item) ([]byte, error) {
	id, err := job.ParseID(text)
	if err != nil {
		return nil, err
	}
	b, err := artifacts.Get(id, item)
	if errors.Is(err, vault.ErrNoState) {
		return nil, errLost
	}
	return b, err
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
