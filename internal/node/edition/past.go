package edition

import (
	"errors"
	"io"
	"iter"
	"slices"

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

// past records the people in a dictionary's editions of a table. It has all people of the last
// edition and, for each earlier edition, the people who differ in the next one.
//
// In memory and in the file, a person's state takes 32 bytes, and 8 more for each column and label.
// The past has each person's last state and the earlier states that differ. In a large table these
// are on average at most nine states for a person.
type past struct {
	columns, labels []string
	byRows          bool // true if the table has no ids, so that each row counts as a person
	last            []Person
	stored          *storedPeople // encoded people of the last edition; nil once the field last holds them
	editions        []pastEdition // editions from the oldest to the newest
}

// pastEdition describes an earlier edition by its differences from the next edition.
type pastEdition struct {
	id     string
	number int
	// people lists, in ascending order, the people whose state differs in the next edition, with their
	// state in this edition. A person without columns was not in this edition.
	people []Person
}

// outsider returns a Person for someone who was not in an edition.
func outsider(e Element) Person { return Person{ID: e} }

func (t *Person) in() bool { return t.Columns != nil }

// clone returns a copy of the person that shares no memory.
func (t *Person) clone() Person {
	own := *t
	own.Columns, own.Labels = slices.Clone(t.Columns), slices.Clone(t.Labels)
	for l := range own.Labels {
		own.Labels[l] = slices.Clone(t.Labels[l])
	}
	return own
}

// add appends a new edition with its people.
func (p *past) add(id string, number int, now []Person) {
	if n := len(p.editions); n > 0 {
		p.editions[n-1].people = differing(p.people(), now)
	}
	p.editions = append(p.editions, pastEdition{id: id, number: number})
	p.last, p.stored = now, nil
	p.forget()
}

// unfold decodes the people of the last edition into memory, so that they can be searched.
func (p *past) unfold() {
	if p.stored == nil {
		return
	}
	list := make([]Person, 0, p.stored.count)
	for t := range p.people() {
		list = append(list, t.clone())
	}
	p.last, p.stored = list, nil
}

// people iterates over all people of the last edition, ascending. Each person is valid only until
// the next one.
func (p *past) people() iter.Seq[*Person] {
	if p.stored != nil {
		return p.stored.all
	}
	return func(yield func(*Person) bool) {
		for i := range p.last {
			if !yield(&p.last[i]) {
				return
			}
		}
	}
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
	kept, most := 0, max(statesFactor*len(p.last), leastStates)
	for i := len(p.editions) - 1; i >= 0; i-- {
		if kept += len(p.editions[i].people); kept > most {
			p.editions = slices.Delete(p.editions, 0, i+1)
			return
		}
	}
}

// differing returns the former state of each person who differs between two editions. People who
// are only in now appear as outsiders. Both editions are ascending.
func differing(then iter.Seq[*Person], now []Person) (was []Person) {
	for t := range then {
		for len(now) > 0 && compareElements(now[0].ID, t.ID) < 0 {
			was, now = append(was, outsider(now[0].ID)), now[1:]
		}
		if len(now) == 0 || now[0].ID != t.ID {
			was = append(was, t.clone())
			continue
		}
		if !t.equal(&now[0]) {
			was = append(was, t.clone())
		}
		now = now[1:]
	}
	for i := range now {
		was = append(was, outsider(now[i].ID))
	}
	return was
}

// compared describes how the last edition is compared with earlier editions.
func (p *past) compared() *Compared {
	return &Compared{Rule: Rule, Columns: slices.Sorted(slices.Values(p.columns)), Labels: p.labels}
}

// beside compares the last edition with each earlier edition, the newest first. It takes time only
// for people who differ in one of them.
func (p *past) beside() (list []Beside) {
	p.unfold()
	compared := p.compared()
	rows, sums, out := newDifference(p), newDifference(p), newDifference(p)
	// was holds people's states in the edition after editions[i]. A person without an entry has not
	// changed since.
	was := make(map[Element]*Person)
	for i := len(p.editions) - 2; i >= 0; i-- {
		for k := range p.editions[i].people {
			then := &p.editions[i].people[k]
			now := p.find(then.ID)
			before := was[then.ID]
			if before == nil {
				before = now
			}
			rows.count(now, before, -1)
			rows.count(now, then, 1)
			sums.count(onSide(now, false), onSide(before, false), -1)
			sums.count(onSide(now, false), onSide(then, false), 1)
			out.count(onSide(now, true), onSide(before, true), -1)
			out.count(onSide(now, true), onSide(then, true), 1)
			was[then.ID] = then
		}
		list = append(list, rows.beside(sums, out, p.editions[i]))
		list[len(list)-1].Compared = compared
		if len(list) == mostBeside {
			break
		}
	}
	return list
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

// find returns a person of the last edition, or an outsider if the person is not in it.
func (p *past) find(e Element) *Person {
	i, in := slices.BinarySearchFunc(p.last, e, func(t Person, e Element) int { return compareElements(t.ID, e) })
	if !in {
		gone := outsider(e)
		return &gone
	}
	return &p.last[i]
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
	w := inPieces{to: to}
	w.String(pastMagic)
	w.Strings(p.columns)
	w.Strings(p.labels)
	w.Bool(p.byRows)
	n := len(p.last)
	if p.stored != nil {
		n = p.stored.count
	}
	w.Uint32(uint32(n))
	for t := range p.people() {
		writePerson(&w, t)
	}
	w.Uint32(uint32(len(p.editions)))
	for _, e := range p.editions {
		w.String(e.id)
		w.Uint32(uint32(e.number))
		w.Uint32(uint32(len(e.people)))
		for i := range e.people {
			writePerson(&w, &e.people[i])
		}
	}
	_, err := w.end()
	return err
}

func writePerson(w *inPieces, t *Person) {
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
	w.pass(pieceBytes)
}

// decodePast decodes a past that writeTo has written. It checks the people of the last edition, and
// decodes them again when they are needed.
func decodePast(b []byte) (*past, error) {
	r := wire.NewReader(b)
	r.Magic(len(pastMagic), pastMagic, "edition: %q is not the expected format")
	p := &past{columns: r.Strings(maxNames, maxName), labels: r.Strings(maxNames, maxName), byRows: r.Bool()}
	n := r.Count(maxPeople, 27)
	p.stored = &storedPeople{of: p, b: b[len(b)-r.Len():], count: n}
	p.stored.check(r)
	var s slabs
	for range r.Count(maxPast, 12) {
		p.editions = append(p.editions, pastEdition{r.String(64), int(r.Uint32()), p.readPeople(r, &s)})
	}
	return p, r.Close(pastMagic)
}

// storedPeople holds the people of an edition in encoded form.
type storedPeople struct {
	of    *past
	b     []byte
	count int
}

// check decodes all people, and rejects a list that is not ascending.
func (s *storedPeople) check(r *wire.Reader) {
	var last Element
	var own slabs
	for i := range s.count {
		t := s.of.readPerson(r, own.reset())
		if i > 0 && compareElements(last, t.ID) >= 0 {
			r.Fail(errors.New("edition: the people are not in ascending order, or one is repeated"))
		}
		if last = t.ID; r.Err() != nil {
			return
		}
	}
}

// all decodes and yields the people one by one.
func (s *storedPeople) all(yield func(*Person) bool) {
	r := wire.NewReader(s.b)
	var own slabs
	var t Person
	for range s.count {
		if t = s.of.readPerson(r, own.reset()); !yield(&t) {
			return
		}
	}
}

// readPeople decodes a list of people. It rejects a list that is not ascending, because a search in
// it would fail.
func (p *past) readPeople(r *wire.Reader, s *slabs) []Person {
	n := r.Count(maxPeople, 27)
	list := make([]Person, 0, n)
	for i := range n {
		t := p.readPerson(r, s)
		if i > 0 && compareElements(list[i-1].ID, t.ID) >= 0 {
			r.Fail(errors.New("edition: the people are not in ascending order, or one is repeated"))
		}
		if r.Err() != nil {
			return nil
		}
		list = append(list, t)
	}
	return list
}

func (p *past) readPerson(r *wire.Reader, s *slabs) (t Person) {
	r.Fixed(t.ID[:])
	t.Held, t.Several, t.Whole = r.Bool(), r.Bool(), r.Uint64()
	if !r.Bool() {
		return t
	}
	t.Columns, t.Labels = s.cells.take(len(p.columns)), s.labels.take(len(p.labels))
	for c := range t.Columns {
		t.Columns[c] = r.Uint64()
	}
	for l := range t.Labels {
		t.Labels[l] = s.cells.take(r.Count(maxPeople, 8))
		for i := range t.Labels[l] {
			t.Labels[l][i] = r.Uint64()
		}
	}
	return t
}

// slabs allocates memory for decoded people in large blocks. Editions share a block, because an
// earlier edition may have only one person.
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

// slab cuts many small slices from one large allocation.
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
