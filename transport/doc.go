// Package transport moves sealed bytes between the members of a federation. It does not depend
// on protocols, sessions or keys: the caller seals and signs a message before it sends it, and
// verifies a message after it receives it.
//
// A network keeps two queues for each member, one for messages between daemons and one
// for the messages of protocols, so that neither waits for the other. Each sender has a
// share of each queue: a number of messages that the receiver has not acknowledged. A
// sender that has exhausted its share waits; other senders do not, whatever a receiver
// puts back. Delivery is at-least-once and unordered: a message can arrive twice, late,
// or after a later one. It stays in its queue until its receiver has acknowledged it,
// across restarts of the receiver and, if the network has a disk, of the network. The
// callers' journals turn this into exactly-once.
//
//	for {
//		d, err := conn.Receive(ctx, transport.Bulk)
//		if err != nil {
//			return err
//		}
//		switch err := handle(d.Data); {
//		case errors.Is(err, errBusy):
//			err = d.Later(100 * time.Millisecond) // back-pressure
//		case err == nil:
//			err = d.Ack() // it is in the journal
//		}
//	}
//
// The implementations are transport/mem, for members in one process, and
// transport/nats, for members on different machines; both pass the suite of
// transport/transporttest.
//
// A transport does not prove who has sent a message, does not keep messages permanently (each
// network documents for how long) and gives no secrecy. A network sees who sends how
// much to whom and when.
package transport
