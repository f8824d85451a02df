package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// phase is the place of a keeper's current stage in a session.
type phase int

const (
	gathers  phase = iota // takes uploads, and contributions to the pairs' seeds
	computes              // computes as a server or the dealer
	checks                // checks the weights, and opens them
	delivers              // sends the weights to the data parties that are no keepers
)

// keeping is a keeper's way through a session, one stage after the other.
type keeping struct {
	computation
	self     role
	homes    []string // the data parties that are no keepers
	phase    phase
	stage    stage
	seed     [32]byte // seed of all random numbers of the keeper but those of its upload
	gathered *gathering
	own      *upload            // nil at a keeper that uploads nothing
	news     []protocol.Message // messages that ask data parties that are no keepers for their uploads
	links    [3]*covers         // source in common with each other keeper, by that keeper's role
	opened   []ring128.Word
}

// newDuty returns a member's work in a session besides sending its upload. The upload is nil for a member that uploads
// nothing.
func newDuty(setup protocol.Setup, p Params, own *upload) duty {
	c := computation{setting: p.setting(setup.Session.ID())}
	self := role(slices.Index(p.Keepers[:], setup.Self))
	if self < 0 {
		return newReceiving(c, own)
	}
	seed := setup.Seed
	if setup.Anew != nil {
		c.generation, seed = self.begins(), *setup.Anew
	}
	uploads := newCollection(c.setting, self, p.uploaders(setup.Session))
	uploads.expect(c.generation)
	if own != nil {
		uploads.of(setup.Self).own(own)
	}
	k := &keeping{computation: c, self: self, seed: seed, gathered: newGathering(c, self, seed, uploads), own: own}
	k.stage = k.gathered
	for _, party := range setup.Session.With(protocol.RoleParty) {
		if !slices.Contains(p.Keepers[:], party) {
			k.homes = append(k.homes, party)
		}
	}
	if setup.Anew != nil {
		k.ask()
	}
	return k
}

func (k *keeping) send() (protocol.Message, bool) {
	if len(k.news) > 0 {
		m := k.news[0]
		k.news = k.news[1:]
		return m, true
	}
	return k.stage.send()
}

// receive passes a message to the current stage. It returns [protocol.ErrLater] for a message of a later stage, because
// another keeper can be ahead of this one.
func (k *keeping) receive(m protocol.Message) error {
	if from, is := k.elsewhere(m.Header); is {
		return k.receiveElsewhere(from, m)
	}
	if k.generation == k.self.begins() { // at any stage a broker can deliver messages from before the journal was lost
		if d := k.gathered.uploads.of(m.Sender); d != nil && d.past(m.Header) {
			return protocol.ErrPast
		}
	}
	if from, err := k.admitKeeper(m.Header, k.self); err == nil && k.comesLater(from, m.Header) {
		return protocol.ErrLater
	}
	return k.stage.receive(m)
}

// comesLater reports whether h is the header of a message of a stage that has not begun.
func (k *keeping) comesLater(from role, h protocol.Header) bool {
	return k.phase < computes && k.expects(from, k.self, h) || k.phase < checks && k.expectsInCheck(from, k.self, h)
}

// work does a piece of the current stage, or begins the next one.
func (k *keeping) work() (bool, error) {
	if k.phase == delivers || !k.stage.done() {
		return k.stage.work()
	}
	next, err := k.next()
	if err != nil {
		return false, err
	}
	k.phase, k.stage = k.phase+1, next
	return true, nil
}

// next returns the stage after the current one, which is done.
func (k *keeping) next() (stage, error) {
	in := k.gathered.uploads.inputs
	switch k.phase {
	case gathers:
		return k.compute(in)
	case computes:
		var share []ring128.Word
		if s, is := k.stage.(*server); is {
			share = s.weights().Data
		}
		return newCheck(k.computation, k.self, in, share, k.links, k.seed)
	}
	opening := k.stage.(*check)
	k.opened = opening.weights()
	return newDelivery(opening, k.homes, k.opened), nil
}

// compute returns the stage in which this keeper is a server or the dealer.
func (k *keeping) compute(in inputs) (stage, error) {
	for r := range k.links {
		if other := role(r); other != k.self {
			k.links[r] = k.gathered.covers(other)
		}
	}
	if k.self == dealerC {
		return newDealer(k.computation, in, k.links[serverA], k.links[serverB])
	}
	return newServer(k.computation, k.self, in, k.links[dealerC], k.links[1-k.self])
}

func (k *keeping) done() bool { return k.phase == delivers && k.stage.done() }

// revealed reports whether the keeper has revealed its token.
func (k *keeping) revealed() bool {
	c, is := k.stage.(*check)
	return k.phase == delivers || is && c.opening != nil
}

func (k *keeping) waits() wait { return k.stage.waits() }

func (k *keeping) weights() []ring128.Word { return k.opened }

// progress reports uploads, then steps of the computation, and then rounds of the check.
func (k *keeping) progress() protocol.Progress {
	switch s := k.stage.(type) {
	case *gathering:
		return protocol.Progress{Stage: "uploads", Done: int64(len(s.uploads.documents)), Total: int64(len(s.uploads.deposits))}
	case *server:
		return protocol.Progress{Stage: "steps", Done: int64(s.step), Total: int64(s.steps())}
	case *dealer:
		return protocol.Progress{Stage: "steps", Done: int64(s.step), Total: int64(s.steps())}
	case *check:
		return protocol.Progress{Stage: "check", Done: int64(s.at), Total: int64(len(s.course))}
	}
	return protocol.Progress{}
}
