package sealed

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// small is a problem with steps of all kinds: two squares, products with H and with T_4(H).
func small(t testing.TB) (p Problem, first, second *sums64) {
	t.Helper()
	p, err := NewProblem(100, 5, 2, .05)
	if err != nil {
		t.Fatal(err)
	}
	p.Plan = chebyshev.Plan{Steps: chebyshev.Steps(p.Rows, p.Ratio(), 4), Block: 4}
	return p, randomSums(p, 1), randomSums(p, 2)
}

// sums64 are sums of rows as whole numbers.
type sums64 struct{ outer, cross []int64 }

// randomSums are those of random rows of the right norm.
func randomSums(p Problem, seed uint64) *sums64 { return sumsOfRows(p, p.Rows, seed) }

// sumsOfRows are those of a party's random rows.
func sumsOfRows(p Problem, rows int, seed uint64) *sums64 {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &sums64{make([]int64, ring128.Triangle(p.Features)), make([]int64, p.Targets*p.Features)}
	for range rows {
		phi := make([]int64, p.Features)
		for i := range phi {
			phi[i] = r.Int64N(1<<p.CellBits()) / int64(p.Features)
			s.cross[int(r.UintN(uint(p.Targets)))*p.Features+i] += phi[i] << p.CellBits()
		}
		at := 0
		for i := range phi {
			for _, v := range phi[i:] {
				s.outer[at] += phi[i] * v
				at++
			}
		}
	}
	return s
}

// chosen is a source whose words make a keeper's messages those of a given view. The keeper that sends a word calls
// solve for its cover, and the other reads what was solved. No word is solved twice.
type chosen struct {
	testing.TB
	solve func(step int, of purpose) []ring128.Word // the word before its cover less the word in the view
	known map[[2]int][]ring128.Word
}

func (c *chosen) draw(words []ring128.Word, step int, of purpose) error {
	at := [2]int{step, int(of)}
	if c.known[at] != nil {
		c.Fatalf("step %d solves the cover %d twice", step, of)
	}
	c.known[at] = c.solve(step, of)
	copy(words, c.known[at])
	return nil
}

// reader is the other end of a chosen source.
type reader struct{ of *chosen }

func (r reader) draw(words []ring128.Word, step int, of purpose) error {
	known := r.of.known[[2]int{step, int(of)}]
	if len(known) != len(words) {
		r.of.Fatalf("step %d reads a cover %d that is not there", step, of)
	}
	copy(words, known)
	return nil
}

// difference returns x - y.
func difference(x, y []ring128.Word) []ring128.Word {
	d := slices.Clone(x)
	ring128.Sub(d, y)
	return d
}

// record holds the words that a keeper received, by step and kind.
type record map[string]map[int][]ring128.Word

func recordOf(t *testing.T, k *trio, of role) record {
	t.Helper()
	r := record{kindOpening: {}, kindDealing: {}}
	for _, m := range k.all {
		if m.Receiver != k.keepers[of] || m.Kind == kindInputs {
			continue
		}
		words := make([]ring128.Word, k.words(int(m.Round)))
		if err := ring128.Decode(words, m.Body); err != nil {
			t.Fatal(err)
		}
		r[m.Kind][int(m.Round)] = words
	}
	return r
}

// Whatever the inputs are, some covers give b, and some give a, the same words in every step: those of another
// computation. By the argument of the package's comment they are the only ones, as each word less its cover has one
// solution; so views of two inputs have the same distribution. It is an exact statement about this code with words of
// 128 bits. TestOpenedWords counts all values of a small ring, on a model of the code.
func TestEachViewBelongsToEachInput(t *testing.T) {
	p, first, second := small(t)
	eachView(t, p, first, second)
	p = privateProblem(t, 100, 5, 2, 8)
	p.Plan = chebyshev.Plan{Steps: chebyshev.Steps(p.steepness(), p.Ratio(), 4), Block: 4}
	eachView(t, p, noisySums(t, p, 1), noisySums(t, p, 2))
}

func eachView(t *testing.T, p Problem, first, second *sums64) {
	t.Helper()
	s := settingOf(p)
	before := inputsOf(t, s, uploads(t, s, 1, first.outer, first.cross))
	for _, viewer := range []role{serverA, serverB} {
		real := newTrio(t, p, 0, before)
		realWords, _ := real.solved()
		view := recordOf(t, real, viewer)
		k := newTrio(t, p, 0, explained(s, before, viewer, second))
		k.explain(viewer, view)
		words, w := k.solved()
		for kind, steps := range recordOf(t, k, viewer) {
			if len(steps) == 0 && (viewer == serverB || kind == kindOpening) {
				t.Errorf("%s receives nothing of %s", k.keepers[viewer], kind)
			}
			for step, got := range steps {
				if !slices.Equal(got, view[kind][step]) {
					t.Fatalf("%s receives other words of %s in step %d", k.keepers[viewer], kind, step)
				}
			}
		}
		shares := [2][2][]ring128.Word{{real.a.weights().Data, real.b.weights().Data}, {k.a.weights().Data, k.b.weights().Data}}
		if !slices.Equal(shares[0][viewer], shares[1][viewer]) || slices.Equal(words, realWords) {
			t.Errorf("%s: the viewer's share must be the same, the weights another", k.keepers[viewer])
		}
		plain, err := SolvePlain(p, second.outer, second.cross)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range plain.Data {
			if d := v - w.Data[i]; d > 1e-5 || d < -1e-5 {
				t.Errorf("%s: weight %d is off by %g", k.keepers[viewer], i, d)
			}
		}
	}
}

// explained are the inputs of other sums for which the viewer holds the same parts.
func explained(s setting, in [3]inputs, viewer role, of *sums64) [3]inputs {
	lacking := part(1 - viewer)
	x := append(ring128.FromInts(of.outer), ring128.FromInts(of.cross)...)
	x = difference(difference(x, in[viewer].parts[masked]), in[viewer].parts[part(viewer)])
	in[1-viewer].parts[lacking], in[dealerC].parts[lacking] = x, x
	return in
}

// explain chooses the covers that the viewer lacks so that it receives the words of the view.
func (k *trio) explain(viewer role, view record) {
	other := []*server{k.a, k.b}[1-viewer]
	k.holds = func(r role) bool { // until the words that it reads are solved
		switch square := k.squaring(other.step); r {
		case dealerC:
			return k.c.step > other.step || !square && !other.opened
		case other.self:
			return k.c.step <= other.step && (square || other.opened)
		}
		return false
	}
	between := &chosen{TB: k.TB, known: map[[2]int][]ring128.Word{}}
	between.solve = func(step int, of purpose) []ring128.Word {
		return difference(other.share, view[kindOpening][step])
	}
	if viewer == serverA {
		other.covers, k.c.withB = between, reader{between}
		return
	}
	dealt := &chosen{TB: k.TB, known: map[[2]int][]ring128.Word{}}
	dealt.solve = func(step int, _ purpose) []ring128.Word { return difference(k.c.dealt, view[kindDealing][step]) }
	other.covers = split{covers: between, dealing: reader{dealt}}
	k.c.withA = split{covers: reader{between}, dealing: dealt}
}

// split has the dealer's words of one source and all others of another.
type split struct{ covers, dealing source }

func (s split) draw(words []ring128.Word, step int, of purpose) error {
	if of == dealing {
		return s.dealing.draw(words, step, of)
	}
	return s.covers.draw(words, step, of)
}

// What servers receive has uniform bytes, in all places of a word.
func TestViewsLookUniform(t *testing.T) {
	p, first, _ := small(t)
	s := settingOf(p)
	in := inputsOf(t, s, uploads(t, s, 1, first.outer, first.cross))
	for _, r := range []role{serverA, serverB} {
		var bytes []byte
		for generation := range uint32(40) {
			k := newTrio(t, p, generation, in)
			k.solved()
			bytes = append(bytes, k.view(r)...)
		}
		for place := range ring128.Bytes {
			var seen [16]float64 // of the upper four bits
			n := len(bytes) / ring128.Bytes
			for i := range n {
				seen[bytes[i*ring128.Bytes+place]>>4]++
			}
			sum, mean := 0., float64(n)/16
			for _, v := range seen {
				sum += (v - mean) * (v - mean) / mean
			}
			if sum > 50 { // 15 degrees of freedom: 1e-5
				t.Errorf("byte %d of %d words to %s: chi-square %.0f", place, n, s.keepers[r], sum)
			}
		}
	}
}

// The dealer sends the same words for all inputs.
func TestDealerDependsOnNoData(t *testing.T) {
	p, first, second := small(t)
	s := settingOf(p)
	var sent [2][]byte
	for i, of := range []*sums64{first, second} {
		in := inputsOf(t, s, uploads(t, s, 1, of.outer, of.cross))
		k := newTrio(t, p, 0, in)
		k.solved()
		for _, m := range k.all {
			if m.Kind == kindDealing {
				sent[i] = append(sent[i], m.Body...)
			}
		}
	}
	if len(sent[0]) == 0 || !slices.Equal(sent[0], sent[1]) {
		t.Errorf("%d and %d bytes for two inputs; they should be equal", len(sent[0]), len(sent[1]))
	}
}
