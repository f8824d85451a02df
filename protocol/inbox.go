package protocol

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// Inbox remembers what has been accepted, so that at-least-once delivery
// becomes exactly-once. It grows by 64 bytes a message. The zero value is
// ready; it is not for concurrent use.
type Inbox struct {
	seen map[[sha256.Size]byte][sha256.Size]byte // header -> body
}

// Fresh reports whether m is new. A second message under the same header with
// another body is blamed on its sender: the session must abort.
func (in *Inbox) Fresh(m Message) (bool, error) {
	h, body := in.key(m)
	old, dup := in.seen[h]
	if dup && old != body {
		return false, Blame(m.Sender, KindEquivocation, fault.Openf("two different bodies under the header %v", m.Header))
	}
	return !dup, nil
}

// Accept remembers m. Call it once Step has accepted the message.
func (in *Inbox) Accept(m Message) {
	if in.seen == nil {
		in.seen = make(map[[sha256.Size]byte][sha256.Size]byte)
	}
	h, body := in.key(m)
	in.seen[h] = body
}

func (in *Inbox) key(m Message) (header, body [sha256.Size]byte) {
	return sha256.Sum256(m.Header.Encode()), sha256.Sum256(m.Body)
}
