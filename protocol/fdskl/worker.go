package fdskl

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Source gives a worker's own part of phases: for direction w_j and row x_i, of
// which it holds some columns, the word floor(w_j.x_i / 2 pi 2^Bits + 1/2)
// modulo 2^Bits.
type Source interface {
	// Block fills dst with the words of count directions from first on for each
	// of the rows: little-endian, row after row.
	Block(dst []byte, rows []int, first, count int)
}

// Input is a worker's private input to a session.
type Input struct {
	Source Source
	// Hash is the SHA-256 of what Source computes from: the columns in the agreed
	// order of rows, and the key of the directions.
	Hash [sha256.Size]byte
	// Rows is the number of rows that Source has, Alignment the worker's own
	// commitment to their order.
	Rows      int
	Alignment [sha256.Size]byte
}

// Identity holds the keys by which workers know what an active worker asked of others.
type Identity struct {
	Sign func(message []byte) []byte // Ed25519 under an active worker's own key; nil at passive ones
	Keys []ed25519.PublicKey         // of the active workers, from the roster, in the session's order
}

// worker is the state that active and passive workers share.
type worker struct {
	setup    protocol.Setup
	life     protocol.Life
	params   Params
	input    Input
	identity Identity
	names    []string // of the workers, in the session's order
	self     int
	chunk    int // bytes of a message
	lanes    []lane

	key    *ecdh.PrivateKey // nil in mode paper
	shared [][32]byte       // secrets agreed with the others
	agreed []bool           // with whom; with itself once started
}

func newWorker(s protocol.Setup, in Input, id Identity, role protocol.Role, chunk int) (worker, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return worker{}, err
	}
	p, err := ValidateSession(s.Session)
	if err != nil {
		return worker{}, err
	}
	switch {
	case in.Source == nil || in.Hash == ([sha256.Size]byte{}):
		return worker{}, errors.New("fdskl: a worker brings phases and the hash of what they are computed from")
	case in.Rows != p.spec.Rows:
		return worker{}, fmt.Errorf("fdskl: %s holds %d rows where %d were agreed; align them anew: %w", s.Self, in.Rows, p.spec.Rows, protocol.ErrInput)
	case in.Alignment != p.spec.Alignment:
		return worker{}, fmt.Errorf("fdskl: %s holds its rows in another order than was agreed; align them anew: %w", s.Self, protocol.ErrInput)
	}
	if err := id.validate(len(s.Session.With(protocol.RoleLeader))); err != nil {
		return worker{}, err
	}
	w := worker{setup: s, params: p, input: in, identity: id, names: s.Session.With(protocol.RoleLeader, protocol.RoleParty), chunk: chunk}
	w.self, w.agreed = w.index(s.Self), make([]bool, len(w.names))
	for i := range s.Session.With(protocol.RoleLeader) {
		w.lanes = append(w.lanes, newLane(s, p, i))
	}
	if p.spec.Mode == Hardened {
		w.key, err = sessionKey(s)
		w.shared = make([][32]byte, len(w.names))
	}
	return w, err
}

// newLane returns the lane of the active worker with the given index. Directions are
// divided among the active workers, so that each draws its own.
func newLane(s protocol.Setup, p Params, index int) lane {
	active := s.Session.With(protocol.RoleLeader)
	l := lane{index: index, names: order(s.Session, index), marks: make(marks, p.spec.Rows), witnessed: true}
	l.self, l.trees = slices.Index(l.names, s.Self), p.trees(len(l.names))
	l.owned.First = index * p.spec.Directions / len(active)
	l.owned.Count = (index+1)*p.spec.Directions/len(active) - l.owned.First
	return l
}

// sessionKey is a worker's X25519 key, which lives as long as its session.
func sessionKey(s protocol.Setup) (*ecdh.PrivateKey, error) {
	id := s.Session.ID()
	seed := prg.Derive(s.Seed, "fdskl/key", id[:])
	key, err := ecdh.X25519().NewPrivateKey(seed[:])
	if err != nil {
		return nil, fmt.Errorf("fdskl: %w", err)
	}
	return key, nil
}

func (id Identity) validate(active int) error {
	if len(id.Keys) != active {
		return fmt.Errorf("fdskl: %d identity keys of %d active workers", len(id.Keys), active)
	}
	for _, key := range id.Keys {
		if len(key) != ed25519.PublicKeySize {
			return fmt.Errorf("fdskl: an active worker's identity key has %d bytes; take it from the roster", len(key))
		}
	}
	return nil
}

func (w *worker) index(name string) int { return slices.Index(w.names, name) }

// InputHash returns the hash that the start event must hold.
func (w *worker) InputHash() [sha256.Size]byte { return w.input.Hash }

// machine is the part that differs between active and passive workers.
type machine interface {
	receive(protocol.Message) (protocol.Effects, error)
	resume() protocol.Effects
	ready() bool // there is something to resume
	awaits() await
}

// await says for whom a worker waits, and how long.
type await struct {
	timer protocol.Timer
	from  string
	what  string
}

// The timers of a session. Their durations are configuration.
const (
	// TimerPhases bounds a worker's wait for the next key, chunk of words,
	// witness or room for words.
	TimerPhases protocol.Timer = "fdskl/phases"
	// TimerRequest bounds a passive worker's wait for the active worker's next
	// word. It must outlast the slowest other worker's part of the last request,
	// and the active worker's computation before its next word.
	TimerRequest protocol.Timer = "fdskl/request"
)

// step hands an event to its role.
func (w *worker) step(m machine, e protocol.Event) (protocol.Effects, error) {
	effects, err := w.life.Step(w.setup, e, protocol.Handlers{
		Start: w.start,
		Receive: func(message protocol.Message) (protocol.Effects, error) {
			if err := w.verify(message); err != nil {
				return protocol.Effects{}, err
			}
			return m.receive(message)
		},
		Resume: func() (protocol.Effects, error) {
			if !m.ready() {
				return protocol.Effects{}, errors.New("fdskl: there is nothing to resume")
			}
			return m.resume(), nil
		},
		Expire: func(t protocol.Timer) (protocol.Effects, error) { return w.expire(m, t) },
	})
	switch {
	case err != nil:
		return protocol.Effects{}, err
	case effects.End != nil:
		w.setup.Seed, w.key, w.shared, w.lanes = [32]byte{}, nil, nil, nil
		return effects, nil
	}
	if effects.Resume = m.ready(); !effects.Resume {
		effects.Arm = []protocol.Timer{m.awaits().timer}
	}
	return effects, nil
}

// expire ends the session if the timer belongs to the message that is awaited now.
func (w *worker) expire(m machine, t protocol.Timer) (protocol.Effects, error) {
	if t != TimerPhases && t != TimerRequest {
		return protocol.Effects{}, fmt.Errorf("fdskl: a worker has no timer %q", t)
	}
	a := m.awaits()
	if m.ready() || a.timer != t {
		return protocol.Effects{}, nil
	}
	return finish(protocol.Blame(a.from, protocol.KindSilent, fmt.Errorf("fdskl: %s from %s did not come in time", a.what, a.from))), nil
}

// start advertises the worker's key. The phases of these rows in these
// directions are computed in one training session only, whatever becomes of it.
func (w *worker) start(start protocol.Start) (protocol.Effects, error) {
	if start.InputHash != w.input.Hash {
		return protocol.Effects{}, errors.New("fdskl: the rows or directions differ from those the session was started with; restore them or start a new job")
	}
	w.agreed[w.self] = true
	e := protocol.Effects{Sync: true}
	if w.setup.Session.Parent == (protocol.SessionID{}) {
		e.Claim = []string{"fdskl/phases/" + hex.EncodeToString(w.input.Hash[:16])}
	}
	if w.key != nil {
		e.Send = w.hello()
	}
	return e, nil
}

// finish ends the session.
func finish(err error) protocol.Effects {
	return protocol.Effects{Sync: true, End: &protocol.End{Err: err}}
}

// message is to another worker, about one of a lane's requests.
func (w *worker) message(l *lane, to string, round uint16, body []byte) protocol.Message {
	m := w.setup.Message(to, round, kindOf(round), body)
	m.Sequence = w.sequence(l, l.counter)
	return m
}

// toOthers returns a message with this body for each of the others.
func (w *worker) toOthers(l *lane, round uint16, body []byte) []protocol.Message {
	var list []protocol.Message
	for _, to := range l.names {
		if to != w.setup.Self {
			list = append(list, w.message(l, to, round, bytes.Clone(body)))
		}
	}
	return list
}
