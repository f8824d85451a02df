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

// Part is how an element stands in an edition.
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
	var w wire.Writer
	w.Grow(64 + 32*len(c))
	w.String(cellsMagic)
	w.Uint32(uint32(len(c)))
	for _, e := range slices.SortedFunc(maps.Keys(c), compareElements) {
		w.Fixed(e[:])
		own := c[e]
		w.Fixed(own[:])
	}
	return w.Bytes()
}

// DecodeCells reads what Encode wrote.
func DecodeCells(b []byte) (Cells, error) {
	r := wire.NewReader(b)
	r.Magic(len(cellsMagic), cellsMagic, "edition: %q are no cells")
	n := r.Count(1<<28, 32)
	c := make(Cells, n)
	var last Element
	for i := range n {
		var e, own Element
		r.Fixed(e[:])
		r.Fixed(own[:])
		if i > 0 && compareElements(last, e) >= 0 && r.Err() == nil {
			r.Fail(errors.New("people out of order"))
		}
		c[e], last = own, e
	}
	return c, r.Close("cells")
}

func compareRefined(a, b refined) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.part, b.part))
}

const groupsMagic = "mercer/v1/groups"

// Encode returns the canonical encoding.
func (g Groups) Encode() []byte {
	var w wire.Writer
	w.Grow(64 + 20*len(g))
	w.String(groupsMagic)
	w.Uint32(uint32(len(g)))
	for _, e := range slices.SortedFunc(maps.Keys(g), compareElements) {
		w.Fixed(e[:])
		w.Uint32(g[e])
	}
	return w.Bytes()
}

// DecodeGroups reads what Encode wrote.
func DecodeGroups(b []byte) (Groups, error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != groupsMagic {
		r.Fail(errors.New("no groups"))
	}
	n := r.Count(1<<28, 20)
	g := make(Groups, n)
	var last Element
	for i := range n {
		var e Element
		r.Fixed(e[:])
		if i > 0 && compareElements(last, e) >= 0 && r.Err() == nil {
			r.Fail(errors.New("elements out of order"))
		}
		g[e], last = r.Uint32(), e
	}
	return g, r.Close("groups")
}

func compareElements(a, b Element) int { return bytes.Compare(a[:], b[:]) }
