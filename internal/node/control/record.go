package control

import (
	"crypto/sha256"
	"errors"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Record carries the head of a party's audit record: the hash of its last line. A party tells its head
// before it accepts a session and after it has closed a job, and the coordinator keeps the last one. A
// party that was restored from a backup asks for that last head: if the party did more after the backup was
// made, no line of the restored record has this head.
type Record struct {
	Head [sha256.Size]byte // zero in a question, and in the answer if the coordinator knows none
	Asks bool              // true in a question of a restored party
	// Nonce is random in a question and the same in its answer, so that nobody can repeat an old answer.
	Nonce [32]byte
	// Steps and Origin order the heads that a party tells, since a message may come twice, and late. Steps
	// counts the consents and the closed jobs in the record, which the coordinator knows. The number of all
	// lines would tell more, such as how often people were withdrawn. Origin is the hash of the line with
	// which the record's history begins: its first one, or the last that accepts a loss. Both are zero in
	// questions, in answers, in messages of earlier builds, and before the first consent.
	Steps  uint64
	Origin [sha256.Size]byte
}

// RecordTopic returns the session id under which Record messages are sent.
func RecordTopic() protocol.SessionID { return sha256.Sum256([]byte("mercer/v1/record")) }

// Encode returns the canonical encoding of the message.
func (r Record) Encode() []byte {
	var w wire.Writer
	w.Fixed(r.Head[:])
	w.Bool(r.Asks)
	w.Fixed(r.Nonce[:])
	if r.Steps > 0 {
		w.Uint64(r.Steps)
		w.Fixed(r.Origin[:])
	}
	return w.Bytes()
}

// DecodeRecord decodes a message that Encode has encoded.
func DecodeRecord(b []byte) (Record, error) {
	r := wire.NewReader(b)
	var m Record
	r.Fixed(m.Head[:])
	m.Asks = r.Bool()
	r.Fixed(m.Nonce[:])
	if r.Len() > 0 {
		if m.Steps = r.Uint64(); m.Steps == 0 {
			r.Fail(errors.New("the record has an origin and no steps"))
		}
		r.Fixed(m.Origin[:])
	}
	return m, r.Close("control: record")
}
