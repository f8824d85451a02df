package edition

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Person is somebody in an edition, as digests: all cells in each column of the dictionary, and the classes or
// numbers in each of its labels. A person of several rows has one digest of all of them in each column.
type Person struct {
	ID      Element
	Held    bool // out, in all jobs of the dictionary's fraction
	Columns []uint64
	Labels  [][]uint64 // ascending, each once
}

func (t *Person) equal(o *Person) bool {
	return t.Held == o.Held && slices.Equal(t.Columns, o.Columns) && slices.EqualFunc(t.Labels, o.Labels, slices.Equal)
}

// Beside says what an edition, together with an earlier one of its dictionary and table, would tell of one to
// nine people.
type Beside struct {
	ID     string `json:"id"` // of the earlier edition
	Number int    `json:"number"`
	Rows   Few    `json:"rows,omitzero"` // of all people, told row by row
	Sums   Few    `json:"sums,omitzero"` // of those in training, in sums
	// Classes are, by label, the columns that have changed for few of a class; "" where few of a class came, went
	// or have another label. Numbers are the same of those whose number is not the commonest among them.
	Classes map[string][]string `json:"classes,omitempty"`
	Numbers map[string][]string `json:"numbers,omitempty"`
}

// Few says what has changed for one to nine people.
type Few struct {
	// Any is set where few came or went into sums; or, in a table without ids, where rows came and rows went, of which
	// some may differ in one column.
	Any     bool     `json:"any,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Labels  []string `json:"labels,omitempty"`
}

// Touch reports whether it is about some columns, or a label; "" for none.
func (f Few) Touch(columns []string, label string) bool {
	return f.Any || slices.Contains(f.Labels, label) || touch(f.Columns, columns)
}

func touch(few, columns []string) bool {
	return slices.ContainsFunc(few, func(c string) bool { return c == "" || slices.Contains(columns, c) })
}

// ClearRows reports whether rows of some columns may be told of both editions, with the label or without: "".
func (b Beside) ClearRows(columns []string, label string) bool { return !b.Rows.Touch(columns, label) }

// ClearSums reports whether sums over some columns may be told of both editions.
func (b Beside) ClearSums(columns []string) bool { return !b.Sums.Touch(columns, "") }

// ClearClasses reports whether sums for each class of a label may.
func (b Beside) ClearClasses(columns []string, label string) bool {
	return b.ClearSums(columns) && !touch(b.Classes[label], columns)
}

// ClearNumbers reports whether sums with a label that is a number may.
func (b Beside) ClearNumbers(columns []string, label string) bool {
	return b.ClearSums(columns) && !touch(b.Numbers[label], columns)
}

// past is who is in the editions of a dictionary and a table: the last, and what was otherwise in the
// ones before, each beside the next.
// Memory and file take 24 bytes and 8 a column and label for a person, once for the last edition and again for each
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

// beside compares the last edition with each earlier one, the newest first. It takes time for whoever was
// otherwise in one of them, and none for all others.
func (p *past) beside() (list []Beside) {
	rows, sums := newDifference(p), newDifference(p)
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
			sums.count(inSums(now), inSums(before), -1)
			sums.count(inSums(now), inSums(then), 1)
			was[then.ID] = then
		}
		list = append(list, rows.beside(sums, p.editions[i]))
	}
	return list
}

// inSums is the person in sums: nobody who is held out.
func inSums(t *Person) *Person {
	if !t.Held {
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

// difference counts how the people of two editions differ.
type difference struct {
	*past
	came, went int
	changed    []int // by column
	labelled   []int // by label: whose label has changed
	moved      []map[uint64]int
	within     [][]map[uint64]int // by label and column: whose cells have changed, by class
}

func newDifference(p *past) *difference {
	d := &difference{past: p, changed: make([]int, len(p.columns)), labelled: make([]int, len(p.labels))}
	for range p.labels {
		d.moved = append(d.moved, make(map[uint64]int))
		within := make([]map[uint64]int, len(p.columns))
		for c := range within {
			within[c] = make(map[uint64]int)
		}
		d.within = append(d.within, within)
	}
	return d
}

// count adds n times what one person tells who is so now and was so then.
func (d *difference) count(now, then *Person, n int) {
	switch {
	case now.in() && !then.in():
		d.came += n
		d.move(now.Labels, nil, n)
	case !now.in() && then.in():
		d.went += n
		d.move(then.Labels, nil, n)
	case now.in():
		d.move(now.Labels, then.Labels, n)
		for l := range d.labels {
			if !slices.Equal(now.Labels[l], then.Labels[l]) {
				d.labelled[l] += n
			}
		}
		for c := range d.columns {
			if now.Columns[c] != then.Columns[c] {
				d.change(c, now, n)
			}
		}
	}
}

// move counts the classes that only one of two has.
func (d *difference) move(one, other [][]uint64, n int) {
	for l := range d.labels {
		for _, v := range one[l] {
			if other == nil || !slices.Contains(other[l], v) {
				add(d.moved[l], v, n)
			}
		}
		if other == nil {
			continue
		}
		for _, v := range other[l] {
			if !slices.Contains(one[l], v) {
				add(d.moved[l], v, n)
			}
		}
	}
}

func (d *difference) change(c int, now *Person, n int) {
	d.changed[c] += n
	for l := range d.labels {
		for _, v := range now.Labels[l] {
			add(d.within[l][c], v, n)
		}
	}
}

// add keeps no zeros.
func add(to map[uint64]int, v uint64, n int) {
	if to[v] += n; to[v] == 0 {
		delete(to, v)
	}
}

// beside names what few people tell in rows, and in sums.
func (d *difference) beside(sums *difference, e pastEdition) Beside {
	b := Beside{ID: e.id, Number: e.number, Rows: d.few(), Sums: sums.few(), Classes: make(map[string][]string), Numbers: make(map[string][]string)}
	b.Sums.Any = b.Sums.Any || few(sums.came) || few(sums.went)
	for l, label := range d.labels {
		sums.besideOf(&b, label, "", sums.moved[l])
		for c, name := range d.columns {
			sums.besideOf(&b, label, name, sums.within[l][c])
		}
	}
	return b
}

// few names the columns and labels that have changed for few.
func (d *difference) few() Few {
	f := Few{Any: d.byRows && d.came > 0 && d.went > 0}
	for c, name := range d.columns {
		if few(d.changed[c]) {
			f.Columns = append(f.Columns, name)
		}
	}
	for l, label := range d.labels {
		if few(d.labelled[l]) {
			f.Labels = append(f.Labels, label)
		}
	}
	return f
}

func (d *difference) besideOf(b *Beside, label, column string, counts map[uint64]int) {
	total, most, class := 0, 0, false
	for _, n := range counts {
		total, most, class = total+n, max(most, n), class || few(n)
	}
	if class {
		b.Classes[label] = append(b.Classes[label], column)
	}
	if few(total - most) {
		b.Numbers[label] = append(b.Numbers[label], column)
	}
}

// few reports whether some people are too few.
func few(n int) bool { return n > 0 && n < Least }

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
	w.Grow(1024 + (24+8*len(p.columns)+12*len(p.labels))*len(p.last))
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
	p.last = p.readPeople(r)
	for range r.Count(maxPast, 12) {
		p.editions = append(p.editions, pastEdition{r.String(64), int(r.Uint32()), p.readPeople(r)})
	}
	return p, r.Close(pastMagic)
}

func writePeople(w *wire.Writer, list []Person) {
	w.Uint32(uint32(len(list)))
	for i := range list {
		t := &list[i]
		w.Fixed(t.ID[:])
		w.Bool(t.Held)
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

func (p *past) readPeople(r *wire.Reader) []Person {
	n := r.Count(maxPeople, 18)
	list := make([]Person, 0, n)
	var cells slab[uint64]
	var labels slab[[]uint64]
	for range n {
		var t Person
		r.Fixed(t.ID[:])
		t.Held = r.Bool()
		if r.Bool() {
			t.Columns, t.Labels = cells.take(len(p.columns)), labels.take(len(p.labels))
			for c := range t.Columns {
				t.Columns[c] = r.Uint64()
			}
			for l := range t.Labels {
				t.Labels[l] = cells.take(r.Count(maxPeople, 8))
				for i := range t.Labels[l] {
					t.Labels[l][i] = r.Uint64()
				}
			}
		}
		if r.Err() != nil {
			return nil
		}
		list = append(list, t)
	}
	return list
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
