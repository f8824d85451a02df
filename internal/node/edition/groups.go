package edition

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Least is the fewest people whom editions may tell apart from all others.
const Least = 10

// Element is the digest of a person, or of a person with all cells as a dictionary reads them.
type Element [16]byte

// Groups tell apart what the editions so far tell apart: two elements are in one group if each edition had
// both in training, both held out, or neither, and found both changed or neither. Memory and file take 20
// bytes an element.
type Groups map[Element]uint32

// Part places an element in an edition.
type Part struct {
	Held    bool // it is held out, and else in training
	Changed bool // its cells are others than in the dictionary's edition before
}

// Cut is the elements of a new edition.
type Cut map[Element]Part

// refined is a group of the editions so far, and what the new one makes of it.
type refined struct {
	group uint32 // 0 of elements that no edition had
	part  byte
}

// The parts.
const (
	absent byte = iota
	training
	heldOut
	changed = 2 // is added
)

// Refine returns the groups after a further edition, and the sizes of those with fewer than [Least]
// elements, ascending.
func (g Groups) Refine(cut Cut) (next Groups, small []int) {
	size := make(map[refined]int)
	each := func(visit func(Element, refined)) {
		for e, group := range g {
			visit(e, refined{group, cut.part(e)})
		}
		for e := range cut {
			if _, known := g[e]; !known {
				visit(e, refined{0, cut.part(e)})
			}
		}
	}
	each(func(_ Element, r refined) { size[r]++ })
	number := make(map[refined]uint32, len(size))
	for _, r := range slices.SortedFunc(maps.Keys(size), compareRefined) {
		number[r] = uint32(len(number) + 1)
		if n := size[r]; n < Least {
			small = append(small, n)
		}
	}
	next = make(Groups, len(g)+len(cut))
	each(func(e Element, r refined) { next[e] = number[r] })
	slices.Sort(small)
	return next, small
}

func (c Cut) part(e Element) byte {
	p, in := c[e]
	part := absent
	switch {
	case in && p.Held:
		part = heldOut
	case in:
		part = training
	}
	if in && p.Changed {
		part += changed
	}
	return part
}

// Cells are the cells of people, as digests, as a dictionary's editions read them last. Memory and file take
// 32 bytes a person.
type Cells map[Element]Element

const cellsMagic = "mercer/v1/cells"

// Encode returns the canonical encoding.
func (c Cells) Encode() []byte {
	return encode(cellsMagic, c, 32, func(w *wire.Writer, own Element) { w.Fixed(own[:]) })
}

// DecodeCells reads what Encode wrote.
func DecodeCells(b []byte) (Cells, error) {
	return decode(cellsMagic, b, 32, func(r *wire.Reader) (own Element) { r.Fixed(own[:]); return own })
}

func compareRefined(a, b refined) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.part, b.part))
}

const groupsMagic = "mercer/v1/groups"

// Encode returns the canonical encoding.
func (g Groups) Encode() []byte { return encode(groupsMagic, g, 20, (*wire.Writer).Uint32) }

// DecodeGroups reads what Encode wrote.
func DecodeGroups(b []byte) (Groups, error) { return decode(groupsMagic, b, 20, (*wire.Reader).Uint32) }

// encode writes elements ascending, each with what is known of it, in size bytes together.
func encode[V any](magic string, of map[Element]V, size int, put func(*wire.Writer, V)) []byte {
	var w wire.Writer
	w.Grow(64 + size*len(of))
	w.String(magic)
	w.Uint32(uint32(len(of)))
	for _, e := range slices.SortedFunc(maps.Keys(of), compareElements) {
		w.Fixed(e[:])
		put(&w, of[e])
	}
	return w.Bytes()
}

// decode reads what encode wrote.
func decode[V any](magic string, b []byte, size int, value func(*wire.Reader) V) (map[Element]V, error) {
	r := wire.NewReader(b)
	r.Magic(len(magic), magic, "edition: %q is another file")
	n := r.Count(1<<28, size)
	of := make(map[Element]V, n)
	var last Element
	for i := range n {
		var e Element
		r.Fixed(e[:])
		if i > 0 && compareElements(last, e) >= 0 && r.Err() == nil {
			r.Fail(errors.New("elements out of order"))
		}
		of[e], last = value(r), e
	}
	return of, r.Close(magic)
}

func compareElements(a, b Element) int { return bytes.Compare(a[:], b[:]) }
