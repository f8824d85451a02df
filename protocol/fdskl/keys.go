package fdskl

import (
	"crypto/ecdh"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Round 1, Keys (hardened): every worker sends its X25519 key of this session to
// every other one, and not through the active worker, who could put its own in
// their place.

// met reports whether the worker has started and all others' keys are here.
func (w *worker) met() bool {
	return w.agreed[w.self] && (w.key == nil || !slices.Contains(w.agreed, false))
}

func (w *worker) hello() []protocol.Message {
	var list []protocol.Message
	for _, to := range w.names {
		if to != w.setup.Self {
			list = append(list, w.setup.Message(to, roundKeys, kindOf(roundKeys), w.key.PublicKey().Bytes()))
		}
	}
	return list
}

func (w *worker) receiveKey(m protocol.Message) (protocol.Effects, error) {
	from := w.index(m.Sender)
	if w.key == nil || from == w.self || w.agreed[from] || m.Sequence != 0 {
		return protocol.Effects{}, m.Unexpected()
	}
	if len(m.Body) != keyBytes {
		return protocol.Effects{}, m.Malformed(fmt.Errorf("a key of %d bytes", len(m.Body)))
	}
	secret, err := agree(w.key, m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	w.shared[from], w.agreed[from] = secret, true
	return protocol.Effects{}, nil
}

// agree is Diffie-Hellman. A key of low order, which would give a secret that
// everybody knows, is an error.
func agree(own *ecdh.PrivateKey, other []byte) ([32]byte, error) {
	public, err := ecdh.X25519().NewPublicKey(other)
	if err != nil {
		return [32]byte{}, fmt.Errorf("fdskl: %w", err)
	}
	secret, err := own.ECDH(public)
	if err != nil {
		return [32]byte{}, fmt.Errorf("fdskl: %w", err)
	}
	return [32]byte(secret), nil
}
