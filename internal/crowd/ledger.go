package crowd

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Ledger holds one client's once-for-ever names across sessions. The zero value
// is empty.
type Ledger struct{ held map[string]protocol.SessionID }

// Claim takes a name for a session, and refuses one that another session holds.
func (l *Ledger) Claim(name string, by protocol.SessionID) error {
	if holder, taken := l.held[name]; taken && holder != by {
		return fmt.Errorf("crowd: %s was given once, to session %v, and is not given again to session %v", name, holder, by)
	}
	if l.held == nil {
		l.held = make(map[string]protocol.SessionID)
	}
	l.held[name] = by
	return nil
}
