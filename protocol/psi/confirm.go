package psi

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

// In rounds 5 and 6, Confirm and Proof, each pair of parties checks that both have the same ids in
// the same order. The check is a key exchange whose password is the alignment (SPEKE: Jablon,
// "Strong password-only authenticated key exchange", 1996; names and messages enter the proof, as Hao
// and Shahandashti require). Honest parties could simply exchange the alignment. But a lying peer
// that had made a single row common could then test any number of ids against the alignment. The
// key exchange allows the peer one guess.

// confirmation is the state of the check that another party has the same rows in the same order.
type confirmation struct {
	secret       *ristretto.Key
	sent         []byte // element that this party sent
	element      []byte // element of the other party; nil before it arrives
	done, agrees bool   // whether the other party's proof has arrived; whether the proof is right
}

// confirm sends every other party an element of the key exchange. It also sends a proof to each
// party whose element has arrived.
func (p *Party) confirm() (protocol.Effects, error) {
	eff := protocol.Effects{Sync: true}
	base := ristretto.Hash(domainOf(p.setup.Session.ID(), "confirm"), p.result.alignment[:])
	for i, name := range p.parties {
		if i == p.self {
			continue
		}
		c := &p.peers[i].confirm
		c.secret, c.sent = newKey(p.setup, "psi/confirm", []byte(name)), make([]byte, ristretto.Size)
		c.secret.Multiply(c.sent, []ristretto.Element{base})
		eff.Send = append(eff.Send, p.setup.Message(name, roundConfirm, kindConfirm, slices.Clone(c.sent)))
		if c.element != nil {
			eff.Send = append(eff.Send, p.prove(i))
		}
	}
	return eff, nil
}

func (p *Party) takeConfirm(m protocol.Message) (protocol.Effects, error) {
	i := p.index(m.Sender)
	if i < 0 || i == p.self || p.peers[i].confirm.element != nil {
		return protocol.Effects{}, m.Unexpected()
	}
	if err := single(m, ristretto.Size); err != nil {
		return protocol.Effects{}, err
	}
	if _, err := ristretto.Decode(m.Body); err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	p.peers[i].confirm.element = m.Body
	if p.result.order == nil {
		return protocol.Effects{}, nil
	}
	return protocol.Effects{Sync: true, Send: []protocol.Message{p.prove(i)}}, nil
}

// prove returns the message that proves to party i that this party knows their shared key.
func (p *Party) prove(i int) protocol.Message {
	proof := p.proof(i, p.self, i)
	return p.setup.Message(p.parties[i], roundProof, kindProof, proof[:])
}

func (p *Party) takeProof(m protocol.Message) (protocol.Effects, error) {
	i := p.index(m.Sender)
	if i < 0 || i == p.self || p.result.order == nil || p.peers[i].confirm.done {
		return protocol.Effects{}, m.Unexpected()
	}
	if err := single(m, sha256.Size); err != nil {
		return protocol.Effects{}, err
	}
	c := &p.peers[i].confirm
	if c.element == nil {
		return protocol.Effects{}, protocol.ErrLater
	}
	want := p.proof(i, i, p.self)
	c.done, c.agrees = true, hmac.Equal(m.Body, want[:])
	return p.conclude()
}

// proof returns the HMAC that one party sends to another; sender and receiver are their indices.
// This party and party i share the key of the HMAC.
func (p *Party) proof(i, sender, receiver int) [sha256.Size]byte {
	c := &p.peers[i].confirm
	element, err := ristretto.Decode(c.element)
	if err != nil {
		panic("psi: " + err.Error()) // impossible, because takeConfirm has decoded the element before
	}
	shared := make([]byte, ristretto.Size)
	c.secret.Multiply(shared, []ristretto.Element{element})
	first, second := c.sent, c.element
	if i < p.self {
		first, second = second, first
	}
	id := p.setup.Session.ID()
	var w wire.Writer
	w.String("mercer/v1/psi/proof")
	w.Fixed(id[:])
	w.String(p.parties[sender])
	w.String(p.parties[receiver])
	w.Fixed(first)
	w.Fixed(second)
	h := hmac.New(sha256.New, shared)
	h.Write(w.Bytes())
	return [sha256.Size]byte(h.Sum(nil))
}
