package edition

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Least is the size of the smallest group of people that editions may tell apart from all other
// people.
const Least = 10

// Element is a digest that identifies a person. In a table without people, it identifies a row by
// its cells.
type Element [16]byte

// Known pairs an element with a value of type V. Lists of pairs are in ascending order of the
// elements, and have each element once.
type Known[V any] struct {
	Element
	Of V
}

// Ascending returns the elements of a map with their values, sorted by element.
func Ascending[V any](of map[Element]V) []Known[V] {
	list := make([]Known[V], 0, len(of))
	for e, v := range of {
		list = append(list, Known[V]{e, v})
	}
	slices.SortFunc(list, func(a, b Known[V]) int { return compareElements(a.Element, b.Element) })
	return list
}

// merge visits the elements of two sorted lists in ascending order. If a list lacks an element,
// visit gets nil for that list.
func merge[A, B any](a []Known[A], b []Known[B], visit func(e Element, a *A, b *B)) {
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compareElements(a[0].Element, b[0].Element)
		}
		switch {
		case order < 0:
			visit(a[0].Element, &a[0].Of, nil)
			a = a[1:]
		case order > 0:
			visit(b[0].Element, nil, &b[0].Of)
			b = b[1:]
		default:
			visit(a[0].Element, &a[0].Of, &b[0].Of)
			a, b = a[1:], b[1:]
		}
	}
}

// Groups assigns each element to a group whose members no edition so far tells apart. Two elements
// are in one group if each edition had both in training, both held out, or neither, and found both
// changed or neither. Memory and file take 20 bytes an element.
type Groups []Known[uint32]

// Part says how an edition treats an element: held out or in training, changed or unchanged.
type Part struct {
	Held    bool // true if held out, false if in training
	Changed bool // true if the element's cells differ from those in the previous edition
}

// Cut lists the elements of a new edition.
type Cut []Known[Part]

// refined identifies the members of an earlier group that the new edition treats alike.
type refined struct {
	group uint32 // 0 for an element that is in no earlier edition
	part  byte   // absent, training or heldOut, possibly plus changed
}

// These codes say whether an edition lacks an element, trains on it or holds it out.
const (
	absent byte = iota
	training
	heldOut
	changed = 2 // is added to training or heldOut if the element's cells have changed
)

// Refine splits the groups by how a new edition treats their members. It also returns the sizes of
// the groups with fewer than [Least] elements, ascending.
func (g Groups) Refine(cut Cut) (next Groups, small []int) {
	size := make(map[refined]int)
	g.each(cut, func(_ Element, r refined) { size[r]++ })
	number := make(map[refined]uint32, len(size))
	all := 0
	for _, r := range slices.SortedFunc(maps.Keys(size), compareRefined) {
		number[r] = uint32(len(number) + 1)
		if all += size[r]; size[r] < Least {
			small = append(small, size[r])
		}
	}
	next = make(Groups, 0, all)
	g.each(cut, func(e Element, r refined) { next = append(next, Known[uint32]{e, number[r]}) })
	slices.Sort(small)
	return next, small
}

// each visits all elements of the groups and of a new edition, ascending.
func (g Groups) each(cut Cut, visit func(Element, refined)) {
	merge(g, cut, func(e Element, group *uint32, p *Part) {
		r := refined{part: p.code()}
		if group != nil {
			r.group = *group
		}
		visit(e, r)
	})
}

// code returns the code for an edition's treatment of an element. The argument is nil if the
// edition lacks the element.
func (p *Part) code() byte {
	if p == nil {
		return absent
	}
	part := training
	if p.Held {
		part = heldOut
	}
	if p.Changed {
		part += changed
	}
	return part
}

// Cells holds, for each person, a digest of the person's latest cells under a dictionary. A person
// who has left the table keeps the digest from the last edition with this person. Memory and file
// take 32 bytes a person.
type Cells []Known[Element]

const cellsMagic = "mercer/v1/cells"

// WriteTo writes the canonical encoding of the cells.
func (c Cells) WriteTo(w io.Writer) (int64, error) {
	return encode(w, cellsMagic, c, func(w *wire.Writer, own Element) { w.Fixed(own[:]) })
}

// DecodeCells decodes cells that WriteTo has written.
func DecodeCells(b []byte) (Cells, error) {
	return decode(cellsMagic, b, 32, func(r *wire.Reader) (own Element) { r.Fixed(own[:]); return own })
}

func compareRefined(a, b refined) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.part, b.part))
}

const groupsMagic = "mercer/v1/groups"

// WriteTo writes the canonical encoding of the groups.
func (g Groups) WriteTo(w io.Writer) (int64, error) {
	return encode(w, groupsMagic, g, (*wire.Writer).Uint32)
}

// DecodeGroups decodes groups that WriteTo has written.
func DecodeGroups(b []byte) (Groups, error) { return decode(groupsMagic, b, 20, (*wire.Reader).Uint32) }

// encode writes a list of elements with their values.
func encode[V any](to io.Writer, magic string, list []Known[V], put func(*wire.Writer, V)) (int64, error) {
	w := inPieces{to: to}
	w.String(magic)
	w.Uint32(uint32(len(list)))
	for i := range list {
		w.Fixed(list[i].Element[:])
		put(&w.Writer, list[i].Of)
		w.pass(pieceBytes)
	}
	return w.end()
}

// inPieces writes an encoding in pieces, because the whole may be too large for memory.
type inPieces struct {
	wire.Writer
	to   io.Writer
	sent int64
	err  error
}

const pieceBytes = 1 << 16

// pass writes the buffer out if it holds at least the given number of bytes.
func (w *inPieces) pass(bytes int) {
	b := w.Bytes()
	if w.err != nil || len(b) < bytes {
		return
	}
	n, err := w.to.Write(b)
	w.sent, w.err = w.sent+int64(n), err
	w.Reset()
}

// end writes the remaining bytes, and returns the number of all bytes written.
func (w *inPieces) end() (int64, error) {
	w.pass(0)
	return w.sent, w.err
}

// decode reads a list that encode has written.
func decode[V any](magic string, b []byte, size int, value func(*wire.Reader) V) ([]Known[V], error) {
	r := wire.NewReader(b)
	r.Magic(len(magic), magic, "edition: %q is not the expected format")
	list := make([]Known[V], r.Count(1<<28, size))
	for i := range list {
		r.Fixed(list[i].Element[:])
		if i > 0 && compareElements(list[i-1].Element, list[i].Element) >= 0 && r.Err() == nil {
			r.Fail(errors.New("the list's elements are not in ascending order, or one is repeated"))
		}
		list[i].Of = value(r)
	}
	return list, r.Close(magic)
}

func compareElements(a, b Element) int { return bytes.Compare(a[:], b[:]) }
