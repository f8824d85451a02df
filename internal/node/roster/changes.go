package roster

import "fmt"

// Change is what a later roster does to one member, such as Added.
type Change struct {
	What        Kind   `json:"what"`
	Name        string `json:"name"`
	Role        Role   `json:"role"`
	Fingerprint string `json:"fingerprint,omitempty"` // of the keys in the later roster
	Words       string `json:"words,omitempty"`       // the fingerprint in words
}

// Kind is a kind of change.
type Kind string

// These are the kinds of changes.
const (
	Added     Kind = "added"
	OtherKeys Kind = "other keys" // or another role
	Removed   Kind = "removed"
)

// Compare returns the changes from an earlier roster to a later one: first of the later one's members in
// their order, then those whom it removes. Operators have to compare the fingerprints of the first.
func Compare(earlier, later *Roster) []Change {
	changes := []Change{}
	for _, m := range later.Members {
		before, known := earlier.Lookup(m.Name)
		switch {
		case !known:
			changes = append(changes, changeOf(Added, m))
		case before.Fingerprint() != m.Fingerprint() || before.Role != m.Role:
			changes = append(changes, changeOf(OtherKeys, m))
		}
	}
	for _, m := range earlier.Members {
		if _, stays := later.Lookup(m.Name); !stays {
			changes = append(changes, Change{What: Removed, Name: m.Name, Role: m.Role})
		}
	}
	return changes
}

func changeOf(what Kind, m Member) Change {
	f := m.Fingerprint()
	return Change{what, m.Name, m.Role, f.String(), f.Words()}
}

// String returns the change as a line.
func (c Change) String() string {
	line := fmt.Sprintf("%-10s  %s (%s)", c.What, c.Name, c.Role)
	if c.Fingerprint == "" {
		return line
	}
	return fmt.Sprintf("%s  %s  %s", line, c.Fingerprint, c.Words)
}
