// Package nats is a network over NATS JetStream: members dial out to one
// server, which keeps a queue on disk for each of them.
//
//	srv, err := nats.Start(ctx, nats.Config{
//		Port:    4222,
//		Dir:     "queues",
//		Members: []nats.Member{{Name: "server", Key: "U..."}, {Name: "north", Key: "U..."}},
//	})
//	...
//	own, err := srv.Dial(ctx, "server", key, nats.Options{})             // without a port
//	conn, err := nats.Dial(ctx, srv.URL(), "north", key, nats.Options{}) // elsewhere
//
// Every message is flushed to disk before Send returns. A disk that is full or broken
// ends the server's service for good ([Server.Watch]): a new one goes on. A queue is not the
// truth: what is older than Config.MaxAge is gone, and the journals above send
// it again.
//
// # Who may do what
//
// A member logs in by signing a nonce with its nkey. It may send under its own
// name only, get deliveries from its own queue only, and create, change or read
// nothing else. Permissions on subjects do not suffice for that: a NATS server
// never checks the reply subject of a request, and answers it in its own name.
// A member could so publish under another's name (the answer to a message of
// its own), or make another's queue forget what it holds (a delivery to itself,
// sent on to the reset subject of that queue). Every member therefore has an
// account of its own, a separate space of subjects, into which only the
// services that belong to it are imported: an answer cannot leave the space of
// the one who asked. And it asks for deliveries through a steward within the
// server's process, who decides where they go.
//
// # What is not promised
//
// The server sees who sends how much to whom and when. It can drop, repeat,
// reorder and invent messages, which is why they are sealed and signed before
// they come here, and why Delivery.From is a hint. It numbers the messages of each
// lane, and its receipts tell every sender how many there have been. One member can
// fill its share of each queue (Config.Share), and waits then; as a rule four together
// can fill the disk space of the queues (Config.MaxBytes), and everybody waits, except
// control messages, which have room of their own.
//
// Two processes with one identity, one of which has a copied folder, would each
// get a part of its queue. Each connection therefore asks for others and ends
// with a [*TwinError] where there is one, before it gets a message. Nobody without the
// identity can bring that about, and a server can prevent it. It is for mistakes: who has
// stolen an identity and connects by another program asks nobody.
//
// # The line
//
// With a key in Config.TLS a connection is TLS 1.3 from its first byte, and a member
// compares the server's key with Options.TLS. Without keys server and members stay on
// loopback. An onlooker of a line with TLS sees addresses, times and sizes; of one without
// TLS names and subjects as well.
package nats
