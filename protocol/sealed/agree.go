package sealed

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// kindInputs is the kind of a keeper's message with the digests of the problem and of all uploads' documents.
const kindInputs = "Inputs"

// agreement lets the keepers compare the problem, its plan and the documents of all uploads before a keeper sends words
// of the computation. Otherwise a party could show two keepers different commitments.
type agreement struct {
	computation
	self      role
	documents []seen
	agreed    [3]bool // whether each keeper has the same digests, by role
	to        role    // receiver of the next message
}

func newAgreement(c computation, self role, documents []seen) agreement {
	a := agreement{computation: c, self: self, documents: documents}
	a.agreed[self] = true
	return a
}

// digest returns the SHA-256 of the problem, its plan and noise, and the number of the generation.
func (c computation) digest() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/sealed/problem")
	w.Uint32(c.generation)
	for _, n := range []int{c.problem.Rows, c.problem.Features, c.problem.Targets, c.problem.Plan.Steps, c.problem.Plan.Block} {
		w.Uint64(uint64(n))
	}
	w.Uint64(uint64(c.problem.Ridge))
	if c.problem.noise != nil {
		c.problem.noise.appendTo(&w)
	}
	return sha256.Sum256(w.Bytes())
}

// documentError says that two keepers have different documents of a party. If the party has signed both documents, the
// party is at fault. If the other keeper cannot show a second signed document, that keeper is at fault.
type documentError struct{ party, keeper string }

func (e *documentError) Error() string {
	return fmt.Sprintf("sealed: keeper %q has another document of %q's upload than this keeper; the signatures show who is at fault", e.keeper, e.party)
}

// reached reports whether all three keepers have the same digests.
func (a *agreement) reached() bool { return a.agreed == [3]bool{true, true, true} }

// waits returns the first keeper whose digests have not arrived.
func (a *agreement) waits() wait {
	for r, agreed := range a.agreed {
		if !agreed {
			return wait{TimerKeeper, a.keepers[r], "the digests of the problem and the uploads"}
		}
	}
	return wait{}
}

// send returns the next message to another keeper, or false after the messages to both others.
func (a *agreement) send() (protocol.Message, bool) {
	if a.to == a.self {
		a.to++
	}
	if a.to > dealerC {
		return protocol.Message{}, false
	}
	m := protocol.Message{Header: a.header(a.self, a.to, 0, kindInputs), Body: a.encode()}
	a.to++
	return m, true
}

func (a *agreement) encode() []byte {
	var w wire.Writer
	digest := a.digest()
	w.Fixed(digest[:])
	for _, d := range a.documents {
		w.Fixed(d.digest[:])
	}
	return w.Bytes()
}

// decodeInputs decodes the digests of the problem and of the documents of a known number of parties.
func decodeInputs(body []byte, parties int) (problem [sha256.Size]byte, documents [][sha256.Size]byte, err error) {
	r := wire.NewReader(body)
	r.Fixed(problem[:])
	documents = make([][sha256.Size]byte, parties)
	for i := range documents {
		r.Fixed(documents[i][:])
	}
	return problem, documents, r.Close("sealed: inputs")
}

// receive takes another keeper's digests. It returns a [*documentError] if they differ in an upload's document.
func (a *agreement) receive(from role, m protocol.Message) error {
	if a.agreed[from] || m.Round != 0 || m.Chunks != 1 {
		return m.Unexpected()
	}
	problem, documents, err := decodeInputs(m.Body, len(a.documents))
	if err != nil {
		return m.Malformed(err)
	}
	if problem != a.digest() {
		return m.Inconsistent("the digest of the problem and its plan differs from this keeper's")
	}
	for i, d := range a.documents {
		if documents[i] != d.digest {
			return &documentError{party: d.party, keeper: m.Sender}
		}
	}
	a.agreed[from] = true
	return nil
}
