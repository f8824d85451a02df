package edition

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Person is somebody in an edition, as digests: the cells in each column of the dictionary, the classes or numbers in
// each of its labels, and all of them together.
type Person struct {
	ID      Element
	Held    bool // out, in all jobs of the dictionary's fraction
	Several bool // rows: what belongs to which of them is in Whole alone
	Whole   uint64
	Columns []uint64
	Labels  [][]uint64 // ascending, each once
}

func (t *Person) equal(o *Person) bool {
	return t.Held == o.Held && t.Several == o.Several && t.Whole == o.Whole && slices.Equal(t.Columns, o.Columns) && slices.EqualFunc(t.Labels, o.Labels, slices.Equal)
}

// past remembers the people of a dictionary's editions of a table: all of the last edition and, of each one before,
// those who were otherwise than in the next.
//
// Memory and file take 32 bytes and 8 a column and label for a person, once for the last edition and again for each
// in which the person was otherwise, but not more than nine times in all.
type past struct {
	columns, labels []string
	byRows          bool // people have no ids: who has other cells is another person
	last            []Person
	editions        []pastEdition // the oldest first
}

// pastEdition is an edition, and what was otherwise than in the next one.
type pastEdition struct {
	id     string
	number int
	was    []Person // ascending; whoever has no columns was not in it
}

// outsider is somebody who was not in an edition.
func outsider(e Element) Person { return Person{ID: e} }

func (t *Person) in() bool { return t.Columns != nil }

// add makes an edition the last one.
func (p *past) add(id string, number int, now []Person) {
	if n := len(p.editions); n > 0 {
		p.editions[n-1].was = otherwise(p.last, now)
	}
	p.editions = append(p.editions, pastEdition{id: id, number: number})
	p.last = now
	p.forget()
}

// Bounds on what is kept of those who were otherwise: as many people as mostOtherwise editions have, or fewOtherwise.
const (
	mostOtherwise = 8
	fewOtherwise  = 1 << 16
)

// forget forgets the oldest editions where too much has changed since: jobs wait beside them.
func (p *past) forget() {
	kept, most := 0, max(mostOtherwise*len(p.last), fewOtherwise)
	for i := len(p.editions) - 1; i >= 0; i-- {
		if kept += len(p.editions[i].was); kept > most {
			p.editions = slices.Delete(p.editions, 0, i+1)
			return
		}
	}
}

// otherwise returns how those who are in it now, or were, were then. Both are ascending.
func otherwise(then, now []Person) (was []Person) {
	for len(then) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(then) > 0 && compareElements(then[0].ID, now[0].ID) < 0:
			was, then = append(was, then[0]), then[1:]
		case len(then) == 0 || compareElements(then[0].ID, now[0].ID) > 0:
			was, now = append(was, outsider(now[0].ID)), now[1:]
		default:
			if !then[0].equal(&now[0]) {
				was = append(was, then[0])
			}
			then, now = then[1:], now[1:]
		}
	}
	return was
}

// compared names the rule, the columns and the labels by which the last edition is compared.
func (p *past) compared() *Compared {
	return &Compared{Rule: Rule, Columns: slices.Sorted(slices.Values(p.columns)), Labels: p.labels}
}

// beside compares the last edition with each earlier one, the newest first. It takes time for whoever was
// otherwise in one of them, and none for all others.
func (p *past) beside() (list []Beside) {
	compared := p.compared()
	rows, sums, out := newDifference(p), newDifference(p), newDifference(p)
	was := make(map[Element]*Person) // whoever was otherwise than in the edition after
	for i := len(p.editions) - 2; i >= 0; i-- {
		for k := range p.editions[i].was {
			then := &p.editions[i].was[k]
			now := p.find(then.ID)
			before := was[then.ID]
			if before == nil {
				before = now
			}
			rows.count(now, before, -1)
			rows.count(now, then, 1)
			sums.count(where(now, false), where(before, false), -1)
			sums.count(where(now, false), where(then, false), 1)
			out.count(where(now, true), where(before, true), -1)
			out.count(where(now, true), where(then, true), 1)
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

// mostBeside bounds the earlier editions with which one is compared: jobs wait beside older ones.
const mostBeside = 64

// where is the person who is held out, or who is not; else nobody: sums are over those in training, and their errors
// over those held out.
func where(t *Person, held bool) *Person {
	if t.Held == held {
		return t
	}
	gone := outsider(t.ID)
	return &gone
}

// find returns how somebody is in the last edition.
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

// Bounds on what is read back.
const (
	maxNames  = 1 << 16
	maxName   = 1 << 16
	maxPeople = 1 << 28
	maxPast   = 1 << 20
)

func (p *past) encode() []byte {
	var w wire.Writer
	w.Grow(1024 + (32+8*len(p.columns)+12*len(p.labels))*len(p.last))
	w.String(pastMagic)
	w.Strings(p.columns)
	w.Strings(p.labels)
	w.Bool(p.byRows)
	writePeople(&w, p.last)
	w.Uint32(uint32(len(p.editions)))
	for _, e := range p.editions {
		w.String(e.id)
		w.Uint32(uint32(e.number))
		writePeople(&w, e.was)
	}
	return w.Bytes()
}

func decodePast(b []byte) (*past, error) {
	r := wire.NewReader(b)
	r.Magic(len(pastMagic), pastMagic, "edition: %q is another file")
	p := &past{columns: r.Strings(maxNames, maxName), labels: r.Strings(maxNames, maxName), byRows: r.Bool()}
	var s slabs
	p.last = p.readPeople(r, &s)
	for range r.Count(maxPast, 12) {
		p.editions = append(p.editions, pastEdition{r.String(64), int(r.Uint32()), p.readPeople(r, &s)})
	}
	return p, r.Close(pastMagic)
}

func writePeople(w *wire.Writer, list []Person) {
	w.Uint32(uint32(len(list)))
	for i := range list {
		t := &list[i]
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
}

// readPeople refuses people who are not ascending, since nobody would be found among them.
func (p *past) readPeople(r *wire.Reader, s *slabs) []Person {
	n := r.Count(maxPeople, 27)
	list := make([]Person, 0, n)
	for i := range n {
		t := p.readPerson(r, s)
		if i > 0 && compareElements(list[i-1].ID, t.ID) >= 0 {
			r.Fail(errors.New("edition: people out of order"))
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

// slabs are shared by all that is read: an edition before may have one person.
type slabs struct {
	cells  slab[uint64]
	labels slab[[]uint64]
}

// slab hands out parts of large slices, since people are many.
type slab[T any] struct{ rest []T }

func (s *slab[T]) take(n int) []T {
	const size = 1 << 12
	if n == 0 {
		return []T{} // which is not nil: somebody without columns is there
	}
	if n > len(s.rest) {
		s.rest = make([]T, max(n, size))
	}
	part := s.rest[:n:n]
	s.rest = s.rest[n:]
	return part
}
