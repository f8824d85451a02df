package edition

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Person holds digests of a person's data in an edition. Columns has a digest of the cells of each
// column of the dictionary. Labels has digests of the classes or numbers of each label. Whole is
// one digest of all these data together.
type Person struct {
	ID      Element
	Held    bool // true if the person is in the fraction that the dictionary holds out
	Several bool // true if the person has several rows; only Whole then tells which row has which values
	Whole   uint64
	Columns []uint64
	Labels  [][]uint64 // values of each label, ascending, each once
}

func (t *Person) equal(o *Person) bool {
	return t.Held == o.Held && t.Several == o.Several && t.Whole == o.Whole && slices.Equal(t.Columns, o.Columns) && slices.EqualFunc(t.Labels, o.Labels, slices.Equal)
}

// People yields the people of an edition, in ascending order of their IDs, and each person once. A
// person is valid until the next one is yielded. People can be read any number of times, with the same
// result. It yields nothing after an error. A nil People has nobody.
type People = iter.Seq2[*Person, error]

// Everybody returns the people of a list.
func Everybody(list []Person) People {
	return func(yield func(*Person, error) bool) {
		for i := range list {
			if !yield(&list[i], nil) {
				return
			}
		}
	}
}

// past records the people in a dictionary's editions of a table. It has all people of the last
// edition and, for each earlier edition, the people who differ in the next one.
//
// In the file, a person's state takes 27 bytes, 8 more for each column, and 12 more for each label with
// one value. The past has each person's last state and the earlier states that differ. In a large table
// these are on average at most nine states for a person. None of them is in memory.
type past struct {
	columns, labels []string
	byRows          bool // true if the table has no ids, so that each row counts as a person
	last            People
	count           int           // number of people in the last edition
	editions        []pastEdition // editions from the oldest to the newest
	stored          opener        // the file that has the first editions; nil if there is none
	forgotten       int           // number of the file's editions that are no longer among editions
}

// pastEdition describes an earlier edition by its differences from the next edition.
type pastEdition struct {
	id     string
	number int
	count  int // number of people whose state differs in the next edition
	// people yields these people, with their state in this edition. A person without columns was not in
	// this edition. It is nil if the file has them, and in the last edition.
	people People
}

// outsider returns a Person for someone who was not in an edition.
func outsider(e Element) Person { return Person{ID: e} }

func (t *Person) in() bool { return t.Columns != nil }

// add appends a new edition with its people.
func (p *past) add(id string, number int, now People) (err error) {
	if now == nil {
		now = Everybody(nil)
	}
	if n := len(p.editions); n > 0 {
		e := &p.editions[n-1]
		e.people = differing(p.last, now)
		if e.count, err = countPeople(e.people); err != nil {
			return err
		}
	}
	if p.count, err = countPeople(now); err != nil {
		return err
	}
	p.editions = append(p.editions, pastEdition{id: id, number: number})
	p.last = now
	p.forget()
	return nil
}

// countPeople counts people, and refuses them if they are not ascending.
func countPeople(people People) (n int, err error) {
	var before Element
	for t, err := range people {
		switch {
		case err != nil:
			return 0, err
		case n > 0 && compareElements(before, t.ID) >= 0:
			return 0, errOrder
		}
		before = t.ID
		n++
	}
	return n, nil
}

// These constants limit the number of former states of people that a past stores. The limit is
// statesFactor times the size of the last edition, but at least leastStates.
const (
	statesFactor = 8
	leastStates  = 1 << 16
)

// forget removes the oldest editions if the past stores too many former states of people. After a
// release of a removed edition, releases of later editions await approval.
func (p *past) forget() {
	kept, most := 0, max(statesFactor*p.count, leastStates)
	for i := len(p.editions) - 1; i >= 0; i-- {
		if kept += p.editions[i].count; kept > most {
			p.editions = slices.Delete(p.editions, 0, i+1)
			p.forgotten += i + 1
			return
		}
	}
}

// differing yields the former state of each person who differs between two editions. People who are
// only in now appear as outsiders.
func differing(then, now People) People {
	return func(yield func(*Person, error) bool) {
		for k, err := range merged(byID(then), byID(now)) {
			var was *Person
			switch {
			case err != nil:
			case k.a == nil:
				gone := outsider(k.Element)
				was = &gone
			case k.b == nil || !(*k.a).equal(*k.b):
				was = *k.a
			default:
				continue
			}
			if !yield(was, err) {
				return
			}
		}
	}
}

// formerState is the state of a person in an edition, which differs in the next one.
type formerState struct {
	edition int // index of the edition
	*Person
}

// former yields all former states, from the oldest edition to the newest. A state is valid until the next
// one is yielded. It yields nothing after an error.
func (p *past) former(yield func(formerState, error) bool) {
	if !p.storedFormer(yield) {
		return
	}
	for i, e := range p.editions {
		if e.people == nil {
			continue
		}
		for t, err := range e.people {
			if !yield(formerState{i, t}, err) {
				return
			}
		}
	}
}

// storedFormer yields the former states that the file has. It reports whether yield wants more.
func (p *past) storedFormer(yield func(formerState, error) bool) (more bool) {
	if p.stored == nil {
		return true
	}
	more = true
	err := reading(p.stored, func(r *inPieces) error {
		head, own := pastHead(r), new(slabs)
		head.readPeople(r, own, func(*Person) bool { return true })
		for at := range r.count(maxPast) {
			r.string(64)
			r.uint32()
			head.readPeople(r, own, func(t *Person) bool {
				if i := at - p.forgotten; i >= 0 {
					more = yield(formerState{i, t}, nil)
				}
				return more
			})
			if !more || r.err != nil {
				return r.err
			}
		}
		return r.close(pastMagic)
	})
	if err != nil && more {
		yield(formerState{}, err)
		return false
	}
	return more
}

// byID returns people with their IDs.
func byID(people People) Stream[*Person] {
	if people == nil {
		return nil
	}
	return func(yield func(Known[*Person], error) bool) {
		for t, err := range people {
			k := Known[*Person]{Of: t}
			if err == nil {
				k.Element = t.ID
			}
			if !yield(k, err) {
				return
			}
		}
	}
}

// compared describes how the last edition is compared with earlier editions.
func (p *past) compared() *Compared {
	return &Compared{Rule: Rule, Columns: slices.Sorted(slices.Values(p.columns)), Labels: p.labels}
}

// beside compares the last edition with each earlier edition, the newest first. The space holds the
// changes of people, sorted.
func (p *past) beside(space extsort.Store) (list []Beside, err error) {
	sorted, err := p.changes(space)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	read := beginChanges(p, sorted)
	defer read.stop()
	compared := p.compared()
	rows, sums, out := newDifference(p), newDifference(p), newDifference(p)
	for i := len(p.editions) - 2; i >= 0; i-- {
		for read.in(i) {
			now, before, then := &read.now, &read.before, &read.then
			rows.count(now, before, -1)
			rows.count(now, then, 1)
			sums.count(onSide(now, false), onSide(before, false), -1)
			sums.count(onSide(now, false), onSide(then, false), 1)
			out.count(onSide(now, true), onSide(before, true), -1)
			out.count(onSide(now, true), onSide(then, true), 1)
			read.step()
		}
		if read.err != nil {
			return nil, read.err
		}
		list = append(list, rows.beside(sums, out, p.editions[i]))
		list[len(list)-1].Compared = compared
		if len(list) == mostBeside {
			break
		}
	}
	return list, nil
}

// mostBeside is the largest number of earlier editions with which a new edition is compared. After
// a release of a still older edition, releases of the new edition await approval.
const mostBeside = 64

// onSide replaces a person by an outsider unless the person is on the wanted side of the split. The
// held-out side is wanted if heldOut is true, and the training side otherwise. Sums are over people in
// training, and errors over people held out.
func onSide(t *Person, heldOut bool) *Person {
	if t.Held == heldOut {
		return t
	}
	gone := outsider(t.ID)
	return &gone
}

const pastItem vault.Item = "past"

const pastMagic = "mercer/v1/past"

// These constants bound the sizes that decoding accepts.
const (
	maxNames  = 1 << 16
	maxName   = 1 << 16
	maxPeople = 1 << 28
	maxPast   = 1 << 20
)

// writeTo writes the encoded past.
func (p *past) writeTo(to io.Writer) error {
	w := outPieces{to: to}
	w.String(pastMagic)
	w.Strings(p.columns)
	w.Strings(p.labels)
	w.Bool(p.byRows)
	w.Uint32(uint32(p.count))
	n := 0
	for t, err := range p.last {
		if err != nil {
			return err
		}
		writePerson(&w, t)
		n++
	}
	if n != p.count {
		return fmt.Errorf("edition: the last edition yields %d people, but %d were counted before", n, p.count)
	}
	w.Uint32(uint32(len(p.editions)))
	if err := p.writeFormer(&w); err != nil {
		return err
	}
	return w.end()
}

// writeFormer writes the editions with their former states.
func (p *past) writeFormer(w *outPieces) error {
	at, left := -1, 0
	until := func(edition int) error {
		for at < edition {
			if left != 0 {
				return fmt.Errorf("edition: %d fewer people differ from edition %d than were counted", left, p.editions[at].number)
			}
			at++
			e := p.editions[at]
			w.String(e.id)
			w.Uint32(uint32(e.number))
			w.Uint32(uint32(e.count))
			left = e.count
		}
		return nil
	}
	for t, err := range p.former {
		if err == nil {
			err = until(t.edition)
		}
		if err != nil {
			return err
		}
		writePerson(w, t.Person)
		left--
	}
	if err := until(len(p.editions) - 1); err != nil || left == 0 {
		return err
	}
	return errOrder
}

func writePerson(w *outPieces, t *Person) {
	encodePerson(&w.Writer, t)
	w.pass(pieceBytes)
}

func encodePerson(w *wire.Writer, t *Person) {
	w.Fixed(t.ID[:])
	w.Bool(t.Held)
	w.Bool(t.Several)
	w.Uint64(t.Whole)
	w.Bool(t.in())
	for _, v := range t.Columns {
		w.Uint64(v)
	}
	for _, classes := range t.Labels {
		w.Uint32(uint32(len(classes)))
		for _, v := range classes {
			w.Uint64(v)
		}
	}
}

// readPast reads a past that writeTo has written. It checks the people of all editions, and reads them
// again when they are needed.
func readPast(open opener) (p *past, err error) {
	err = reading(open, func(r *inPieces) error {
		p = pastHead(r)
		var own slabs
		p.count = p.readPeople(r, &own, func(*Person) bool { return true })
		for range r.count(maxPast) {
			e := pastEdition{id: r.string(64), number: int(r.uint32())}
			e.count = p.readPeople(r, &own, func(*Person) bool { return true })
			if p.editions = append(p.editions, e); r.err != nil {
				break
			}
		}
		return r.close(pastMagic)
	})
	if err != nil {
		return nil, err
	}
	p.last, p.stored = storedPeople(open), open
	return p, nil
}

// pastHead reads the beginning of a past.
func pastHead(r *inPieces) *past {
	r.magic(pastMagic)
	return &past{columns: r.strings(maxNames, maxName), labels: r.strings(maxNames, maxName), byRows: r.bool()}
}

// storedPeople yields the people of the last edition in a stored past.
func storedPeople(open opener) People {
	return func(yield func(*Person, error) bool) {
		more := true
		err := reading(open, func(r *inPieces) error {
			pastHead(r).readPeople(r, new(slabs), func(t *Person) bool {
				more = yield(t, nil)
				return more
			})
			return nil
		})
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// readPeople calls use with each person of a list until use returns false. A person is valid until the
// next one is read, because both use the memory of own. It returns the number of people in the list.
func (p *past) readPeople(r *inPieces, own *slabs, use func(*Person) bool) (n int) {
	var before Element
	n = r.count(maxPeople)
	for i := range n {
		t := p.readPerson(r, own.reset())
		if i > 0 && compareElements(before, t.ID) >= 0 {
			r.fail(errOrder)
		}
		if before = t.ID; r.err != nil || !use(&t) {
			return n
		}
	}
	return n
}

func (p *past) readPerson(r *inPieces, s *slabs) (t Person) {
	r.fixed(t.ID[:])
	t.Held, t.Several, t.Whole = r.bool(), r.bool(), r.uint64()
	if !r.bool() {
		return t
	}
	t.Columns, t.Labels = s.cells.take(len(p.columns)), s.labels.take(len(p.labels))
	for c := range t.Columns {
		t.Columns[c] = r.uint64()
	}
	for l := range t.Labels {
		t.Labels[l] = s.readValues(r)
	}
	return t
}

// readValues reads the values of a label. A person has few values, so it reserves memory for few. Then a
// false count takes little memory.
func (s *slabs) readValues(r *inPieces) []uint64 {
	const few = 1 << 10
	n := r.count(maxPeople)
	list := s.cells.take(min(n, few))
	for i := range list {
		list[i] = r.uint64()
	}
	for range n - len(list) {
		if list = append(list, r.uint64()); r.err != nil {
			return nil
		}
	}
	return list
}

// slabs holds the memory of one decoded person after another.
type slabs struct {
	cells  slab[uint64]
	labels slab[[]uint64]
}

// reset frees the memory of the previous person for the next person. The previous person becomes
// invalid.
func (s *slabs) reset() *slabs {
	s.cells.rest, s.labels.rest = s.cells.whole, s.labels.whole
	return s
}

// slab cuts small slices from a large allocation, which the next person uses again.
type slab[T any] struct{ whole, rest []T }

func (s *slab[T]) take(n int) []T {
	const size = 1 << 12
	if n == 0 {
		return []T{} // not nil: nil means that the person is not in the edition
	}
	if n > len(s.rest) {
		s.whole = make([]T, max(n, size))
		s.rest = s.whole
	}
	part := s.rest[:n:n]
	s.rest = s.rest[n:]
	return part
}
