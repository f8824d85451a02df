package control

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// MaxHoldings bounds one message; a party with more holdings sends several.
const MaxHoldings = 1024

// Holding is a job of which a party holds state.
type Holding struct {
	Job job.ID
	// Open: the party has sessions with their secrets. Otherwise the job has ended, with retained
	// state.
	Open bool
}

// Holdings asks the coordinator for the state of a party's jobs, because a closing may have been
// lost. The coordinator repeats Closing or Forget for each job that is due for one, and does not
// answer about other jobs.
type Holdings []Holding

// HoldingsTopic is the session id of Holdings.
func HoldingsTopic() protocol.SessionID { return sha256.Sum256([]byte("mercer/v1/holdings")) }

// Encode returns the canonical encoding.
func (h Holdings) Encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(len(h)))
	for _, one := range h {
		w.Fixed(one.Job[:])
		w.Bool(one.Open)
	}
	return w.Bytes()
}

// DecodeHoldings decodes what Encode wrote.
func DecodeHoldings(b []byte) (Holdings, error) {
	r := wire.NewReader(b)
	h := make(Holdings, r.Count(MaxHoldings, 17))
	for i := range h {
		r.Fixed(h[i].Job[:])
		h[i].Open = r.Bool()
	}
	return h, r.Close("control: holdings")
}
