package disclosure

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// persons yields digests of people, in ascending order and each once. It can be read any number of
// times. If it yields an error, it yields nothing after it: a list that is cut off is an error, and not a
// list of fewer people.
type persons = iter.Seq2[[16]byte, error]

// peopleOf returns the people of an earlier release, and whether the ledger knows them.
func (l Ledger) peopleOf(h head) (people persons, known bool, err error) {
	if h.Edition == "" {
		e, err := l.read(h.file)
		if err != nil {
			return nil, false, err
		}
		return e.persons(), true, nil
	}
	return l.kept(h.Edition)
}

// kept returns the people of an edition whose list the ledger has.
func (l Ledger) kept(edition string) (people persons, known bool, err error) {
	path := l.peoplePath(edition)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("release: %w", err)
	}
	return storedPersons(path), true, nil
}

// persons returns the people of a release whose rows are listed.
func (e *Entry) persons() persons {
	return func(yield func([16]byte, error) bool) {
		for i := range e.Rows {
			if !yield(e.Rows[i].Person, nil) {
				return
			}
		}
	}
}

// ownPeople returns the people of the release under comparison. It sorts those of an edition when they
// are first needed, unless the ledger has their list.
func (l Ledger) ownPeople(c *comparison) (people persons, err error) {
	if c.now.editionPeople == nil {
		return c.now.persons(), nil
	}
	if c.people != nil {
		return c.people, nil
	}
	people, known, err := l.kept(c.now.Edition)
	if err == nil && !known {
		people, err = c.now.editionPeople(c.space)
	}
	c.people = people
	return people, err
}

// mayShare reports whether the release may have people in common with an earlier release of another
// table.
func (l Ledger) mayShare(c *comparison, h head) (bool, error) {
	then, known, err := l.peopleOf(h)
	if err != nil || !known {
		return true, err
	}
	now, err := l.ownPeople(c)
	if err != nil {
		return true, err
	}
	return overlap(now, then)
}

// overlap reports whether two lists have people in common. It reads both lists to their ends, so that it
// finds damage in a list even after a common person. It returns true with an error.
func overlap(now, then persons) (found bool, err error) {
	next, stop := iter.Pull2(then)
	defer stop()
	other, err, more := next()
	for own, ownErr := range now {
		if ownErr != nil {
			return true, ownErr
		}
		for more && err == nil && bytes.Compare(other[:], own[:]) < 0 {
			other, err, more = next()
		}
		found = found || more && err == nil && other == own
	}
	for more && err == nil {
		_, err, more = next()
	}
	return found || err != nil, err
}

// editionPeople sorts a digest of each id in the edition.
func (d *digest) editionPeople(space extsort.Store) (persons, error) {
	s := extsort.New(space, "people", bytes.Compare, extsort.RunBytes)
	add := func(ids []string) error {
		for _, id := range ids {
			p := d.sum("id", []byte(id))
			if err := s.Add(p[:]); err != nil {
				return err
			}
		}
		return nil
	}
	err := add(d.Edition.IDs)
	if err == nil && d.Blocks != nil {
		err = d.Blocks(func(_ int, block *dataset.Set, _ []int) error { return add(block.IDs) })
	}
	return distinctOf(s.All()), err
}

// distinctOf returns sorted records, each once.
func distinctOf(sorted iter.Seq2[[]byte, error]) persons {
	return func(yield func([16]byte, error) bool) {
		var before [16]byte
		begun := false
		for record, err := range sorted {
			if err != nil {
				yield(before, err)
				return
			}
			own := [16]byte(record)
			if begun && own == before {
				continue
			}
			if before, begun = own, true; !yield(own, nil) {
				return
			}
		}
	}
}

// keepPeople writes the file of an edition's people if the file does not exist.
func (l Ledger) keepPeople(c *comparison) error {
	if c.now.editionPeople == nil {
		return nil
	}
	if _, known, err := l.kept(c.now.Edition); known || err != nil {
		return err
	}
	people, err := l.ownPeople(c)
	if err != nil {
		return err
	}
	err = disk.ReplaceBy(l.peoplePath(c.now.Edition), func(to io.Writer) error { return writePersons(to, people) })
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

const peopleMagic = "mercer/v1/people of an edition"

// writePersons writes a list of people. It reads them twice, because their number comes first.
func writePersons(to io.Writer, people persons) error {
	n := uint32(0)
	for _, err := range people {
		if err != nil {
			return err
		}
		n++
	}
	var w wire.Writer
	w.String(peopleMagic)
	w.Uint32(n)
	if _, err := to.Write(w.Bytes()); err != nil {
		return err
	}
	for own, err := range people {
		if err != nil {
			return err
		}
		if _, err := to.Write(own[:]); err != nil {
			return err
		}
	}
	return nil
}

// storedPersons yields the people whom writePersons has written.
func storedPersons(path string) persons {
	return func(yield func([16]byte, error) bool) {
		in, err := os.Open(path)
		if err != nil {
			yield([16]byte{}, fmt.Errorf("release: %w", err))
			return
		}
		more, err := readPersons(bufio.NewReaderSize(in, 1<<16), func(own [16]byte) bool { return yield(own, nil) })
		if err = errors.Join(err, in.Close()); err != nil && more {
			yield([16]byte{}, fmt.Errorf("release: %s: %w; restore it from a backup; nothing is released while the ledger cannot be read", path, err))
		}
	}
}

// readPersons calls use with each person of a list until use returns false. It reports whether use never
// returned false.
func readPersons(from *bufio.Reader, use func([16]byte) bool) (more bool, err error) {
	head := make([]byte, 2+len(peopleMagic)+4)
	if err := readFull(from, head); err != nil {
		return true, err
	}
	r := wire.NewReader(head)
	r.Magic(len(peopleMagic), peopleMagic, "%q is not the format of a list of people")
	n := r.Count(maxRows, 0)
	if err := r.Close(peopleMagic); err != nil {
		return true, err
	}
	var before [16]byte
	for i := range n {
		var own [16]byte
		if err := readFull(from, own[:]); err != nil {
			return true, err
		}
		if i > 0 && bytes.Compare(before[:], own[:]) >= 0 {
			return true, errors.New("the people of an edition must be in ascending order without repetition")
		}
		if before = own; !use(own) {
			return false, nil
		}
	}
	if _, err := from.Peek(1); err == nil {
		return true, errors.New("bytes are left over")
	} else if !errors.Is(err, io.EOF) {
		return true, err
	}
	return true, nil
}

// readFull fills dst.
func readFull(from io.Reader, dst []byte) error {
	_, err := io.ReadFull(from, dst)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return wire.ErrShort
	}
	return err
}
