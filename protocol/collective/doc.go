// Package collective has three collective operations of MPI as protocols: AllGather, Gather and
// Broadcast. They send values that are no secret from the receivers.
//
//	AllGather  every party sends a short statement to every other member; each member ends with the list of all
//	Gather     every party sends a body to the server
//	Broadcast  the server sends a body to every party
//
// The server of a session is the member with that role. It can be a data holder: a leader among the parties
// gathers from the others, and in a session of two a party broadcasts to the coordinator.
//
// All bodies of a gather or broadcast have one length, which the session's parameters contain. So message
// sizes reveal nothing to the broker.
//
// # Who learns what
//
// In an all-gather every member, the server included, learns every party's statement. In a gather the server
// learns every party's body, and which party sent it; parties learn nothing. In a broadcast every party
// learns the body; the server learns nothing.
//
// # What is not promised
//
// A statement or body can be false. A party can send different statements to different members, and a server
// can broadcast a different body to each party. A caller that needs one value puts its SHA-256 into the
// descriptor of the next session. That session fails unless all members have the same value.
//
// # Example
//
//	m, err := collective.NewAllGather(setup, statement) // at the server: NewAllGatherServer(setup)
//	...
//	// a runner feeds m with Start{InputHash: m.InputHash()} and so on
//	list := m.Statements() // in the descriptor's order
package collective
