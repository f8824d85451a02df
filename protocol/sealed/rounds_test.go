package sealed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
	"github.com/mercer-fl/mercer/protocol/internal/ring192"
)

// Everything that keepers tell each other in check and opening, with its length: no message is missing in the argument
// of the package's comment. Of the 81 words of claims and the 21 of answers those of a check are listed there; 16 or 24
// bytes are a word, 32 a hash, a commitment, a digest or a secret.
func TestOpenedWordsAreThese(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.opened()
	var list []string
	for _, m := range j.all {
		list = append(list, fmt.Sprintf("%2d %s %c%c %d", int(m.Round)-k.steps()+1, m.Kind, letter(j, m.Sender), letter(j, m.Receiver), len(m.Body)))
	}
	slices.Sort(list)
	n := k.vectors() // 10 words
	var want []string
	add := func(round int, kind, pairs string, bytes int) {
		for _, p := range strings.Fields(pairs) {
			want = append(want, fmt.Sprintf("%2d %s %s %d", round, kind, p, bytes))
		}
	}
	const all = "ab ac ba bc ca cb"
	add(1, kindMaskedWeights, "ab ba", 16*n)
	add(2, kindCommitments, all, 4*32)
	add(3, kindCoins, all, 32)
	add(4, kindClaims, "ac bc cb", 2*32)
	add(4, kindClaims, "ab ba ca", 2*32+81*24)
	add(5, kindChallenge, all, 32)
	add(6, kindAnswers, "ab ac bc", 32)
	add(6, kindAnswers, "ba ca cb", 32+(2*n+1)*24)
	add(7, kindVerdict, "ab ac ba bc", 1)
	for i, b := range []int{1, 1, 2, 4, 8, 8, 16} {
		add(8+i, kindResidual, all, 16*b)
		add(15+i, kindRange, all, 16*b)
	}
	add(22, kindToken, all, 32)
	add(23, kindPart, all, 4*32+16*n)
	slices.Sort(want)
	if !slices.Equal(list, want) {
		t.Errorf("messages:\n%s\nwant:\n%s", strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
}

func letter(j *judges, name string) byte {
	return "abc"[slices.Index(j.computation.keepers[:], name)]
}

// A keeper refuses a message of the check that belongs to another session, generation, round, kind, size, sender or
// receiver, and names the sender. It does not change its mind by that: with the true messages it opens the weights.
func TestCheckRefusesMessages(t *testing.T) {
	k, in, words := solvedSmall(t)
	whole := judgesOf(t, k, in)
	whole.opened()
	last := map[string]protocol.Message{}
	for _, m := range whole.all {
		last[m.Kind] = m
	}
	for kind, sample := range last {
		for what, change := range map[string]func(m *protocol.Message){
			"session":    func(m *protocol.Message) { m.Session[0]++ },
			"protocol":   func(m *protocol.Message) { m.Protocol = "okra" },
			"receiver":   func(m *protocol.Message) { m.Receiver = m.Sender },
			"sender":     func(m *protocol.Message) { m.Sender = "delphi" },
			"generation": func(m *protocol.Message) { m.Sequence++ },
			"round":      func(m *protocol.Message) { m.Round += 200 },
			"earlier":    func(m *protocol.Message) { m.Round = uint16(k.steps() - 1) },
			"kind":       func(m *protocol.Message) { m.Kind = kindOpening },
			"short":      func(m *protocol.Message) { m.Body = m.Body[1:] },
			"long":       func(m *protocol.Message) { m.Body = append(slices.Clone(m.Body), 0) },
			"chunks":     func(m *protocol.Message) { m.Chunks = 2 },
		} {
			j := judgesOf(t, k, in)
			j.alter = func(m protocol.Message) protocol.Message {
				if m.Header == sample.Header {
					bad := m
					change(&bad)
					to := slices.Index(j.computation.keepers[:], sample.Receiver)
					j.boxes[to] = append(j.boxes[to], bad)
				}
				return m
			}
			if got := j.refusing(); !slices.Equal(got, words) {
				t.Errorf("%s of %s: other weights", what, kind)
			}
			for _, m := range j.all {
				if !slices.ContainsFunc(whole.all, func(w protocol.Message) bool { return w.Header == m.Header && slices.Equal(w.Body, m.Body) }) {
					t.Errorf("%s of %s: %v is taken", what, kind, m.Header)
				}
			}
			sender := sample.Sender
			if what == "sender" {
				sender = "delphi"
			}
			if len(j.refused) != 1 {
				t.Errorf("%s of %s: refused %v", what, kind, j.refused)
			} else if !strings.Contains(j.refused[0].Error(), sender) {
				t.Errorf("%s of %s: %v does not name %s", what, kind, j.refused[0], sender)
			}
		}
	}
}

// refusing runs the check, in which messages may be refused, and returns the weights of a.
func (j *judges) refusing() []ring128.Word {
	j.Helper()
	j.run()
	for r, k := range j.keepers {
		if !k.done() {
			j.Fatalf("%s does not open: %v, refused %v", j.computation.keepers[r], j.failed[r], j.refused)
		}
	}
	return j.keepers[0].weights()
}

// Each message is taken once.
func TestCheckTakesEachMessageOnce(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.opened()
	for _, m := range j.all {
		if m.Kind == kindToken {
			continue // the same token again changes nothing
		}
		to := slices.Index(j.computation.keepers[:], m.Receiver)
		if err := j.keepers[to].receive(m); err == nil {
			t.Errorf("%v is taken again", m.Header)
		}
	}
}

// A keeper may be one round ahead of another: its message is taken. A later one waits.
func TestCheckLater(t *testing.T) {
	k, in, _ := solvedSmall(t)
	whole := judgesOf(t, k, in)
	whole.opened()
	fresh := judgesOf(t, k, in)
	for _, m := range whole.all {
		if m.Sender != "bergen" || m.Receiver != "athens" || m.Kind == kindMaskedWeights {
			continue
		}
		err := fresh.keepers[serverA].receive(m)
		if m.Kind == kindCommitments {
			if err != nil {
				t.Errorf("the next round: %v", err)
			}
			continue
		}
		if later := m.Kind != kindPart; later != (err == protocol.ErrLater) { //nolint:errorlint // the value itself
			t.Errorf("%v: %v", m.Header, err)
		}
	}
}

// A keeper names whose message it waits for. After its token it does not give up.
func TestCheckWaits(t *testing.T) {
	k, in, _ := solvedSmall(t)
	whole := judgesOf(t, k, in)
	whole.opened()
	for at := range len(whole.keepers[0].course) + 2 {
		j := judgesOf(t, k, in)
		silent := false
		j.alter = func(m protocol.Message) protocol.Message {
			if m.Sender == "bergen" && int(m.Round) >= k.steps()+at {
				m.Kind, silent = "lost", true
			}
			return m
		}
		j.run()
		got := j.keepers[serverA].waits()
		if want := (wait{TimerKeeper, "bergen", ""}); silent && at < len(whole.keepers[0].course) && (got.timer != want.timer || got.member != want.member || !strings.Contains(got.what, whole.keepers[0].course[at].kind)) {
			t.Errorf("round %d: a waits for %+v", at, got)
		}
		if at >= len(whole.keepers[0].course) && got != (wait{}) {
			t.Errorf("after its token a gives up waiting for %+v", got)
		}
	}
}

// A replay sends the same bytes.
func TestCheckReplays(t *testing.T) {
	k, in, _ := solvedSmall(t)
	var sent [2][]string
	for i := range sent {
		j := judgesOf(t, k, in)
		j.opened()
		for _, m := range j.all {
			sent[i] = append(sent[i], fmt.Sprintf("%v %x", m.Header, m.Digest()))
		}
		slices.Sort(sent[i])
	}
	if !slices.Equal(sent[0], sent[1]) {
		t.Error("a second run sends other bytes")
	}
}

// What keepers receive in the check before totals has uniform bytes, in all places of a word.
func TestCheckLooksUniform(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	in := inputsOf(t, s, uploads(t, s, 1, sums.outer, sums.cross))
	var bodies = map[string][]byte{}
	for generation := range uint32(60) {
		k := newTrio(t, p, generation, in)
		k.solved()
		j := judgesOf(t, k, in)
		j.opened()
		for _, m := range j.all {
			skip := map[string]int{kindClaims: 64, kindAnswers: 32}[m.Kind]
			if m.Kind == kindMaskedWeights || m.Kind == kindClaims || m.Kind == kindAnswers {
				name := fmt.Sprintf("%s %c%c", m.Kind, letter(j, m.Sender), letter(j, m.Receiver))
				bodies[name] = append(bodies[name], m.Body[skip:]...)
			}
		}
	}
	for name, bytes := range bodies {
		width := ring192.Bytes
		if strings.HasPrefix(name, kindMaskedWeights) {
			width = ring128.Bytes
		}
		if len(bytes) > 0 {
			uniformBytes(t, name, bytes, width)
		}
	}
}

// uniformBytes tests the upper four bits of each byte of words.
func uniformBytes(t *testing.T, name string, bytes []byte, width int) {
	t.Helper()
	for place := range width {
		var seen [16]float64
		n := len(bytes) / width
		for i := range n {
			seen[bytes[i*width+place]>>4]++
		}
		sum, mean := 0., float64(n)/16
		for _, v := range seen {
			sum += (v - mean) * (v - mean) / mean
		}
		if sum > 55 { // 15 degrees of freedom: 2e-6
			t.Errorf("%s, byte %d of %d words: chi-square %.0f", name, place, n, sum)
		}
	}
}

// A prover's false words are not accepted, wherever they are, nor a helper's.
func TestFalseProofs(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.opened()
	for _, term := range crossTerms {
		checker, helper := j.keepers[term.checker], j.keepers[term.helper]
		to, known := checker.challenge.all, checker.held[term.known]
		var p pieces
		claims, product := checker.claims[term.prover], make([]ring192.Word, k.vectors())
		answers := p.answers(helper.held[term.other], helper.coins, to, helper.masks[term.prover])
		p.addWide(product, p.combine(checker.coins, to), known.matrix)
		p.finish(t)
		if !to.accepts(product, known, claims, answers) {
			t.Errorf("%+v: an honest proof is not accepted", term)
		}
		for bit := range 192 {
			e := ring192.FromUint64(1)
			for range bit {
				e = e.Add(e)
			}
			for what, change := range map[string]func(){
				"y": func() { claims.sums[bit%CheckSums] = claims.sums[bit%CheckSums].Add(e) },
				"q": func() { claims.products[bit%CheckSums] = claims.products[bit%CheckSums].Add(e) }, "last": func() { claims.last = claims.last.Add(e) },
				"o": func() { answers.masks = answers.masks.Add(e) },
			} {
				before, beforeAnswers := *claims, *answers
				change()
				// lambda times 2^192 or more vanishes: only 128 bits of y count.
				if got := to.accepts(product, known, claims, answers); got && (what != "y" || bit < 128) && (what != "q" || bit < 128) {
					t.Errorf("%+v: %s with bit %d is accepted", term, what, bit)
				}
				*claims, *answers = before, beforeAnswers
			}
		}
	}
}

// The sums that keepers open are those of the residual and of W, with the noise of all three pairs.
func TestSumsAreBlurred(t *testing.T) {
	k, in, words := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.opened()
	whole := holding{weights: words}
	a, b, c := in[serverA].parts[masked], in[serverA].parts[maskA], in[serverB].parts[maskB]
	sum := slices.Clone(a)
	ring128.Add(sum, b)
	ring128.Add(sum, c)
	whole.matrix, whole.cross = ring128.Symmetric(k.problem.Features, sum[:k.triangle()]), sum[k.triangle():]
	var p pieces
	residual := p.residual(k.problem, whole)
	p.finish(t)
	exact := [2][CheckSums]ring128.Word{j.keepers[0].coins.sums(residual), j.keepers[0].coins.sums(words)}
	for of, name := range []string{kindResidual, kindRange} {
		var e [parts][CheckSums]ring128.Word
		for p := range part(parts) {
			holder := j.keepers[p.holders()[0]]
			e[p] = noise(holder.pairs[p], name, holder.coinsDigest, holder.bounds[of])
		}
		for n := range CheckSums {
			want := exact[of][n].Add(e[0][n]).Add(e[1][n]).Add(e[2][n])
			if got := j.sum(of, n); got != want {
				t.Errorf("%s, sum %d: %v, want %v", name, n, got, want)
			}
			if got := j.sum(of, n); got == exact[of][n] {
				t.Errorf("%s, sum %d has no noise", name, n)
			}
		}
	}
}
