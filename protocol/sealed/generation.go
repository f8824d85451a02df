package sealed

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// A keeper whose journal is lost begins another generation of the session: see "Restarts and attempts" in the package's
// comment. Its contributions tell the other keepers.

// kindAnew is the kind of the message by which a keeper that has lost its journal asks a data party that is no keeper
// for the upload again.
const kindAnew = "Anew"

// generations is the number of generations that a session can have: the first, and one that each keeper begins. A
// keeper takes part in two of them at most.
const generations = 4

// begins returns the generation that a keeper begins if its journal is lost.
func (r role) begins() uint32 { return uint32(r) + 1 }

// lostError ends a session after another keeper has lost its journal, if this keeper cannot let the session begin
// anew (a new generation).
type lostError struct{ keeper, why string }

func (e *lostError) Error() string {
	return fmt.Sprintf("sealed: %s lost its journal of the session; submit the job again (%s)", e.keeper, e.why)
}

// Public implements fault's notice: the text holds a name and what all keepers know.
func (e *lostError) Public() string { return e.Error() }

// isContribution reports whether a message has the form of a keeper's contribution.
func isContribution(m protocol.Message) bool {
	return m.Kind == kindContribution && m.Round == 0 && m.Chunks == 1 && len(m.Body) == len(secret{})
}

// elsewhere returns the role of the sender of h, and whether h is a keeper's message of another generation than this
// keeper's. Messages of uploads do not count.
func (k *keeping) elsewhere(h protocol.Header) (from role, is bool) {
	from = role(slices.Index(k.keepers[:], h.Sender))
	other := from >= 0 && from != k.self && h.Sequence != k.generation
	return from, other && h.Kind != kindUpload && h.Kind != kindMasked && k.admit(h, k.self) == nil
}

// receiveElsewhere takes a message of another generation. Honest keepers can still send messages of the first
// generation, and can contribute to a generation before this keeper hears from the keeper that began it. This keeper
// drops messages of a generation in which it takes no part, because the sender does not know that.
func (k *keeping) receiveElsewhere(from role, m protocol.Message) error {
	switch contributes := isContribution(m); {
	case m.Sequence == 0:
		return protocol.ErrPast
	case contributes && m.Sequence == from.begins():
		return k.follow(from, m)
	case m.Sequence >= generations || m.Sequence == k.self.begins():
		return m.Unexpected()
	case k.generation == k.self.begins():
		return protocol.ErrPast // it may have taken part, and has forgotten it
	case !contributes:
		return m.Unexpected()
	case k.generation == 0 && !k.tossed():
		return protocol.ErrLater
	}
	return protocol.ErrPast
}

// follow begins the generation of a keeper whose journal is lost. If this keeper has begun another generation or shown
// its coins, follow returns an error that ends the session. After its token this keeper refuses the message and goes
// on.
func (k *keeping) follow(from role, m protocol.Message) error {
	switch {
	case k.revealed():
		return m.Unexpected()
	case k.generation != 0:
		return &lostError{m.Sender, "a session begins anew only once, and this one has begun anew before"}
	case k.tossed():
		return &lostError{m.Sender, "a session does not begin anew after coins are shown"}
	}
	k.generation = from.begins()
	k.gathered = newGathering(k.computation, k.self, k.seed, k.gathered.uploads)
	k.phase, k.stage, k.links = gathers, k.gathered, [3]*covers{}
	if k.own != nil {
		k.own.repeat(from, k.generation)
	}
	return k.gathered.receive(m)
}

// ask queues the messages that ask the data parties that are no keepers for their uploads.
func (k *keeping) ask() {
	for _, party := range k.homes {
		h := k.header(k.self, k.self, 0, kindAnew)
		h.Receiver = party
		k.news = append(k.news, protocol.Message{Header: h})
	}
}

// tossed reports whether the keeper has shown its coins.
func (k *keeping) tossed() bool {
	c, is := k.stage.(*check)
	return k.phase == delivers || is && c.revealed[k.self] != secret{}
}

// repeat sends the upload to a keeper again, byte for byte, in the generation that the keeper has begun.
func (u *upload) repeat(to role, generation uint32) {
	document, words := u.header(to, kindUpload), u.header(to, kindMasked)
	document.Sequence, words.Sequence = generation, generation
	u.waiting = append(u.waiting, newOutflowOf(document, u.encode(to)))
	if to != dealerC {
		u.waiting = append(u.waiting, newOutflow(words, u.masked))
	}
}

// takeAnew sends the upload again to a keeper that has begun a generation, once.
func (r *receiving) takeAnew(from role, m protocol.Message) error {
	if r.asked[from] || m.Sequence != from.begins() || m.Chunks != 1 || len(m.Body) > 0 {
		return m.Unexpected()
	}
	r.asked[from] = true
	r.own.repeat(from, m.Sequence)
	return nil
}
