package sim

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Ledger remembers which session of a party took which once-for-ever name.
// Hand the same one to several runs to let sessions compete. The zero value is
// empty and ready.
type Ledger struct {
	taken map[claim]protocol.SessionID
}

type claim struct{ party, name string }

// Claim takes name for session s of party. Taking it again for the same
// session does nothing, because a replay claims what the first run claimed.
func (l *Ledger) Claim(party, name string, s protocol.SessionID) error {
	if l.taken == nil {
		l.taken = make(map[claim]protocol.SessionID)
	}
	key := claim{party, name}
	if holder, ok := l.taken[key]; ok && holder != s {
		return fmt.Errorf("sim: the name %q of %s is taken by session %v", name, party, holder)
	}
	l.taken[key] = s
	return nil
}
