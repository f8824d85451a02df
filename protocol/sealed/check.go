package sealed

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// These are the kinds of the check's messages, in the order of its rounds.
const (
	kindMaskedWeights = "MaskedWeights" // between the servers: a share of W less its mask
	kindCommitments   = "Commitments"   // commitments to coins and a token, and hashes of the sender's parts of W
	kindCoins         = "Coins"
	kindClaims        = "Claims" // to the checker: y, q_j, q; to both others: a commitment to a challenge, digest of coins
	kindChallenge     = "Challenge"
	kindAnswers       = "Answers" // from the helper to the checker: v, v', o; to both others: digest of challenges
	kindVerdict       = "Verdict" // from a checker: whether it accepts its cross terms
	kindResidual      = "Residual"
	kindRange         = "Range"
)

// secret is 32 random bytes that a keeper commits to and reveals later.
type secret [32]byte

// check lets three keepers find out whether their shares of W solve the problem, by 40 blurred sums of the residual and
// as many of W, and then opens W. It is the part of the package's comment from "The weights" to "Opening".
//
// Its owner drives it as it does a [server]. In each round every keeper sends its messages, waits for the messages of
// the others, and takes them together. Whatever a take finds wrong ends the session. A take leaves its computations for
// the next round as pieces, which run before that round begins.
type check struct {
	computation
	self   role
	seed   [32]byte        // seed of this keeper alone
	pairs  [parts][32]byte // seeds of the two pairs that this keeper belongs to, by the part that the pair holds
	held   [parts]holding  // holdings of the keeper's two parts
	share  []ring128.Word  // share of the weights, at a server
	bounds [2]ring128.Word // bounds of sums of R and of W, in units, both even
	course []round
	pieces pieces     // computations that are left before the round goes on
	at     int        // index of the current round
	sent   bool       // whether the messages of the round are queued
	in     [3]*parcel // messages of the current round, by sender
	ahead  [3]*parcel // messages of the next round, by sender
	out    queue

	commitments [3]commitments
	revealed    [3]secret // coins of each keeper
	coins       coins
	coinsDigest [32]byte
	masks       [parts]*proofMasks // masks of the terms in which this keeper is prover or helper, by prover
	claims      [parts]*claims     // claims of the terms in which this keeper is prover or checker, by prover
	answers     [parts]*answers    // answers of the terms in which this keeper is helper, by prover
	challenge   struct {
		commitments [3][32]byte
		all         challenges
		digest      [32]byte
	}
	verdict byte
	totals  [2][parts][CheckSums]ring128.Word // totals of R and of W, for the keeper's two parts
	opening *disclosure                       // nil before all sums are accepted
}

// exchange describes the messages of one round of the check.
type exchange struct {
	kind   string
	length func(from, to role) int // bytes of a message; 0 for none
}

// exchanges returns the exchanges of all rounds before the opening.
func (c computation) exchanges() []exchange {
	list := []exchange{
		{kindMaskedWeights, c.weightsLength},
		{kindCommitments, fixed(commitmentsBytes)},
		{kindCoins, fixed(len(secret{}))},
		{kindClaims, claimsLength},
		{kindChallenge, fixed(len(secret{}))},
		{kindAnswers, c.answersLength},
		{kindVerdict, verdictLength},
	}
	for _, kind := range []string{kindResidual, kindRange} {
		for _, n := range batches {
			list = append(list, exchange{kind, fixed(n * ring128.Bytes)})
		}
	}
	return list
}

// fixed returns the length function of an exchange in which every keeper sends n bytes to both others.
func fixed(n int) func(from, to role) int { return func(_, _ role) int { return n } }

// round is an exchange, with the functions by which a keeper makes its messages and takes those of the other two.
type round struct {
	exchange
	body func(to role) []byte
	take func(bodies [3][]byte) error // the bodies are indexed by the sender's role
}

// newCheck begins the check of a computation whose servers have their shares of the weights. The dealer has none. The
// links are the sources that this keeper has in common with each other one, by role. All that it draws alone derives
// from its seed.
func newCheck(c computation, self role, in inputs, share []ring128.Word, links [3]*covers, seed [32]byte) (*check, error) {
	if self != dealerC && len(share) != c.vectors() {
		return nil, fmt.Errorf("sealed: there are %d words of the weights; %d features and %d targets have %d", len(share), c.problem.Features, c.problem.Targets, c.vectors())
	}
	bounds, err := c.problem.Bounds()
	if err != nil {
		return nil, err
	}
	k := &check{computation: c, self: self, seed: seed, share: share}
	k.bounds = [2]ring128.Word{{Lo: bounds.ResidualUnits}, {Lo: bounds.WeightsUnits}}
	for _, p := range self.parts() {
		k.pairs[p] = links[p.otherHolder(self)].seed
		words := in.parts[p]
		if len(words) != c.inputWords() {
			return nil, fmt.Errorf("sealed: there are %d words of the uploads; %d features and %d targets have %d", len(words), c.problem.Features, c.problem.Targets, c.inputWords())
		}
		k.held[p] = holding{matrix: k.pieces.symmetric(c.problem.Features, words[:c.triangle()]), cross: words[c.triangle():]}
		if p != masked {
			k.held[p].weights = make([]ring128.Word, c.vectors())
			k.drawWeights(p)
		}
	}
	k.course = k.rounds()
	k.await()
	return k, nil
}

// drawWeights adds a piece that draws the part of W that is a stream of its holders.
func (k *check) drawWeights(p part) {
	k.pieces.then(k.vectors()*wordWork, func() error {
		ring128.Draw(k.held[p].weights, prg.New(k.pairs[p], "mercer/v1/sealed/weights"))
		return nil
	})
}

// lacks returns the part that a keeper does not hold.
func (r role) lacks() part { return [...]part{maskB, maskA, masked}[r] }

// others returns the two other keepers.
func (r role) others() [2]role {
	return [...][2]role{{serverB, dealerC}, {serverA, dealerC}, {serverA, serverB}}[r]
}

func (k *check) rounds() []round {
	bodies := []func(role) []byte{k.weightsBody, k.commitmentsBody, k.coinsBody, k.claimsBody, k.challengeBody, k.answersBody, k.verdictBody}
	takes := []func([3][]byte) error{k.takeWeights, k.takeCommitments, k.takeCoins, k.takeClaims, k.takeChallenges, k.takeAnswers, k.takeVerdicts}
	for of := range k.totals {
		first := 0
		for _, n := range batches {
			b := batch{k, of, first, n}
			bodies, takes = append(bodies, b.body), append(takes, b.take)
			first += n
		}
	}
	var list []round
	for i, e := range k.exchanges() {
		list = append(list, round{e, bodies[i], takes[i]})
	}
	return list
}

// await prepares for the messages of the current round and of the next one, because another keeper can be one ahead.
func (k *check) await() {
	k.sent, k.in = false, k.ahead
	for _, from := range k.self.others() {
		if k.in[from] == nil && k.at < len(k.course) {
			k.in[from] = newParcel(k.course[k.at].length(from, k.self))
		}
		if k.ahead[from] = nil; k.at+1 < len(k.course) {
			k.ahead[from] = newParcel(k.course[k.at+1].length(from, k.self))
		}
	}
}

// done reports whether this keeper has the weights and has sent the others what they lack.
func (k *check) done() bool { return k.opening != nil && k.opening.done() && len(k.out) == 0 }

// waits returns the first keeper whose message of the round is missing. After its token a keeper does not give up: see
// "Opening" in the package's comment.
func (k *check) waits() wait {
	if k.opening != nil || !k.sent || len(k.out) > 0 {
		return wait{}
	}
	for _, from := range k.self.others() {
		if !k.in[from].complete() {
			return wait{TimerKeeper, k.keepers[from], "message " + k.course[k.at].kind + " of the check"}
		}
	}
	return wait{}
}

// expectsInCheck reports whether h is the header of a message of the check's first two rounds. An honest keeper can
// send such a message before this keeper begins the check.
func (c computation) expectsInCheck(from, to role, h protocol.Header) bool {
	at := int(h.Round) - c.steps()
	if at != 0 && at != 1 {
		return false
	}
	e := c.exchanges()[at]
	return h.Kind == e.kind && int64(h.Chunks) == int64(parcelChunks(e.length(from, to)))
}

// addCheck adds the messages of check and opening to a session's cost, and what keepers compute for it. It returns the
// number of messages in the longest chain.
func (c computation) addCheck(cost *protocol.Cost) int {
	list := append(c.exchanges(), exchange{kindToken, fixed(len(secret{}))}, exchange{kindPart, fixed(c.partBytes())})
	for from := range role(parts) {
		for _, to := range from.others() {
			for at, e := range list {
				h, n := c.header(from, to, c.steps()+at, e.kind), e.length(from, to)
				cost.Add(protocol.Flow{From: h.Sender, To: h.Receiver, Round: h.Round, Kind: h.Kind, Messages: parcelChunks(n), Bytes: int64(n)})
			}
		}
		cost.Load(c.keepers[from], protocol.Load{Effort: c.checkEffort()})
	}
	return len(list)
}

// checkEffort estimates a keeper's work in the check: products of words of 192 bits as prover, helper and checker, and
// one product of 128 bits for each of its two parts.
func (c computation) checkEffort() protocol.Effort {
	product, words := float64(c.problem.Features)*float64(c.vectors()), float64(c.vectors())
	return protocol.Effort{Products: 11 * product, Keystream: (5*24 + 6*CheckSums/4) * words, Hashed: 5 * ring128.Bytes * words}
}

// weights returns the words of W with [Problem.WeightBits], as targets x features. It is for a check that is done.
func (k *check) weights() []ring128.Word { return k.opening.weights() }

// send returns the next message, or false if there is none.
func (k *check) send() (protocol.Message, bool) { return k.out.take() }

// post queues a message of a round.
func (k *check) post(to role, round int, kind string, body []byte) {
	k.out.add(newOutflowOf(k.header(k.self, to, k.steps()+round, kind), body))
}

// receive takes a message of another keeper. It refuses what does not belong to this generation and round, and names
// the sender. A message of the next round can come early. For messages of still later rounds it returns
// [protocol.ErrLater]: servers can be two rounds ahead of the dealer, because the dealer sends no verdict. It first
// checks the number of chunks of such a message, so that only few are put back.
func (k *check) receive(m protocol.Message) error {
	from, err := k.admitKeeper(m.Header, k.self)
	if err != nil {
		return err
	}
	at := int(m.Round) - k.steps()
	switch {
	case k.opening != nil:
		return k.opening.receive(from, m)
	case at == len(k.course) && m.Kind == kindToken && m.Chunks == 1:
		return protocol.ErrLater
	case at < k.at || at >= len(k.course) || m.Kind != k.course[at].kind || k.course[at].length(from, k.self) == 0:
		return m.Unexpected()
	case at > k.at+1 && int64(m.Chunks) != int64(parcelChunks(k.course[at].length(from, k.self))):
		return m.Unexpected()
	case at > k.at+1:
		return protocol.ErrLater
	case at > k.at:
		return k.ahead[from].accept(m)
	}
	return k.in[from].accept(m)
}

// work does the next part of the check, and reports whether it did. It waits until all earlier messages are sent. An
// error ends the session.
func (k *check) work() (bool, error) {
	switch {
	case len(k.out) > 0:
		return false, nil
	case k.opening != nil:
		return k.opening.work()
	}
	if did, err := k.pieces.run(); err != nil || len(k.pieces) > 0 {
		return did, err
	}
	if !k.sent {
		k.sendRound()
		return true, nil
	}
	bodies, complete := k.bodies()
	if !complete {
		return false, nil
	}
	if err := k.course[k.at].take(bodies); err != nil {
		return false, err
	}
	k.pieces.then(0, func() error { k.next(); return nil })
	return k.pieces.run()
}

// next begins the next round, or the opening.
func (k *check) next() {
	k.at++
	k.await()
	if k.at == len(k.course) {
		k.opening = newDisclosure(k)
	}
}

func (k *check) sendRound() {
	r := k.course[k.at]
	for _, to := range k.self.others() {
		if r.length(k.self, to) > 0 {
			k.post(to, k.at, r.kind, r.body(to))
		}
	}
	k.sent = true
}

func (k *check) bodies() (bodies [3][]byte, complete bool) {
	for _, from := range k.self.others() {
		if !k.in[from].complete() {
			return bodies, false
		}
		bodies[from] = k.in[from].body
	}
	return bodies, true
}

// blame returns an error that blames a keeper for its message of the current round.
func (k *check) blame(from role, format string, args ...any) error {
	return k.header(from, k.self, k.steps()+k.at, k.course[k.at].kind).Inconsistent(format, args...)
}

// checkError ends a check in which somebody lied or computed wrongly, and it is not known who.
type checkError struct{ reason string }

func (e *checkError) Error() string {
	return "sealed: the check of the weights failed: " + e.reason + ". A keeper has lied or computed wrongly, and nobody has the model; start the job again, or name other keepers"
}

// Public implements fault's notice: the reason holds names and public facts only.
func (e *checkError) Public() string { return e.Error() }

func checkFailed(format string, args ...any) error {
	return &checkError{fmt.Sprintf(format, args...)}
}
