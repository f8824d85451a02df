// Package memory runs the machines of one session in this process: no network, no
// faults, no files. It draws the nonce, the seeds and the signing keys, so that a
// program brings the members' data alone. A machine cannot tell it from a network.
//
// [New] takes the session's descriptor, [Session.Setup] gives what a machine's
// constructor asks for, [Session.Add] takes what the constructor returns, and
// [Session.Run] runs the machines until all have ended well. Results are read from the
// machines. The first error of New, Setup and Add is kept for Run, so that a program
// checks once:
//
//	s := memory.New(descriptor)
//	server, err := secagg.NewServer(s.Setup("server"), params, s.Keys(protocol.RoleParty), secagg.Limits{})
//	s.Add("server", server, err)
//	... and so on for every client
//	if err := s.Run(); err != nil {
//		return err
//	}
//	fmt.Println(server.Sums())
//
// All members share one process, which therefore sees the input of each: use it to
// develop, to test and to compare, not to keep data apart. Nobody vanishes here and no
// timer runs out; package sim loses, delays and repeats messages, and takes machines
// away.
package memory
