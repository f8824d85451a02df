package edition

import (
	"bytes"
	"slices"
)

// Person is one of a table's people, by the digests under which editions know the person: of the id, and of
// all cells as each dictionary reads them. A zero digest is of a person whom the edition lacks.
type Person struct {
	ID    Element
	Cells []Element // by dictionary
}

// Standing is a dictionary's newest edition, as the people in it stand: held out, or in training.
type Standing struct {
	Table, Dictionary string
	Held              []bool // by person
}

// Company returns who goes along when some people leave a table for good, so that nobody can tell fewer than
// [Least] apart by the editions before and after: out marks those who leave, and those whom it adds are drawn
// by their digests, which are under a key of the home. Where few would be left, these go, too.
func (s Store) Company(people []Person, now []Standing, out []bool) error {
	estate, err := s.Sealed()
	if err != nil {
		return err
	}
	ids, err := groupsAt(estate, groupsID(now[0].Table, ""))
	if err != nil {
		return err
	}
	cells := make([]Groups, len(now))
	for k, d := range now {
		if cells[k], err = groupsAt(estate, groupsID(d.Table, d.Dictionary)); err != nil {
			return err
		}
	}
	drawn := make([]int, len(people))
	for i := range drawn {
		drawn[i] = i
	}
	slices.SortFunc(drawn, func(a, b int) int { return bytes.Compare(people[a].ID[:], people[b].ID[:]) })
	for {
		groups, added := ids, false
		for k, d := range now {
			added = complete(cells[k], people, func(p Person) Element { return p.Cells[k] }, d.Held, out, drawn) || added
			in := func(p Person) Element {
				if p.Cells[k] == (Element{}) {
					return Element{} // the edition lacks the person
				}
				return p.ID
			}
			added = complete(groups, people, in, d.Held, out, drawn) || added
			groups, _ = groups.Refine(cutOf(people, in, d.Held, out))
		}
		if !added {
			return nil
		}
	}
}

// cutOf is the cut of an edition without those who are out.
func cutOf(people []Person, element func(Person) Element, held, out []bool) Cut {
	cut := make(Cut)
	for i, p := range people {
		if e := element(p); !out[i] && e != (Element{}) {
			cut[e] = held[i]
		}
	}
	return cut
}

// complete adds to those who are out the people whom one set of groups needs, and reports whether there were
// any.
func complete(g Groups, people []Person, element func(Person) Element, held, out []bool, drawn []int) (added bool) {
	cut := cutOf(people, element, held, out)
	gone, stays := make(map[refined]int), make(map[refined]int)
	for e, group := range g {
		if part := cut.part(e); part == absent {
			gone[refined{group, absent}]++
		} else {
			stays[refined{group, part}]++
		}
	}
	for _, i := range drawn {
		e := element(people[i])
		if out[i] || e == (Element{}) {
			continue
		}
		from, to := refined{g[e], cut.part(e)}, refined{g[e], absent}
		if few := gone[to] > 0 && gone[to] < Least; few || stays[from] < Least {
			out[i], added = true, true
			gone[to]++
			stays[from]--
		}
	}
	return added
}
