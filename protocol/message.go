package protocol

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Version is the version of the message format. It is part of every header.
const Version = 1

// Header identifies one message: no two messages of a session have the same header. A second
// message under the same header with another body is equivocation.
type Header struct {
	Session  SessionID
	Protocol string // the protocol that the descriptor names
	Round    uint16
	Kind     string // the message's name in its protocol, such as AdvertiseKeys
	Sender   string
	Receiver string
	Sequence uint32 // distinguishes messages of one round and kind
	Chunk    uint32 // index of this chunk, from 0
	Chunks   uint32 // number of chunks, at least 1
}

// Message is a header with its body. After sending, the body belongs to the receiver.
type Message struct {
	Header
	Body []byte
}

// Piece returns a copy of m that is chunk i of n chunks.
func (m Message) Piece(i, n int) Message {
	m.Chunk, m.Chunks = uint32(i), uint32(n)
	return m
}

// These constants limit the bytes of names and headers. Names are short because every header
// contains four.
const (
	MaxNameBytes   = 64
	maxHeaderBytes = 1 << 10
)

// Validate returns an error if receivers would refuse to decode h.
func (h Header) Validate() error {
	for _, name := range []string{h.Protocol, h.Kind, h.Sender, h.Receiver} {
		if len(name) > MaxNameBytes {
			return fmt.Errorf("protocol: a name in a header has %d bytes; use at most %d", len(name), MaxNameBytes)
		}
	}
	if h.Chunk >= h.Chunks {
		return fmt.Errorf("protocol: the header has chunk index %d, but the message has only %d chunks", h.Chunk, h.Chunks)
	}
	return nil
}

func (h Header) appendTo(w *wire.Writer) {
	w.Uint16(Version)
	w.Fixed(h.Session[:])
	w.String(h.Protocol)
	w.Uint16(h.Round)
	w.String(h.Kind)
	w.String(h.Sender)
	w.String(h.Receiver)
	w.Uint32(h.Sequence)
	w.Uint32(h.Chunk)
	w.Uint32(h.Chunks)
}

// Encode returns the canonical encoding of h.
func (h Header) Encode() []byte {
	var w wire.Writer
	h.appendTo(&w)
	return w.Bytes()
}

// CutHeader decodes the header at the start of b. It returns the header and the bytes after the
// header.
func CutHeader(b []byte) (h Header, rest []byte, err error) {
	r := wire.NewReader(b)
	h = readHeader(r)
	if r.Err() != nil {
		return Header{}, nil, fmt.Errorf("protocol: header: %w", r.Err())
	}
	return h, r.Rest(), nil
}

// readHeader reads a header from r. The caller finds an error in r.Err.
func readHeader(r *wire.Reader) Header {
	if v := r.Uint16(); r.Err() == nil && v != Version {
		r.Fail(fmt.Errorf("the message has format %d; this program reads format %d", v, Version))
	}
	var h Header
	r.Fixed(h.Session[:])
	h.Protocol = r.String(MaxNameBytes)
	h.Round = r.Uint16()
	h.Kind = r.String(MaxNameBytes)
	h.Sender = r.String(MaxNameBytes)
	h.Receiver = r.String(MaxNameBytes)
	h.Sequence = r.Uint32()
	h.Chunk = r.Uint32()
	h.Chunks = r.Uint32()
	if r.Err() == nil && h.Chunk >= h.Chunks {
		r.Fail(fmt.Errorf("the header has chunk index %d, but the message has only %d chunks", h.Chunk, h.Chunks))
	}
	return h
}

// DecodeHeader decodes a header and refuses bytes after it.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) > maxHeaderBytes {
		return Header{}, fmt.Errorf("protocol: the header has %d bytes; at most %d are allowed", len(b), maxHeaderBytes)
	}
	r := wire.NewReader(b)
	h := readHeader(r)
	return h, r.Close("protocol: header")
}

// String returns h in the form that transcripts and logs use.
func (h Header) String() string {
	s := fmt.Sprintf("%s>%s %s.%d %s", h.Sender, h.Receiver, h.Protocol, h.Round, h.Kind)
	if h.Sequence > 0 {
		s += fmt.Sprintf(" #%d", h.Sequence)
	}
	if h.Chunks > 1 {
		s += fmt.Sprintf(" %d/%d", h.Chunk+1, h.Chunks)
	}
	return s
}

// Digest binds the body to its header: SHA-256(header || SHA-256(body)).
func (m Message) Digest() [sha256.Size]byte {
	body := sha256.Sum256(m.Body)
	var w wire.Writer
	m.appendTo(&w)
	w.Fixed(body[:])
	return sha256.Sum256(w.Bytes())
}

// Inbox remembers the accepted messages, so that at-least-once delivery becomes
// exactly-once. It grows by 64 bytes a message, and by what a map needs besides. The zero value is
// ready for use. It is not safe for concurrent use.
type Inbox struct {
	seen map[[sha256.Size]byte][sha256.Size]byte // maps the digest of each header to the digest of its body
}

// Fresh reports whether m is new. For a second message under the same header with
// another body it returns an error that blames the sender: the session must abort,
// unless [MustGoOn] forbids that.
func (in *Inbox) Fresh(m Message) (bool, error) {
	h, body := in.key(m)
	old, dup := in.seen[h]
	if dup && old != body {
		return false, Blame(m.Sender, KindEquivocation, fault.Publicf("two messages with different bodies have the header %v", m.Header))
	}
	return !dup, nil
}

// Accept remembers m. Call it once Step has accepted the message.
func (in *Inbox) Accept(m Message) {
	if in.seen == nil {
		in.seen = make(map[[sha256.Size]byte][sha256.Size]byte)
	}
	h, body := in.key(m)
	in.seen[h] = body
}

func (in *Inbox) key(m Message) (header, body [sha256.Size]byte) {
	return sha256.Sum256(m.Header.Encode()), sha256.Sum256(m.Body)
}
