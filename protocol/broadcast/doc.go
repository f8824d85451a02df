// Package broadcast carries something public from the server to every party: a
// body whose length was agreed before, in pieces. Server here means the member that
// tells: in a session of two it may be a data holder that tells the coordinator.
//
// # Who learns what
//
// Every party learns the body. The server learns nothing.
//
// # What is not promised
//
// That all parties get the same body: a server can tell each its own. A caller
// that goes on with a body puts its SHA-256 into the descriptor of the next session,
// which then fails unless all have one body.
//
//	Tell  server: the body, to each party
//
// A party's side of a session:
//
//	m, err := broadcast.NewParty(setup)
//	// run it to its end
//	body := m.Body()
package broadcast
