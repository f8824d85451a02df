package edition

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Least is the size of the smallest group of people that editions may tell apart from all other
// people.
const Least = 10

// Element is a digest that identifies a person. In a table without ids, it identifies a row by its
// cells.
type Element [16]byte

func compareElements(a, b Element) int { return bytes.Compare(a[:], b[:]) }

// Ascending returns the elements of a map with their values, sorted by element.
func Ascending[V any](of map[Element]V) []Known[V] {
	list := make([]Known[V], 0, len(of))
	for e, v := range of {
		list = append(list, Known[V]{e, v})
	}
	slices.SortFunc(list, func(a, b Known[V]) int { return compareElements(a.Element, b.Element) })
	return list
}

// Part describes an element in an edition: held out or in training, changed or unchanged. In the field
// Later of a [Draft] it describes the rows of a person on the sides of a cut: see there.
type Part struct {
	Held    bool // true if held out, false if in training
	Changed bool // true if the element's cells differ from its last ones under a dictionary of the table
}

// These codes say whether an edition lacks an element, trains on it or holds it out.
const (
	absent byte = iota
	training
	heldOut
	changed = 2 // is added to training or heldOut if the element's cells have changed
)

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

// groups assign each element to a group whose members no edition so far tells apart. Two elements are
// in one group if each edition had both in training, both held out, or neither, and found both changed
// or neither. A file takes 20 bytes an element.
type groups = Stream[uint32]

// refined identifies the members of an earlier group that the new edition treats alike.
type refined struct {
	group uint32 // 0 for an element that is in no earlier edition
	part  byte   // absent, training or heldOut, possibly plus changed
}

func compareRefined(a, b refined) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.part, b.part))
}

// division is the division of earlier groups by one or several cuts of a new edition, one after the
// other. Its memory grows with the groups, not with their members.
type division struct {
	stories Stream[string]    // the earlier group of each element, with its codes in the cuts; see storiesOf
	number  map[string]uint32 // number of the group of each story
	all     int               // number of elements
	small   []int             // sizes of the groups that have fewer than Least elements, after any of the cuts
}

// divide returns the division of the earlier groups by the cuts. It reads all elements of both.
func divide(before groups, cuts ...Stream[Part]) (*division, error) {
	d := &division{stories: storiesOf(before, cuts), number: make(map[string]uint32)}
	size := make(map[string]int)
	for k, err := range d.stories {
		if err != nil {
			return nil, err
		}
		size[k.Of]++
		d.all++
	}
	for story := range size {
		d.number[story] = binary.BigEndian.Uint32([]byte(story))
	}
	for cut := range cuts {
		d.refine(4+cut, size)
	}
	slices.Sort(d.small)
	return d, nil
}

// storiesOf returns a story of each element: its earlier group in 4 bytes, 0 if there is none, and then
// its code in each cut.
func storiesOf(before groups, cuts []Stream[Part]) Stream[string] {
	stories := func(yield func(Known[string], error) bool) {
		for k, err := range merged(before, Stream[Part](nil)) {
			var story [4]byte
			if err == nil {
				binary.BigEndian.PutUint32(story[:], *k.a)
			}
			if !yield(Known[string]{k.Element, string(story[:])}, err) {
				return
			}
		}
	}
	for i, cut := range cuts {
		stories = withCut(stories, cut, string(make([]byte, 4+i)))
	}
	return stories
}

// withCut adds each element's code in a cut to the element's story. The argument fresh is the story of an
// element that no earlier group and no earlier cut has.
func withCut(stories Stream[string], cut Stream[Part], fresh string) func(func(Known[string], error) bool) {
	return func(yield func(Known[string], error) bool) {
		for k, err := range merged(stories, cut) {
			story := fresh
			if k.a != nil {
				story = *k.a
			}
			if !yield(Known[string]{k.Element, story + string([]byte{k.b.code()})}, err) {
				return
			}
		}
	}
}

// refine divides the groups so far by the cut whose codes are at a place of the stories.
func (d *division) refine(place int, size map[string]int) {
	of := make(map[refined]int)
	for story, n := range size {
		of[refined{d.number[story], story[place]}] += n
	}
	number := make(map[refined]uint32, len(of))
	for _, r := range slices.SortedFunc(maps.Keys(of), compareRefined) {
		number[r] = uint32(len(number) + 1)
		if of[r] < Least {
			d.small = append(d.small, of[r])
		}
	}
	for story := range size {
		d.number[story] = number[refined{d.number[story], story[place]}]
	}
}

// groups returns the groups after the division.
func (d *division) groups() groups {
	return func(yield func(Known[uint32], error) bool) {
		for k, err := range d.stories {
			if !yield(Known[uint32]{k.Element, d.number[k.Of]}, err) {
				return
			}
		}
	}
}

const groupsMagic = "mercer/v1/groups"

func storedGroups(open opener) groups {
	return storedList(open, groupsMagic, (*inPieces).uint32)
}

// Cut lists the elements of a new edition, in ascending order.
type Cut []Known[Part]

// Cells holds, for each person, a digest of the person's latest cells under a dictionary, in ascending
// order of the people. A person who has left the table keeps the digest from the last edition with this
// person. A file takes 32 bytes a person.
type Cells []Known[Element]

const cellsMagic = "mercer/v1/cells"

func storedCells(open opener) Stream[Element] {
	return storedList(open, cellsMagic, func(r *inPieces) (own Element) { r.fixed(own[:]); return own })
}

func putCells(w *wire.Writer, own Element) { w.Fixed(own[:]) }

// changedCells yields the people whose present cells differ from their last cells.
func changedCells(last, now Stream[Element]) Stream[bool] {
	return func(yield func(Known[bool], error) bool) {
		for k, err := range merged(last, now) {
			if err == nil && (k.a == nil || k.b == nil || *k.a == *k.b) {
				continue
			}
			if !yield(Known[bool]{k.Element, true}, err) {
				return
			}
		}
	}
}

// marked marks the people in rows whose present cells differ from their last cells.
func marked(rows Stream[Part], last, now Stream[Element]) Stream[Part] {
	return func(yield func(Known[Part], error) bool) {
		for k, err := range merged(rows, changedCells(last, now)) {
			if err == nil && k.a == nil {
				continue
			}
			var part Part
			if err == nil {
				part = Part{k.a.Held, k.a.Changed || k.b != nil}
			}
			if !yield(Known[Part]{k.Element, part}, err) {
				return
			}
		}
	}
}

// withGone adds the last known cells of people who are gone, because they may come back.
func withGone(last, now Stream[Element]) Stream[Element] {
	return func(yield func(Known[Element], error) bool) {
		for k, err := range merged(last, now) {
			var own Element
			switch {
			case err != nil:
			case k.b != nil:
				own = *k.b
			default:
				own = *k.a
			}
			if !yield(Known[Element]{k.Element, own}, err) {
				return
			}
		}
	}
}
