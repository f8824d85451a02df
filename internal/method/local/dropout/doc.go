// Package dropout runs one session between a server and many clients in this
// process: every client with a machine, keys and a ledger of its own, and some
// of them leaving on the way. It stands in for the network between devices, which
// is a later matter; the machines cannot tell.
//
// Clients take turns in batches, in the descriptor's order. In a batch they
// compute at the same time, on all cores; what they send is handed to the server
// one by one, in order, while the next batch computes. So the result depends on
// nothing but the machines, and memory holds the messages of two batches and what
// the server has told clients.
// A client whose message the server puts off computes nothing more until it is
// taken. When nobody has anything to do, the time that the server was waiting for
// the missing ones is over.
//
//	r, err := dropout.Run(ctx, dropout.Config{Session: s, Server: server, Clients: clients})
//	if err != nil {
//		return err
//	}
//	next := r.Stayed
package dropout
