package secvm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Statement is a witness's answer to everybody who asks: which history it has
// countersigned, and how many devices are ready for the last window of it. The
// witnesses are the relay and the issuer; devices know their keys from elsewhere
// than from the gateway, and send nothing before both have named the history that
// the gateway told the device. A witness countersigns one configuration, and one
// link at each place of its history, permanently.
type Statement struct {
	Configuration [sha256.Size]byte
	Links         uint32            // of the history
	Head          [sha256.Size]byte // hash of its last link; zero if there is none
	// Devices counts devices. In the issuer's statement it counts the devices that have
	// their tokens for the last link's iteration. In the relay's statement it counts
	// the devices that have shown one of these tokens for the link's window.
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

// Sign returns the statement's bytes with the witness's signature.
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

// ErrWitness is a statement that is not signed by the witness.
var ErrWitness = errors.New("secvm: the statement is not signed by the key that this device knows of the witness")

// DecodeStatement reads what Sign writes, and checks the signature by the
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

// ErrConfiguration is a gateway that has told the device another configuration
// than the witnesses know.
var ErrConfiguration = errors.New("secvm: the gateway has told others another configuration than the one that this device was given; do not take part, and compare with other devices")

// ErrBehind is a witness that has countersigned a shorter or a longer history: one
// of both has not heard of a window.
var ErrBehind = errors.New("secvm: the witness has not countersigned this history, or a longer one")

// Names checks that the statement is about a configuration and a history of that many
// links, the last of which has the hash head. ErrBehind may pass; other errors do
// not.
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

// History is the history that a gateway shows a witness: all of it, each time.
type History struct {
	Configuration []byte // signed
	Chain         Chain
}

// HistoryPurpose is the purpose for which a gateway signs the header of the request that
// shows a history.
const HistoryPurpose = "mercer/v1/secvm/history"

// MaxHistory bounds a history in bytes.
const MaxHistory = maxChainBytes + maxConfiguration + 8

// maxConfiguration bounds a signed configuration: most of it are keys of tokens,
// of which no issuer has longer ones than 2048 bits.
const maxConfiguration = maxChain*400 + 1<<12

// Encode returns the bytes.
func (h History) Encode() []byte {
	var w wire.Writer
	w.Bytes32(h.Configuration)
	w.Bytes32(h.Chain.Encode())
	return w.Bytes()
}

// DecodeHistory reads what Encode writes. It checks no signature of a link.
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
