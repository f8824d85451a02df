// Package nats implements a transport over NATS JetStream. Members connect to one server, which
// keeps two queues on disk for each member, one for each lane.
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
// Every message is flushed to disk before Send returns. A full or broken disk ends the
// server's service ([Server.Watch]); a new server continues with the same queues. A queue
// loses messages that are older than Config.MaxAge; the callers' journals send them again.
//
// # What a member is allowed to do
//
// A member logs in by signing a nonce with its nkey. It can send under its own
// name only, receive deliveries from its own queue only, and create, change or read
// nothing else. Permissions on subjects do not suffice for this: a NATS server
// never checks the reply subject of a request, and answers it in its own name.
// So a member could publish under another's name (the answer to its own message),
// or make another's queue drop its messages (a delivery to itself, redirected to the
// reset subject of that queue). Therefore every member has its own account: a separate
// space of subjects, into which only the member's services are imported. An answer
// cannot leave the account of the member that asked. A member requests deliveries
// through a steward within the server's process, which decides where they go.
//
// # What is not promised
//
// The server sees who sends how much to whom and when. It can drop, repeat,
// reorder and invent messages; therefore callers seal and sign them first, and
// Delivery.From is only a hint. The server numbers the messages of each lane, and its
// receipts reveal to every sender how many there have been. One member can fill its share
// of each queue (Config.Share), and then waits. As a rule four members together can
// fill the disk space of the queues (Config.MaxBytes); then all members wait, except
// for control messages, which have separate room.
//
// Two processes with one identity, for example with a copied folder, would each
// receive a part of the identity's queue. Therefore each connection looks for others and
// ends with a [*TwinError] if there is one, before it receives a message. Nobody without
// the identity can cause this error, but a server can prevent it. The check finds
// mistakes: a thief of an identity can connect with a program that does not look.
//
// # The line
//
// With a key in Config.TLS a connection is TLS 1.3 from its first byte, and a member
// compares the server's key with Options.TLS. Without keys server and members stay on
// loopback. An observer of a connection with TLS sees addresses, times and sizes;
// without TLS also names and subjects.
//
// With Config.WSS a server also listens for WebSocket over the same TLS, and members call
// wss://host:port. With Options.Proxy a member connects through an HTTP proxy, which sees what
// an observer sees and the server's host.
package nats
