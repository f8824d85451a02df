package psi

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 1, Announce: to all other parties the size of the set and a part of the
// common key; to the comparer the size only.

const (
	countBytes    = 4
	announceBytes = countBytes + sha256.Size
)

// peer is a party's knowledge of another, and of itself.
type peer struct {
	count   int // 0: not yet announced
	part    [32]byte
	confirm confirmation
}

func (p *Party) announce() []protocol.Message {
	var w wire.Writer
	w.Uint32(uint32(len(p.ids)))
	w.Fixed(p.peers[p.self].part[:])
	var sends []protocol.Message
	for i, name := range p.parties {
		if i != p.self {
			sends = append(sends, p.setup.Message(name, roundAnnounce, kindAnnounce, slices.Clone(w.Bytes())))
		}
	}
	for _, comparer := range p.setup.Session.With(protocol.RoleServer) {
		sends = append(sends, p.setup.Message(comparer, roundAnnounce, kindCount, slices.Clone(w.Bytes()[:countBytes])))
	}
	return sends
}

func (p *Party) takeAnnounce(m protocol.Message) (protocol.Effects, error) {
	i := p.index(m.Sender)
	if i < 0 || p.peers[i].count > 0 {
		return protocol.Effects{}, m.Unexpected()
	}
	n, err := p.count(m, announceBytes)
	if err != nil {
		return protocol.Effects{}, err
	}
	p.peers[i].count, p.peers[i].part = n, [32]byte(m.Body[countBytes:])
	p.course.announced(i, n)
	return protocol.Effects{Progress: p.progress()}, nil
}

// count reads the size of a set, with which a message of that many bytes
// begins.
func (d *core) count(m protocol.Message, bytes int) (int, error) {
	if err := single(m, bytes); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(m.Body)
	if n < 1 || int64(n) > int64(d.params.spec.MaxIDs) {
		return 0, m.Malformed(fmt.Errorf("psi: a set of %d ids; the session takes 1 to %d", n, d.params.spec.MaxIDs))
	}
	return int(n), nil
}
