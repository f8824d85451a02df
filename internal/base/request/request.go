// Package request has the sender of an HTTP request sign its head. So a server knows who sends how
// much of what, before it gives the sender a place or reads a byte of the body.
package request

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Header names the field that carries the signed head.
const Header = "Mercer-Request"

// maxSender bounds a sender's name in bytes.
const maxSender = 255

// Head names sender, session and body of a request. The sender signs it.
type Head struct {
	Sender  string            // a name by which the server knows the sender's key
	Session [sha256.Size]byte // hash of what the request belongs to: a signature counts nowhere else
	Length  uint64            // of the body, in bytes
	Sum     [sha256.Size]byte // of the body
}

// Of returns the head of a request with a body.
func Of(sender string, session [sha256.Size]byte, body []byte) Head {
	return Head{Sender: sender, Session: session, Length: uint64(len(body)), Sum: sha256.Sum256(body)}
}

func (h Head) encode() []byte {
	var w wire.Writer
	w.String(h.Sender)
	w.Fixed(h.Session[:])
	w.Uint64(h.Length)
	w.Fixed(h.Sum[:])
	return w.Bytes()
}

// Purpose tells the kinds of requests apart: a signature for one of them counts for no other.
type Purpose string

// message returns the bytes that are signed.
func (p Purpose) message(head []byte) []byte {
	var w wire.Writer
	w.String("mercer/v1/request")
	w.String(string(p))
	w.Fixed(head)
	return w.Bytes()
}

// text is the encoding of a field; of each head there is one text only.
var text = base64.RawStdEncoding.Strict()

// Sign returns the field that carries the head.
func (h Head) Sign(p Purpose, key ed25519.PrivateKey) string {
	b := h.encode()
	return text.EncodeToString(append(b, ed25519.Sign(key, p.message(b))...))
}

// Sender signs the heads of its requests.
type Sender struct {
	Name    string
	Purpose Purpose
	Key     ed25519.PrivateKey
}

// NameOf returns the name of a sender that is known by its key alone.
func NameOf(key ed25519.PublicKey) string { return hex.EncodeToString(key) }

// Post returns a POST of a body, with its head.
func (s Sender) Post(ctx context.Context, address string, session [sha256.Size]byte, body []byte) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	q.Header = http.Header{
		Header:         {Of(s.Name, session, body).Sign(s.Purpose, s.Key)},
		"Content-Type": {"application/octet-stream"},
		"User-Agent":   {""},
	}
	return q, nil
}

// Signed is a head with a signature that nobody has checked yet; see [Signed.By].
type Signed struct {
	Head
	signature []byte
}

// ErrHead is a request whose head is not there, cannot be read, or is of another length than the body.
var ErrHead = errors.New("request: the head is missing or wrong; sign sender, session, length and hash of the body in " + Header)

// Parse reads what Sign returns.
func Parse(field string) (Signed, error) {
	b, err := text.DecodeString(field)
	if err != nil {
		return Signed{}, fmt.Errorf("%w: %w", ErrHead, err)
	}
	r := wire.NewReader(b)
	s := Signed{Head: Head{Sender: r.String(maxSender)}, signature: make([]byte, ed25519.SignatureSize)}
	r.Fixed(s.Session[:])
	s.Length = r.Uint64()
	r.Fixed(s.Sum[:])
	r.Fixed(s.signature)
	if err := r.Close("head"); err != nil {
		return Signed{}, fmt.Errorf("%w: %w", ErrHead, err)
	}
	return s, nil
}

// From returns the head of a request, whose body it does not read.
func From(q *http.Request) (Signed, error) {
	fields := q.Header.Values(Header)
	if len(fields) != 1 {
		return Signed{}, fmt.Errorf("%w: %d fields", ErrHead, len(fields))
	}
	s, err := Parse(fields[0])
	if err == nil && (q.ContentLength < 0 || s.Length != uint64(q.ContentLength)) {
		err = fmt.Errorf("%w: a body of another length than its head says", ErrHead)
	}
	return s, err
}

// By reports whether the holder of a key has signed the head, for that purpose.
func (s Signed) By(key ed25519.PublicKey, p Purpose) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, p.message(s.encode()), s.signature)
}

// Names reports whether a body is the one that the head announces.
func (h Head) Names(body []byte) bool {
	return uint64(len(body)) == h.Length && sha256.Sum256(body) == h.Sum
}
