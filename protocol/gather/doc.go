// Package gather carries a body from every party to one member, the server of the session: a
// leader among parties, mostly. All bodies have one length, which was agreed before, so that
// the broker learns nothing by their sizes.
//
// # Who learns what
//
// The server learns every party's body, and whose it is. Parties learn nothing.
//
// # What is not promised
//
// That a body is true, or that the server uses all of them.
//
//	Give  party: its body, to the server
//
// The two sides of a session:
//
//	m, err := gather.NewParty(setup, body)
//	m, err := gather.NewServer(setup)
//	// run them to their end
//	bodies := m.Bodies() // in the descriptor's order
package gather
