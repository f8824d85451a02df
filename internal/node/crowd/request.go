package crowd

import (
	"crypto/sha256"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/protocol"
)

// The paths of a server.
const (
	stepPath     = "/crowd/step"
	messagesPath = "/crowd/messages"
	farewellPath = "/crowd/farewell"
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
	retryLast    = 2 * time.Second                // after many, and in long rounds
	retryShare   = 8                              // in short ones, tries in each
)

// signer returns what signs a device's requests, and checks them: a request belongs to one
// enrolment.
func (e *Enrolment) signer() request.Signer {
	return request.Signer{Purpose: "mercer/v2/crowd/request", Of: e.sum[:]}
}

// encode encodes a message.
func encode(m protocol.Message) []byte { return append(m.Encode(), m.Body...) }

// sumOf returns the hash of a message as encode writes it.
func sumOf(m protocol.Message) [sha256.Size]byte {
	h := sha256.New()
	h.Write(m.Encode())
	h.Write(m.Body)
	return [sha256.Size]byte(h.Sum(nil))
}

// decode decodes what encode wrote. The body stays where it is.
func decode(b []byte) (protocol.Message, error) {
	h, body, err := protocol.CutHeader(b)
	if err == nil {
		err = h.Validate()
	}
	return protocol.Message{Header: h, Body: body}, err
}
