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

// leavers are the people who have left a table for good, as digests.
type leavers struct {
	By     string   `json:"by"` // what they are known by, in words
	People []string `json:"people"`
}

// ErrLeaversUnknown is about a table that people have left and whose entry names them otherwise since.
var ErrLeaversUnknown = errors.New("edition: people have left this table for good, and its catalogue entry names people by another id or group since, so that nobody could tell who they are; put the entry back as it was")

// Left returns who has left a table for good, where people are known by that; nil for nobody.
func (s Store) Left(table, by string) (func(name string) bool, error) {
	b, err := s.book()
	if err != nil || b.Tables[table] == nil || len(b.Tables[table].Left.People) == 0 {
		return nil, err
	}
	left := b.Tables[table].Left
	if left.By != by {
		return nil, ErrLeaversUnknown
	}
	gone := make(map[string]bool)
	for _, one := range left.People {
		gone[one] = true
	}
	return func(name string) bool { return gone[b.leaver(name)] }, nil
}

// Leave writes down that people have left a table for good.
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

// leaver digests a name under the list's own key, which outlasts the split key.
func (b *book) leaver(name string) string {
	mac := hmac.New(sha256.New, b.Key)
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Standing is a dictionary's newest edition of a table, as people stand in it: by their digests, whether each
// is held out.
type Standing map[Element]bool

// Company returns who goes along when some people leave a table for good, so that nobody can tell fewer than
// [Least] apart by the editions before and after: out has those who leave, and those whom it adds are drawn
// by their digests, which are under a key of the home. Where few would be left, these go, too.
func (s Store) Company(table string, now []Standing, out map[Element]bool) error {
	b, err := s.book()
	if err != nil {
		return err
	}
	artifacts, err := s.Sealed()
	if err != nil {
		return err
	}
	groups, err := groupsAt(artifacts, b.table(table).People)
	if err != nil {
		return err
	}
	for {
		next, added := groups, false
		for _, standing := range now {
			added = next.complete(standing, out) || added
			next, _ = next.Refine(standing.without(out))
		}
		if !added {
			return nil
		}
	}
}

// without is the cut of an edition without those who are out.
func (s Standing) without(out map[Element]bool) Cut {
	cut := make(map[Element]Part)
	for e, held := range s {
		if !out[e] {
			cut[e] = Part{Held: held}
		}
	}
	return Ascending(cut)
}

// complete adds to those who are out the people whom the groups need, and reports whether there were any.
func (g Groups) complete(standing Standing, out map[Element]bool) (added bool) {
	size := make(map[refined]int)
	g.each(standing.without(out), func(_ Element, r refined) { size[r]++ })
	for i := range g {
		e := g[i].Element
		held, in := standing[e]
		if !in || out[e] {
			continue
		}
		stays, goes := refined{g[i].Of, (&Part{Held: held}).code()}, refined{g[i].Of, absent}
		if few := size[goes] > 0 && size[goes] < Least; few || size[stays] < Least {
			out[e], added = true, true
			size[goes]++
			size[stays]--
		}
	}
	return added
}
