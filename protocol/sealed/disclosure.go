package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// These are the kinds of the last messages.
const (
	kindToken = "Token" // the sender has accepted all sums
	kindPart  = "Part"  // the part of W that the receiver lacks, with all tokens
)

// disclosure shows the weights to all three keepers, or to none: a keeper shows parts of W only if it has the tokens of
// all, and it sends the tokens along. From its beginning a keeper does not give up.
type disclosure struct {
	*check // holds the commitments, parts and salts, and queues messages
	tokens [3]secret
	known  [3]bool        // whether each keeper's token is known
	parcel [3]*parcel     // messages with a part, by sender
	taken  [3]bool        // whether takePart has taken each sender's message with a part
	lacked []ring128.Word // the part that this keeper did not hold; nil before it arrives
	shown  int            // 0 before this keeper's tokens are queued, 1 before its parts are, then 2
}

func newDisclosure(k *check) *disclosure {
	o := &disclosure{check: k}
	o.tokens[k.self], o.known[k.self] = k.secret("token"), true
	for _, from := range k.self.others() {
		o.parcel[from] = newParcel(o.partBytes())
	}
	return o
}

// partBytes is the length of a message with a part: tokens, salt, words.
func (c computation) partBytes() int { return 4*len(secret{}) + c.vectors()*ring128.Bytes }

func (o *disclosure) done() bool { return o.lacked != nil && o.shown == 2 }

// weights returns F + V_a + V_b.
func (o *disclosure) weights() []ring128.Word {
	sum := slices.Clone(o.lacked)
	for _, p := range o.self.parts() {
		ring128.Add(sum, o.held[p].weights)
	}
	return sum
}

func (o *disclosure) receive(from role, m protocol.Message) error {
	at := int(m.Round) - o.steps() - len(o.course)
	switch {
	case at == 0 && m.Kind == kindToken && m.Chunks == 1:
		return o.receiveToken(from, m)
	case at == 1 && m.Kind == kindPart:
		return o.parcel[from].accept(m)
	}
	return m.Unexpected()
}

func (o *disclosure) receiveToken(from role, m protocol.Message) error {
	if len(m.Body) != len(secret{}) {
		return m.Inconsistent("the token has %d bytes; it must have %d", len(m.Body), len(secret{}))
	}
	if !o.learn(from, secret(m.Body)) {
		return m.Inconsistent("the token is not the one that the sender committed to")
	}
	return nil
}

// learn takes a keeper's token, and reports whether it is the committed one.
func (o *disclosure) learn(of role, token secret) bool {
	if o.commit("token", of, token) != o.commitments[of].token {
		return false
	}
	o.tokens[of], o.known[of] = token, true
	return true
}

// work posts what is due and takes parts that have arrived. It reports whether it did anything.
func (o *disclosure) work() (bool, error) {
	for _, from := range o.self.others() {
		if !o.taken[from] && o.parcel[from].complete() {
			o.taken[from] = true
			return true, o.takePart(from, o.parcel[from].body)
		}
	}
	switch {
	case o.shown == 0:
		for _, to := range o.self.others() {
			o.post(to, len(o.course), kindToken, slices.Clone(o.tokens[o.self][:]))
		}
	case o.shown == 1 && o.known == [3]bool{true, true, true}:
		for _, to := range o.self.others() {
			o.post(to, len(o.course)+1, kindPart, o.show(to.lacks()))
		}
	default:
		return false, nil
	}
	o.shown++
	return true, nil
}

// show returns the message with a part.
func (o *disclosure) show(p part) []byte {
	var w wire.Writer
	for i := range o.tokens {
		w.Fixed(o.tokens[i][:])
	}
	salt := o.salt(p)
	w.Fixed(salt[:])
	return ring128.Append(w.Bytes(), o.held[p].weights)
}

// takePart takes another keeper's message with a part. The part counts only if it fits the hash that both its holders
// sent before coins were tossed. The other holder also sends the part, so takePart drops a wrong one without an error.
func (o *disclosure) takePart(from role, body []byte) error {
	r := wire.NewReader(body)
	for of := range o.tokens {
		var token secret
		r.Fixed(token[:])
		o.learn(role(of), token)
	}
	var salt secret
	r.Fixed(salt[:])
	words := make([]ring128.Word, o.vectors())
	if err := ring128.Decode(words, r.Rest()); err != nil {
		return err
	}
	if lacking := o.self.lacks(); o.hash(lacking, salt, words) == o.commitments[from].hashes[lacking] {
		o.lacked = words
	}
	return nil
}
