package sealed

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// These are the kinds of the check's messages, in the order of its rounds.
const (
	kindMaskedWeights = "MaskedWeights" // between the servers: a share of W less its mask
	kindCommitments   = "Commitments"   // to coins and a token, with hashes of the sender's parts of W
	kindCoins         = "Coins"
	kindClaims        = "Claims" // to the checker: y, q_j, q; to both: a commitment to a challenge
	kindChallenge     = "Challenge"
	kindAnswers       = "Answers" // of the helper to the checker: v, v', o
	kindVerdict       = "Verdict" // of a checker: whether it accepts its cross terms
	kindResidual      = "Residual"
	kindRange         = "Range"
)

// secret is 32 random bytes that a keeper commits to and reveals later.
type secret [32]byte

// check lets three keepers find out whether their shares of W solve the problem, by 40 blurred sums of the residual and
// as many of W, and then opens W. It is the part of the package's comment from "The weights" to "Opening".
//
// Its owner drives it as it does a [server]. In each round every keeper sends its messages, waits for those of the
// others, and takes them together. Whatever a take finds wrong ends the session.
type check struct {
	computation
	self   role
	seed   [32]byte        // of this keeper alone
	pairs  [parts][32]byte // seeds of the two pairs that this keeper belongs to, by the part that they hold
	held   [parts]holding  // of its two parts
	share  []ring128.Word  // of the weights, at a server
	bounds [2]ring128.Word // of sums of R and of W, in units, both even
	course []round
	at     int // round
	sent   bool
	in     [3]*parcel // by sender
	out    []protocol.Message

	commitments [3]commitments
	revealed    [3]secret // coins
	coins       coins
	coinsDigest [32]byte
	masks       [parts]proofMasks // by prover, of the terms in which this keeper is prover or helper
	claims      [parts]claims     // by prover, of the terms in which it is prover or checker
	challenge   struct {
		commitments [3][32]byte
		all         challenges
		digest      [32]byte
	}
	verdict byte
	totals  [2][parts][CheckSums]ring128.Word // of R and W, of its two parts
	opening *disclosure                       // after all sums are accepted
}

// exchange is what each keeper sends each other one in a round of the check.
type exchange struct {
	kind   string
	length func(from, to role) int // bytes of a message; 0 for none
}

// exchanges returns those of all rounds before the opening.
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

// fixed is the length of messages that every keeper sends both others.
func fixed(n int) func(from, to role) int { return func(_, _ role) int { return n } }

// round is an exchange, what a keeper sends in it, and what it does with the messages of the other two.
type round struct {
	exchange
	body func(to role) []byte
	take func(bodies [3][]byte) error // by role
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
	k.bounds = [2]ring128.Word{ring128.FromInt64(int64(bounds.ResidualUnits)), ring128.FromInt64(int64(bounds.WeightsUnits))}
	for _, p := range self.parts() {
		k.pairs[p] = links[p.otherHolder(self)].seed
		words := in.parts[p]
		if len(words) != c.inputWords() {
			return nil, fmt.Errorf("sealed: there are %d words of the uploads; %d features and %d targets have %d", len(words), c.problem.Features, c.problem.Targets, c.inputWords())
		}
		k.held[p] = holding{matrix: ring128.Symmetric(c.problem.Features, words[:c.triangle()]), cross: words[c.triangle():]}
		if p != masked {
			k.held[p].weights = make([]ring128.Word, c.vectors())
			ring128.Draw(k.held[p].weights, prg.New(k.pairs[p], "mercer/v1/sealed/weights"))
		}
	}
	k.course = k.rounds()
	k.await()
	return k, nil
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

// await prepares for the messages of the current round.
func (k *check) await() {
	k.sent = false
	if k.at == len(k.course) {
		return
	}
	for _, from := range k.self.others() {
		k.in[from] = newParcel(k.course[k.at].length(from, k.self))
	}
}

// done reports whether this keeper has the weights and has sent the others what they lack.
func (k *check) done() bool { return k.opening != nil && k.opening.done() && len(k.out) == 0 }

// waits returns whose message of the round is missing. After its token a keeper does not give up: see "Opening" in the
// package's comment.
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

// expectsInCheck reports whether an honest keeper sends such a message of the check before this one begins it: a server
// its weights, and the dealer its commitments.
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

// checkEffort counts a keeper's products: three of a prover, one of a helper, two of the checks at most, each of words of
// 192 bits, and two of its parts.
func (c computation) checkEffort() protocol.Effort {
	product, words := float64(c.problem.Features)*float64(c.vectors()), float64(c.vectors())
	return protocol.Effort{Products: 11 * product, Keystream: (5*24 + 6*CheckSums/4) * words, Hashed: 5 * ring128.Bytes * words}
}

// weights returns the words of W with [Problem.WeightBits], as targets x features. It is for a check that is done.
func (k *check) weights() []ring128.Word { return k.opening.weights() }

// send returns the next message, or false if there is none.
func (k *check) send() (protocol.Message, bool) {
	if len(k.out) == 0 {
		return protocol.Message{}, false
	}
	m := k.out[0]
	k.out = k.out[1:]
	return m, true
}

// post queues a message of a round.
func (k *check) post(to role, round int, kind string, body []byte) {
	k.out = append(k.out, chunked(k.header(k.self, to, k.steps()+round, kind), body)...)
}

// receive takes a message of another keeper. It refuses what does not belong to this generation and round, and names
// the sender. [protocol.ErrLater] is for messages of later rounds: a keeper may be one round ahead.
func (k *check) receive(m protocol.Message) error {
	from, err := k.admitKeeper(m.Header, k.self)
	if err != nil {
		return err
	}
	at := int(m.Round) - k.steps()
	switch {
	case k.opening != nil:
		return k.opening.receive(from, m)
	case at == len(k.course) && m.Kind == kindToken:
		return protocol.ErrLater
	case at < k.at || at >= len(k.course) || m.Kind != k.course[at].kind || k.course[at].length(from, k.self) == 0:
		return m.Unexpected()
	case at > k.at:
		return protocol.ErrLater
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
	case !k.sent:
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
	k.at++
	k.await()
	if k.at == len(k.course) {
		k.opening = newDisclosure(k)
	}
	return true, nil
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

// blame is an error for a message of the current round that contradicts an earlier one of the same keeper.
func (k *check) blame(from role, format string, args ...any) error {
	return k.header(from, k.self, k.steps()+k.at, k.course[k.at].kind).Inconsistent(format, args...)
}

// checkError ends a check in which somebody lied or computed wrongly, and it is not known who.
type checkError struct{ reason string }

func (e *checkError) Error() string { return "sealed: the check of the weights failed: " + e.reason }

// Public implements fault's notice: the reason holds names and public facts only.
func (e *checkError) Public() string { return e.Error() }

func checkFailed(format string, args ...any) error {
	return &checkError{fmt.Sprintf(format, args...)}
}

// The weights

func (c computation) weightsLength(from, to role) int {
	if from == dealerC || to == dealerC {
		return 0
	}
	return c.vectors() * ring128.Bytes
}

// weightsBody returns the share of W less the mask of this server: F_a or F_b.
func (k *check) weightsBody(role) []byte {
	return ring128.Append(nil, k.openedShare())
}

func (k *check) openedShare() []ring128.Word {
	own := slices.Clone(k.share)
	ring128.Sub(own, k.held[k.self.parts()[0]].weights)
	return own
}

func (k *check) takeWeights(bodies [3][]byte) error {
	if k.self == dealerC {
		return nil
	}
	words := make([]ring128.Word, k.vectors())
	if err := ring128.Decode(words, bodies[1-k.self]); err != nil {
		return err
	}
	ring128.Add(words, k.openedShare())
	k.held[masked].weights = words
	return nil
}

// The commitments

// commitments are what a keeper binds itself to before coins are tossed. It sends the same to both others.
type commitments struct {
	hashes       [parts][sha256.Size]byte // of its two parts of W
	coins, token [sha256.Size]byte
}

const commitmentsBytes = 4 * sha256.Size

func (c commitments) encode(of role) []byte {
	var w wire.Writer
	for _, p := range of.parts() {
		w.Fixed(c.hashes[p][:])
	}
	w.Fixed(c.coins[:])
	w.Fixed(c.token[:])
	return w.Bytes()
}

func decodeCommitments(body []byte, of role) (c commitments, err error) {
	r := wire.NewReader(body)
	for _, p := range of.parts() {
		r.Fixed(c.hashes[p][:])
	}
	r.Fixed(c.coins[:])
	r.Fixed(c.token[:])
	return c, r.Close("sealed: commitments")
}

// label begins what is hashed for one purpose in this generation.
func (c computation) label(purpose string) *wire.Writer {
	w := new(wire.Writer)
	w.String("mercer/v1/sealed/" + purpose)
	w.Fixed(c.session[:])
	w.Uint32(c.generation)
	return w
}

// commit returns the commitment of a keeper to a secret for a purpose.
func (c computation) commit(purpose string, sender role, of secret) [sha256.Size]byte {
	w := c.label("commitment/" + purpose)
	w.Uint8(uint8(sender))
	w.Fixed(of[:])
	return sha256.Sum256(w.Bytes())
}

// secret returns this keeper's bytes for a purpose.
func (k *check) secret(purpose string) secret {
	return prg.Derive(k.seed, "sealed/"+purpose, k.label(purpose).Bytes())
}

// salt returns what the two holders of a part of W add to its hash, so that the third keeper cannot try guesses of W.
func (k *check) salt(of part) secret { return prg.Derive(k.pairs[of], "sealed/weights/salt") }

// hash binds to a part of W.
func (c computation) hash(of part, salt secret, words []ring128.Word) (sum [sha256.Size]byte) {
	w := c.label("weights")
	w.String(of.name())
	w.Fixed(salt[:])
	h := sha256.New()
	_, _ = h.Write(w.Bytes()) // a hash never fails
	_, _ = h.Write(ring128.Append(make([]byte, 0, len(words)*ring128.Bytes), words))
	h.Sum(sum[:0])
	return sum
}

func (k *check) own() (c commitments) {
	for _, p := range k.self.parts() {
		c.hashes[p] = k.hash(p, k.salt(p), k.held[p].weights)
	}
	c.coins = k.commit("coins", k.self, k.secret("coins"))
	c.token = k.commit("token", k.self, k.secret("token"))
	return c
}

func (k *check) commitmentsBody(role) []byte {
	k.commitments[k.self] = k.own()
	return k.commitments[k.self].encode(k.self)
}

// takeCommitments compares the hashes of each part by its two holders. So all honest keepers mean one W from here on.
func (k *check) takeCommitments(bodies [3][]byte) (err error) {
	for _, from := range k.self.others() {
		if k.commitments[from], err = decodeCommitments(bodies[from], from); err != nil {
			return err
		}
	}
	for p := range part(parts) {
		holders := p.holders()
		if k.commitments[holders[0]].hashes[p] == k.commitments[holders[1]].hashes[p] {
			continue
		}
		for i, h := range holders {
			if h == k.self {
				return k.blame(holders[1-i], "it has another part of the weights (%s)", p.name())
			}
		}
		return checkFailed("%s and %s have different parts of the weights (%s)", k.keepers[holders[0]], k.keepers[holders[1]], p.name())
	}
	return nil
}

// holders returns the two keepers that hold a part.
func (p part) holders() [2]role {
	return [...][2]role{{serverA, dealerC}, {serverB, dealerC}, {serverA, serverB}}[p]
}

// otherHolder returns the keeper that holds a part together with the given one.
func (p part) otherHolder(r role) role {
	if h := p.holders(); h[0] != r {
		return h[0]
	}
	return p.holders()[1]
}

// The coins

func (k *check) coinsBody(role) []byte {
	k.revealed[k.self] = k.secret("coins")
	return slices.Clone(k.revealed[k.self][:])
}

// takeCoins tosses the coins, and computes this keeper's claims.
func (k *check) takeCoins(bodies [3][]byte) error {
	for _, from := range k.self.others() {
		k.revealed[from] = secret(bodies[from])
		if k.commit("coins", from, k.revealed[from]) != k.commitments[from].coins {
			return k.blame(from, "its coins are not the committed ones")
		}
	}
	k.coins = coins{seed: k.together("coins", k.revealed), n: k.vectors()}
	k.coinsDigest = k.digestOfCoins()
	for _, t := range crossTerms {
		if k.self == t.prover || k.self == t.helper {
			k.masks[t.prover] = newProofMasks(k.pairs[t.other], t, k.coinsDigest, k.vectors())
		}
		if k.self == t.prover {
			k.claims[t.prover] = newClaims(k.held[t.known], k.held[t.other], k.coins, k.masks[t.prover])
		}
	}
	return nil
}

// together returns the hash of the keepers' bytes, which is random if one of them is honest and nobody could choose its
// bytes by those of another.
func (c computation) together(purpose string, of [3]secret) [32]byte {
	w := c.label("together/" + purpose)
	for _, s := range of {
		w.Fixed(s[:])
	}
	return sha256.Sum256(w.Bytes())
}

// digestOfCoins is that of all commitments and coins. Keepers compare it, since one could show two others different ones.
func (k *check) digestOfCoins() [32]byte {
	w := k.label("digest/coins")
	for r, c := range k.commitments {
		w.Fixed(c.encode(role(r)))
		w.Fixed(k.revealed[r][:])
	}
	return sha256.Sum256(w.Bytes())
}

// The cross terms

// claimsLength: both others get a commitment to the challenge and the digest, and the checker the claims.
func claimsLength(from, to role) int {
	n := 2 * sha256.Size
	if crossTerms[from].checker == to {
		n += claimsBytes
	}
	return n
}

func (k *check) claimsBody(to role) []byte {
	k.challenge.commitments[k.self] = k.commit("challenge", k.self, k.secret("challenge"))
	var w wire.Writer
	w.Fixed(k.challenge.commitments[k.self][:])
	w.Fixed(k.coinsDigest[:])
	if crossTerms[k.self].checker == to {
		w.Fixed(k.claims[k.self].encode())
	}
	return w.Bytes()
}

func (k *check) takeClaims(bodies [3][]byte) error {
	for _, from := range k.self.others() {
		r := wire.NewReader(bodies[from])
		r.Fixed(k.challenge.commitments[from][:])
		if err := k.compare(r, k.coinsDigest, from); err != nil {
			return err
		}
		if crossTerms[from].checker == k.self {
			k.claims[from] = readClaims(r)
		}
		if err := r.Close("sealed: claims"); err != nil {
			return err
		}
	}
	return nil
}

// compare reads another keeper's digest.
func (k *check) compare(r *wire.Reader, own [32]byte, from role) error {
	var theirs [32]byte
	if r.Fixed(theirs[:]); theirs != own {
		return checkFailed("%s has seen other commitments, coins or challenges than %s", k.keepers[from], k.keepers[k.self])
	}
	return nil
}

func (k *check) challengeBody(role) []byte {
	own := k.secret("challenge")
	return own[:]
}

// takeChallenges makes the challenges of the three keepers' bytes.
func (k *check) takeChallenges(bodies [3][]byte) error {
	revealed := [3]secret{}
	revealed[k.self] = k.secret("challenge")
	for _, from := range k.self.others() {
		revealed[from] = secret(bodies[from])
		if k.commit("challenge", from, revealed[from]) != k.challenge.commitments[from] {
			return k.blame(from, "its challenge is not the committed one")
		}
	}
	k.challenge.all = newChallenges(k.together("challenge", revealed))
	w := k.label("digest/challenges")
	w.Fixed(k.coinsDigest[:])
	for r := range revealed {
		w.Fixed(k.challenge.commitments[r][:])
		w.Fixed(revealed[r][:])
	}
	k.challenge.digest = sha256.Sum256(w.Bytes())
	return nil
}

// helped returns the term in which from is the helper of to, if there is one.
func helped(from, to role) (crossTerm, bool) {
	for _, t := range crossTerms {
		if t.helper == from && t.checker == to {
			return t, true
		}
	}
	return crossTerm{}, false
}

func (c computation) answersLength(from, to role) int {
	n := sha256.Size
	if _, ok := helped(from, to); ok {
		n += answersBytes(c.vectors())
	}
	return n
}

func (k *check) answersBody(to role) []byte {
	var w wire.Writer
	w.Fixed(k.challenge.digest[:])
	if t, ok := helped(k.self, to); ok {
		a := newAnswers(k.held[t.other], k.coins, k.challenge.all, k.masks[t.prover])
		w.Fixed(a.encode(k.vectors()))
	}
	return w.Bytes()
}

// takeAnswers compares digests and then judges the terms that this keeper checks.
func (k *check) takeAnswers(bodies [3][]byte) error {
	for _, from := range k.self.others() {
		if err := k.compare(wire.NewReader(bodies[from]), k.challenge.digest, from); err != nil {
			return err
		}
	}
	k.verdict = 1
	for _, from := range k.self.others() {
		t, ok := helped(from, k.self)
		if !ok {
			continue
		}
		a, err := decodeAnswers(bodies[from][sha256.Size:], k.vectors())
		if err != nil {
			return err
		}
		if !k.challenge.all.accepts(k.held[t.known], k.coins, k.claims[t.prover], a) {
			k.verdict = 0
		}
	}
	return nil
}

// verdictLength: the dealer checks no term.
func verdictLength(from, _ role) int {
	if from == dealerC {
		return 0
	}
	return 1
}

func (k *check) verdictBody(role) []byte { return []byte{k.verdict} }

// takeVerdicts goes on only if both checkers accept, and computes this keeper's totals.
func (k *check) takeVerdicts(bodies [3][]byte) error {
	if k.self != dealerC {
		bodies[k.self] = []byte{k.verdict}
	}
	for _, from := range []role{serverA, serverB} {
		if bodies[from][0] != 1 {
			return checkFailed("%s does not accept a proof; its prover or its helper is at fault", k.keepers[from])
		}
	}
	for _, p := range k.self.parts() {
		k.totals[0][p] = k.coins.sums(k.residual(k.held[p]))
		k.totals[1][p] = k.coins.sums(k.held[p].weights)
		k.addTerms(p)
		for of, name := range []string{kindResidual, kindRange} {
			for j, e := range noise(k.pairs[p], name, k.coinsDigest, k.bounds[of]) {
				k.totals[of][p][j] = k.totals[of][p][j].Add(e)
			}
		}
	}
	return nil
}

// addTerms adds what both holders of a part know of cross terms: y of the term of which it is the known part, and -w of
// the term of which it is the other one.
func (k *check) addTerms(p part) {
	for _, t := range crossTerms {
		for j := range k.totals[0][p] {
			total := &k.totals[0][p][j]
			switch p {
			case t.known:
				*total = total.Add(k.claims[t.prover].sums[j].Reduce())
			case t.other:
				*total = total.Sub(k.masks[t.prover].claims[j].Reduce())
			}
		}
	}
}

// batch is a number of sums that are opened together: of R, or of W.
type batch struct {
	*check
	of       int // 0 for R, 1 for W
	first, n int
}

// body returns the totals of the part that the receiver lacks.
func (b batch) body(to role) []byte {
	return ring128.Append(nil, b.totals[b.of][to.lacks()][b.first:b.first+b.n])
}

// take adds up the totals of all parts. Both holders of the part that this keeper lacks have sent its totals.
func (b batch) take(bodies [3][]byte) error {
	others := b.self.others()
	if !slices.Equal(bodies[others[0]], bodies[others[1]]) {
		return checkFailed("%s and %s send %s different totals", b.keepers[others[0]], b.keepers[others[1]], b.keepers[b.self])
	}
	sums := make([]ring128.Word, b.n)
	if err := ring128.Decode(sums, bodies[others[0]]); err != nil {
		return err
	}
	for _, p := range b.self.parts() {
		ring128.Add(sums, b.totals[b.of][p][b.first:b.first+b.n])
	}
	for _, d := range sums {
		if !within(d, b.bounds[b.of]) {
			return checkFailed("%s", [...]string{"they do not solve the equations of the sums", "they are larger than any rows make them"}[b.of])
		}
	}
	return nil
}
