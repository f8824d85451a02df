// Package edition keeps tables as a home has frozen them for its dictionaries, and decides when a further
// edition may be made.
//
// Jobs see the newest edition of a table, never the table itself. A further edition is made only if all
// groups of people that the editions so far tell apart, with it, are empty or have [Least] people: who is
// in training, held out or gone, and whose cells have changed. So no two jobs tell of fewer.
//
//	ID/rows    the rows as they were read, sorted, sealed under a key of the edition
//	ID/held    which of the rows are held out
//	ID/people  groups of a table's people; of a table without ids, of a dictionary's rows
//	ID/cells   the cells of people as a dictionary's editions had them last, as digests
//	ID/past    who is in a dictionary's newest edition, with digests of cells and labels, and
//	           what was otherwise in the editions before
//	list       the editions (number, day, table, dictionary, people), which groups and cells stand, and
//	           who has left, as digests under a key that is here, too
//	lock       held while the list changes
//	making     held while a command or the daemon freezes a table, or takes people out of it
//
// The list is replaced as a whole: what it does not name was left by a crash, and goes with the next change.
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

// LackError says that a further edition would tell few people apart from all others.
type LackError struct {
	Lack int
	Rows int // of the table
}

func (e *LackError) Error() string {
	return fmt.Sprintf("edition: a group of people who came, went or changed would have fewer than %d; %d more are lacking", Least, e.Lack)
}

// Store is the folder of a home's editions. It need not exist.
type Store struct {
	Folder string
	Sealed func() (*vault.Artifacts, error) // opens the folder to write
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
	// Columns are the dictionary's, and People all in the edition, in any order.
	Columns []string
	People  []Person
	// Others are the cells as other dictionaries of the table read them now, by hash.
	Others map[string]Cells
	// Keep writes the rows under an id of the artifacts.
	Keep func(e *vault.Artifacts, id job.ID) error
}

// Items of artifacts.
const (
	groupsItem vault.Item = "people"
	cellsItem  vault.Item = "cells"
)

// Make makes an edition, or returns a [LackError] and notes how many lack. A crash leaves the editions as
// they were, or with the new one.
func (s Store) Make(d Draft) (made Edition, err error) {
	if d.Training+d.HeldOut > 0 && len(d.People) == 0 {
		return made, errors.New("edition: a draft that does not say who is in it")
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

// past returns who is in the editions so far; nobody where an earlier program made them, since their
// people are known to no one.
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
	case !slices.Equal(p.columns, d.Columns): // in another order: nobody's cells can be compared, and jobs wait
		return fresh, nil
	case !slices.Equal(p.labels, d.Labels):
		return nil, ErrOtherEntry
	}
	return p, nil
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
func (d *Draft) markAll(artifacts *vault.Artifacts, table *tableState, own *dictionaryState) error {
	last, err := cellsAt(artifacts, own.ID)
	if err != nil {
		return err
	}
	d.Rows = slices.Clone(d.Rows)
	d.mark(last, d.Cells)
	d.Cells = d.Cells.after(last)
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

// mark notes whose cells are others than they were last.
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

// after adds the cells of those who are gone, as they were last: they may come back.
func (c Cells) after(last Cells) Cells {
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

// put writes all of an edition but its place in the list.
func (d *Draft) put(artifacts *vault.Artifacts, table *tableState, dictionary *dictionaryState, next Groups, so *past) (made Edition, err error) {
	var ids [4]job.ID // of rows, groups, cells and the past
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
	if errors.Is(err, vault.ErrNoRetained) {
		return nil, errLost
	}
	return b, err
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
	return s.change(func(b *book, _ *vault.Artifacts) error {
		b.Editions = slices.DeleteFunc(b.Editions, which)
		return s.write(b)
	})
}
