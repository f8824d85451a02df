package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// entry is a record as the log holds it: a large body is replaced by its size
// and hash.
type entry struct {
	Record
	side *side
}

// side describes a body in a file of its own.
type side struct {
	size int
	hash [sha256.Size]byte
}

// The first byte of an encoded record.
const (
	tagStart = iota + 1
	tagReceived
	tagExpired
	tagResumed
	tagDelivered
	tagEnded
)

// encode returns the canonical encoding of a valid entry.
func (e entry) encode() []byte {
	var w wire.Writer
	switch v := e.Event.(type) {
	case protocol.Start:
		w.Uint8(tagStart)
		w.Fixed(v.InputHash[:])
	case protocol.Received:
		e.encodeReceived(&w, v.Message)
	case protocol.Expired:
		w.Uint8(tagExpired)
		w.String(string(v.Timer))
	case protocol.Resumed:
		w.Uint8(tagResumed)
	default:
		e.encodeMarker(&w)
		return w.Bytes()
	}
	w.Uint32(uint32(len(e.Sent)))
	for _, digest := range e.Sent {
		w.Fixed(digest[:])
	}
	w.Strings(e.Claims)
	return w.Bytes()
}

func (e entry) encodeReceived(w *wire.Writer, m protocol.Message) {
	w.Grow(512 + len(m.Body) + 32*len(e.Sent))
	w.Uint8(tagReceived)
	w.Fixed(m.Header.Encode())
	w.Bool(e.side != nil)
	if e.side == nil {
		w.Bytes32(m.Body)
		return
	}
	w.Uint32(uint32(e.side.size))
	w.Fixed(e.side.hash[:])
}

func (e entry) encodeMarker(w *wire.Writer) {
	if e.Delivered > 0 {
		w.Uint8(tagDelivered)
		w.Uint32(uint32(e.Delivered))
		return
	}
	w.Uint8(tagEnded)
	w.String(cut(e.Ended))
}

// cut shortens an outcome: it may quote a peer at any length.
func cut(s string) string {
	const mark = "..."
	if len(s) <= MaxOutcomeBytes {
		return s
	}
	return s[:MaxOutcomeBytes-len(mark)] + mark
}

// decode decodes what encode wrote, and nothing else.
func decode(b []byte) (entry, error) {
	r := wire.NewReader(b)
	var e entry
	switch tag := r.Uint8(); tag {
	case tagStart:
		var s protocol.Start
		r.Fixed(s.InputHash[:])
		e.Event = s
	case tagReceived:
		e.Event, e.side = decodeReceived(r)
	case tagExpired:
		e.Event = protocol.Expired{Timer: protocol.Timer(r.String(maxTimerBytes))}
	case tagResumed:
		e.Event = protocol.Resumed{}
	case tagDelivered:
		e.Delivered = decodeDelivered(r)
	case tagEnded:
		e.Ended = r.String(MaxOutcomeBytes)
	default:
		r.Fail(fmt.Errorf("a record of unknown kind %d", tag))
	}
	if e.Event != nil {
		decodeEffects(r, &e.Record)
	}
	err := r.Close("record")
	if err == nil {
		err = e.validate()
	}
	if err != nil {
		return entry{}, damage(err.Error())
	}
	return e, nil
}

func decodeReceived(r *wire.Reader) (protocol.Event, *side) {
	var m protocol.Message
	r.Cut(func(b []byte) (rest []byte, err error) {
		m.Header, rest, err = protocol.CutHeader(b)
		return rest, err
	})
	if !r.Bool() {
		m.Body = r.Bytes32(inlineBytes)
		return protocol.Received{Message: m}, nil
	}
	s := &side{size: int(r.Uint32())}
	r.Fixed(s.hash[:])
	if r.Err() == nil && (s.size <= inlineBytes || s.size > protocol.MaxChunkBytes) {
		r.Fail(fmt.Errorf("a side file for a body of %d bytes", s.size))
	}
	return protocol.Received{Message: m}, s
}

func decodeDelivered(r *wire.Reader) int {
	n := r.Uint32()
	if n > math.MaxInt32 {
		r.Fail(errors.New("a count of deliveries beyond all bounds"))
		return 0
	}
	return int(n)
}

func decodeEffects(r *wire.Reader, to *Record) {
	for range r.Count(MaxSent, sha256.Size) {
		var digest [sha256.Size]byte
		r.Fixed(digest[:])
		to.Sent = append(to.Sent, digest)
	}
	to.Claims = r.Strings(MaxClaims, MaxClaimBytes)
}
