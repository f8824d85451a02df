package sealed

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// dealer is the keeper c. It deals b products and squares of the covers that it has in common with a and with b, less
// a's part of them. It receives nothing but the others' digests, and b's messages that it has begun a step, so its work
// and messages depend on seeds and sizes alone. Its owner drives it in the same way as a [server].
type dealer struct {
	agreement
	withA, withB source
	masks        [2][]ring128.Word // triangles of the masks of A
	power        ring128.Matrix    // mask of the latest T_q(H), at first of H
	matrix       ring128.Matrix    // mask of H during the products with H that follow squarings, else nothing
	step         int
	told         map[int]bool   // steps that b has told the dealer it has begun
	now          int            // last step up to which all such messages of b have arrived; 0 before the first
	pieces       pieces         // work that is left of the step
	dealt        []ring128.Word // words that the step deals; a's part is subtracted before they are sent
	out          outflow
}

// newDealer returns the dealer of a generation.
func newDealer(c computation, in inputs, withA, withB source) (*dealer, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(in.parts[maskA]) != c.inputWords() || len(in.parts[maskB]) != c.inputWords() {
		return nil, fmt.Errorf("sealed: there are %d and %d words of masks; %d features and %d targets have %d", len(in.parts[maskA]), len(in.parts[maskB]), c.problem.Features, c.problem.Targets, c.inputWords())
	}
	d := &dealer{agreement: newAgreement(c, dealerC, in.documents), withA: withA, withB: withB, told: map[int]bool{}}
	d.masks = [2][]ring128.Word{in.parts[maskA][:c.triangle()], in.parts[maskB][:c.triangle()]}
	d.power = d.spread()
	return d, nil
}

// spread returns the mask of H, which the next pieces make of the masks of A.
func (d *dealer) spread() ring128.Matrix {
	sum := make([]ring128.Word, d.triangle())
	d.pieces.add(sum, d.masks[0])
	d.pieces.add(sum, d.masks[1])
	return d.pieces.symmetric(d.problem.Features, sum)
}

// done reports whether all steps are dealt and their words sent, and all messages of b have arrived.
func (d *dealer) done() bool { return d.step == d.steps() && d.out.empty() && !d.expectsWord() }

// expectsWord reports whether b has yet to tell the dealer of a step that it begins.
func (d *dealer) expectsWord() bool { return d.tellsAfter(d.now) < d.steps() }

// hear notes that b has begun a step. The message about an earlier step can come later.
func (d *dealer) hear(step int) {
	d.told[step] = true
	for next := d.tellsAfter(d.now); d.told[next]; next = d.tellsAfter(d.now) {
		d.now = next
	}
}

// send returns the next message, or false if there is none.
func (d *dealer) send() (protocol.Message, bool) {
	if m, ok := d.agreement.send(); ok {
		return m, true
	}
	return d.out.take()
}

// receive takes the digests of another keeper and b's messages that it has begun a step, and refuses all else.
func (d *dealer) receive(m protocol.Message) error {
	from, err := d.admitKeeper(m.Header, dealerC)
	if err != nil {
		return err
	}
	if m.Kind == kindInputs {
		return d.agreement.receive(from, m)
	}
	if step := int(m.Round); m.Kind == kindTaken && from == serverB && m.Chunks == 1 && len(m.Body) == 0 && d.tells(step) && !d.told[step] {
		d.hear(step)
		return nil
	}
	return m.Unexpected()
}

// work does the next piece of a step, and reports whether it did one. It does none until all words of
// earlier pieces are sent.
func (d *dealer) work() (bool, error) {
	if d.step == d.steps() || !d.reached() || !d.out.empty() || !d.mayDeal(d.now, d.step) {
		return false, nil
	}
	if len(d.pieces) == 0 {
		d.deal()
	}
	return d.pieces.run()
}

// waits returns what the dealer needs to go on.
func (d *dealer) waits() wait {
	switch {
	case !d.reached():
		return d.agreement.waits()
	case d.out.empty() && (d.step == d.steps() || !d.mayDeal(d.now, d.step)) && d.expectsWord():
		return wait{TimerKeeper, d.keepers[serverB], "word of a step that it begins"}
	}
	return wait{}
}

// deal adds pieces that compute the step's words, and queue the words less a's part of them for b.
func (d *dealer) deal() {
	if d.step > 0 && d.squaring(d.step-1) {
		d.follow()
	}
	d.dealt = make([]ring128.Word, d.words(d.step))
	if d.squaring(d.step) {
		n := d.problem.Features
		d.pieces.split(n, func(i int) int { return (n - i) * n }, func(lo, hi int) {
			ring128.AddSyrkRows(d.dealt, d.power, lo, hi) // U^2
		})
	} else {
		d.product()
	}
	part := make([]ring128.Word, len(d.dealt))
	d.pieces.draw(part, d.withA, d.step, dealing)
	d.pieces.sub(d.dealt, part)
	d.pieces.then(0, func() error {
		d.out = newOutflow(d.header(dealerC, serverB, d.step, kindDealing), d.dealt)
		d.step++
		return nil
	})
}

// cover returns the sum of both servers' covers of a step, which the next pieces draw.
func (d *dealer) cover(step int, of purpose) []ring128.Word {
	sum, other := make([]ring128.Word, d.words(step)), make([]ring128.Word, d.words(step))
	d.pieces.draw(sum, d.withA, step, of)
	d.pieces.draw(other, d.withB, step, of)
	d.pieces.add(sum, other)
	return sum
}

// follow makes the mask of the result of the squaring before this step. It frees the earlier mask first.
func (d *dealer) follow() {
	d.power = ring128.Matrix{}
	d.power = d.pieces.symmetric(d.problem.Features, d.cover(d.step-1, squared))
}

// product computes U V for the cover V of the vectors.
func (d *dealer) product() {
	mask, cover := d.mask(), d.vectorsOf(d.cover(d.step, opening))
	d.pieces.split(d.problem.Features, func(int) int { return len(cover.Data) }, func(lo, hi int) {
		ring128.AddMulTransBRows(d.vectorsOf(d.dealt), cover, mask, lo, hi)
	})
}

// mask returns the mask of the product's matrix. The mask of H is made anew for the products with H, and freed after
// them.
func (d *dealer) mask() ring128.Matrix {
	if d.powers(d.step) {
		d.matrix = ring128.Matrix{}
		return d.power
	}
	if d.matrix.Data == nil {
		d.matrix = d.spread()
	}
	return d.matrix
}
