package secvm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// maxChain is the largest number of links that a device reads. It limits the windows of a model.
const maxChain = 1 << 14

// maxChainBytes is the largest number of bytes in a chain's encoding.
const maxChainBytes = maxChain*(linkSize+ed25519.SignatureSize) + 4

// KeySize is the size in bytes of a window's key, encoded as in RFC 9458, section 3.1. It has an
// id, an X25519 key and two suites.
const KeySize = 45

// Link describes one window in the history of a model. The gateway publishes the same link for all
// devices. Each link names the link before it. Except in mode "paper", two witnesses countersign the
// history link by link: see [Statement].
type Link struct {
	Configuration [sha256.Size]byte
	Iteration     uint32
	Opens         int64         // start of the window, in milliseconds since 1970
	Key           [KeySize]byte // key of Oblivious HTTP, for the packages of this window only
	Weights       [sha256.Size]byte
	Previous      [sha256.Size]byte // hash of the previous link; zero in the first link
}

const linkSize = 3*sha256.Size + 4 + 8 + KeySize

func (l Link) encode() []byte {
	var w wire.Writer
	w.Fixed(l.Configuration[:])
	w.Uint32(l.Iteration)
	w.Uint64(uint64(l.Opens))
	w.Fixed(l.Key[:])
	w.Fixed(l.Weights[:])
	w.Fixed(l.Previous[:])
	return w.Bytes()
}

// Hash returns a hash that identifies the link and, through it, all links before it.
func (l Link) Hash() [sha256.Size]byte {
	return sha256.Sum256(append([]byte("mercer/v2/secvm/link\x00"), l.encode()...))
}

// Chain is the history of a model: one link for each window up to now. The gateway has signed each
// link.
type Chain []SignedLink

// SignedLink is a link with the gateway's signature of it.
type SignedLink struct {
	Link
	Signature [ed25519.SignatureSize]byte
}

// Signer signs a message, usually with the gateway's announcement key.
type Signer func(message []byte) []byte

// Extend returns the chain with l added as its last link; it sets l.Previous. A window that
// is repeated for lack of participants has the iteration and the weights of the window
// before, but its own link and key.
func (c Chain) Extend(l Link, sign Signer) Chain {
	l.Previous = [sha256.Size]byte{}
	if len(c) > 0 {
		l.Previous = c[len(c)-1].Hash()
	}
	s := SignedLink{Link: l}
	copy(s.Signature[:], sign(l.message()))
	return append(c[:len(c):len(c)], s)
}

// message returns the bytes that the gateway signs: the link's hash.
func (l Link) message() []byte {
	h := l.Hash()
	return h[:]
}

// Values returns a copy of the weights as numbers.
func (w Weights) Values() []float64 { return slices.Clone(w.w) }

// HashWeights returns the SHA-256 of weights, encoded as they are published.
func HashWeights(w []float64) [sha256.Size]byte { return sha256.Sum256(EncodeWeights(w)) }

// EncodeWeights encodes weights as they are published: eight bytes each, little-endian.
func EncodeWeights(w []float64) []byte {
	var out wire.Writer
	out.Float64s(w)
	return out.Bytes()
}

// DecodeWeights decodes published weights and checks that this model allows them.
func (p Params) DecodeWeights(b []byte) (Weights, error) {
	if len(b) != 8*p.Features() {
		return Weights{}, fmt.Errorf("secvm: the weights have %d bytes; this model's weights have %d", len(b), 8*p.Features())
	}
	w := make([]float64, p.Features())
	wire.NewReader(b).Float64s(w)
	return p.Weights(w)
}

// Encode returns the chain as bytes, which [DecodeChain] decodes.
func (c Chain) Encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(len(c)))
	for _, l := range c {
		w.Fixed(l.encode())
		w.Fixed(l.Signature[:])
	}
	return w.Bytes()
}

// DecodeChain decodes the output of [Chain.Encode]. It verifies no signature; [Follower] does.
func DecodeChain(b []byte) (Chain, error) {
	r := wire.NewReader(b)
	c := make(Chain, r.Count(maxChain, linkSize+ed25519.SignatureSize))
	for i := range c {
		l := &c[i]
		r.Fixed(l.Configuration[:])
		l.Iteration = r.Uint32()
		l.Opens = int64(r.Uint64())
		r.Fixed(l.Key[:])
		r.Fixed(l.Weights[:])
		r.Fixed(l.Previous[:])
		r.Fixed(l.Signature[:])
	}
	if err := r.Close("secvm: a chain of announcements"); err != nil {
		return nil, err
	}
	return c, nil
}

// Follower records how much of a model's history a device or a witness has verified. Zero values of
// the fields Head and Seen mean an empty history.
type Follower struct {
	Key           ed25519.PublicKey
	Configuration [sha256.Size]byte
	Head          [sha256.Size]byte // hash of the last link that was accepted
	Seen          int               // number of links accepted
}

// Errors that [Follower.Follow] and [Follower.Advance] return.
var (
	ErrForked = errors.New("secvm: the gateway's history contradicts a history that it has shown before or to others; do not take part, and warn other devices")
	ErrStale  = errors.New("secvm: the gateway's history has no new link")
)

// Follow verifies a whole history and the weights of its last link, and returns the last link. On
// an error the follower does not change. A device takes part in a window once, so Follow returns
// [ErrStale] for a history without a new link.
func (f *Follower) Follow(c Chain, weights []float64) (Link, error) {
	if err := f.verify(c); err != nil {
		return Link{}, err
	}
	if len(c) == f.Seen {
		return Link{}, ErrStale
	}
	last := c[len(c)-1].Link
	if HashWeights(weights) != last.Weights {
		return Link{}, errors.New("secvm: the weights do not match the hash that the gateway announced")
	}
	f.moveTo(c)
	return last, nil
}

// Advance verifies a whole history without the weights, for a witness, and returns its last link.
func (f *Follower) Advance(c Chain) (Link, error) {
	if err := f.verify(c); err != nil {
		return Link{}, err
	}
	if len(c) == f.Seen {
		return Link{}, ErrStale
	}
	f.moveTo(c)
	return c[len(c)-1].Link, nil
}

func (f *Follower) moveTo(c Chain) { f.Head, f.Seen = c[len(c)-1].Hash(), len(c) }

// verify checks that the chain is consistent and extends the history that the follower has seen, and
// that the gateway has signed all new links.
func (f *Follower) verify(c Chain) error {
	if len(c) < f.Seen || len(c) == 0 {
		return ErrForked
	}
	var previous [sha256.Size]byte
	for i, l := range c {
		if l.Previous != previous || l.Configuration != f.Configuration || !linkMayFollow(c, i) {
			return fmt.Errorf("secvm: link %d of the gateway's history does not follow from the previous link", i)
		}
		if previous = l.Hash(); i == f.Seen-1 && previous != f.Head {
			return ErrForked
		}
		if i >= f.Seen && !ed25519.Verify(f.Key, l.message(), l.Signature[:]) {
			return fmt.Errorf("secvm: link %d of the gateway's history does not have the gateway's valid signature", i)
		}
	}
	return nil
}

// linkMayFollow reports whether the iteration and the time of link i may follow those of the
// previous link.
func linkMayFollow(c Chain, i int) bool {
	if i == 0 {
		return c[0].Iteration == 0
	}
	a, b := c[i-1], c[i]
	again := b.Iteration == a.Iteration && b.Weights == a.Weights
	return b.Opens > a.Opens && (again || b.Iteration == a.Iteration+1)
}

// Challenge returns the context of the challenge for the package tokens of one iteration. The
// context is the same for all devices, and devices know it one window early (rule 22 in docs/rules.md).
func Challenge(configuration [sha256.Size]byte, iteration uint32) [sha256.Size]byte {
	return challenge("mercer/v1/secvm/challenge\x00", configuration, iteration)
}

// PresenceChallenge returns the context of the challenge for the presence tokens of one iteration.
// Devices show these tokens to the relay.
func PresenceChallenge(configuration [sha256.Size]byte, iteration uint32) [sha256.Size]byte {
	return challenge("mercer/v1/secvm/presence\x00", configuration, iteration)
}

func challenge(label string, configuration [sha256.Size]byte, iteration uint32) [sha256.Size]byte {
	return sha256.Sum256(binary.LittleEndian.AppendUint32(append([]byte(label), configuration[:]...), iteration))
}
