package sealed

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// keeper is a server or the dealer.
type keeper interface {
	send() (protocol.Message, bool)
	receive(protocol.Message) error
	work() (bool, error)
	done() bool
}

// trio runs three keepers in one process. Messages to a keeper wait in its box until it takes them.
type trio struct {
	testing.TB
	computation
	a, b  *server
	c     *dealer
	boxes [3][]protocol.Message
	all   []protocol.Message                        // accepted, in order
	cpu   [3]float64                                // seconds by role
	alter func(m protocol.Message) protocol.Message // drops a message by taking its kind
	holds func(r role) bool                         // whether a keeper's work waits for others; nil for never
}

func settingOf(p Problem) setting {
	return setting{problem: p, session: protocol.SessionID{7}, keepers: [3]string{"athens", "bergen", "coordinator"}}
}

// seeds returns the source of a pair, from contributions that a generation determines.
func seeds(c computation, of pair) *covers {
	return newCovers(c, of, [2][32]byte{{byte(of), 1, byte(c.generation)}, {byte(of), 2, byte(c.generation)}})
}

// uploads divides sums among parties and returns their uploads. A single party has all.
func uploads(t testing.TB, s setting, parties int, outer, cross []int64) []*upload {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(parties)))
	left, leftCross, rows := slices.Clone(outer), slices.Clone(cross), s.problem.Rows
	var list []*upload
	for i := range parties {
		part, partCross, n := left, leftCross, rows
		if i < parties-1 {
			part, partCross, n = make([]int64, len(left)), make([]int64, len(leftCross)), rows/2
			for _, v := range []struct{ part, left []int64 }{{part, left}, {partCross, leftCross}} {
				for k := range v.part {
					v.part[k] = r.Int64N(1<<20) - 1<<19
					v.left[k] -= v.part[k]
				}
			}
		}
		u, err := newUpload(s, fmt.Sprintf("party %d", i), [32]byte{byte(i), 1}, n, part, partCross)
		if err != nil {
			t.Fatal(err)
		}
		list, rows = append(list, u), rows-n
	}
	return list
}

// deliver passes all messages of uploads to a keeper, the last first, and those again that come too early.
func deliver(t testing.TB, s setting, to role, from []*upload, alter func(protocol.Message) protocol.Message) (*collection, error) {
	t.Helper()
	c := emptyCollection(s, to, from)
	for _, u := range from {
		copied := *u
		copied.waiting = slices.Clone(u.waiting)
		var messages []protocol.Message
		for m, ok := copied.send(); ok; m, ok = copied.send() {
			if m.Receiver == s.keepers[to] {
				if alter != nil {
					m = alter(m)
				}
				messages = append(messages, m)
			}
		}
		for len(messages) > 0 {
			slices.Reverse(messages)
			var early []protocol.Message
			for _, m := range messages {
				if err := c.of(u.party).receive(m); errors.Is(err, protocol.ErrLater) {
					early = append([]protocol.Message{m}, early...)
				} else if err != nil {
					return nil, err
				}
			}
			if len(early) == len(messages) {
				return nil, fmt.Errorf("%d messages always come too early", len(early))
			}
			messages = early
		}
	}
	return c, nil
}

func emptyCollection(s setting, to role, from []*upload) *collection {
	var list []uploader
	for _, u := range from {
		list = append(list, uploader{u.party, int(u.rows)})
	}
	return newCollection(s, to, list)
}

// collect lets a collection do all its work, and returns its sums.
func collect(c *collection) (inputs, error) {
	for {
		if did, err := c.work(); err != nil {
			return inputs{}, err
		} else if !did && !c.done() {
			return inputs{}, errors.New("an upload is not complete")
		} else if !did {
			return c.inputs, nil
		}
	}
}

// inputsOf delivers uploads to the three keepers and returns their inputs.
func inputsOf(t testing.TB, s setting, from []*upload) (in [3]inputs) {
	t.Helper()
	for r := range in {
		c, err := deliver(t, s, role(r), from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if in[r], err = collect(c); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func newTrio(t testing.TB, p Problem, generation uint32, in [3]inputs) *trio {
	t.Helper()
	k := &trio{TB: t, computation: computation{settingOf(p), generation}}
	c := k.computation
	var err error
	if k.a, err = newServer(c, serverA, in[serverA], seeds(c, pairAC), seeds(c, pairAB)); err != nil {
		t.Fatal(err)
	}
	if k.b, err = newServer(c, serverB, in[serverB], seeds(c, pairBC), seeds(c, pairAB)); err != nil {
		t.Fatal(err)
	}
	if k.c, err = newDealer(c, in[dealerC], seeds(c, pairAC), seeds(c, pairBC)); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *trio) keeper(r role) keeper { return [...]keeper{k.a, k.b, k.c}[r] }

// run goes on until nobody has anything to do, and returns the first refusal.
func (k *trio) run() error {
	for went := true; went; {
		went = false
		for _, r := range []role{serverA, dealerC, serverB} {
			did, err := k.turn(r)
			if err != nil {
				return err
			}
			went = went || did
		}
	}
	return nil
}

// turn lets one keeper take its messages, work once and send.
func (k *trio) turn(r role) (bool, error) {
	defer func(before float64) { k.cpu[r] += seconds() - before }(seconds())
	box := k.boxes[r]
	k.boxes[r] = nil
	for _, m := range box {
		err := k.keeper(r).receive(m)
		if errors.Is(err, protocol.ErrLater) {
			k.boxes[r] = append(k.boxes[r], m)
		} else if err != nil {
			return false, err
		} else {
			k.all = append(k.all, m)
		}
	}
	did, err := false, error(nil)
	if k.holds == nil || !k.holds(r) {
		did, err = k.keeper(r).work()
	}
	if err != nil {
		return false, err
	}
	for m, ok := k.keeper(r).send(); ok; m, ok = k.keeper(r).send() {
		did = true
		if k.alter != nil {
			m = k.alter(m)
		}
		if m.Kind == "" {
			continue
		}
		to := slices.Index(k.keepers[:], m.Receiver)
		k.boxes[to] = append(k.boxes[to], m)
	}
	return did, nil
}

// seconds is the processor time of this process so far.
func seconds() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// solved runs all steps and returns the words of the weights, and the weights.
func (k *trio) solved() ([]ring128.Word, linalg.Matrix[float64]) {
	k.Helper()
	if err := k.run(); err != nil {
		k.Fatal(err)
	}
	for r := range k.boxes {
		if !k.keeper(role(r)).done() || len(k.boxes[r]) > 0 {
			k.Fatalf("%s is done: %v; %d messages wait", k.keepers[r], k.keeper(role(r)).done(), len(k.boxes[r]))
		}
	}
	words := slices.Clone(k.a.weights().Data)
	ring128.Add(words, k.b.weights().Data)
	w := linalg.New[float64](k.problem.Targets, k.problem.Features)
	for i, v := range words {
		w.Data[i] = v.Float(k.problem.WeightBits())
	}
	return words, w
}

// view are the words that a keeper received in steps, as bytes.
func (k *trio) view(r role) (bytes []byte) {
	for _, m := range k.all {
		if m.Receiver == k.keepers[r] && m.Kind != kindInputs {
			bytes = append(bytes, m.Body...)
		}
	}
	return bytes
}

// onDigits is the problem of digits in blocks of 8.
func onDigits(t *testing.T, features int) *instance {
	in := problemOf(t, digits(t), features, 1e-4)
	in.Plan = chebyshev.Plan{Steps: 592, Block: 8}
	return in
}

// asPlain requires weights that differ from those in the clear by a unit for each step at most, and alike predictions.
func (in *instance) asPlain(t *testing.T, plain, w linalg.Matrix[float64]) {
	t.Helper()
	off := 0.0
	for k, v := range plain.Data {
		off = max(off, math.Abs(v-w.Data[k]))
	}
	off = math.Ldexp(off, int(in.WeightBits()))
	t.Logf("the weights are off by %.0f units at most", off)
	if off == 0 || off > float64(in.Plan.Steps) {
		t.Errorf("the weights differ from the plain ones by %.0f units in %d steps", off, in.Plan.Steps)
	}
	if !slices.Equal(in.predictions(w), in.predictions(plain)) {
		t.Error("a prediction differs from the plain weights'")
	}
	if _, differ := in.judge(t, w); differ > 0 {
		t.Errorf("%d predictions differ from the exact ridge's", differ)
	}
}

// Three parties and the keepers compute what a process computes in the clear.
func TestKeepersOnDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := onDigits(t, 512)
	s := settingOf(in.Problem)
	k := newTrio(t, in.Problem, 0, inputsOf(t, s, uploads(t, s, 3, in.outer, in.cross)))
	_, w := k.solved()
	in.asPlain(t, in.solve(t), w)
	t.Logf("CPU seconds: a %.2f, b %.2f, c %.2f", k.cpu[serverA], k.cpu[serverB], k.cpu[dealerC])
}

// One party or three, and each generation, give other last bits and alike predictions. A replay gives the same words.
func TestKeepersOnFewFeatures(t *testing.T) {
	in := onDigits(t, 128)
	s, plain := settingOf(in.Problem), in.solve(t)
	one := inputsOf(t, s, uploads(t, s, 1, in.outer, in.cross))
	three := inputsOf(t, s, uploads(t, s, 3, in.outer, in.cross))
	var results [][]ring128.Word
	for _, c := range []struct {
		in         [3]inputs
		generation uint32
	}{{one, 0}, {three, 0}, {three, 1}} {
		words, w := newTrio(t, in.Problem, c.generation, c.in).solved()
		in.asPlain(t, plain, w)
		results = append(results, words)
	}
	for i := range results {
		if n := equal(results[i], results[(i+1)%3]); n > len(results[i])/10 {
			t.Errorf("runs %d and %d have %d of %d equal words; their last bits should differ", i, (i+1)%3, n, len(results[i]))
		}
	}
	if again, _ := newTrio(t, in.Problem, 1, three).solved(); !slices.Equal(again, results[2]) {
		t.Error("a replay gives other words")
	}
}

// equal counts the places with equal words.
func equal(x, y []ring128.Word) (n int) {
	for i := range x {
		if x[i] == y[i] {
			n++
		}
	}
	return n
}

// Servers and dealer hold H beside a square only for the products with H.
func TestKeepersHoldHForItsProductsOnly(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	k := newTrio(t, p, 0, inputsOf(t, s, uploads(t, s, 1, sums.outer, sums.cross)))
	held := 0
	for went := true; went; {
		went = false
		for _, r := range []role{serverA, dealerC, serverB} {
			did, err := k.turn(r)
			if err != nil {
				t.Fatal(err)
			}
			went = went || did
			step, words := k.c.step, len(k.c.matrix.Data)
			if r != dealerC {
				server := []*server{k.a, k.b}[r]
				step, words = server.step, len(server.matrix.masked.Data)+len(server.matrix.mask.Data)
			}
			if held += words; words > 0 && k.squaring(step) || words > 0 && step > k.steps()-2 {
				t.Errorf("%s holds H in step %d", k.keepers[r], step)
			}
		}
	}
	if !k.a.done() || held == 0 {
		t.Errorf("done: %v; %d words of H", k.a.done(), held)
	}
}
