package daemon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// frozenPeople holds the people of a table that is to be frozen. A person is a group or an id. In a
// table without groups and ids, each row counts as a person, identified by its cells; numbers distinguish
// equal rows. The people are sorted by digests under the home's key. In memory it has one bit a row, the
// rows of one person at a time, and the runs of the sorts.
type frozenPeople struct {
	named      bool // whether the table has groups or ids
	columns    []string
	rows       int
	unlabelled int // number of rows left out
	held       method.Bits
	heldOut    int // number of rows held out
	parts      sortedParts
	values     sortedValues
	ids        *extsort.Sorter // a digest of each row's id, with its line; nil for a table without ids
}

// A record of a sort begins with the digest by which it is sorted, and the index of its row.
const (
	elementBytes = len(edition.Element{})
	headBytes    = elementBytes + 8
)

func appendHead(b []byte, e edition.Element, row int) []byte {
	return binary.BigEndian.AppendUint64(append(b, e[:]...), uint64(row))
}

func elementOf(record []byte) edition.Element { return edition.Element(record[:elementBytes]) }

func compareHeads(a, b []byte) int { return bytes.Compare(a[:headBytes], b[:headBytes]) }

func newSort(space extsort.Store, name string) *extsort.Sorter {
	return extsort.New(space, name, compareHeads, extsort.RunBytes)
}

// people reads the rows and sorts their people. The space holds the sorted digests.
func (f *freezing) people(space extsort.Store) (p *frozenPeople, err error) {
	p = &frozenPeople{
		parts:  sortedParts{f.key, len(f.source.CutDates), newSort(space, "parts")},
		values: sortedValues{key: f.key, sorter: newSort(space, "values")},
	}
	digests, values := newDigester(f.key), newValueDigests(f.key)
	p.rows, p.unlabelled, err = f.each(func(b *frozenBlock) error {
		if p.columns == nil {
			p.begin(b, space)
		}
		return p.add(f, b, digests, values)
	})
	if err != nil {
		return nil, err
	}
	return p, errors.Join(p.checkIDs(f), p.number(f.key, space))
}

// begin stores what the first block tells about all rows: the columns, the labels, and whether they have names of
// people.
func (p *frozenPeople) begin(b *frozenBlock, space extsort.Store) {
	p.columns, p.named = b.set.Columns, knownBy(b.set) != nil
	p.values.width, p.values.labels = len(b.set.Columns), len(b.merged)
	if b.set.IDs != nil {
		p.ids = newSort(space, "ids")
	}
}

// add adds the rows of a block to all sorts.
func (p *frozenPeople) add(f *freezing, b *frozenBlock, digests *digester, values *valueDigests) error {
	held, err := f.holdsOut(b)
	if err != nil {
		return err
	}
	for _, i := range held {
		p.held.Set(b.before + i)
	}
	p.heldOut += len(held)
	late, err := f.late(b)
	if err != nil {
		return err
	}
	frame := b.set.X.(*prepare.Frame)
	whole := digests.cells(frame, b.labels)
	merged := whole
	if !slices.EqualFunc(b.labels, b.merged, slices.Equal) {
		merged = digests.cells(frame, b.merged)
	}
	people, mergedPeople := whole, merged
	if p.named {
		people = digests.names(knownBy(b.set))
		mergedPeople = people
	}
	return errors.Join(
		p.parts.add(b.before, people, whole, held, late),
		p.values.add(b, mergedPeople, merged, held, values),
		p.addIDs(b, digests),
	)
}

// draft returns the draft of an edition with these people.
func (p *frozenPeople) draft(e edition.Edition) edition.Draft {
	e.HeldOut, e.Training, e.Unlabelled = p.heldOut, p.rows-p.heldOut, p.unlabelled
	d := edition.Draft{Edition: e, Rows: p.parts.standing(), Columns: p.columns, People: p.values.people}
	for i := range p.parts.cuts {
		d.Later = append(d.Later, p.parts.cut(i))
	}
	if p.named {
		d.Cells = p.parts.cells()
	}
	return d
}

// cells reads the rows and sorts a digest of each person's cells. The table must have groups or ids.
func (f *freezing) cells(space extsort.Store) (edition.Stream[edition.Element], error) {
	parts := sortedParts{f.key, 0, newSort(space, "cells by "+f.dictionary.Hash())}
	digests := newDigester(f.key)
	_, _, err := f.each(func(b *frozenBlock) error {
		known := knownBy(b.set)
		if known == nil {
			return errors.New("the table has neither ids nor groups")
		}
		return parts.add(b.before, digests.names(known), digests.cells(b.set.X.(*prepare.Frame), b.labels), nil, nil)
	})
	return parts.cells(), err
}

// addIDs adds the ids of a block, so that equal ones are found.
func (p *frozenPeople) addIDs(b *frozenBlock, digests *digester) error {
	if p.ids == nil {
		return nil
	}
	var record []byte
	for i, e := range digests.names(b.set.IDs) {
		record = binary.BigEndian.AppendUint64(appendHead(record[:0], e, b.before+i), uint64(b.set.Lines[i]))
		if err := p.ids.Add(record); err != nil {
			return err
		}
	}
	return nil
}

// checkIDs returns an error if two rows have one id. It names the first row whose id an earlier row has.
func (p *frozenPeople) checkIDs(f *freezing) error {
	if p.ids == nil {
		return nil
	}
	earliest, lines := uint64(1<<63), [2]int{}
	var before []byte
	for record, err := range p.ids.All() {
		if err != nil {
			return err
		}
		if before != nil && bytes.Equal(before[:elementBytes], record[:elementBytes]) {
			if row := binary.BigEndian.Uint64(record[elementBytes:]); row < earliest {
				earliest = row
				lines = [2]int{int(binary.BigEndian.Uint64(before[headBytes:])), int(binary.BigEndian.Uint64(record[headBytes:]))}
			}
		}
		before = append(before[:0], record...)
	}
	if earliest < 1<<63 {
		return prepare.Table{Name: f.source.tableName(), Answer: f.source.SQL != nil}.RepeatedID(lines[0], lines[1])
	}
	return p.ids.Close()
}

// number tells equal rows of a table without groups and ids apart: the k-th of them is an element of its
// own.
func (p *frozenPeople) number(key dataset.SplitKey, space extsort.Store) (err error) {
	if p.named {
		return nil
	}
	digests := newDigester(key)
	if p.parts.sorter, err = numberEqual(space, "numbered parts", p.parts.sorter, digests); err != nil {
		return err
	}
	p.values.sorter, err = numberEqual(space, "numbered values", p.values.sorter, digests)
	return err
}

// numberEqual moves sorted records to a new sort, which it returns. It replaces the digest of each record by a
// digest of the old digest and the record's place among the records with the same digest.
func numberEqual(space extsort.Store, name string, from *extsort.Sorter, digests *digester) (*extsort.Sorter, error) {
	to := newSort(space, name)
	var before, numbered []byte
	var seen uint64
	for record, err := range from.All() {
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(before, record[:elementBytes]) {
			before, seen = append(before[:0], record[:elementBytes]...), 0
		}
		seen++
		numbered = binary.LittleEndian.AppendUint64(append(numbered[:0], before...), seen)
		e := digests.of(numbered)
		numbered = append(append(numbered[:0], e[:]...), record[elementBytes:]...)
		if err := to.Add(numbered); err != nil {
			return nil, err
		}
	}
	return to, from.Close()
}

// byPerson yields the records of each person, one after another, each of the given size, in the order
// of the rows. They are good until the next person.
func byPerson(s *extsort.Sorter, size int) iter.Seq2[records, error] {
	return func(yield func(records, error) bool) {
		own := records{size: size}
		for record, err := range s.All() {
			if err != nil {
				yield(records{}, err)
				return
			}
			if own.count() > 0 && !bytes.Equal(own.of(0)[:elementBytes], record[:elementBytes]) {
				if !yield(own, nil) {
					return
				}
				own.b = own.b[:0]
			}
			own.b = append(own.b, record...)
		}
		if own.count() > 0 {
			yield(own, nil)
		}
	}
}

// records are records of one size.
type records struct {
	b    []byte
	size int
}

func (r records) count() int { return len(r.b) / r.size }

func (r records) of(i int) []byte { return r.b[i*r.size:][:r.size] }

// sortedParts are rows sorted by people, with the parts of an edition that they are in. After the head, a record
// has a byte for held out or not, a byte for the side of each cut, and a digest of the cells and labels.
type sortedParts struct {
	key    dataset.SplitKey
	cuts   int
	sorter *extsort.Sorter
}

func (p sortedParts) size() int { return headBytes + 1 + p.cuts + elementBytes }

// add adds the rows of a block. late holds, for each cut, the rows from the cut on.
func (p sortedParts) add(before int, people, whole []edition.Element, held []int, late [][]int) error {
	n := len(people)
	flags := make([][]bool, 0, 1+len(late))
	for _, rows := range append([][]int{held}, late...) {
		flags = append(flags, marked(n, rows))
	}
	record := make([]byte, 0, p.size())
	for i, e := range people {
		record = appendHead(record[:0], e, before+i)
		for _, of := range flags {
			record = appendFlag(record, of[i])
		}
		if err := p.sorter.Add(append(record, whole[i][:]...)); err != nil {
			return err
		}
	}
	return nil
}

func appendFlag(b []byte, flag bool) []byte {
	if flag {
		return append(b, 1)
	}
	return append(b, 0)
}

// standing yields each person, and whether the person is held out.
func (p sortedParts) standing() edition.Stream[edition.Part] {
	return streamOf(p, func(own records) edition.Part { return edition.Part{Held: own.of(0)[headBytes] == 1} })
}

// cut compares the rows of each person with one of the entry's cuts. Held says that the person has rows from
// the cut on, Changed that the person has rows on both sides.
func (p sortedParts) cut(c int) edition.Stream[edition.Part] {
	return streamOf(p, func(own records) (part edition.Part) {
		first := own.of(0)[headBytes+1+c]
		for i := range own.count() {
			side := own.of(i)[headBytes+1+c]
			part.Held = part.Held || side == 1
			part.Changed = part.Changed || side != first
		}
		return part
	})
}

// cells yields a digest of each person's cells.
func (p sortedParts) cells() edition.Stream[edition.Element] {
	digests := newDigester(p.key)
	return streamOf(p, func(own records) edition.Element {
		var rows []edition.Element
		for i := range own.count() {
			rows = append(rows, edition.Element(own.of(i)[headBytes+1+p.cuts:]))
		}
		return digests.ofRows(elementOf(own.b), rows)
	})
}

func streamOf[V any](p sortedParts, value func(records) V) edition.Stream[V] {
	return func(yield func(edition.Known[V], error) bool) {
		for own, err := range byPerson(p.sorter, p.size()) {
			k := edition.Known[V]{}
			if err == nil {
				k = edition.Known[V]{Element: elementOf(own.b), Of: value(own)}
			}
			if !yield(k, err) {
				return
			}
		}
	}
}

// sortedValues are rows sorted by people, with digests of their values. After the head, a record has a
// byte for held out or not, and 8 bytes each for all cells and labels together, for each column and for
// each label.
type sortedValues struct {
	key           dataset.SplitKey
	width, labels int
	sorter        *extsort.Sorter
}

func (v sortedValues) size() int { return headBytes + 1 + 8*(1+v.width+v.labels) }

func (v sortedValues) add(b *frozenBlock, people, whole []edition.Element, held []int, digests *valueDigests) error {
	out, frame := marked(len(people), held), b.set.X.(*prepare.Frame)
	record := make([]byte, 0, v.size())
	for i, e := range people {
		record = appendFlag(appendHead(record[:0], e, b.before+i), out[i])
		record = binary.LittleEndian.AppendUint64(record, shortDigest(whole[i]))
		for c := range v.width {
			record = binary.LittleEndian.AppendUint64(record, digests.ofCell(frame, i, c))
		}
		for _, texts := range b.merged {
			record = binary.LittleEndian.AppendUint64(record, digests.ofLabel(texts[i]))
		}
		if err := v.sorter.Add(record); err != nil {
			return err
		}
	}
	return nil
}

// people yields all people. Each has digests of the cells in each column, of each label, and of all
// cells and labels together.
func (v sortedValues) people(yield func(*edition.Person, error) bool) {
	digests := newValueDigests(v.key)
	t := edition.Person{Columns: make([]uint64, v.width), Labels: make([][]uint64, v.labels)}
	var list []uint64
	for own, err := range byPerson(v.sorter, v.size()) {
		if err != nil {
			yield(nil, err)
			return
		}
		of := func(place int) []uint64 {
			list = list[:0]
			for i := range own.count() {
				list = append(list, binary.LittleEndian.Uint64(own.of(i)[headBytes+1+8*place:]))
			}
			return list
		}
		t.ID, t.Held, t.Several = elementOf(own.b), own.of(0)[headBytes] == 1, own.count() > 1
		t.Whole = digests.combine(of(0))
		for c := range t.Columns {
			t.Columns[c] = digests.combine(of(1 + c))
		}
		for l := range t.Labels {
			classes := of(1 + v.width + l)
			slices.Sort(classes)
			t.Labels[l] = append(t.Labels[l][:0], slices.Compact(classes)...)
		}
		if !yield(&t, nil) {
			return
		}
	}
}
