package ppsvmv

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Every message belongs to one of these rounds.
const (
	roundTile uint16 = 1 + iota
	roundSum
)

// TileKind is the kind of the messages that pass around the ring.
const TileKind = "Tile"

func kindOf(round uint16) string {
	if round == roundSum {
		return "Sum"
	}
	return TileKind
}

// TimerTile limits a member's wait for the next tile.
const TimerTile protocol.Timer = "ppsvmv/tile"

// Part is a site's own matrix, such as a [github.com/mercer-fl/mercer/protocol/gram.Part].
type Part interface {
	// Hash returns the SHA-256 of the data from which the site computes its matrix.
	Hash() [sha256.Size]byte
	// Read sets dst to the entries of a group, beginning with entry number start.
	Read(group, start int, dst []int64)
}

// frame holds the state that the machines of all roles have.
type frame struct {
	setup   protocol.Setup
	life    protocol.Life
	params  Params
	tiles   []tile
	ring    []string // names of the sites; the leader is first
	from    string   // name of the member that sends tiles to this member
	round   uint16   // round of the tiles that this member receives
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

// place returns this member's index in the ring.
func (f *frame) place() int { return slices.Index(f.ring, f.setup.Self) }

// next returns the name of the site to which this site sends tiles.
func (f *frame) next() string { return f.ring[(f.place()+1)%len(f.ring)] }

// check returns an error unless a message holds a missing tile of the right length.
func (f *frame) check(m protocol.Message) error {
	if m.Sender != f.from || m.Round != f.round || m.Kind != kindOf(f.round) || m.Sequence != 0 || int(m.Chunks) != len(f.tiles) || m.Chunk >= m.Chunks || f.have[m.Chunk] {
		return m.Unexpected()
	}
	if want := wordBytes * f.tiles[m.Chunk].entries; len(m.Body) != want {
		return m.Malformed(fmt.Errorf("ppsvmv: the tile has %d bytes; %d are required", len(m.Body), want))
	}
	return nil
}

// took records that a tile has arrived and returns the member's progress.
func (f *frame) took(chunk uint32) protocol.Effects {
	f.have[chunk] = true
	f.missing--
	return protocol.Effects{Progress: protocol.Progress{Stage: "tiles", Done: int64(len(f.tiles) - f.missing), Total: int64(len(f.tiles))}}
}

// send returns the message that sends a tile to a member.
func (f *frame) send(to string, round uint16, chunk int, words []byte) protocol.Message {
	return f.setup.Message(to, round, kindOf(round), words).Piece(chunk, len(f.tiles))
}

// expire ends the session with an error that blames the sender of the missing tiles.
func (f *frame) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerTile {
		return protocol.Effects{}, fmt.Errorf("ppsvmv: a member has no timer %q", t)
	}
	why := fmt.Errorf("ppsvmv: %d of %d tiles did not arrive in time", f.missing, len(f.tiles))
	return protocol.Finish(protocol.Effects{}, protocol.Blame(f.from, protocol.KindSilent, why))
}

// ownEntries returns the entries of a site's own matrix in a tile.
func ownEntries(part Part, t tile) []int64 {
	numbers := make([]int64, t.entries)
	part.Read(t.group, t.first, numbers)
	return numbers
}

// errInput refuses a Start event whose hash does not belong to the machine's own matrix.
var errInput = errors.New("ppsvmv: the rows have changed since the session started; restore them or start a new job")

// Site is the machine of a site that adds its own matrix to the tiles and passes them on.
type Site struct {
	frame
	part Part
}

// NewSite returns the machine of a site other than the leader.
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

// errNoPart refuses a site that has no matrix of its own.
var errNoPart = errors.New("ppsvmv: the site's Part is nil; every site requires its own matrix")

// InputHash returns the hash of the site's data, for [protocol.Start].
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

// receive adds the site's entries to a tile and passes the tile on. A site need not store tiles,
// because the leader limits the number of tiles in the ring.
func (s *Site) receive(m protocol.Message) (protocol.Effects, error) {
	if err := s.check(m); err != nil {
		return protocol.Effects{}, err
	}
	words := bytes.Clone(m.Body)
	add(words, ownEntries(s.part, s.tiles[m.Chunk]))
	e := s.took(m.Chunk)
	e.Send = []protocol.Message{s.send(s.next(), roundTile, int(m.Chunk), words)}
	if s.missing > 0 {
		e.Arm = []protocol.Timer{TimerTile}
		return e, nil
	}
	return protocol.Finish(e, nil)
}
