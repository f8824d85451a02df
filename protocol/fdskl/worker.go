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

// Source computes a worker's part of phases from the worker's own columns. For direction w_j and
// row x_i, the part is the word floor(2^Bits w_j.x_i / (2 pi) + 1/2) modulo 2^Bits.
type Source interface {
	// Block fills dst with the words of the given rows in count directions, from direction first
	// on. Words are little-endian, row after row.
	Block(dst []byte, rows []int, first, count int)
}

// Input is a worker's private input to a session.
type Input struct {
	Source Source
	// Hash is the SHA-256 of the data from which Source computes. The data are the columns, in the
	// agreed order of rows, and the key of the directions.
	Hash [sha256.Size]byte
	// Rows is the number of rows of Source. Alignment is the worker's own commitment to the order
	// of the rows.
	Rows      int
	Alignment [sha256.Size]byte
}

// Identity holds the keys with which active workers sign requests and all workers verify them.
type Identity struct {
	Sign func(message []byte) []byte // signs with Ed25519 under an active worker's own key; nil for a passive worker
	Keys []ed25519.PublicKey         // public keys of the active workers, from the roster, in the session's order
}

// worker holds the state that active and passive workers have in common.
type worker struct {
	setup    protocol.Setup
	life     protocol.Life
	params   Params
	input    Input
	identity Identity
	names    []string // names of the workers, in the session's order
	self     int
	chunk    int // largest number of bytes in a message with words
	queues   []requests

	key    *ecdh.PrivateKey // nil in mode paper
	shared [][32]byte       // the secret agreed with each of the other workers
	agreed []bool           // true for each worker with which a secret is agreed; this worker's own entry becomes true at the start
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
	case in.Source == nil:
		return worker{}, errors.New("fdskl: the worker's input has no source of phases; set Source")
	case in.Hash == ([sha256.Size]byte{}):
		return worker{}, errors.New("fdskl: the worker's input has no hash; set Hash to the SHA-256 of the data from which Source computes")
	case in.Rows != p.spec.Rows:
		return worker{}, fmt.Errorf("fdskl: %s holds %d rows, but %d were agreed; align the rows again: %w", s.Self, in.Rows, p.spec.Rows, protocol.ErrInput)
	case in.Alignment != p.spec.Alignment:
		return worker{}, fmt.Errorf("fdskl: %s holds its rows in another order than agreed; align the rows again: %w", s.Self, protocol.ErrInput)
	}
	if err := id.validate(len(s.Session.With(protocol.RoleLeader))); err != nil {
		return worker{}, err
	}
	w := worker{setup: s, params: p, input: in, identity: id, names: s.Session.With(protocol.RoleLeader, protocol.RoleParty), chunk: chunk}
	w.self, w.agreed = w.index(s.Self), make([]bool, len(w.names))
	for i := range s.Session.With(protocol.RoleLeader) {
		w.queues = append(w.queues, newRequests(s, p, i))
	}
	if p.spec.Mode == Hardened {
		w.key, err = sessionKey(s)
		w.shared = make([][32]byte, len(w.names))
	}
	return w, err
}

// newRequests returns the initial state for the requests of the active worker with the given index.
// The active workers divide the directions among themselves.
func newRequests(s protocol.Setup, p Params, index int) requests {
	active := s.Session.With(protocol.RoleLeader)
	l := requests{index: index, names: workerNames(s.Session, index), marks: make(marks, p.spec.Rows), witnessed: true}
	l.self, l.trees = slices.Index(l.names, s.Self), p.trees(len(l.names))
	l.owned.First = index * p.spec.Directions / len(active)
	l.owned.Count = (index+1)*p.spec.Directions/len(active) - l.owned.First
	return l
}

// sessionKey returns a worker's private X25519 key, which exists only for the session.
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
		return fmt.Errorf("fdskl: there are %d identity keys for %d active workers; give one for each", len(id.Keys), active)
	}
	for _, key := range id.Keys {
		if len(key) != ed25519.PublicKeySize {
			return fmt.Errorf("fdskl: an active worker's identity key has %d bytes; take it from the roster", len(key))
		}
	}
	return nil
}

func (w *worker) index(name string) int { return slices.Index(w.names, name) }

// InputHash returns the hash of the worker's input, which [protocol.Start] requires.
func (w *worker) InputHash() [sha256.Size]byte { return w.input.Hash }

// machine is the set of methods that differ between active and passive workers.
type machine interface {
	receive(protocol.Message) (protocol.Effects, error)
	resume() protocol.Effects
	ready() bool // reports whether resume has work to do
	awaits() await
}

// await describes what a worker waits for: the sender, the message and the timer.
type await struct {
	timer protocol.Timer
	from  string
	what  string
}

// The timers of a session, whose durations are configured.
const (
	// TimerPhases limits a worker's wait for the next key, chunk of words, witness or flow-control
	// credit.
	TimerPhases protocol.Timer = "fdskl/phases"
	// TimerRequest limits a worker's wait for an active worker's next request, part of f or turn.
	// It must outlast the work of the slowest other worker on the last request, and the computation
	// of the active worker before its next message.
	TimerRequest protocol.Timer = "fdskl/request"
)

// step processes an event for an active or a passive worker. The methods of m do what differs
// between the two.
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
				return protocol.Effects{}, errors.New("fdskl: the worker was resumed, but it has nothing to do")
			}
			return m.resume(), nil
		},
		Expire: func(t protocol.Timer) (protocol.Effects, error) { return w.expire(m, t) },
	})
	switch {
	case err != nil:
		return protocol.Effects{}, err
	case effects.End != nil:
		w.setup.Seed, w.key, w.shared, w.queues = [32]byte{}, nil, nil, nil
		return effects, nil
	}
	if effects.Resume = m.ready(); !effects.Resume {
		effects.Arm = []protocol.Timer{m.awaits().timer}
	}
	return effects, nil
}

// expire ends the session if the expired timer belongs to the message that the worker waits for.
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

// In mode hardened, start sends the worker's key to all other workers. In both modes, a training
// session claims the input in the ledger, so that no second training session computes phases of the
// same input, even if this session fails.
func (w *worker) start(start protocol.Start) (protocol.Effects, error) {
	if start.InputHash != w.input.Hash {
		return protocol.Effects{}, errors.New("fdskl: the rows or directions have changed since the session started; restore them, or start a new job")
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

// finish returns the effects that end the session with err.
func finish(err error) protocol.Effects {
	return protocol.Effects{Sync: true, End: &protocol.End{Err: err}}
}

// message returns a message to another worker about the current request of an active worker.
func (w *worker) message(l *requests, to string, round uint16, body []byte) protocol.Message {
	m := w.setup.Message(to, round, kindOf(round), body)
	m.Sequence = w.sequence(l, l.counter)
	return m
}

// toOthers returns one message with the given body for each other worker.
func (w *worker) toOthers(l *requests, round uint16, body []byte) []protocol.Message {
	var list []protocol.Message
	for _, to := range l.names {
		if to != w.setup.Self {
			list = append(list, w.message(l, to, round, bytes.Clone(body)))
		}
	}
	return list
}

// Round 2, Request: an active worker sends all other workers a signed request for a block of phases
// (line 3 of Algorithm 1).
func (w *worker) receiveRequest(l *requests, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != l.names[0] || counter != l.counter+1 || !l.idle():
		return protocol.Effects{}, m.Unexpected()
	case !w.met() || !l.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	}
	s, err := decodeRequest(m.Body, len(w.names))
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if s.request.shares && l.owed {
		return protocol.Effects{}, m.Unexpected() // the active worker has not finished its last iteration
	}
	if err := l.marks.check(s.request, l.owned, w.maxDirections()); err != nil {
		return protocol.Effects{}, m.Inconsistent("%w", err)
	}
	signed := witness{s.request.hash(w.setup.Session.ID(), m.Sequence, l.trees), s.signature}
	if !w.verifies(l, signed) {
		return protocol.Effects{}, m.Inconsistent("%w", errUnsigned)
	}
	l.marks.markAnswered(s.request)
	l.counter, l.witnessed, l.task = counter, l.self == 1, w.newTask(l, s.request, signed)
	e := protocol.Effects{Sync: true}
	if next := l.self + 1; next < len(l.names) {
		e.Send = []protocol.Message{w.message(l, l.names[next], roundWitness, signed.encode())}
	}
	return e, nil
}

// maxDirections returns the largest number of directions that one request can have.
func (w *worker) maxDirections() int { return w.chunk / w.params.ring().bytes() }

// Round 1, Keys (mode hardened): every worker sends its X25519 key of this session directly to
// every other worker. The keys do not pass through the active worker, because it could replace them
// with keys of its own.

// met reports whether this worker has started and, in mode hardened, all other workers' keys have
// arrived.
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
		return protocol.Effects{}, m.Malformed(fmt.Errorf("the key has %d bytes; it must have 32", len(m.Body)))
	}
	secret, err := agree(w.key, m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	w.shared[from], w.agreed[from] = secret, true
	return protocol.Effects{}, nil
}

// agree computes the Diffie-Hellman secret of this worker's key and another worker's. It refuses a
// key of low order, whose secret would be public.
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

// The rounds of a session. All messages but those of roundKeys and roundTurn have the sequence
// number of the active worker's last request: its counter times the number of active workers, plus
// the index of the active worker.
const (
	roundKeys uint16 = 1 + iota
	roundRequest
	roundWitness
	roundPhases
	roundMasks
	roundFinish
	roundShares
	roundTurn
)

// kindRoom is the kind of the messages that carry flow-control credit. Parents send them to their
// children in roundPhases and roundMasks.
const kindRoom = "Room"

func kindOf(round uint16) string {
	switch round {
	case roundKeys:
		return "Keys"
	case roundRequest:
		return "Request"
	case roundWitness:
		return "Witness"
	case roundPhases:
		return "Phases"
	case roundMasks:
		return "Masks"
	case roundFinish:
		return "Finish"
	case roundShares:
		return "Shares"
	case roundTurn:
		return "Turn"
	}
	return ""
}

// treeOf returns the number of the tree that carries a round's words, or false if the round has no
// tree.
func (w *worker) treeOf(round uint16) (tree int, some bool) {
	tree = int(round) - int(roundPhases)
	return tree, tree == 0 || tree == 1 && w.params.spec.Mode == Paper
}

// verify refuses a message whose kind or division into chunks does not suit its round.
func (w *worker) verify(m protocol.Message) error {
	_, up := w.treeOf(m.Round)
	switch {
	case up && (m.Kind == kindRoom || m.Kind == kindOf(m.Round)):
		return nil
	case up || m.Round == roundMasks || m.Kind == "" || m.Kind != kindOf(m.Round), m.Chunks != 1:
		return m.Unexpected()
	}
	return nil
}
