// Package dropout runs one session between a server and many clients in this process. Every client
// has its own machine, keys and ledger, and some clients drop out. It replaces the network between
// devices. The machines cannot detect the difference.
//
// Clients take turns in batches, in the order of Config.Clients. The clients of a batch compute at the same time, on
// all cores. Their messages are delivered to the server one by one, in order, while the next batch computes. So the
// result depends only on the machines, and memory holds the messages of two batches, messages that the server has
// postponed, and its messages to clients. A client whose message the server postpones computes nothing more until the
// server accepts it. When no member has anything to do, the server's wait for missing clients times out.
//
//	r, err := dropout.Run(ctx, dropout.Config{Session: s, Server: server, Clients: clients})
//	if err != nil {
//		return err
//	}
//	next := r.Stayed
package dropout
