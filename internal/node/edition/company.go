package edition

import (
	"maps"
	"slices"
)

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
	estate, err := s.Sealed()
	if err != nil {
		return err
	}
	state, _ := b.table(table, "")
	groups, err := groupsAt(estate, state.People)
	if err != nil {
		return err
	}
	drawn := slices.SortedFunc(maps.Keys(groups), compareElements)
	for {
		next, added := groups, false
		for _, standing := range now {
			added = next.complete(standing, out, drawn) || added
			next, _ = next.Refine(standing.without(out))
		}
		if !added {
			return nil
		}
	}
}

// without is the cut of an edition without those who are out.
func (s Standing) without(out map[Element]bool) Cut {
	cut := make(Cut)
	for e, held := range s {
		if !out[e] {
			cut[e] = Part{Held: held}
		}
	}
	return cut
}

// complete adds to those who are out the people whom the groups need, and reports whether there were any.
func (g Groups) complete(standing Standing, out map[Element]bool, drawn []Element) (added bool) {
	cut := standing.without(out)
	size := make(map[refined]int)
	for e, group := range g {
		size[refined{group, cut.part(e)}]++
	}
	for _, e := range drawn {
		if _, in := standing[e]; !in || out[e] {
			continue
		}
		stays, goes := refined{g[e], cut.part(e)}, refined{g[e], absent}
		if few := size[goes] > 0 && size[goes] < Least; few || size[stays] < Least {
			out[e], added = true, true
			size[goes]++
			size[stays]--
		}
	}
	return added
}
