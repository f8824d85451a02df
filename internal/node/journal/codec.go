package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// entry is a record as the log stores it. A large body is replaced by its size and hash.
type entry struct {
	Record
	side *side
}

// side holds the size and the hash of a body in a side file.
type side struct {
	size int
	hash [sha256.Size]byte
}

// These are the values of the first byte of an encoded record.
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

// cut shortens an outcome to the allowed length. An outcome may quote a peer's text of any length.
func cut(s string) string {
	const mark = "..."
	if len(s) <= MaxOutcomeBytes {
		return s
	}
	return s[:MaxOutcomeBytes-len(mark)] + mark
}

// decode decodes an entry that encode has encoded, and rejects all other bytes.
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
		r.Fail(fmt.Errorf("the record's kind %d is unknown", tag))
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
		r.Fail(fmt.Errorf("the side file's body has %d bytes, which is outside the allowed range", s.size))
	}
	return protocol.Received{Message: m}, s
}

func decodeDelivered(r *wire.Reader) int {
	n := r.Uint32()
	if n > math.MaxInt32 {
		r.Fail(errors.New("the record's count of deliveries is too large"))
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

// Record is one entry of the log. It holds either an accepted event with the effects of its step,
// or a marker. Exactly one of Event, Delivered and Ended is set.
type Record struct {
	Event  protocol.Event
	Sent   [][32]byte // digests of the messages that the step sent, in order
	Claims []string   // names that the step claims permanently

	Delivered int    // number of messages that the broker has accepted since the last such record
	Ended     string // outcome of the session
}

// These constants bound one record. Append refuses a record with too many messages or claims, or
// with a claim or timer whose name is too long. It cuts off an outcome that is too long.
const (
	MaxSent         = protocol.MaxMembers
	MaxClaims       = 4096
	MaxClaimBytes   = 256
	MaxOutcomeBytes = 4096
	maxTimerBytes   = 256
	// inlineBytes is the size of the largest body that the log itself contains.
	inlineBytes = 64 << 10
	// maxRecordBytes bounds the memory that a reader allocates for one record.
	maxRecordBytes = 4 << 20
)

func (r Record) validate() error {
	switch {
	case r.Event != nil && r.Delivered == 0 && r.Ended == "":
		return r.validateEvent()
	case r.Sent != nil || r.Claims != nil:
		return errors.New("journal: the record has messages or claims, but no event")
	case r.Event == nil && r.Delivered == 0 && r.Ended != "":
		return nil
	case r.Event == nil && r.Ended == "" && 0 < r.Delivered && r.Delivered <= math.MaxInt32:
		return nil
	}
	return errors.New("journal: the record must have an event, a count of deliveries or an outcome, and only one of them")
}

func (r Record) validateEvent() error {
	if len(r.Sent) > MaxSent || len(r.Claims) > MaxClaims {
		return fmt.Errorf("journal: the step has %d messages and %d claims, but at most %d and %d are allowed", len(r.Sent), len(r.Claims), MaxSent, MaxClaims)
	}
	for _, name := range r.Claims {
		if err := validClaim(name); err != nil {
			return err
		}
	}
	switch e := r.Event.(type) {
	case protocol.Start, protocol.Resumed:
		return nil
	case protocol.Expired:
		if len(e.Timer) > maxTimerBytes {
			return fmt.Errorf("journal: the timer's name has %d bytes, but at most %d are allowed", len(e.Timer), maxTimerBytes)
		}
		return nil
	case protocol.Received:
		return validMessage(e.Message)
	}
	return fmt.Errorf("journal: the event's type %T is unknown", r.Event)
}

func validMessage(m protocol.Message) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if len(m.Body) > protocol.MaxChunkBytes {
		return fmt.Errorf("journal: the body has %d bytes, but at most %d are allowed", len(m.Body), protocol.MaxChunkBytes)
	}
	return nil
}

func validClaim(name string) error {
	if name == "" || len(name) > MaxClaimBytes {
		return fmt.Errorf("journal: a claimed name has %d bytes; it must have 1 to %d", len(name), MaxClaimBytes)
	}
	return nil
}
