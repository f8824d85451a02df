package roster

import (
	"fmt"
	"slices"
)

// Subset returns the roster of the coordinator and the named parties alone. A session's descriptor
// carries the hash of the subset of the parties of its job or prediction query: so members agree on the keys of
// everybody who takes part, and a change of other members does not concern them. An error names the first
// party that is not in the roster.
func (r *Roster) Subset(parties []string) (*Roster, error) {
	for _, name := range parties {
		if m, ok := r.Lookup(name); !ok || m.Role != Party {
			return nil, fmt.Errorf("%q is not a party in the roster", name)
		}
	}
	s := &Roster{Federation: r.Federation}
	for _, m := range r.Members {
		if m.Role == Coordinator || slices.Contains(parties, m.Name) {
			s.Members = append(s.Members, m)
		}
	}
	return s, nil
}

// Without returns a roster without a member. The roster r stays as it is.
func (r *Roster) Without(name string) *Roster {
	rest := slices.DeleteFunc(slices.Clone(r.Members), func(m Member) bool { return m.Name == name })
	return &Roster{Federation: r.Federation, Members: rest}
}

// With returns a roster with a further member, or with a member's other keys. The roster r stays as it is.
func (r *Roster) With(m Member) *Roster {
	all := slices.Clone(r.Members)
	if i := slices.IndexFunc(all, func(o Member) bool { return o.Name == m.Name }); i >= 0 {
		all[i] = m
	} else {
		all = append(all, m)
	}
	return &Roster{Federation: r.Federation, Members: all}
}

// Touched returns those of the names whose members the changes remove or give other keys.
func Touched(changes []Change, names []string) (touched []string) {
	for _, c := range changes {
		if c.What != Added && slices.Contains(names, c.Name) {
			touched = append(touched, c.Name)
		}
	}
	return touched
}
