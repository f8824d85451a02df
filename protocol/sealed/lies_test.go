package sealed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// lab has what trials of lies have in common: a problem, what the keepers hold, and an honest result.
type lab struct {
	testing.TB
	*instance
	in     [3]inputs
	honest []int // predictions
}

func newLab(t *testing.T, features int) *lab {
	in := problemOf(t, digits(t), features, 1e-4)
	return labOf(t, in)
}

// labOf returns the lab of an instance in blocks of 8.
func labOf(t *testing.T, in *instance) *lab {
	in.Plan = chebyshev.Plan{Steps: chebyshev.Steps(in.steepness(), in.Ratio(), 8), Block: 8}
	s := settingOf(in.Problem)
	l := &lab{TB: t, instance: in, in: inputsOf(t, s, uploads(t, s, 3, in.outer, in.cross))}
	_, w := newTrio(t, in.Problem, 0, l.in).solved()
	l.honest = in.predictions(w)
	return l
}

// run computes and checks. Lies of the computation are in change; those of the check in the trial's judges, by judge.
func (l *lab) run(change func(*trio), judge func(*judges)) (outcome string, differ int) {
	l.Helper()
	k := newTrio(l.TB, l.Problem, 0, l.in)
	if change != nil {
		change(k)
	}
	if err := k.run(); err != nil {
		return "stopped in the computation", 0
	}
	j := judgesOf(l.TB, k, l.in)
	if judge != nil {
		judge(j)
	}
	j.run()
	return l.outcome(j)
}

// outcome says what became of a check whose server b, or dealer, lies: whether the honest server a has opened weights, and
// how many of its predictions differ from those of honest keepers.
func (l *lab) outcome(j *judges) (string, int) {
	l.Helper()
	if a := j.keepers[serverA]; a.done() {
		differ := 0
		for i, p := range l.predictions(weightsFrom(l.Problem, a.weights())) {
			if p != l.honest[i] {
				differ++
			}
		}
		return "opened", differ
	}
	for r, k := range j.keepers {
		if k.done() {
			l.Errorf("%s opens, a does not", j.computation.keepers[r])
		}
	}
	return "caught", 0
}

func weightsFrom(p Problem, words []ring128.Word) linalg.Matrix[float64] {
	w := linalg.New[float64](p.Targets, p.Features)
	for i, v := range words {
		w.Data[i] = v.Float(p.WeightBits())
	}
	return w
}

// spot is where in the computation somebody lies: the step of a message, and the cut of that step's words. The first cut
// is that of B/N.
type spot struct {
	name      string
	step, cut int // -1 for none
}

// places are those of blocks of 8: three squares, seven products with H, and products with T_8(H).
func (l *lab) places() []spot {
	last := l.Plan.InARow() - 1
	list := []spot{{"B/N", -1, -1}, {"H_2", 0, 1}, {"H_4", 1, 2}, {"H_8", 2, 3}, {"T_1", 3, 4}, {"T_2", 4, 5}, {"T_7", 9, 10}, {"first block", -1, 11}}
	for _, c := range []struct {
		name string
		step int
	}{{"second block", 10}, {"third block", 11}, {"a middle block", (10 + last) / 2}, {"block 2", last - 2}, {"block 1", last - 1}, {"block 0", last}} {
		list = append(list, spot{c.name, c.step, c.step + 2})
	}
	return append(list, spot{"W", -1, -1})
}

// size is the words that a liar adds: in one place, in two or everywhere.
type size struct {
	name  string
	words []ring128.Word
}

func sizes(n int) []size {
	power := func(bits uint) ring128.Word { return ring128.FromInt64(1).Lsh(bits) }
	one := func(name string, at int, bits uint) size {
		e := make([]ring128.Word, n)
		e[at] = power(bits)
		return size{name, e}
	}
	two := one("2^93 twice", 2, 93)
	two.words[9] = two.words[2]
	every, some := make([]ring128.Word, n), make([]ring128.Word, n)
	r := rand.New(rand.NewPCG(4, 5))
	for i := range every {
		every[i], some[i] = power(20), ring128.Word{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return []size{
		one("1", 3%n, 0), one("2^20", 5%n, 20), one("2^40", 0, 40), one("2^94", 7, 94), one("2^127", n-1, 127),
		two, {"2^20 everywhere", every}, {"random words", some},
	}
}

// alterWords adds words to the first message of a kind, step and sender. All messages of the lab have one chunk.
func alterWords(t testing.TB, kind, sender string, round int, e []ring128.Word) func(protocol.Message) protocol.Message {
	return func(m protocol.Message) protocol.Message {
		if m.Kind == kind && m.Sender == sender && int(m.Round) == round {
			m.Body = plusWords(t, m.Body, e)
		}
		return m
	}
}

// plusWords adds words to an encoded body.
func plusWords(t testing.TB, body []byte, e []ring128.Word) []byte {
	words := make([]ring128.Word, len(e))
	if err := ring128.Decode(words, body); err != nil {
		t.Fatal(err)
	}
	ring128.Add(words, e)
	return ring128.Append(nil, words)
}

// lie returns how b, or the dealer, adds words in one of the kinds of lies, or nil if the place has none of the kind.
//
//	F  b opens other words to a, and uses its own
//	G  b opens other words to a, and uses them
//	x  as G, and b adds E e to its product, which is then X (y + e)
//	Z  the dealer adds to its words
//	z  b adds to its share before a cut
//	y  b adds to its share after it
func (l *lab) lie(kind string, at spot, e []ring128.Word) func(*trio) {
	square := at.step >= 0 && at.step < 3
	switch kind {
	case "F":
		if at.step >= 0 {
			return func(k *trio) { k.alter = alterWords(l.TB, kindOpening, "bergen", at.step, e) }
		}
	case "Z":
		if at.step >= 0 {
			return func(k *trio) { k.alter = alterWords(l.TB, kindDealing, "coordinator", at.step, e) }
		}
	case "G":
		if at.step >= 0 {
			return func(k *trio) { k.alter = l.openOther(k, at.step, e) }
		}
	case "x":
		if at.step >= 0 && !square {
			return func(k *trio) {
				k.alter = l.openOther(k, at.step, e)
				addBefore(k, at.cut, func() []ring128.Word { return l.times(k, at.step, e) })
			}
		}
	case "z":
		if at.cut >= 0 {
			return func(k *trio) { addBefore(k, at.cut, func() []ring128.Word { return e }) }
		}
	case "y":
		return l.after(at, e)
	}
	return nil
}

// after adds words to b's share of a value.
func (l *lab) after(at spot, e []ring128.Word) func(*trio) {
	switch at.name {
	case "B/N":
		return func(k *trio) { ring128.Add(k.b.evaluation.first[0].Data, e) }
	case "W":
		return func(k *trio) {
			cut := k.b.cutter.truncate
			k.b.cutter.truncate = func(z []ring128.Word, f uint) {
				if cut(z, f); k.b.cutter.number == l.Plan.InARow()+2 {
					ring128.Add(z, e)
				}
			}
		}
	}
	return func(k *trio) {
		cut := k.b.cutter.truncate
		k.b.cutter.truncate = func(z []ring128.Word, f uint) {
			if cut(z, f); k.b.cutter.number == at.cut+1 {
				ring128.Add(z, e)
			}
		}
	}
}

// addBefore adds words to b's share before a cut.
func addBefore(k *trio, at int, words func() []ring128.Word) {
	cut := k.b.cutter.truncate
	k.b.cutter.truncate = func(z []ring128.Word, f uint) {
		if k.b.cutter.number == at+1 {
			ring128.Add(z, words())
		}
		cut(z, f)
	}
}

// times returns E e with the matrix of a product, as b knows it.
func (l *lab) times(k *trio, step int, e []ring128.Word) []ring128.Word {
	x := k.b.matrix
	if k.b.powers(step) {
		x = k.b.power
	}
	product := ring128.New(l.Targets, l.Features)
	ring128.AddMulTransB(product, k.vectorsOf(e), x.masked)
	return product.Data
}

// openOther has b open other words in a step, and use them.
func (l *lab) openOther(k *trio, step int, e []ring128.Word) func(protocol.Message) protocol.Message {
	change := alterWords(l.TB, kindOpening, "bergen", step, e)
	return func(m protocol.Message) protocol.Message {
		changed := change(m)
		if m.Kind == kindOpening && m.Sender == "bergen" && int(m.Round) == step {
			ring128.Add(k.b.own, e)
		}
		return changed
	}
}

// tally counts outcomes by kind and size.
type tally map[string]int

func (l *lab) judge(seen tally, kind, size, at, outcome string, differ int) {
	l.Helper()
	if outcome == "opened" {
		outcome = "passed"
		if size == "random words" {
			l.Errorf("%s of %s at %s passes", kind, size, at)
		}
	}
	seen[fmt.Sprintf("%s of %s: %s", kind, size, outcome)]++
	if differ > 0 {
		l.Errorf("%s of %s at %s passes, and %d of %d predictions differ", kind, size, at, differ, len(l.honest))
	}
}

func (l *lab) report(seen tally) {
	l.Helper()
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		l.Logf("%s %d", key, seen[key])
	}
}

// Every lie of a server or of the dealer in the computation is caught, or changes no prediction. Without the tag slow
// each place tries two sizes of eight.
func TestLiesInTheComputation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	l, seen, n := newLab(t, 64), tally{}, 0
	for _, kind := range []string{"F", "G", "x", "Z", "z", "y"} {
		for _, at := range l.places() {
			words := l.Targets * l.Features
			if at.step >= 0 && at.step < 3 {
				words = ring128.Triangle(l.Features)
			}
			n++
			for i, s := range sizes(words) {
				lie := l.lie(kind, at, s.words)
				if lie == nil || !thorough && (i+n)%4 != 0 {
					continue
				}
				outcome, differ := l.run(lie, nil)
				l.judge(seen, kind, s.name, at.name, outcome, differ)
			}
		}
	}
	l.report(seen)
}

// Every lie in the check is caught. Only other words of W that both servers use can pass, if they are small.
func TestLiesInTheCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	l, seen, n := newLab(t, 64), tally{}, 0
	k := newTrio(t, l.Problem, 0, l.in)
	k.solved()
	for _, lie := range []struct {
		kind, name, sender string
		skip, width        int // bytes before the words, bytes of a word
		words              int
	}{
		{kindMaskedWeights, "F", "bergen", 0, 16, l.Targets * l.Features},
		{kindClaims, "y, q", "bergen", 64, 24, 2*CheckSums + 1},
		{kindClaims, "y, q", "coordinator", 64, 24, 2*CheckSums + 1},
		{kindAnswers, "v, v', o", "bergen", 32, 24, 2*l.Targets*l.Features + 1},
		{kindAnswers, "v, v', o", "coordinator", 32, 24, 2*l.Targets*l.Features + 1},
		{kindResidual, "a total of R", "bergen", 0, 16, 1},
		{kindResidual, "a total of R", "coordinator", 0, 16, 1},
		{kindRange, "a total of W", "bergen", 0, 16, 1},
		{kindRange, "a total of W", "coordinator", 0, 16, 1},
	} {
		n++
		for i, s := range sizes(max(lie.words, 10)) {
			if !thorough && (i+n)%2 == 0 {
				continue
			}
			j := judgesOf(t, k, l.in)
			j.alter = func(m protocol.Message) protocol.Message {
				if m.Kind == lie.kind && m.Sender == lie.sender && len(m.Body) >= lie.skip+lie.words*lie.width {
					m.Body = plusAt(m.Body, lie.skip, lie.width, s.words[:lie.words])
				}
				return m
			}
			j.run()
			outcome, differ := l.outcome(j)
			if zero := !slices.ContainsFunc(s.words[:lie.words], func(w ring128.Word) bool { return w != ring128.Word{} }); zero {
				continue
			} else if outcome == "opened" {
				t.Errorf("%s, %s by %s: passes", lie.name, s.name, lie.sender)
			}
			l.judge(seen, lie.name, s.name, lie.sender, outcome, differ)
		}
	}
	l.report(seen)
}

// plusAt adds words to the low 16 bytes of words of an encoded body.
func plusAt(body []byte, skip, width int, e []ring128.Word) []byte {
	body = slices.Clone(body)
	for i, w := range e {
		at := body[skip+i*width:][:ring128.Bytes]
		one := make([]ring128.Word, 1)
		if err := ring128.Decode(one, at); err != nil {
			panic(err)
		}
		ring128.Append(at[:0], []ring128.Word{one[0].Add(w)})
	}
	return body
}

// If both servers use other words of W, the check accepts small ones, and no prediction differs.
func TestOtherWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	l, seen := newLab(t, 64), tally{}
	k := newTrio(t, l.Problem, 0, l.in)
	k.solved()
	for _, s := range sizes(l.Targets * l.Features) {
		b := slices.Clone(k.b.weights().Data)
		ring128.Add(b, s.words)
		j := newJudges(t, k.computation, l.in, k.a.weights().Data, b)
		j.run()
		outcome, differ := l.outcome(j)
		l.judge(seen, "W", s.name, "b's share", outcome, differ)
	}
	l.report(seen)
}
