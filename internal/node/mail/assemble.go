package mail

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// A control message that is longer than a chunk travels in pieces. The directory of a large
// federation is an example. The body of each piece begins with the SHA-256 of the whole message.
// Only a coordinator sends such messages. No piece is acknowledged before the whole message is, so
// after a crash the broker delivers all pieces again.
const (
	pieceBytes = protocol.MaxChunkBytes - sha256.Size
	// maxPieces is the largest number of pieces of one control message. It is enough for the proposal
	// of a job of 1 MiB, and for the keys of as many members as a roster may have: roster.MaxMembers.
	maxPieces = 16
	// maxUnfinished bounds the number of messages with missing pieces.
	maxUnfinished = 32
)

// messageKey identifies a control message that arrives in several pieces.
type messageKey struct {
	header protocol.Header // header of the first piece
	sum    [sha256.Size]byte
}

// unfinished is a control message with missing pieces.
type unfinished struct {
	pieces   [][]byte
	receipts receipts
	missing  int
	arrival  uint64 // sequence number, in the order in which first pieces arrive
}

// assemble adds one piece of a message. The message is ready when no piece is missing.
func (x *Router) assemble(m protocol.Message, receipt transport.Receipt) (in driver.Inbound, ready bool, err error) {
	switch {
	case m.Sender != x.members.Load().Coordinator().Name:
		return in, false, errors.New("the control message is in pieces, but its sender is not the coordinator")
	case m.Chunks > maxPieces:
		return in, false, fmt.Errorf("the control message has %d pieces, but at most %d are allowed", m.Chunks, maxPieces)
	case len(m.Body) <= sha256.Size:
		return in, false, fmt.Errorf("the piece of a control message has %d bytes, but it must have more than %d", len(m.Body), sha256.Size)
	}
	at := m.Chunk
	key := messageKey{header: m.Header, sum: [sha256.Size]byte(m.Body)}
	key.header.Chunk = 0
	x.assembling.Lock()
	defer x.assembling.Unlock()
	u := x.unfinished[key]
	if u == nil {
		x.makeRoom()
		x.arrivals++
		u = &unfinished{make([][]byte, m.Chunks), make(receipts, m.Chunks), int(m.Chunks), x.arrivals}
		x.unfinished[key] = u
	}
	if u.pieces[at] == nil {
		u.missing--
	}
	u.pieces[at], u.receipts[at] = m.Body[sha256.Size:], receipt // if a piece comes twice, its later receipt counts
	if u.missing > 0 {
		return in, false, nil
	}
	delete(x.unfinished, key)
	m.Header, m.Body = key.header, bytes.Join(u.pieces, nil)
	m.Chunks = 1
	if sha256.Sum256(m.Body) != key.sum {
		return in, false, errors.Join(errors.New("the pieces of a control message do not match its hash"), u.receipts.Ack())
	}
	return driver.Inbound{Message: m, Receipt: u.receipts}, true, nil
}

// makeRoom drops the oldest unfinished message if there are too many. A coordinator that was killed
// in the middle of a message may never complete it. The pieces that are dropped are not lost: the broker
// delivers them once more.
func (x *Router) makeRoom() {
	if len(x.unfinished) < maxUnfinished {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Keys(x.unfinished)), func(a, b messageKey) int {
		return cmp.Compare(x.unfinished[a].arrival, x.unfinished[b].arrival)
	})
	delete(x.unfinished, oldest)
}

// receipts acknowledges or puts back all pieces of a message together.
type receipts []transport.Receipt

func (r receipts) Ack() error {
	return r.each(transport.Receipt.Ack)
}

func (r receipts) Later(after time.Duration) error {
	return r.each(func(one transport.Receipt) error { return one.Later(after) })
}

func (r receipts) each(settle func(transport.Receipt) error) error {
	var errs error
	for _, one := range r {
		errs = errors.Join(errs, settle(one))
	}
	return errs
}
