package sealed

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// These are the kinds of the keepers' messages in a step. The number of the step is their round.
const (
	kindOpening = "Opening" // between the servers: a share less its cover
	kindDealing = "Dealing" // from the dealer to b: a product or a square of covers (random masks), minus a's share of it
	kindTaken   = "Taken"   // from b to the dealer: b has begun a step, so it has room for words of later ones
)

// operand is a matrix X = E + U_a + U_b at a server, which has E and one mask. Both are symmetric.
type operand struct{ masked, mask ring128.Matrix }

// server is the keeper a or b. It holds one of two shares of each value, and computes the shares of the weights.
//
// Its owner passes it messages by receive, calls work until that has nothing to do, and takes messages by send. It has
// no clock, and no randomness but that of its sources.
type server struct {
	agreement
	covers      source // source in common with the dealer
	cutter      *cutter
	evaluation  *evaluation
	sums        [2][]ring128.Word // triangles of the masked words and of the mask, from which H is made
	power       operand           // the latest T_q(H), at first H
	matrix      operand           // H during the products with H that follow squarings, else nothing
	step        int
	pieces      pieces         // work of the step that is left until it waits for messages
	opened      bool           // whether the step's share has been opened
	share       []ring128.Word // this server's share of the vectors of a product, or of a square
	own         []ring128.Word // the share less its cover; after the opening, the sum of both servers' words
	cover       []ring128.Word // the share's cover; in a square it becomes the mask of the next operand
	peer, dealt *inflow        // the other server's opening; at b, the dealer's words
	arriving    map[arrival]*inflow
	out         outflow
	notes       []protocol.Message // messages to the dealer about steps that b has begun
}

// arrival identifies a message of words that comes to a server.
type arrival struct {
	kind string
	step int
}

// These are the numbers of steps by which a step of received words can be ahead of the server's own step: for the
// dealer's words of a square, the dealer's words of a product, and the other server's words.
const (
	aheadOfSquare  = 2
	aheadOfProduct = 8
	aheadOfPeer    = 1
)

// mayDeal reports whether b has room for the dealer's words of a step while it is in the step now.
func (c computation) mayDeal(now, step int) bool {
	if c.squaring(step) {
		return step <= now+aheadOfSquare
	}
	return step <= now+aheadOfProduct
}

// tells reports whether b tells the dealer that it begins a step: often enough that the dealer never waits for long.
func (c computation) tells(step int) bool {
	return step > 0 && step < c.steps() && (c.squaring(step-1) || step%(aheadOfProduct/2) == 0)
}

// tellsAfter returns the next step after the given one that b tells, or the number of steps.
func (c computation) tellsAfter(step int) int {
	for step++; step < c.steps() && !c.tells(step); {
		step++
	}
	return step
}

// newServer returns a server of a generation. The first source is that with the dealer, the second that with the other
// server.
func newServer(c computation, self role, in inputs, covers, cuts source) (*server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	own, known := in.parts[self.parts()[0]], in.parts[masked]
	if len(own) != c.inputWords() || len(known) != c.inputWords() {
		return nil, fmt.Errorf("sealed: there are %d and %d words of the uploads; %d features and %d targets have %d", len(own), len(known), c.problem.Features, c.problem.Targets, c.inputWords())
	}
	s := &server{agreement: newAgreement(c, self, in.documents), covers: covers, cutter: newCutter(self, cuts), arriving: map[arrival]*inflow{}}
	cross := slices.Clone(own[c.triangle():])
	if self == serverA {
		ring128.Add(cross, known[c.triangle():])
	}
	var err error
	if s.evaluation, err = newEvaluation(c.problem, cross, s.cutter.cut); err != nil {
		return nil, err
	}
	s.sums = [2][]ring128.Word{known[:c.triangle()], own[:c.triangle()]}
	s.power = s.spread()
	s.await()
	return s, s.cutter.err
}

// spread returns H, which the next pieces make of the sums' triangles.
func (s *server) spread() operand {
	n := s.problem.Features
	h := operand{s.pieces.symmetric(n, s.sums[0]), s.pieces.symmetric(n, s.sums[1])}
	s.pieces.then(n, func() error {
		middle := s.problem.middle()
		for i := range n {
			h.masked.Row(i)[i] = h.masked.Row(i)[i].Sub(middle)
		}
		return nil
	})
	return h
}

// await prepares for the messages of the current step.
func (s *server) await() {
	s.opened, s.peer, s.dealt = false, &inflow{}, &inflow{}
	if s.done() {
		return
	}
	s.peer = s.of(kindOpening, s.step)
	if s.self == serverB {
		s.dealt = s.of(kindDealing, s.step)
		if s.tells(s.step) {
			s.notes = append(s.notes, protocol.Message{Header: s.header(serverB, dealerC, s.step, kindTaken)})
		}
	}
}

// of returns the inflow for a step's words of the given kind. It makes the inflow if there is none yet.
func (s *server) of(kind string, step int) *inflow {
	at := arrival{kind, step}
	if s.arriving[at] == nil {
		s.arriving[at] = newInflow(s.words(step))
	}
	return s.arriving[at]
}

// done reports whether the share of the weights is computed.
func (s *server) done() bool { return s.step == s.steps() }

// weights returns the share of the weights with [Problem.WeightBits], as targets x features. It has no words until
// done.
func (s *server) weights() ring128.Matrix { return s.evaluation.weights }

// send returns the next message, or false if there is none.
func (s *server) send() (protocol.Message, bool) {
	if m, ok := s.agreement.send(); ok {
		return m, true
	}
	if len(s.notes) > 0 {
		m := s.notes[0]
		s.notes = s.notes[1:]
		return m, true
	}
	return s.out.take()
}

// receive takes a message of another keeper. It refuses what does not belong to this generation and step, and names the
// sender. Words of the next steps can come before their step. For words of still later steps it returns
// [protocol.ErrLater], however many come.
func (s *server) receive(m protocol.Message) error {
	from, err := s.admitKeeper(m.Header, s.self)
	if err != nil {
		return err
	}
	step := int(m.Round)
	room := step <= s.step+aheadOfPeer
	switch {
	case m.Kind == kindInputs:
		return s.agreement.receive(from, m)
	case m.Kind == kindOpening && from != dealerC:
	case m.Kind == kindDealing && from == dealerC && s.self == serverB:
		room = s.mayDeal(s.step, step)
	default:
		return m.Unexpected()
	}
	switch {
	case step < s.step || step > s.step && !s.expects(from, s.self, m.Header):
		return m.Unexpected()
	case !room:
		return protocol.ErrLater
	}
	return s.of(m.Kind, step).accept(m)
}

// work does the next piece of the computation, and reports whether it did. It waits for the messages that the piece
// needs, and until all earlier ones are sent. After an error the server is of no use: it stays in its step.
func (s *server) work() (bool, error) {
	if s.done() || !s.reached() || !s.out.empty() {
		return false, nil
	}
	if len(s.pieces) == 0 {
		part, ready := s.nextPart()
		if !ready {
			return false, nil
		}
		part()
	}
	return s.pieces.run()
}

// nextPart returns the next part of the step, and whether the messages that it needs have arrived. A square is opened
// after the dealer's words, a product before.
func (s *server) nextPart() (part func(), ready bool) {
	switch square := s.squaring(s.step); {
	case square && !s.opened:
		return s.square, s.dealt.complete()
	case square:
		return s.takeSquare, s.peer.complete()
	case !s.opened:
		return s.openVectors, true
	}
	return s.product, s.peer.complete() && s.dealt.complete()
}

// waits returns what the server needs to go on.
func (s *server) waits() wait {
	switch dealt := s.dealt.complete(); {
	case !s.reached():
		return s.agreement.waits()
	case s.done() || len(s.pieces) > 0 || !s.out.empty():
		return wait{}
	case !dealt && (s.opened || s.squaring(s.step)):
		return wait{TimerKeeper, s.keepers[dealerC], "the dealt words of a step"}
	case s.opened && !s.peer.complete():
		return wait{TimerKeeper, s.keepers[1-s.self], "the opened words of a step"}
	}
	return wait{}
}

// open adds pieces that subtract the cover from the step's share, and queue the result for the other server.
func (s *server) open(of purpose) {
	n := s.words(s.step)
	s.pieces.then(n*wordWork, func() error {
		s.cover = make([]ring128.Word, n)
		return s.covers.draw(s.cover, s.step, of)
	})
	s.pieces.words(n, func(lo, hi int) { ring128.Sub(s.own[lo:hi], s.cover[lo:hi]) })
	s.pieces.then(0, func() error {
		s.out = newOutflow(s.header(s.self, 1-s.self, s.step, kindOpening), s.own)
		s.opened = true
		return nil
	})
}

// dealing returns this server's part of the dealer's words: b has received it, a draws it by the next piece.
func (s *server) dealing() []ring128.Word {
	if s.self == serverB {
		return s.dealt.words
	}
	words := make([]ring128.Word, s.words(s.step))
	s.pieces.draw(words, s.covers, s.step, dealing)
	return words
}

// square opens T_2q(H) = 2 T_q(H)^2 - 1. For X = E + U_a + U_b, X^2 is E^2 + E U_a + U_a E at a, E U_b + U_b E at b,
// and (U_a + U_b)^2 of the dealer. a computes (E + U_a)^2 - U_a^2, which takes as long as b's part.
func (s *server) square() {
	z := s.squareOfB
	if s.self == serverA {
		z = s.squareOfA
	}
	s.cutSquare(z())
	s.open(squared)
}

func (s *server) squareOfB() []ring128.Word {
	n, z := s.problem.Features, s.dealing()
	s.pieces.split(n, func(i int) int { return 2 * (n - i) * n }, func(lo, hi int) {
		ring128.AddSyr2kRows(z, s.power.masked, s.power.mask, lo, hi)
	})
	return z
}

// squareOfA puts E + U_a in the place of E, which it does not need again, so that there is no third matrix.
func (s *server) squareOfA() []ring128.Word {
	n, x := s.problem.Features, s.power
	rows := func(i int) int { return (n - i) * n }
	own := make([]ring128.Word, s.words(s.step))
	s.pieces.split(n, rows, func(lo, hi int) { ring128.AddSyrkRows(own, x.mask, lo, hi) })
	z := s.dealing()
	s.pieces.sub(z, own)
	s.pieces.add(x.masked.Data, x.mask.Data)
	s.pieces.split(n, rows, func(lo, hi int) { ring128.AddSyrkRows(z, x.masked, lo, hi) })
	return z
}

// cutSquare makes the step's share of a square.
func (s *server) cutSquare(z []ring128.Word) {
	f := s.problem.squareBits(s.fraction(s.step))
	var fresh []ring128.Word
	s.pieces.then(len(z)*wordWork, func() error {
		fresh = make([]ring128.Word, len(z))
		return s.cutter.draw(fresh)
	})
	s.pieces.words(len(z), func(lo, hi int) { s.cutter.apply(z[lo:hi], fresh[lo:hi], f) })
	s.pieces.then(0, func() error {
		if s.self == serverA {
			subtractOne(z, s.problem.Features, s.problem.VectorBits())
		}
		s.share, s.own = z, z
		return nil
	})
}

// takeSquare makes the opened square the operand of the next step. It frees the earlier one first.
func (s *server) takeSquare() {
	s.share, s.dealt, s.power = nil, &inflow{}, operand{}
	s.pieces.add(s.own, s.peer.words)
	s.power.masked = s.pieces.symmetric(s.problem.Features, s.own)
	s.power.mask = s.pieces.symmetric(s.problem.Features, s.cover)
	s.own, s.cover = nil, nil
	s.pieces.then(0, func() error { s.next(); return nil })
}

// openVectors opens the vectors of the next product. H is made anew for the products with it, and freed after them.
func (s *server) openVectors() {
	switch {
	case s.powers(s.step):
		s.matrix = operand{}
	case s.matrix.masked.Data == nil:
		s.matrix = s.spread()
	}
	s.pieces.then(0, func() error {
		vectors, powers := s.evaluation.next()
		if powers != s.powers(s.step) {
			return fmt.Errorf("sealed: step %d is another product than the dealer's", s.step)
		}
		s.share, s.own = vectors.Data, slices.Clone(vectors.Data)
		return nil
	})
	s.open(opening)
}

// product computes this server's share of X y = E [y] + [U] F + [U V].
func (s *server) product() {
	z := s.vectorsOf(s.dealing())
	s.pieces.add(s.own, s.peer.words)
	x, opened := s.matrix, s.vectorsOf(s.own)
	if s.powers(s.step) {
		x = s.power
	}
	s.pieces.split(s.problem.Features, func(int) int { return 2 * len(z.Data) }, func(lo, hi int) {
		ring128.AddMulTransBRows(z, s.vectorsOf(s.share), x.masked, lo, hi)
		ring128.AddMulTransBRows(z, opened, x.mask, lo, hi)
	})
	s.pieces.then(len(z.Data)*wordWork, func() error {
		if s.evaluation.take(z); s.cutter.err != nil {
			return s.cutter.err
		}
		s.next()
		return nil
	})
}

func (s *server) next() {
	delete(s.arriving, arrival{kindOpening, s.step})
	delete(s.arriving, arrival{kindDealing, s.step})
	s.step++
	s.await()
}

// vectorsOf returns words as targets x features. It shares memory with them.
func (c computation) vectorsOf(words []ring128.Word) ring128.Matrix {
	return ring128.Matrix{Rows: c.problem.Targets, Cols: c.problem.Features, Data: words}
}
