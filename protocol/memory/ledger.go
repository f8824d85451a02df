package memory

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Ledger remembers which session of a member took which once-for-ever name. Give the
// same ledger to several sessions of the same members. The zero value is empty and
// ready.
type Ledger struct{ taken map[claim]protocol.SessionID }

type claim struct{ member, name string }

// Claim takes a name for a session of a member, and refuses a name that another
// session took. The same session may take a name again, as a replay does.
func (l *Ledger) Claim(member, name string, by protocol.SessionID) error {
	key := claim{member, name}
	if holder, taken := l.taken[key]; taken && holder != by {
		return fmt.Errorf("memory: the name %q of %s is taken by session %v", name, member, holder)
	}
	if l.taken == nil {
		l.taken = make(map[claim]protocol.SessionID)
	}
	l.taken[key] = by
	return nil
}
