// Package request bounds the resources that a server gives to the sender of an HTTP request. A
// sender whose key the server knows signs the request's header. The server verifies the header before
// it counts the request as one of the few that it handles at a time, and before it reads a byte of the
// body. A body must arrive within a time that depends on its length.
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

// NameHeader is the header that names the sender of a signed request.
const NameHeader = "Mercer-Device"

// These headers of a signed request hold its signature and the hash of its body.
const (
	signatureHeader = "Mercer-Signature"
	bodyHeader      = "Mercer-Body" // SHA-256 of the body, in hexadecimal digits
)

// ErrUnsigned reports a request whose header is not signed by a known key.
var ErrUnsigned = errors.New("request: the header of this request is not signed by a known key")

// ErrOtherBody reports a body that does not match the hash in the header.
var ErrOtherBody = errors.New("request: the body does not match the hash in the header of its request")

// Signer signs the headers of requests. The signature covers the purpose, the context, the sender, the
// method, the address's path and query, and the length and SHA-256 of the body. An observer can repeat a
// header, but only with the same body, path and query.
type Signer struct {
	Purpose string // purpose of the requests
	Of      []byte // job or other context to which the requests belong
}

// Signed describes a request whose header is verified. Its body has not been read.
type Signed struct {
	Name   string
	Length int64
	Sum    [sha256.Size]byte // SHA-256 of the body
}

// statement returns the bytes that the sender signs.
func (s Signer) statement(q *http.Request, of Signed) []byte {
	var w wire.Writer
	w.Bytes32([]byte(s.Purpose))
	w.Bytes32(s.Of)
	w.Bytes32([]byte(q.Method))
	w.Bytes32([]byte(q.URL.RequestURI()))
	w.Bytes32([]byte(of.Name))
	w.Uint64(uint64(of.Length))
	w.Fixed(of.Sum[:])
	return w.Bytes()
}

// Sign adds the sender's name and the signature to a request's header.
func (s Signer) Sign(q *http.Request, name string, key ed25519.PrivateKey, body []byte) {
	of := Signed{Name: name, Length: int64(len(body)), Sum: sha256.Sum256(body)}
	q.Header.Set(NameHeader, name)
	q.Header.Set(bodyHeader, hex.EncodeToString(of.Sum[:]))
	q.Header.Set(signatureHeader, base64.StdEncoding.EncodeToString(ed25519.Sign(key, s.statement(q, of))))
}

// NameOf returns the name of a sender that a server knows only by its key.
func NameOf(key ed25519.PublicKey) string { return hex.EncodeToString(key) }

// Post returns a signed POST request with a body. The server knows the sender only by its key.
func (s Signer) Post(ctx context.Context, address string, key ed25519.PrivateKey, body []byte) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	q.Header = http.Header{"Content-Type": {"application/octet-stream"}, "User-Agent": {""}}
	s.Sign(q, NameOf(key.Public().(ed25519.PublicKey)), key, body)
	return q, nil
}

// Verify returns the sender, the length and the hash that a request's header states, if a known key has signed
// the header. The function key returns nil for an unknown sender.
func (s Signer) Verify(q *http.Request, key func(name string) ed25519.PublicKey) (Signed, error) {
	of := Signed{Name: q.Header.Get(NameHeader), Length: q.ContentLength}
	public := key(of.Name)
	sum, notHex := hex.DecodeString(q.Header.Get(bodyHeader))
	signature, notBase64 := base64.StdEncoding.DecodeString(q.Header.Get(signatureHeader))
	if public == nil || of.Length < 0 || notHex != nil || len(sum) != sha256.Size || notBase64 != nil {
		return Signed{}, ErrUnsigned
	}
	copy(of.Sum[:], sum)
	if !ed25519.Verify(public, s.statement(q, of), signature) {
		return Signed{}, ErrUnsigned
	}
	return of, nil
}

// Read reads the body of a signed request. The body can have at most limit bytes. See [ReadBody].
func (s Signed) Read(w http.ResponseWriter, q *http.Request, limit int64) ([]byte, error) {
	body, err := ReadBody(w, q, limit)
	if err == nil && sha256.Sum256(body) != s.Sum {
		return nil, fmt.Errorf("%w: %s", ErrOtherBody, s.Name)
	}
	return body, err
}
