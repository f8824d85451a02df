package ppsvmv

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// window is the largest number of tiles in the ring at one time.
const window = 8

// Leader is the machine of the first site. It masks its own matrix and later subtracts the mask
// from the sum.
type Leader struct {
	frame
	part Part
	sent int // number of tiles sent into the ring
}

// NewLeader returns the machine of the first site, the leader.
func NewLeader(s protocol.Setup, part Part) (*Leader, error) { return newLeader(s, part, mostEntries) }

func newLeader(s protocol.Setup, part Part, most int) (*Leader, error) {
	f, err := newFrame(s, protocol.RoleLeader, most)
	if err == nil && part == nil {
		err = errNoPart
	}
	if err != nil {
		return nil, err
	}
	return &Leader{frame: f, part: part}, nil
}

// InputHash returns the hash of the leader's data, for [protocol.Start].
func (l *Leader) InputHash() [sha256.Size]byte { return l.part.Hash() }

// Step implements [protocol.Machine].
func (l *Leader) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := l.life.Step(l.setup, e, protocol.Handlers{Start: l.start, Receive: l.receive, Resume: l.resume, Expire: l.expire})
	if err == nil && effects.End != nil {
		l.setup.Seed = [32]byte{}
	}
	return effects, err
}

func (l *Leader) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != l.InputHash() {
		return protocol.Effects{}, errInput
	}
	return protocol.Effects{Sync: true, Resume: true}, nil
}

// underWay returns the number of tiles in the ring.
func (l *Leader) underWay() int { return l.sent - (len(l.tiles) - l.missing) }

// ready reports whether the leader can now send another tile into the ring.
func (l *Leader) ready() bool { return l.sent < len(l.tiles) && l.underWay() < window }

// resume sends the next tile, which is the sum of the mask R and the leader's own matrix.
func (l *Leader) resume() (protocol.Effects, error) {
	if !l.ready() {
		return protocol.Effects{}, errors.New("ppsvmv: the leader has no tile to send")
	}
	words := l.mask(l.sent)
	add(words, ownEntries(l.part, l.tiles[l.sent]))
	m := l.send(l.next(), roundTile, l.sent, words)
	l.sent++
	return protocol.Effects{Send: []protocol.Message{m}, Resume: l.ready(), Arm: []protocol.Timer{TimerTile}}, nil
}

// mask returns the words of the mask R in a tile. Each tile has its own keystream, so the
// leader need not store R.
func (l *Leader) mask(chunk int) []byte {
	id := l.setup.Session.ID()
	place := []byte{byte(chunk >> 24), byte(chunk >> 16), byte(chunk >> 8), byte(chunk)}
	words := make([]byte, wordBytes*l.tiles[chunk].entries)
	_, _ = prg.New(l.setup.Seed, "ppsvmv/mask", id[:], place).Read(words) // returns no error, because a keystream has no end
	return words
}

// receive subtracts the mask R from a tile that has returned, and sends the sum to the server.
func (l *Leader) receive(m protocol.Message) (protocol.Effects, error) {
	if err := l.check(m); err != nil {
		return protocol.Effects{}, err
	}
	if int(m.Chunk) >= l.sent {
		return protocol.Effects{}, m.Unexpected()
	}
	words := bytes.Clone(m.Body)
	subtract(words, l.mask(int(m.Chunk)))
	e := l.took(m.Chunk)
	e.Send = []protocol.Message{l.send(l.server(), roundSum, int(m.Chunk), words)}
	if l.missing == 0 {
		return protocol.Finish(e, nil)
	}
	e.Resume = l.ready()
	if l.underWay() > 0 {
		e.Arm = []protocol.Timer{TimerTile}
	}
	return e, nil
}

// subtract subtracts the words of subtrahend from the words of the first argument, modulo 2^64.
func subtract(words, subtrahend []byte) {
	for i := 0; i < len(words); i += wordBytes {
		v := binary.LittleEndian.Uint64(words[i:]) - binary.LittleEndian.Uint64(subtrahend[i:])
		binary.LittleEndian.PutUint64(words[i:], v)
	}
}

func (l *Leader) server() string { return l.setup.Session.With(protocol.RoleServer)[0] }

// expire ends the session if a tile in the ring has not returned in time.
func (l *Leader) expire(t protocol.Timer) (protocol.Effects, error) {
	if t == TimerTile && l.underWay() == 0 {
		return protocol.Effects{Resume: l.ready()}, nil
	}
	return l.frame.expire(t)
}
