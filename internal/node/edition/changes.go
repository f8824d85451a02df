package edition

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"iter"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// changeHead is the size in bytes of the two sort keys at the start of a record: an element, and a number
// by which the newest edition comes first. Records of changes begin with the number, records of states
// with the element.
const changeHead = len(Element{}) + 4

func compareChanges(a, b []byte) int { return bytes.Compare(a[:changeHead], b[:changeHead]) }

func newestFirst(edition int) uint32 { return ^uint32(edition) }

// changes sorts the changes of people: edition by edition, the newest first, and within an edition by
// person. A change of an edition has three states of a person: in the last edition, in the edition after
// that of the change, and in the edition of the change.
func (p *past) changes(space extsort.Store) (*extsort.Sorter, error) {
	states, err := p.states(space)
	if err != nil {
		return nil, err
	}
	sorted := extsort.New(space, "changes", compareChanges, extsort.RunBytes)
	var w wire.Writer
	add := func(now, before, state []byte) error {
		w.Reset()
		w.Fixed(state[len(Element{}):changeHead])
		w.Fixed(state[:len(Element{})])
		w.Fixed(now)
		w.Fixed(before)
		w.Fixed(state[changeHead:])
		return sorted.Add(w.Bytes())
	}
	return sorted, errors.Join(p.eachState(states, add), states.Close())
}

// states sorts the former states by person, and those of a person from the newest to the oldest.
func (p *past) states(space extsort.Store) (*extsort.Sorter, error) {
	sorted := extsort.New(space, "states", compareChanges, extsort.RunBytes)
	var w wire.Writer
	for t, err := range p.former {
		if err != nil {
			return nil, err
		}
		w.Reset()
		w.Fixed(t.ID[:])
		w.Fixed(binary.BigEndian.AppendUint32(nil, newestFirst(t.edition)))
		encodePerson(&w, t.Person)
		if err := sorted.Add(w.Bytes()); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}

// eachState calls use with each former state, and with the encoded states of the same person in the last
// edition (now) and in the edition after that of the former state (before).
func (p *past) eachState(states *extsort.Sorter, use func(now, before, state []byte) error) error {
	last := begin(byID(p.last))
	defer last.stop()
	var now, before wire.Writer
	var person Element
	first := true
	for state, err := range states.All() {
		if err != nil {
			return err
		}
		if e := Element(state); first || e != person {
			for last.before(e) {
				last.step()
			}
			if last.err != nil {
				return last.err
			}
			now.Reset()
			if gone := outsider(e); last.in && last.at.Element == e {
				encodePerson(&now, last.at.Of)
			} else {
				encodePerson(&now, &gone)
			}
			person, first = e, false
			before.Reset()
			before.Fixed(now.Bytes())
		}
		if err := use(now.Bytes(), before.Bytes(), state); err != nil {
			return err
		}
		before.Reset()
		before.Fixed(state[changeHead:])
	}
	return nil
}

// changesReader reads changes one by one.
type changesReader struct {
	past              *past
	next              func() ([]byte, error, bool)
	stop              func()
	edition           int // index of the edition of the change; negative after the last
	now, before, then Person
	memory            [3]slabs
	err               error
	bytes             bytes.Reader
	pieces            inPieces
}

func beginChanges(p *past, sorted *extsort.Sorter) *changesReader {
	c := &changesReader{past: p}
	c.pieces.from = bufio.NewReaderSize(&c.bytes, pieceBytes)
	c.next, c.stop = iter.Pull2(sorted.All())
	c.step()
	return c
}

// in reports whether the reader is at a change of an edition.
func (c *changesReader) in(edition int) bool { return c.err == nil && c.edition == edition }

func (c *changesReader) step() {
	record, err, more := c.next()
	if c.edition = -1; err != nil || !more {
		c.err = err
		return
	}
	c.edition = int(^binary.BigEndian.Uint32(record))
	c.bytes.Reset(record[changeHead:])
	c.pieces.from.Reset(&c.bytes)
	for i, t := range []*Person{&c.now, &c.before, &c.then} {
		*t = c.past.readPerson(&c.pieces, c.memory[i].reset())
	}
	c.err = c.pieces.close("edition")
}
