package ppsvmv

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// The rounds.
const (
	roundTile uint16 = 1 + iota
	roundSum
)

// TileKind is the kind of the messages in the ring.
const TileKind = "Tile"

func kindOf(round uint16) string {
	if round == roundSum {
		return "Sum"
	}
	return TileKind
}

// TimerTile limits a member's wait for the next tile.
const TimerTile protocol.Timer = "ppsvmv/tile"

// Part is a site's own term of the sum, such as a [github.com/mercer-fl/mercer/protocol/gram.Part].
type Part interface {
	// Hash returns the SHA-256 of the data from which the entries are computed.
	Hash() [sha256.Size]byte
	// Read sets dst to the entries of a group from first on.
	Read(group, first int, dst []int64)
}

// frame holds the common state of all roles: tiles arrive from one member.
type frame struct {
	setup   protocol.Setup
	life    protocol.Life
	params  Params
	tiles   []tile
	ring    []string // the leader, then the other sites
	from    string   // who sends this member tiles
	round   uint16   // of them
	have    []bool
	missing int
}

func newFrame(s protocol.Setup, role protocol.Role, most int) (frame, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return frame{}, err
	}
	p, err := ValidateSession(s.Session)
	if err != nil {
		return frame{}, err
	}
	f := frame{setup: s, params: p, tiles: p.tiles(most), round: roundTile}
	f.ring = append(s.Session.With(protocol.RoleLeader), s.Session.With(protocol.RoleParty)...)
	f.have, f.missing = make([]bool, len(f.tiles)), len(f.tiles)
	if role == protocol.RoleServer {
		f.from, f.round = f.ring[0], roundSum
		return f, nil
	}
	f.from = f.ring[(f.place()+len(f.ring)-1)%len(f.ring)]
	return f, nil
}

// place returns the member's place in the ring.
func (f *frame) place() int { return slices.Index(f.ring, f.setup.Self) }

// next returns the site to which this one sends tiles.
func (f *frame) next() string { return f.ring[(f.place()+1)%len(f.ring)] }

// check refuses a message that is not the next one, or has another length than its tile.
func (f *frame) check(m protocol.Message) error {
	if m.Sender != f.from || m.Round != f.round || m.Kind != kindOf(f.round) || m.Sequence != 0 || int(m.Chunks) != len(f.tiles) || m.Chunk >= m.Chunks || f.have[m.Chunk] {
		return m.Unexpected()
	}
	if want := wordBytes * f.tiles[m.Chunk].entries; len(m.Body) != want {
		return m.Malformed(fmt.Errorf("ppsvmv: %d bytes, not %d", len(m.Body), want))
	}
	return nil
}

// took records a tile, and reports the member's progress.
func (f *frame) took(chunk uint32) protocol.Effects {
	f.have[chunk] = true
	f.missing--
	return protocol.Effects{Progress: protocol.Progress{Stage: "tiles", Done: int64(len(f.tiles) - f.missing), Total: int64(len(f.tiles))}}
}

// send returns a tile's message.
func (f *frame) send(to string, round uint16, chunk int, words []byte) protocol.Message {
	return f.setup.Message(to, round, kindOf(round), words).Piece(chunk, len(f.tiles))
}

// expire blames the member whose tile has not arrived.
func (f *frame) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerTile {
		return protocol.Effects{}, fmt.Errorf("ppsvmv: a member has no timer %q", t)
	}
	why := fmt.Errorf("ppsvmv: %d of %d tiles did not come in time", f.missing, len(f.tiles))
	return protocol.Finish(protocol.Effects{}, protocol.Blame(f.from, protocol.KindSilent, why))
}

// own returns a site's own entries of a tile.
func own(part Part, t tile) []int64 {
	numbers := make([]int64, t.entries)
	part.Read(t.group, t.first, numbers)
	return numbers
}

// errInput refuses a start with another matrix.
var errInput = errors.New("ppsvmv: the rows differ from those the session was started with; restore them or start a new job")

// Site adds its own matrix to the passing tiles.
type Site struct {
	frame
	part Part
}

// NewSite returns the machine of a site other than the first.
func NewSite(s protocol.Setup, part Part) (*Site, error) { return newSite(s, part, mostEntries) }

func newSite(s protocol.Setup, part Part, most int) (*Site, error) {
	f, err := newFrame(s, protocol.RoleParty, most)
	if err == nil && part == nil {
		err = errNoPart
	}
	if err != nil {
		return nil, err
	}
	return &Site{f, part}, nil
}

// errNoPart refuses a site without a matrix.
var errNoPart = errors.New("ppsvmv: a site brings a matrix of its own")

// InputHash returns the hash for the start event.
func (s *Site) InputHash() [sha256.Size]byte { return s.part.Hash() }

// Step implements [protocol.Machine].
func (s *Site) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Receive: s.receive, Expire: s.expire})
}

func (s *Site) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != s.InputHash() {
		return protocol.Effects{}, errInput
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerTile}}, nil
}

// receive adds the site's entries to a tile and passes it on. The leader limits the tiles in
// transit, so no tile has to wait here.
func (s *Site) receive(m protocol.Message) (protocol.Effects, error) {
	if err := s.check(m); err != nil {
		return protocol.Effects{}, err
	}
	words := bytes.Clone(m.Body)
	add(words, own(s.part, s.tiles[m.Chunk]))
	e := s.took(m.Chunk)
	e.Send = []protocol.Message{s.send(s.next(), roundTile, int(m.Chunk), words)}
	if s.missing > 0 {
		e.Arm = []protocol.Timer{TimerTile}
		return e, nil
	}
	return protocol.Finish(e, nil)
}
