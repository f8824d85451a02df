package control

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// MaxHoldings bounds the holdings in one message. A party with more holdings sends several
// messages.
const MaxHoldings = 1024

// Holding describes a job whose state a party holds.
type Holding struct {
	Job job.ID
	// Open is true if the job is open at the party: the party has sessions of the job with their secrets,
	// or the job awaits approval. Otherwise the job has ended, and the party has retained state.
	Open bool
}

// Holdings lists the jobs whose state a party holds. With this list the party asks whether the jobs
// are closed or forgotten, because the message about this may have been lost. The coordinator sends
// Closing or Forget again for each such job, and Closing for an open job that it does not have. It does
// not answer about other jobs.
type Holdings []Holding

// HoldingsTopic returns the session id under which Holdings messages are sent.
func HoldingsTopic() protocol.SessionID { return sha256.Sum256([]byte("mercer/v1/holdings")) }

// Encode returns the canonical encoding of the list.
func (h Holdings) Encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(len(h)))
	for _, one := range h {
		w.Fixed(one.Job[:])
		w.Bool(one.Open)
	}
	return w.Bytes()
}

// DecodeHoldings decodes a list that Encode has encoded.
func DecodeHoldings(b []byte) (Holdings, error) {
	r := wire.NewReader(b)
	h := make(Holdings, r.Count(MaxHoldings, 17))
	for i := range h {
		r.Fixed(h[i].Job[:])
		h[i].Open = r.Bool()
	}
	return h, r.Close("control: holdings")
}
