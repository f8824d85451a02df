package roster

import "fmt"

// Change is what a later roster does to one member, such as Added.
type Change struct {
	What        Kind   `json:"what"`
	Name        string `json:"name"`
	Role        Role   `json:"role"`
	Fingerprint string `json:"fingerprint,omitempty"` // fingerprint of the keys in the later roster; "" for Removed
	Words       string `json:"words,omitempty"`       // the fingerprint in words
	// Signed is [Signed] if the member's earlier signing key signed the later keys, and [Unsigned] if not. It is ""
	// if the member's signing key is the same, or if the member is added or removed.
	Signed Signature `json:"signed_by_earlier_key,omitempty"`
}

// Signature says whether a member's earlier signing key has signed the member's later keys.
type Signature string

// These are the values of a Signature, beside "".
const (
	Signed   Signature = "yes"
	Unsigned Signature = "no"
)

// Kind is a kind of change.
type Kind string

// These are the kinds of changes.
const (
	Added     Kind = "added"
	OtherKeys Kind = "other keys" // the member has other keys or another role
	Removed   Kind = "removed"
)

// Compare returns the changes from an earlier roster to a later one: first the members that the later roster
// adds or changes, in its order, then the members that it removes. Operators have to compare the fingerprints
// of the members that are added or changed.
func Compare(earlier, later *Roster) []Change {
	changes := []Change{}
	for _, m := range later.Members {
		before, known := earlier.Lookup(m.Name)
		switch {
		case !known:
			changes = append(changes, changeOf(Added, m))
		case before.Fingerprint() != m.Fingerprint() || before.Role != m.Role:
			c := changeOf(OtherKeys, m)
			c.Signed = succeeds(before, m)
			changes = append(changes, c)
		}
	}
	for _, m := range earlier.Members {
		if _, stays := later.Lookup(m.Name); !stays {
			changes = append(changes, Change{What: Removed, Name: m.Name, Role: m.Role})
		}
	}
	return changes
}

// succeeds says whether a member's earlier signing key has signed its later keys. It returns "" if the signing key
// is the same.
func succeeds(earlier, later Member) Signature {
	switch {
	case earlier.Sign.Equal(later.Sign):
		return ""
	case earlier.Role == later.Role && earlier.SignedNext(later.Name, later.Public, later.Succession):
		return Signed
	}
	return Unsigned
}

func changeOf(what Kind, m Member) Change {
	f := m.Fingerprint()
	return Change{What: what, Name: m.Name, Role: m.Role, Fingerprint: f.String(), Words: f.Words()}
}

// String returns the change as a line.
func (c Change) String() string {
	line := fmt.Sprintf("%-10s  %s (%s)", c.What, c.Name, c.Role)
	if c.Fingerprint == "" {
		return line
	}
	line = fmt.Sprintf("%s  %s  %s", line, c.Fingerprint, c.Words)
	switch c.Signed {
	case Signed:
		return line + "  the earlier key signed these"
	case Unsigned:
		return line + "  the earlier key did not sign these"
	}
	return line
}
