package control

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Record carries the head of a party's audit record: the hash of its last line. A party tells its head
// before it accepts a session and after it has closed a job, and the coordinator keeps the last one. A
// party that was restored from a backup asks for it: if the backup is older than what the party has done
// since, the head is in no line of the restored record.
type Record struct {
	Head [sha256.Size]byte // zero in a question, and in the answer if the coordinator knows none
	Asks bool
	// Nonce is random in a question and the same in its answer, so that nobody can repeat an old answer.
	Nonce [32]byte
}

// RecordTopic returns the session id under which Record messages are sent.
func RecordTopic() protocol.SessionID { return sha256.Sum256([]byte("mercer/v1/record")) }

// Encode returns the canonical encoding of the message.
func (r Record) Encode() []byte {
	var w wire.Writer
	w.Fixed(r.Head[:])
	w.Bool(r.Asks)
	w.Fixed(r.Nonce[:])
	return w.Bytes()
}

// DecodeRecord decodes a message that Encode has encoded.
func DecodeRecord(b []byte) (Record, error) {
	r := wire.NewReader(b)
	var m Record
	r.Fixed(m.Head[:])
	m.Asks = r.Bool()
	r.Fixed(m.Nonce[:])
	return m, r.Close("control: record")
}
