package fdskl

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// witness is the request that one passive worker shows the next: what it was asked for.
type witness struct {
	hash      [sha256.Size]byte
	signature [ed25519.SignatureSize]byte
}

const witnessBytes = sha256.Size + ed25519.SignatureSize

func (v witness) encode() []byte { return append(v.hash[:], v.signature[:]...) }

func decodeWitness(b []byte) (v witness, err error) {
	r := wire.NewReader(b)
	r.Fixed(v.hash[:])
	r.Fixed(v.signature[:])
	return v, r.Close("fdskl: witness")
}

var errUnsigned = errors.New("a request that the active worker has not signed")

// verifies reports whether a lane's active worker has signed a request.
func (w *worker) verifies(l *lane, v witness) bool {
	return ed25519.Verify(w.identity.Keys[l.index], v.hash[:], v.signature[:])
}

// Round 3, Witness: each worker that answers shows the next what it was asked
// for. Who was asked for something else holds two requests of one counter with
// the active worker's signature. The phases are safe without it, since their
// masks do not cancel then; this tells who spoiled them.
func (w *worker) receiveWitness(l *lane, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case l.self == 1 || l.place(m.Sender) != l.self-1:
		return protocol.Effects{}, m.Unexpected()
	case counter == l.counter+1:
		return protocol.Effects{}, protocol.ErrLater
	case counter != l.counter || l.witnessed:
		return protocol.Effects{}, m.Unexpected()
	}
	v, err := decodeWitness(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if !w.verifies(l, v) {
		return protocol.Effects{}, m.Inconsistent("%w", errUnsigned)
	}
	l.witnessed = true
	if v.hash != l.task.signed.hash {
		return finish(protocol.Blame(l.names[0], protocol.KindEquivocation,
			fmt.Errorf("fdskl: request %d to %s and that to %s differ, and %s has signed both", counter, w.setup.Self, m.Sender, l.names[0]))), nil
	}
	return protocol.Effects{}, nil
}
