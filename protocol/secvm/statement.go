package secvm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Statement is a witness's signed statement about the history of a model. It names the history that
// the witness has countersigned, and the number of devices that are ready for the history's last
// window. A witness gives the statement to any requester. The witnesses are the relay and the
// issuer. Devices know the witnesses' keys from another source than the gateway. Except in mode
// "paper", a device sends packages only after both witnesses have named the history that the gateway
// showed this device. A witness never countersigns a second configuration, nor a second link at the
// same index of the history.
type Statement struct {
	Configuration [sha256.Size]byte
	Links         uint32            // number of links in the history
	Head          [sha256.Size]byte // hash of the history's last link; zero if the history is empty
	// Devices is the number of devices that are ready for the history's last window, as far as the
	// witness knows. In the issuer's statement it counts the devices that have their tokens for the
	// last link's iteration. In the relay's statement it counts the devices that have shown one of
	// these tokens for the link's window.
	Devices uint32
}

const statementSize = 2*sha256.Size + 4 + 4

func (s Statement) encode() []byte {
	var w wire.Writer
	w.Fixed(s.Configuration[:])
	w.Uint32(s.Links)
	w.Fixed(s.Head[:])
	w.Uint32(s.Devices)
	return w.Bytes()
}

// Sign returns the statement's bytes, followed by the witness's signature.
func (s Statement) Sign(sign Signer) []byte {
	b := s.encode()
	return slices.Concat(b, sign(statementMessage(b)))
}

func statementMessage(encoded []byte) []byte {
	h := sha256.Sum256(append([]byte("mercer/v1/secvm/statement\x00"), encoded...))
	return h[:]
}

// StatementSize is the size of a signed statement in bytes.
const StatementSize = statementSize + ed25519.SignatureSize

// ErrWitness is the error of [DecodeStatement] for a statement that the witness has not signed.
var ErrWitness = errors.New("secvm: the statement's signature is not valid for the witness's key that this device has")

// DecodeStatement decodes the output of [Statement.Sign], and verifies the signature with the
// witness's key.
func DecodeStatement(b []byte, witness ed25519.PublicKey) (Statement, error) {
	r := wire.NewReader(b)
	var s Statement
	r.Fixed(s.Configuration[:])
	s.Links = r.Uint32()
	r.Fixed(s.Head[:])
	s.Devices = r.Uint32()
	signature := make([]byte, ed25519.SignatureSize)
	r.Fixed(signature)
	if err := r.Close("secvm: statement"); err != nil {
		return Statement{}, err
	}
	if !ed25519.Verify(witness, statementMessage(b[:statementSize]), signature) {
		return Statement{}, ErrWitness
	}
	return s, nil
}

// ErrConfiguration is the error of [Statement.Names] if the configuration that the gateway gave the
// device differs from the configuration that the gateway gave the witness.
var ErrConfiguration = errors.New("secvm: the gateway gave this device and the witness different configurations; do not take part, and compare with other devices")

// ErrBehind is the error of [Statement.Names] if the witness's history and the device's history
// have different lengths. Then the witness or the device has not yet seen a window.
var ErrBehind = errors.New("secvm: the witness has countersigned a shorter or a longer history than the gateway has shown this device; try again")

// Names returns an error unless the statement names the given configuration and history. The
// history has the given number of links, and head is the hash of its last link. ErrBehind may be
// temporary; other errors are final.
func (s Statement) Names(configuration, head [sha256.Size]byte, links int) error {
	switch {
	case s.Configuration != configuration:
		return ErrConfiguration
	case int(s.Links) != links:
		return ErrBehind
	case s.Head != head:
		return ErrForked
	}
	return nil
}

// History is a model's configuration and chain, which a gateway sends to a witness at each new
// link.
type History struct {
	Configuration []byte // output of [Configuration.Sign]
	Chain         Chain
}

// HistoryPurpose is the purpose named in a gateway's signature of a history request. The signature
// covers the request's header.
const HistoryPurpose = "mercer/v1/secvm/history"

// MaxHistory is the largest number of bytes in a history.
const MaxHistory = maxChainBytes + maxConfiguration + 8

// maxConfiguration is the largest number of bytes in a signed configuration. Most bytes are token
// keys, which have at most 2048 bits each.
const maxConfiguration = maxChain*400 + 1<<12

// Encode returns the history as bytes, which [DecodeHistory] decodes.
func (h History) Encode() []byte {
	var w wire.Writer
	w.Bytes32(h.Configuration)
	w.Bytes32(h.Chain.Encode())
	return w.Bytes()
}

// DecodeHistory decodes the output of [History.Encode]. It verifies no signature of a link.
func DecodeHistory(b []byte) (History, error) {
	r := wire.NewReader(b)
	h := History{Configuration: r.Bytes32(maxConfiguration)}
	chain := r.Bytes32(maxChainBytes)
	err := r.Close("secvm: history")
	if err == nil {
		h.Chain, err = DecodeChain(chain)
	}
	return h, err
}
