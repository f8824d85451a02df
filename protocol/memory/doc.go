// Package memory runs the machines of one session in this process, without network, faults or
// files. It draws the seeds, the signing keys and, if the descriptor has none, the nonce, so that
// a program supplies the members' data alone. A machine cannot distinguish this package from a network.
//
// [New] takes the session's descriptor, [Session.Setup] returns the argument of a machine's
// constructor, [Session.Add] takes the constructor's results, and [Session.Run] runs the
// machines until all have ended well. Then the machines hold the results. Run also returns the
// first error of New, Setup, Sign and Add, so that a program checks once:
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
// All members share one process, which therefore sees the input of each: use it for
// development, tests and comparisons, not to keep data apart. No member vanishes here and
// no timer runs out; package sim loses, delays and repeats messages, and removes machines.
package memory
