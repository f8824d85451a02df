package sealed

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// judges runs the checks of three keepers in one process.
type judges struct {
	testing.TB
	computation
	keepers [3]*check
	boxes   [3][]protocol.Message
	all     []protocol.Message // accepted, in order
	cpu     [3]float64
	alter   func(m protocol.Message) protocol.Message // changes a message on its way
	refused []error
	failed  [3]error // by keeper: why it ended
}

// linksOf are the sources that a keeper has in common with others, by role.
func linksOf(c computation, self role) (list [3]*covers) {
	for _, other := range self.others() {
		list[other] = seeds(c, pairOf(self, other))
	}
	return list
}

// judgesOf begins the checks of keepers that have computed.
func judgesOf(t testing.TB, k *trio, in [3]inputs) *judges {
	t.Helper()
	return newJudges(t, k.computation, in, k.a.weights().Data, k.b.weights().Data)
}

// newJudges begins the checks of two shares of W.
func newJudges(t testing.TB, c computation, in [3]inputs, a, b []ring128.Word) *judges {
	t.Helper()
	j := &judges{TB: t, computation: c}
	for r, share := range [3][]ring128.Word{a, b, nil} {
		var err error
		if j.keepers[r], err = newCheck(c, role(r), in[r], share, linksOf(c, role(r)), [32]byte{byte(r), 9}); err != nil {
			t.Fatal(err)
		}
		j.keepers[r].pieces.finish(t)
	}
	return j
}

// run goes on until nobody has anything to do.
func (j *judges) run() {
	for went := true; went; {
		went = false
		for r := range j.keepers {
			went = j.turn(role(r)) || went
		}
	}
}

// turn lets one keeper take its messages, work once and send. A refused message is dropped. An error of the work ends the
// keeper.
func (j *judges) turn(r role) (did bool) {
	if j.failed[r] != nil {
		return false
	}
	defer func(before float64) { j.cpu[r] += seconds() - before }(seconds())
	k, box := j.keepers[r], j.boxes[r]
	j.boxes[r] = nil
	for _, m := range box {
		switch err := k.receive(m); {
		case errors.Is(err, protocol.ErrLater):
			j.boxes[r] = append(j.boxes[r], m)
		case err != nil:
			j.refused = append(j.refused, err)
		default:
			j.all, did = append(j.all, m), true
		}
	}
	worked, err := k.work()
	if err != nil {
		j.failed[r] = err
		return true
	}
	for m, ok := k.send(); ok; m, ok = k.send() {
		did = true
		if j.alter != nil {
			m = j.alter(m)
		}
		to := slices.Index(j.computation.keepers[:], m.Receiver)
		j.boxes[to] = append(j.boxes[to], m)
	}
	return did || worked
}

// opened runs the check and returns the words that all keepers open.
func (j *judges) opened() []ring128.Word {
	j.Helper()
	j.run()
	for r, k := range j.keepers {
		if j.failed[r] != nil || !k.done() || len(j.refused) > 0 {
			j.Fatalf("%s: done is %v, %v; refused: %v", j.computation.keepers[r], k.done(), j.failed[r], j.refused)
		}
	}
	w := j.keepers[0].weights()
	for _, k := range j.keepers[1:] {
		if !slices.Equal(k.weights(), w) {
			j.Fatal("two keepers open different weights")
		}
	}
	return w
}

// solvedSmall are keepers of a small problem that have computed, with their inputs and the words of W.
func solvedSmall(t testing.TB) (*trio, [3]inputs, []ring128.Word) {
	t.Helper()
	p, sums, _ := small(t)
	s := settingOf(p)
	in := inputsOf(t, s, uploads(t, s, 2, sums.outer, sums.cross))
	k := newTrio(t, p, 2, in)
	words, _ := k.solved()
	return k, in, words
}

// All three keepers open the sum of the two shares.
func TestCheckOpensTheWeights(t *testing.T) {
	k, in, words := solvedSmall(t)
	j := judgesOf(t, k, in)
	if got := j.opened(); !slices.Equal(got, words) {
		t.Error("other weights")
	}
	var kinds []string
	for _, m := range j.all {
		if !slices.Contains(kinds, m.Kind) {
			kinds = append(kinds, m.Kind)
		}
	}
	t.Logf("%d messages: %s", len(j.all), strings.Join(kinds, ", "))
}

// The check of digits opens the solution, with what it costs.
func TestCheckOfDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := onDigits(t, 512)
	s := settingOf(in.Problem)
	parts := inputsOf(t, s, uploads(t, s, 3, in.outer, in.cross))
	k := newTrio(t, in.Problem, 0, parts)
	words, w := k.solved()
	in.asPlain(t, in.solve(t), w)
	j := judgesOf(t, k, parts)
	if got := j.opened(); !slices.Equal(got, words) {
		t.Error("other weights")
	}
	bytes := 0
	for _, m := range j.all {
		bytes += len(m.Body)
	}
	t.Logf("check: CPU seconds a %.2f, b %.2f, c %.2f; %.2f MB in %d messages", j.cpu[0], j.cpu[1], j.cpu[2], float64(bytes)/1e6, len(j.all))
	largest := [2]float64{}
	for _, of := range []int{0, 1} {
		for n := range CheckSums {
			d := j.sum(of, n)
			if d.Negative() {
				d = d.Neg()
			}
			largest[of] = max(largest[of], d.Float(0)/j.keepers[0].bounds[of].Float(0))
		}
	}
	t.Logf("largest sums over their bounds: %.3f of R, %.3f of W", largest[0], largest[1])
}

// sum is a sum that the keepers have opened, with its noise.
func (j *judges) sum(of, n int) ring128.Word {
	a, b := j.keepers[serverA].totals[of], j.keepers[serverB].totals[of]
	return a[masked][n].Add(a[maskA][n]).Add(b[maskB][n])
}

// The check computes in pieces that a step has time for: no product is computed at once.
func TestCheckInSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p, err := NewProblem(4000, 1024, 12, .0625)
	if err != nil {
		t.Fatal(err)
	}
	c := computation{settingOf(p), 0}
	var in [3]inputs // of uploads that add up to 0, as W does
	for r := range in {
		for _, p := range role(r).parts() {
			in[r].parts[p] = make([]ring128.Word, c.inputWords())
		}
	}
	zero := make([]ring128.Word, c.vectors())
	j := newJudges(t, c, in, zero, zero)
	left, longest := map[string]int{}, [3]float64{} // multiply-adds that wait at the end of a step; seconds of a step
	for went := true; went; {
		went = false
		for r, k := range j.keepers {
			before := j.cpu[r]
			went = j.turn(role(r)) || went
			longest[r] = max(longest[r], j.cpu[r]-before)
			sum := 0
			for _, piece := range k.pieces {
				if sum += piece.work; piece.work > stepWork {
					t.Errorf("%s: a piece of %d multiply-adds", k.keepers[r], piece.work)
				}
			}
			if k.at < len(k.course) {
				name := k.course[k.at].kind + " " + k.keepers[r]
				left[name] = max(left[name], sum)
			}
		}
	}
	for r, k := range j.keepers {
		if j.failed[r] != nil || !k.done() {
			t.Fatalf("%s: %v", k.keepers[r], j.failed[r])
		}
	}
	product := wideWork * p.Features * c.vectors()
	for name, products := range map[string]int{"Coins athens": 3, "Coins bergen": 3, "Coins coordinator": 3, "Challenge coordinator": 2, "Answers athens": 2} {
		if least := products*product - stepWork; left[name] < least {
			t.Errorf("%s: %d multiply-adds wait for the next step, want %d", name, left[name], least)
		}
	}
	t.Logf("CPU seconds of the longest steps: %.3f", longest)
}
