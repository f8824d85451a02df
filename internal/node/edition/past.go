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

// Beside names what has changed for one to nine people since an earlier edition of the same dictionary and table: both
// editions together tell of them.
type Beside struct {
	ID     string `json:"id"` // of the earlier edition
	Number int    `json:"number"`
	Rows   Few    `json:"rows,omitzero"` // of all people, told row by row
	Sums   Few    `json:"sums,omitzero"` // of those in training, and of those held out, in sums
	// Classes are, by label, the columns that have changed for few of a class; "", for all, where few came to a class,
	// left the table from it or went from it to one other. Numbers are the same of those whose number is not the commonest
	// among them.
	Classes map[string][]string `json:"classes,omitempty"`
	Numbers map[string][]string `json:"numbers,omitempty"`
	// HeldOut are as Classes, of those held out.
	HeldOut map[string][]string `json:"held_out,omitempty"`
	// Compared is the edition's. Where there is none, nothing is clear.
	Compared *Compared `json:"-"`
}

// Compared says by which rule an edition was compared with those before, and in which columns and labels. Of others
// nobody knows whether they have changed.
type Compared struct {
	Rule    int      `json:"rule"`
	Columns []string `json:"columns"` // ascending
	Labels  []string `json:"labels"`
}

// Rule is the number of the rule by which editions are compared. What an earlier one found clear may tell of few.
const Rule = 2

// Outdated reports whether another program compared them: nothing is clear.
func (b Beside) Outdated() bool { return b.Compared == nil || b.Compared.Rule != Rule }

// knows reports whether it is about some columns, and a label; "" for none.
func (c *Compared) knows(columns []string, label string) bool {
	if label != "" && !slices.Contains(c.Labels, label) {
		return false
	}
	return !slices.ContainsFunc(columns, func(name string) bool {
		_, known := slices.BinarySearch(c.Columns, name)
		return !known
	})
}

// Few names the columns and labels that have changed for one to nine people.
type Few struct {
	// Any is set where few came or went into sums; or, in a table without ids, where rows came and rows went, of which
	// some may differ in one column.
	Any     bool     `json:"any,omitempty"`
	Columns []string `json:"columns,omitempty"` // "" for all
	Labels  []string `json:"labels,omitempty"`
}

// Touch reports whether it is about some columns, or a label; "" for none.
func (f Few) Touch(columns []string, label string) bool {
	return f.Any || slices.Contains(f.Labels, label) || touch(f.Columns, columns)
}

// and is about what one of two is about.
func (f Few) and(o Few) Few {
	return Few{f.Any || o.Any, union(f.Columns, o.Columns), union(f.Labels, o.Labels)}
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func touch(few, columns []string) bool {
	return slices.ContainsFunc(few, func(c string) bool { return c == "" || slices.Contains(columns, c) })
}

// ClearRows reports whether rows of some columns may be told of both editions, with the label or without: "".
func (b Beside) ClearRows(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Rows.Touch(columns, label)
}

// ClearSums reports whether sums over some columns may be told of both editions.
func (b Beside) ClearSums(columns []string) bool { return b.clearSums(columns, "") }

// ClearClasses reports whether sums for each class of a label may.
func (b Beside) ClearClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Classes[label], columns)
}

// ClearNumbers reports whether sums with a label that is a number may.
func (b Beside) ClearNumbers(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Numbers[label], columns)
}

// ClearHeldOutClasses reports whether counts or errors for each class of those held out may.
func (b Beside) ClearHeldOutClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.HeldOut[label], columns)
}

// clearSums is about sums with a label, too: these differ by whoever has another one now.
func (b Beside) clearSums(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Sums.Touch(columns, label)
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

// compared says what the last edition is compared in.
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

// tally counts people of whom something has surely changed, and those of whom it may have: of somebody with several
// rows it is not known which of them a cell or a label belongs to.
type tally struct{ sure, possible int }

func (t *tally) add(sure bool, n int) {
	t.possible += n
	if sure {
		t.sure += n
	}
}

// few reports whether some people are too few.
func (t tally) few() bool { return t.possible > 0 && t.sure < Least }

// tallies are a tally for each class, number or pair of classes.
type tallies[K comparable] struct {
	of   map[K]tally
	many bool // there are too many to count
}

// mostClasses bounds the classes, numbers or pairs that are counted.
const mostClasses = 1 << 14

// add keeps no zeros.
func (c *tallies[K]) add(v K, sure bool, n int) {
	if c.many {
		return
	}
	if c.of == nil {
		c.of = make(map[K]tally)
	}
	t := c.of[v]
	if t.add(sure, n); t == (tally{}) {
		delete(c.of, v)
		return
	}
	if c.of[v] = t; len(c.of) > mostClasses {
		c.of, c.many = nil, true
	}
}

// few reports whether there are few of a class.
func (c *tallies[K]) few() bool {
	for _, t := range c.of {
		if t.few() {
			return true
		}
	}
	return c.many
}

// fewOthers reports whether few have another number than the one that most have. Whoever has several numbers is
// possible in each, and so among the others.
func (c *tallies[K]) fewOthers() bool {
	var total, most tally
	for _, t := range c.of {
		total.sure, total.possible = total.sure+t.sure, total.possible+t.possible
		most.sure, most.possible = max(most.sure, t.sure), max(most.possible, t.possible)
	}
	return c.many || tally{total.sure - most.sure, total.possible - most.possible}.few()
}

// difference counts how the people of two editions differ.
type difference struct {
	*past
	came, went tally
	changed    []tally // by column
	of         []ofLabel
}

// ofLabel counts how they differ in a label. Sums of some classes together, each with any weight, differ by whole
// counts of these: by all who came to a class of them, or left one, or went between two of other weights.
type ofLabel struct {
	changed    tally              // who has another label
	single     tally              // and surely another sum: of one row
	came, went tallies[uint64]    // by class
	moved      tallies[[2]uint64] // by the class before and the one now
	within     []tallies[uint64]  // by column: whose cells have changed, by the class now
}

func newDifference(p *past) *difference {
	d := &difference{past: p, changed: make([]tally, len(p.columns)), of: make([]ofLabel, len(p.labels))}
	for l := range d.of {
		d.of[l].within = make([]tallies[uint64], len(p.columns))
	}
	return d
}

// count adds n times what one person tells who is so now and was so then.
func (d *difference) count(now, then *Person, n int) {
	switch {
	case now.in() && !then.in():
		d.came.add(true, n)
		for l := range d.of {
			addClasses(&d.of[l].came, now.Labels[l], n)
		}
	case !now.in() && then.in():
		d.went.add(true, n)
		for l := range d.of {
			addClasses(&d.of[l].went, then.Labels[l], n)
		}
	case now.in() && !now.equal(then):
		d.change(now, then, n)
	}
}

// addClasses counts somebody in a class. Rows of several classes may cancel each other out of a difference of sums.
func addClasses(to *tallies[uint64], classes []uint64, n int) {
	for _, v := range classes {
		to.add(v, len(classes) == 1, n)
	}
}

// change adds what has changed of somebody who is in both. Of several rows any may have changed in any way.
func (d *difference) change(now, then *Person, n int) {
	several := (now.Several || then.Several) && now.Whole != then.Whole
	for c := range d.columns {
		if own := now.Columns[c] != then.Columns[c]; own || several {
			d.changed[c].add(own, n)
			for l := range d.of {
				d.of[l].changeWithin(c, now.Labels[l], own, n)
			}
		}
	}
	for l := range d.of {
		d.of[l].change(now.Labels[l], then.Labels[l], several, n)
	}
}

// change adds what has changed of a label. Rows that all have one class, then and now, keep it.
func (d *ofLabel) change(now, then []uint64, several bool, n int) {
	own := !slices.Equal(now, then)
	if !own && (!several || len(now) == 1) {
		return
	}
	d.changed.add(own, n)
	d.single.add(!several, n)
	for _, from := range then {
		for _, to := range now {
			if from != to {
				d.moved.add([2]uint64{from, to}, !several, n)
			}
		}
	}
}

// changeWithin adds a column's change. Whoever has rows of several classes counts in [ofLabel.moved], too: sums in which
// these weigh otherwise wait unless ten have surely moved, and in all others it matters what has changed of all rows.
func (d *ofLabel) changeWithin(column int, classes []uint64, sure bool, n int) {
	for _, v := range classes {
		d.within[column].add(v, sure, n)
	}
}

// beside names what few people tell in rows, and in sums.
func (d *difference) beside(sums, out *difference, e pastEdition) Beside {
	return Beside{
		ID: e.id, Number: e.number, Rows: d.inRows(), Sums: sums.inSums().and(out.inSums()),
		Classes: sums.inClasses(), Numbers: sums.inNumbers(), HeldOut: out.inClasses(),
	}
}

// inRows names what has changed for few.
func (d *difference) inRows() Few {
	f := Few{Any: d.byRows && d.came.possible > 0 && d.went.possible > 0}
	f.Columns = d.columnsOf(func(c int) bool { return d.changed[c].few() })
	for l, label := range d.labels {
		if d.of[l].changed.few() {
			f.Labels = append(f.Labels, label)
		}
	}
	return f
}

// inSums names what few tell in sums, which those who came or went change, too.
func (d *difference) inSums() Few {
	f := d.inRows()
	f.Any = f.Any || d.came.few() || d.went.few()
	f.Labels = nil
	for l, label := range d.labels {
		if d.of[l].single.few() {
			f.Labels = append(f.Labels, label)
		}
	}
	return f
}

func (d *difference) inClasses() map[string][]string {
	return d.byLabel((*tallies[uint64]).few, func(of *ofLabel) bool { return of.came.few() || of.went.few() || of.moved.few() })
}

// inNumbers leaves out who has another number, since sums with the label wait then.
func (d *difference) inNumbers() map[string][]string {
	return d.byLabel((*tallies[uint64]).fewOthers, func(of *ofLabel) bool { return of.came.fewOthers() || of.went.fewOthers() })
}

// byLabel lists the columns in which few have changed; or "" where people are few, whatever the columns are.
func (d *difference) byLabel(few func(*tallies[uint64]) bool, people func(*ofLabel) bool) map[string][]string {
	list := make(map[string][]string)
	for l, label := range d.labels {
		of := &d.of[l]
		if people(of) {
			list[label] = everyColumn
		} else if columns := d.columnsOf(func(c int) bool { return few(&of.within[c]) }); columns != nil {
			list[label] = columns
		}
	}
	return list
}

// everyColumn stands for all columns: of tables with thousands the list would be long.
var everyColumn = []string{""}

func (d *difference) columnsOf(few func(c int) bool) (list []string) {
	for c, name := range d.columns {
		if few(c) {
			list = append(list, name)
		}
	}
	if len(list) > 1 && len(list) == len(d.columns) {
		return everyColumn
	}
	return list
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
