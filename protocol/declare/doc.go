// Package declare lets every party tell all other members of a session one short
// statement, so that all end with the same list: how many rows it brings, say,
// and a commitment to their order.
//
// # Who learns what
//
// Every member, the server included, learns every party's statement.
//
// # What is not promised
//
// That all members get the same list: a party can state one thing here and
// another there. A caller that goes on with the list puts its SHA-256
// into the descriptor of the next session, which then fails unless all have one
// list. Nor that a statement is true.
//
//	Declare  party: its statement, to every other member
//
// A member's side of a session:
//
//	m, err := declare.NewParty(setup, statement) // or NewServer(setup)
//	// run it to its end
//	statements := m.Statements()
package declare
