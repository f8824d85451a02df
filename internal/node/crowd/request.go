package crowd

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// The paths of a server.
const (
	stepPath     = "/crowd/step"
	messagesPath = "/crowd/messages"
)

// The headers of a request.
const (
	deviceHeader    = "Mercer-Device"
	signatureHeader = "Mercer-Signature"
)

// Limits of requests and answers.
const (
	waitTime     = 20 * time.Second               // of a GET that has nothing to say
	maxPostBytes = protocol.MaxChunkBytes + 2<<10 // a message with its header
	maxPullBytes = 1 << 20                        // of messages in one answer, and one more
	maxAnnounced = 1 << 20                        // of an announcement
	answerTime   = time.Minute                    // for an answer to reach its reader
	maxAnswer    = maxPullBytes + 2*maxPostBytes  // what a device reads
	maxReason    = 512                            // of a text in place of an answer
	retryFirst   = 100 * time.Millisecond         // between two tries of a device
	retryLast    = 2 * time.Second                // after many
)

// statement returns the bytes that a device signs: a request belongs to one enrolment.
func statement(of [sha256.Size]byte, method, address string, body []byte) []byte {
	var w wire.Writer
	w.String("mercer/v1/crowd/request")
	w.Fixed(of[:])
	w.String(method)
	w.String(address)
	sum := sha256.Sum256(body)
	w.Fixed(sum[:])
	return w.Bytes()
}

// verify reports whether a device has signed a request.
func verify(q *http.Request, e *Enrolment, body []byte) bool {
	signature, err := base64.StdEncoding.DecodeString(q.Header.Get(signatureHeader))
	key := e.Key(q.Header.Get(deviceHeader))
	return err == nil && key != nil && ed25519.Verify(key, statement(e.sum, q.Method, q.URL.RequestURI(), body), signature)
}

// encode encodes a message.
func encode(m protocol.Message) []byte { return append(m.Encode(), m.Body...) }

// decode decodes what encode wrote. The body stays where it is.
func decode(b []byte) (protocol.Message, error) {
	h, body, err := protocol.CutHeader(b)
	if err == nil {
		err = h.Validate()
	}
	return protocol.Message{Header: h, Body: body}, err
}
