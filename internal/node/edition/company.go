package edition

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/node/vault"
)

// leavers lists, as digests, the people who were withdrawn from a table.
type leavers struct {
	By     string   `json:"by"` // description of the rule that identifies people
	People []string `json:"people"`
}

// ErrLeaversUnknown reports that withdrawn people cannot be recognised, because the table's catalogue
// entry now identifies people by another rule.
var ErrLeaversUnknown = errors.New("edition: the catalogue entry must name people by the same id and group as when people were withdrawn from the table; put the entry back as it was, so that the home can recognise the withdrawn people")

// Left returns a function that reports whether a person was withdrawn from a table. It returns nil
// if nobody was withdrawn. The argument rule describes the rule that now identifies people.
func (s Store) Left(table, rule string) (func(name string) bool, error) {
	b, err := s.book()
	if err != nil || b.Tables[table] == nil || len(b.Tables[table].Left.People) == 0 {
		return nil, err
	}
	left := b.Tables[table].Left
	if left.By != rule {
		return nil, ErrLeaversUnknown
	}
	gone := make(map[string]bool)
	for _, one := range left.People {
		gone[one] = true
	}
	return func(name string) bool { return gone[b.leaver(name)] }, nil
}

// Leave records that people were withdrawn from a table. The argument by describes the rule that
// identifies people.
func (s Store) Leave(table, by string, names []string) error {
	return s.change(func(b *book, _ *vault.Artifacts) error {
		t := b.table(table)
		if len(t.Left.People) > 0 && t.Left.By != by {
			return ErrLeaversUnknown
		}
		if b.Key == nil {
			b.Key = make([]byte, 32)
			if _, err := rand.Read(b.Key); err != nil {
				return err
			}
		}
		t.Left.By = by
		for _, name := range names {
			t.Left.People = append(t.Left.People, b.leaver(name))
		}
		slices.Sort(t.Left.People)
		t.Left.People = slices.Compact(t.Left.People)
		return s.write(b)
	})
}

// leaver returns the digest that the list stores for a withdrawn person. The digest uses the list's
// own key, which does not change with the split key.
func (b *book) leaver(name string) string {
	mac := hmac.New(sha256.New, b.Key)
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Standing tells, for each person in a dictionary's newest edition, whether the person is held out.
type Standing map[Element]bool

// Company adds to leavers the people who must leave together with the withdrawn people, so that the
// editions before and after do not tell fewer than [Least] people apart. It chooses these people by
// their digests, which are made with a key of the home. If few people would stay, they are
// withdrawn, too.
func (s Store) Company(table string, now []Standing, leavers map[Element]bool) error {
	b, err := s.book()
	if err != nil {
		return err
	}
	artifacts, err := s.Sealed()
	if err != nil {
		return err
	}
	before, err := collect(storedGroups(at(artifacts, b.table(table).People, groupsItem)))
	if err != nil {
		return err
	}
	for {
		next, added := before, false
		for _, standing := range now {
			added = complete(next, standing, leavers) || added
			parts, err := divide(InMemory(next), InMemory(standing.remaining(leavers)))
			if err != nil {
				return err
			}
			if next, err = collect(parts.groups()); err != nil {
				return err
			}
		}
		if !added {
			return nil
		}
	}
}

// remaining returns the people who stay in the edition after a withdrawal. The map leavers holds
// the withdrawn people.
func (s Standing) remaining(leavers map[Element]bool) Cut {
	cut := make(map[Element]Part)
	for e, held := range s {
		if !leavers[e] {
			cut[e] = Part{Held: held}
		}
	}
	return Ascending(cut)
}

// complete withdraws further people until no group has one to nine members. It adds them to
// leavers, and reports whether it added any.
func complete(groups []Known[uint32], standing Standing, leavers map[Element]bool) (added bool) {
	code := func(e Element) byte {
		held, in := standing[e]
		if !in || leavers[e] {
			return absent
		}
		return (&Part{Held: held}).code()
	}
	size := make(map[refined]int)
	for _, k := range groups {
		size[refined{k.Of, code(k.Element)}]++
	}
	for _, k := range groups {
		stay := code(k.Element)
		if stay == absent {
			continue
		}
		stays, goes := refined{k.Of, stay}, refined{k.Of, absent}
		if few := size[goes] > 0 && size[goes] < Least; few || size[stays] < Least {
			leavers[k.Element], added = true, true
			size[goes]++
			size[stays]--
		}
	}
	return added
}
