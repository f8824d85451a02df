package psi

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// IDError reports rows whose ids cannot be aligned: missing, too long or repeated. NewParty returns
// the error before the party sends anything. The error quotes a repeated id, so it must appear only
// in the party's own log.
type IDError struct {
	ID   string // the repeated id, else ""
	Rows []int  // indices of the rows, from 0
	why  string // what is wrong, and what to do
}

func (e *IDError) Error() string { return "psi: " + e.why }

// Public returns the error without ids and rows.
func (e *IDError) Public() string {
	return "psi: a party has rows with missing, too long or repeated ids; its log names them; give each row its own id"
}

// Is reports that the error matches [protocol.ErrInput].
func (e *IDError) Is(target error) bool { return target == protocol.ErrInput }

// EmptyError reports that no id is common to all parties.
type EmptyError struct {
	Parties []string
	Sizes   []int // number of ids of each party
}

func (e *EmptyError) Error() string {
	var sets []string
	for i, name := range e.Parties {
		sets = append(sets, fmt.Sprintf("%s (%d ids)", name, e.Sizes[i]))
	}
	return fmt.Sprintf("psi: no id is common to %s; check that all tables are about the same things, and that one rule makes all ids", strings.Join(sets, ", "))
}

// Public returns the error without the sizes.
func (e *EmptyError) Public() string {
	return fmt.Sprintf("psi: no id is common to %s; check that all tables are about the same things, and that one rule makes all ids", strings.Join(e.Parties, ", "))
}

// Is reports that the error matches [protocol.ErrInput].
func (e *EmptyError) Is(target error) bool { return target == protocol.ErrInput }

// OrderError reports that Party's common rows are in another order than the rows of every
// other party. As several other parties disagree with Party, the fault lies with Party.
type OrderError struct{ Party string }

func (e *OrderError) Error() string {
	return fmt.Sprintf("psi: the rows of %s are in another order than the rows of every other party; check that its table has not changed", e.Party)
}
