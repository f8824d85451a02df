package ppsvmv

import (
	"bytes"
	"crypto/sha256"
	"errors"

	"github.com/mercer-fl/mercer/protocol"
)

// Site adds its own matrix to the tiles that pass.
type Site struct {
	frame
	part Part
}

// NewSite returns the machine of a site that is not the first.
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

// errNoPart refuses a site that has nothing to add.
var errNoPart = errors.New("ppsvmv: a site brings a matrix of its own")

// InputHash returns the hash that the start event must hold.
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

// receive adds the site's entries to a tile and passes it on. The leader bounds the tiles
// that are under way, so that none has to wait here.
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
