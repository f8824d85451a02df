package sealed

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// kindInputs is the kind of the keepers' first messages: the digest of what they go on from.
const kindInputs = "Inputs"

// agreement lets the keepers compare what they go on from before a server opens a word: the generation's problem and
// plan, and the documents of all uploads. Otherwise a party could show two keepers different commitments.
type agreement struct {
	computation
	self   role
	digest [sha256.Size]byte
	agreed [3]bool // whether a keeper has sent the same digest
	to     role    // of the next message
}

func newAgreement(c computation, self role, documents [sha256.Size]byte) agreement {
	a := agreement{computation: c, self: self}
	var w wire.Writer
	w.String("mercer/v1/sealed/inputs")
	w.Uint32(c.generation)
	for _, n := range []int{c.problem.Rows, c.problem.Features, c.problem.Targets, c.problem.Plan.Steps, c.problem.Plan.Block} {
		w.Uint64(uint64(n))
	}
	w.Uint64(uint64(c.problem.Ridge))
	w.Fixed(documents[:])
	a.digest = sha256.Sum256(w.Bytes())
	a.agreed[self] = true
	return a
}

// reached reports whether all three keepers go on from the same.
func (a *agreement) reached() bool { return a.agreed == [3]bool{true, true, true} }

// send returns the next message to another keeper, or false if both have one.
func (a *agreement) send() (protocol.Message, bool) {
	if a.to == a.self {
		a.to++
	}
	if a.to > dealerC {
		return protocol.Message{}, false
	}
	m := protocol.Message{Header: a.header(a.self, a.to, 0, kindInputs), Body: a.digest[:]}
	a.to++
	return m, true
}

// receive takes another keeper's digest.
func (a *agreement) receive(from role, m protocol.Message) error {
	if a.agreed[from] || m.Round != 0 || m.Chunks != 1 {
		return m.Unexpected()
	}
	digest, err := decodeDigest(m.Body)
	if err != nil {
		return m.Malformed(err)
	}
	if digest != a.digest {
		return m.Inconsistent("the keeper goes on from another problem or other uploads")
	}
	a.agreed[from] = true
	return nil
}

func decodeDigest(body []byte) (digest [sha256.Size]byte, err error) {
	r := wire.NewReader(body)
	r.Fixed(digest[:])
	return digest, r.Close("sealed: digest")
}
