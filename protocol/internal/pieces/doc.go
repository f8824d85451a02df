// Package pieces is the frame of protocols whose messages are pieces of bodies: one side gives,
// the other takes, and all bodies of a session have one length, which was agreed before.
// See protocol/broadcast and protocol/gather, which say who learns what.
//
//	form := pieces.Form{Name: "gather", Version: 1, Kind: "Give", MaxBytes: 1 << 26, Stage: "gather", Timer: "gather/give"}
//	giver, err := form.NewGiver(setup, protocol.RoleParty, body, protocol.MaxChunkBytes)
//	taker, err := form.NewTaker(setup, protocol.RoleServer, protocol.MaxChunkBytes)
package pieces
