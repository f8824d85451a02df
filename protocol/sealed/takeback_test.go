package sealed

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
	"github.com/mercer-fl/mercer/protocol/internal/ring192"
)

// wants requires that a keeper ended with a reason.
func (j *judges) wants(r role, reason string) {
	j.Helper()
	if err := j.failed[r]; err == nil || !strings.Contains(err.Error(), reason) {
		j.Errorf("%s ends with %v; want %q", j.computation.keepers[r], err, reason)
	}
}

// closed requires that no keeper has the weights.
func (j *judges) closed() {
	j.Helper()
	for r, k := range j.keepers {
		if k.done() {
			j.Errorf("%s has the weights", j.computation.keepers[r])
		}
	}
}

// sentBy returns how many messages of a kind a keeper sent that others accepted.
func (j *judges) sentBy(r role, kind string) (n int) {
	for _, m := range j.all {
		if m.Kind == kind && m.Sender == j.computation.keepers[r] {
			n++
		}
	}
	return n
}

// persuade makes a checker accept whatever it is told, to show what a lie would do without the proofs.
func (j *judges) persuade(r role) {
	k := j.keepers[r]
	for i := range k.course {
		if k.course[i].kind == kindVerdict {
			body, take := k.course[i].body, k.course[i].take
			k.course[i].body = func(to role) []byte { k.verdict = 1; return body(to) }
			k.course[i].take = take
		}
	}
}

// inRows returns a lie of b about B: whole rows in one word of each column of B/N, and what the residual becomes.
func (l *lab) inRows(rows int) (b, residual []ring128.Word) {
	b, residual = make([]ring128.Word, l.Targets*l.Features), make([]ring128.Word, l.Targets*l.Features)
	for k := range l.Targets {
		at := k*l.Features + k + 1
		b[at] = ring128.FromInt64(int64(rows)).Lsh(l.VectorBits() - uint(l.log()))
		residual[at] = ring128.FromInt64(int64(rows)).Lsh(uint(2*l.CellBits()) + l.WeightBits()).Neg()
	}
	return b, residual
}

// takeBack shifts what b, as a prover, says about the sums of its cross term, so that the residual of its lie vanishes.
// It guesses a challenge lambda for the words q_j.
func takeBack(b *check, residual []ring128.Word, lambda uint64) {
	for i := range b.course {
		if b.course[i].kind != kindCoins {
			continue
		}
		take := b.course[i].take
		b.course[i].take = func(bodies [3][]byte) error {
			err := take(bodies)
			b.pieces.then(0, func() error {
				own := b.claims[serverB]
				for j, d := range b.coins.sums(residual) {
					wide := ring192.Lift(d)
					own.sums[j] = own.sums[j].Sub(wide)
					own.products[j] = own.products[j].Add(wide.Mul(ring192.FromUint64(lambda)))
				}
				return nil
			})
			return err
		}
	}
}

// A server adds known rows to B and takes the residual back: without the proofs of cross terms W would be another model,
// and all sums would pass. The proof finds it, with or without a guess of the challenge.
func TestRowsTakenBackInACrossTerm(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	newLab(t, 64).takesRowsBack(64)
	newPrivateLab(t, 64).takesRowsBack(256)
}

func (l *lab) takesRowsBack(n int) {
	rows, residual := l.inRows(n)
	for _, c := range []struct {
		name      string
		lambda    uint64
		persuaded bool
	}{{"proof", 0, false}, {"guess of lambda", 1 << 40, false}, {"no proof", 0, true}} {
		outcome, differ := l.run(func(k *trio) { ring128.Add(k.b.evaluation.first[0].Data, rows) }, func(j *judges) {
			takeBack(j.keepers[serverB], residual, c.lambda)
			if c.persuaded {
				j.persuade(serverA)
			}
		})
		if c.persuaded && (outcome != "opened" || differ < len(l.honest)/4) {
			l.Errorf("%s: %s, %d predictions differ; the lie is not the one it should be", c.name, outcome, differ)
		}
		if !c.persuaded && outcome != "caught" {
			l.Errorf("%s: %s, %d predictions differ", c.name, outcome, differ)
		}
	}
}

// The same taken back in a total: the other holder sends another.
func TestRowsTakenBackInATotal(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	l := newLab(t, 64)
	rows, residual := l.inRows(64)
	for _, p := range []part{maskB, masked} {
		k := newTrio(t, l.Problem, 0, l.in)
		ring128.Add(k.b.evaluation.first[0].Data, rows)
		k.solved()
		j := judgesOf(t, k, l.in)
		b := j.keepers[serverB]
		for i := range b.course {
			if take := b.course[i].take; b.course[i].kind == kindVerdict {
				b.course[i].take = func(bodies [3][]byte) error {
					err := take(bodies)
					b.pieces.then(0, func() error {
						for n, d := range b.coins.sums(residual) {
							b.totals[0][p][n] = b.totals[0][p][n].Sub(d)
						}
						return nil
					})
					return err
				}
			}
		}
		j.run()
		j.closed()
		deceived := slices.IndexFunc([]role{serverA, serverB, dealerC}, func(r role) bool { return r.lacks() == p })
		j.wants(role(deceived), "different totals")
	}
}

// The dealer shifts the sums of its cross term.
func TestDealerTakesBack(t *testing.T) {
	k, in, _ := solvedSmall(t)
	for n := range CheckSums {
		j := judgesOf(t, k, in)
		c := j.keepers[dealerC]
		for i := range c.course {
			if take := c.course[i].take; c.course[i].kind == kindCoins {
				c.course[i].take = func(bodies [3][]byte) error {
					err := take(bodies)
					c.pieces.then(0, func() error { c.claims[dealerC].sums[n].Mid ^= 1 << 63; return nil }) // 2^127, the hardest to find
					return err
				}
			}
		}
		j.run()
		j.closed()
		j.wants(serverB, "athens does not accept a proof")
	}
}

// Server b uses another E than the parties sent, such as that of t more on the diagonal: in the computation, and in the
// check, too.
func TestServerUsesAnotherMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	l := newLab(t, 64)
	more := func(m ring128.Matrix) {
		for i := range m.Rows {
			m.Row(i)[i] = m.Row(i)[i].Add(ring128.FromInt64(300).Lsh(uint(2 * l.CellBits())))
		}
	}
	compute := func(k *trio) { // H is made of these sums: at once, and again after the squarings
		k.b.sums[0] = slices.Clone(k.b.sums[0])
		m := ring128.Symmetric(l.Features, k.b.sums[0])
		more(m)
		for i := range m.Rows {
			copy(k.b.sums[0][ring128.Start(m.Rows, i):], m.Row(i)[i:])
		}
		k.b.pieces.finish(t)
		more(k.b.power.masked)
	}
	check := func(j *judges) { more(j.keepers[serverB].held[masked].matrix) }
	for name, c := range map[string]struct {
		compute func(*trio)
		check   func(*judges)
	}{"in the computation": {compute, nil}, "in the check": {nil, check}, "in both": {compute, check}} {
		if outcome, differ := l.run(c.compute, c.check); outcome != "caught" {
			t.Errorf("%s: %s, %d predictions differ", name, outcome, differ)
		}
	}
}

// The holders of each part bind themselves to one W before coins are tossed. The one that has another is named by the
// other holder; the third keeper cannot know which of the two it is.
func TestAnotherPartOfTheWeights(t *testing.T) {
	k, in, _ := solvedSmall(t)
	for p := range part(parts) {
		for i, liar := range p.holders() {
			honest := p.holders()[1-i]
			j := judgesOf(t, k, in)
			j.alter = func(m protocol.Message) protocol.Message {
				if m.Kind == kindCommitments && m.Sender == j.computation.keepers[liar] {
					c, err := decodeCommitments(m.Body, liar)
					if err != nil {
						t.Fatal(err)
					}
					c.hashes[p][3] ^= 1
					m.Body = c.encode(liar)
				}
				return m
			}
			j.run()
			j.closed()
			blames(t, "another part", j.failed[honest], j.computation.keepers[liar], protocol.KindInconsistent)
			var unknown *checkError
			for r := range role(parts) {
				if r != liar && r != honest && !errors.As(j.failed[r], &unknown) {
					t.Errorf("the third keeper: %v", j.failed[r])
				}
				if r != liar && j.sentBy(r, kindCoins) > 0 {
					t.Error("a keeper reveals its coins although two parts differ")
				}
			}
		}
	}
}

// Cells that are 0 or 1 and a whole alpha make A + alpha a multiple of 2^28 here. So 2^100 more in a word of W leaves the
// residual as it is. Only the sums of W find it.
func TestMultipleOfTheModulus(t *testing.T) {
	p, err := NewProblem(128, 4, 2, .0625)
	if err != nil {
		t.Fatal(err)
	}
	p.Ridge = int64(8) << (2 * p.CellBits())
	p.Plan = chebyshev.Plan{Steps: chebyshev.Steps(p.Rows, p.Ratio(), 1), Block: 1}
	half := int64(1) << (p.CellBits() - 1) // 1 over the root of 4 cells
	sums := &sums64{make([]int64, ring128.Triangle(4)), make([]int64, 8)}
	for row := range p.Rows {
		var phi [4]int64
		for i := range phi {
			phi[i] = int64(row>>i&1) * half
		}
		at := 0
		for i := range phi {
			sums.cross[row%2*4+i] += phi[i] << p.CellBits()
			for _, v := range phi[i:] {
				sums.outer[at] += phi[i] * v
				at++
			}
		}
	}
	s := settingOf(p)
	in := inputsOf(t, s, uploads(t, s, 1, sums.outer, sums.cross))
	k := newTrio(t, p, 0, in)
	k.solved()
	b := slices.Clone(k.b.weights().Data)
	b[5] = b[5].Add(ring128.FromInt64(1).Lsh(100))
	j := newJudges(t, k.computation, in, k.a.weights().Data, b)
	j.run()
	j.closed()
	for _, r := range []role{serverA, dealerC} {
		j.wants(r, "larger than any rows make them")
		if n := j.sentBy(r, kindResidual); n != 2*len(batches) {
			t.Errorf("%d messages of the residual's sums: they should all pass", n)
		}
	}
}

// b shows a and c different coins, each as committed: digests differ before anybody uses a claim.
func TestDifferentCoins(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	other := secret{77}
	j.alter = func(m protocol.Message) protocol.Message {
		if m.Sender != "bergen" || m.Receiver != "coordinator" {
			return m
		}
		switch m.Kind {
		case kindCommitments:
			c, err := decodeCommitments(m.Body, serverB)
			if err != nil {
				t.Fatal(err)
			}
			c.coins = k.commit("coins", serverB, other)
			m.Body = c.encode(serverB)
		case kindCoins:
			m.Body = other[:]
		}
		return m
	}
	j.run()
	j.closed()
	for _, r := range []role{serverA, dealerC} {
		j.wants(r, "has seen other commitments")
		if j.sentBy(r, kindChallenge) > 0 {
			t.Error("a keeper goes on although digests differ")
		}
	}
}

// b shows a and c commitments to different tokens, so that it could show one of them a token that the other refuses.
func TestDifferentTokens(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.alter = func(m protocol.Message) protocol.Message {
		if m.Sender == "bergen" && m.Receiver == "coordinator" && m.Kind == kindCommitments {
			m.Body[97] ^= 1
		}
		return m
	}
	j.run()
	j.closed()
	j.wants(serverA, "has seen other commitments")
	j.wants(dealerC, "has seen other commitments")
}

// b shows a and c different challenges: digests differ before a verdict.
func TestDifferentChallenges(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	other := secret{78}
	j.alter = func(m protocol.Message) protocol.Message {
		if m.Sender == "bergen" && m.Receiver == "coordinator" && m.Kind == kindClaims {
			commitment := k.commit("challenge", serverB, other)
			m.Body = append(slices.Clone(commitment[:]), m.Body[32:]...)
		}
		if m.Sender == "bergen" && m.Receiver == "coordinator" && m.Kind == kindChallenge {
			m.Body = other[:]
		}
		return m
	}
	j.run()
	j.closed()
	for _, r := range []role{serverA, dealerC} {
		j.wants(r, "has seen other commitments, coins or challenges")
		if j.sentBy(r, kindVerdict) > 0 {
			t.Error("a keeper goes on although digests differ")
		}
	}
}

// A keeper that repeats another's commitment cannot reveal it: the commitment names its sender.
func TestCopiedCommitments(t *testing.T) {
	k, in, _ := solvedSmall(t)
	for kind, reveals := range map[string]string{kindCommitments: kindCoins, kindClaims: kindChallenge} {
		j := judgesOf(t, k, in)
		seen := map[string][]byte{}
		j.alter = func(m protocol.Message) protocol.Message {
			if m.Kind != kind && m.Kind != reveals {
				return m
			}
			if m.Sender == "coordinator" {
				seen[m.Kind] = slices.Clone(m.Body)
			}
			if m.Sender == "bergen" && m.Kind == kindCommitments {
				copy(m.Body[64:96], seen[kind][64:96])
			}
			if m.Sender == "bergen" && m.Kind == kindClaims {
				copy(m.Body[:32], seen[kind][:32])
			}
			if m.Sender == "bergen" && m.Kind == reveals {
				m.Body = seen[reveals]
			}
			return m
		}
		// The liar waits for the dealer's messages: it comes last.
		for range 60 {
			for _, r := range []role{dealerC, serverA, serverB} {
				j.turn(r)
			}
		}
		j.closed()
		blames(t, reveals, j.failed[serverA], "bergen", protocol.KindInconsistent)
	}
}

// If a keeper that withholds messages of the opening gets the weights, both others do.
// A wrong last total for one honest keeper stops it. Without its token nobody shows a part, so the liar gets nothing.
// A wrong part or salt in the opening is dropped: the other holder sends the true one.
// A wrong token is refused, and names its sender.
// A sum that is not accepted ends the check: no later batch and no sum of W leaves an honest keeper.
func TestBatchesEnd(t *testing.T) {
	k, in, _ := solvedSmall(t)
	for n, batch := 0, 0; batch < len(batches); n, batch = n+batches[batch], batch+1 {
		j := judgesOf(t, k, in)
		for _, liar := range []*check{j.keepers[serverB], j.keepers[dealerC]} { // two of them: the only way to choose a sum
			for i := range liar.course {
				if take := liar.course[i].take; liar.course[i].kind == kindVerdict {
					liar.course[i].take = func(bodies [3][]byte) error {
						err := take(bodies)
						liar.pieces.then(0, func() error {
							liar.totals[0][maskB][n] = liar.totals[0][maskB][n].Add(ring128.FromInt64(1).Lsh(126))
							return nil
						})
						return err
					}
				}
			}
		}
		j.run()
		j.wants(serverA, "the weights do not solve the equations")
		if sent := j.sentBy(serverA, kindResidual); sent != 2*(batch+1) || j.sentBy(serverA, kindRange) > 0 {
			t.Errorf("batch %d: a has sent %d messages", batch, sent)
		}
	}
}

// Noise has each whole number of its range as often, and depends on the coins, the pair and what it covers.
func TestNoise(t *testing.T) {
	seen := map[int64]float64{}
	const rounds, bound = 400, 6
	for i := range rounds {
		for _, w := range noise([32]byte{1}, kindResidual, [32]byte{byte(i), byte(i >> 8)}, ring128.FromInt64(bound)) {
			v, _ := w.Int64()
			seen[v]++
		}
	}
	mean, chi := rounds*CheckSums/(bound+1.), 0.
	for v := int64(-bound / 2); v <= bound/2; v++ {
		chi += (seen[v] - mean) * (seen[v] - mean) / mean
		delete(seen, v)
	}
	if len(seen) > 0 || chi > 30 { // 6 degrees of freedom: 4e-5
		t.Errorf("chi-square %.1f; outside: %v", chi, seen)
	}
	wide := ring128.FromInt64(3).Lsh(80)
	base := noise([32]byte{1}, kindResidual, [32]byte{2}, wide)
	half, beyond := wide.Rsh(1), 0
	for _, w := range base {
		if less(wide, w.Add(half)) {
			t.Errorf("%v is out of range", w)
		}
		if math.Abs(w.Float(80)) > 1 {
			beyond++
		}
	}
	if beyond < 5 || beyond > 25 { // a third of 40
		t.Errorf("%d of 40 in the outer third", beyond)
	}
	for what, other := range map[string][CheckSums]ring128.Word{
		"pair": noise([32]byte{9}, kindResidual, [32]byte{2}, wide), "sums": noise([32]byte{1}, kindRange, [32]byte{2}, wide),
		"coins": noise([32]byte{1}, kindResidual, [32]byte{3}, wide),
	} {
		if n := equal(base[:], other[:]); n > 0 {
			t.Errorf("another %s: %d equal words", what, n)
		}
	}
}

// Sums are accepted up to 2.5 times the bound.
func TestWithin(t *testing.T) {
	bound := ring128.FromInt64(10)
	for v, want := range map[int64]bool{0: true, 25: true, -25: true, 26: false, -26: false} {
		if within(ring128.FromInt64(v), bound) != want {
			t.Errorf("%d: want %v", v, want)
		}
	}
	if within(ring128.FromInt64(1).Lsh(127), bound) {
		t.Error("2^127")
	}
}

// Masks of a proof depend on its term and on the coins: two terms of one pair would otherwise show a secret.
func TestProofMasks(t *testing.T) {
	masks := func(pair byte, of role, coins byte) []ring192.Word {
		var p pieces
		k := p.masks([32]byte{pair}, crossTerms[of], [32]byte{coins}, 3)
		p.finish(t)
		return slices.Concat(k.claims[:], k.products[:], []ring192.Word{k.last}, k.weights, k.matrix)
	}
	words := masks(1, serverB, 2)
	for what, other := range map[string][]ring192.Word{"term": masks(1, dealerC, 2), "coins": masks(1, serverB, 3), "pair": masks(3, serverB, 2)} {
		for i, w := range other {
			if slices.Contains(words, w) {
				t.Errorf("another %s: word %d occurs again", what, i)
			}
		}
	}
	for i, w := range words {
		if slices.Index(words, w) != i {
			t.Errorf("word %d covers two things", i)
		}
	}
	for _, x := range crossTerms {
		if x.known.holders() == x.other.holders() || !slices.Contains(heldBy(x.checker), x.known) || !slices.Contains(heldBy(x.helper), x.other) || slices.Contains(heldBy(x.checker), x.other) || slices.Contains(heldBy(x.helper), x.known) {
			t.Errorf("%+v: who holds what", x)
		}
	}
}

func heldBy(r role) []part { p := r.parts(); return p[:] }

// The hash of a part depends on its salt, which the third keeper lacks, so it cannot try guesses.
func TestHashesAreSalted(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.opened()
	for p := range part(parts) {
		h := p.holders()
		one, other := j.keepers[h[0]], j.keepers[h[1]]
		if one.salt(p) != other.salt(p) || one.salt(p) == (secret{}) {
			t.Errorf("%s: the holders have different salts", p.name())
		}
		words := one.held[p].weights
		if one.hash(p, secret{}, words) == one.hash(p, one.salt(p), words) || one.hash(p, one.salt(p), words) != j.keepers[h[0]].commitments[h[1]].hashes[p] {
			t.Errorf("%s: the hash does not depend on the salt", p.name())
		}
	}
}
