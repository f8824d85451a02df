// Package transport moves sealed bytes between the members of a
// federation. It knows nothing of protocols, sessions or keys: its content is sealed
// and signed before, and judged after.
//
// A network keeps two queues per member, one for what daemons tell each other
// and one for the messages of protocols, so that neither waits for the other.
// Each sender has a share of each queue: a number of messages that the receiver
// has not acknowledged. A sender that has used its share up waits; the others do not
// notice, whatever a receiver puts back. Delivery is at-least-once and unordered: a
// message may come twice, late, and after a later one, but it stays in its queue until
// its receiver has acknowledged it, across restarts of the receiver and, where the
// network has a disk, of the network. The journals above make that exactly-once.
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
// Not promised: that a member is who it says it is, that a network keeps
// messages permanently (each says for how long), and any secrecy. A network sees
// who sends how much to whom and when.
package transport
