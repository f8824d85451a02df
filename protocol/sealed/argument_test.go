package sealed

import (
	"math"
	"slices"
	"testing"
)

// The tests of this file count all values of small rings. They check steps of the package comment whose proofs hold for
// any number of bits. Where a rule of the comment makes the count come out, a test also counts without the rule.

// ring is the ring of whole numbers modulo a power of two. Its value is the modulus less 1.
type ring int

func (r ring) of(x int) int { return x & int(r) }

func (r ring) size() int { return int(r) + 1 }

// near reports whether x, as a signed number, is at most h in size.
func (r ring) near(x, h int) bool { return r.of(x+h) <= 2*h }

// wrongCuts returns for how many of a's shares of z a local cut by f bits neither rounds down nor up. Server b cuts by
// second.
func (r ring) wrongCuts(z int, f uint, shares []int, second func(int) int) (n int) {
	for _, a := range shares {
		got := r.of(r.of(a)>>f + second(r.of(z-a)))
		if down := z >> f; got != r.of(down) && got != r.of(down+1) {
			n++
		}
	}
	return n
}

// A local cut rounds down or up, except for |z| of all shares of z, if these are uniform.
func TestCut(t *testing.T) {
	const r = ring(255)
	for f := uint(1); f < 5; f++ {
		second := func(b int) int { return -(r.of(-b) >> f) }
		var uniform []int
		for x := range r.size() {
			uniform = append(uniform, x)
		}
		for z := -100; z <= 100; z++ {
			if n := r.wrongCuts(z, f, uniform, second); n != max(z, -z) {
				t.Errorf("%d >> %d is wrong for %d of %d shares", z, f, n, r.size())
			}
		}
		if n := r.wrongCuts(1, f, uniform, func(b int) int { return b >> f }); n < r.size()/2 {
			t.Errorf("if both servers cut like a, only %d of %d shares are wrong", n, r.size())
		}
	}
}

// A public combination of words that were cut has short shares, and fails nearly 2^f times as often. A stream of the two
// servers' pair mends it.
func TestCutAgain(t *testing.T) {
	const r, f = ring(255), 3
	second := func(b int) int { return -(r.of(-b) >> f) }
	var shares, covered []int // a's shares of t_1 - t_2, without and with the stream
	for x := range r.size() {
		for y := range r.size() {
			shares = append(shares, x>>f-y>>f)
		}
	}
	for x := range r.size() >> f {
		for y := range r.size() >> f {
			for stream := range r.size() {
				covered = append(covered, x-y+stream)
			}
		}
	}
	for z := -8; z <= 8; z++ {
		size := max(z, -z)
		if n := r.wrongCuts(z, f, shares, second) * r.size(); n < size*len(shares)<<f*3/4 || n > size*len(shares)<<f {
			t.Errorf("%d >> %d is wrong for %d of %d shares", z, f, n/r.size(), len(shares))
		}
		if n := r.wrongCuts(z, f, covered, second); n*r.size() != size*len(covered) {
			t.Errorf("with a stream %d >> %d is wrong for %d of %d shares", z, f, n, len(covered))
		}
	}
}

// These are the words that server b receives in the computation of TestOpenedWords, and the streams that cover them: the
// uploads X and y, the openings and corrections of the products X y and X cut(X y), the correction of X^2, its
// opening, and a product with it.
const (
	uploadX = iota
	uploadY
	opened1
	dealt1
	opened2
	dealt2
	dealtSquare
	openedSquare
	opened3
	dealt3
	received
)

// again is the distance of a word of the second generation of TestOpenedWordsOfTwoGenerations from the same word of the
// first, in place of the words from dealtSquare on.
const again = dealtSquare - opened1

type words [received]int

// transcript returns the words that b receives if the honest streams are c. In each opening b sends any number that
// depends on what it has received by then; the dealer's words come first.
func (r ring) transcript(x, y int, c words, lie func(seen []int) int) (w words) {
	const ub, yb, v1, v2, v3, ue = 3, 1, 2, 3, 1, 2 // streams of b
	u := c[uploadX] + ub
	w[uploadX], w[uploadY] = r.of(x-u), r.of(y-c[uploadY]-yb)
	w[dealt1] = r.of(u*(c[opened1]+v1) - c[dealt1])
	w[dealt2] = r.of(u*(c[opened2]+v2) - c[dealt2])
	w[dealtSquare] = r.of(u*u - c[dealtSquare])
	w[dealt3] = r.of((c[openedSquare]+ue)*(c[opened3]+v3) - c[dealt3])
	seen := []int{w[uploadX], w[uploadY], w[dealt1], w[dealt2], w[dealtSquare], w[dealt3]}
	open := func(at, share int) int {
		w[at] = r.of(share - c[at])
		seen = append(seen, w[at])
		return w[at] + lie(seen)
	}
	cut := func(z int) int { return r.of(z) >> 1 }
	e := w[uploadX]
	y1 := w[uploadY] + c[uploadY]
	y2 := cut(e*y1 + c[uploadX]*open(opened1, y1) + c[dealt1])
	y3 := cut(e*y2 + c[uploadX]*open(opened2, y2) + c[dealt2])
	open(openedSquare, cut(e*e+2*e*c[uploadX]+c[dealtSquare]))
	open(opened3, y3)
	return w
}

// twoGenerations returns the words that b receives of two generations with one upload. The first ends after the products
// X y and X cut(X y), since the dealer or a has lost its journal; the second does the same under streams of its own.
func (r ring) twoGenerations(x, y int, c words, lie func(seen []int) int) (w words) {
	const ub, yb, v1, v2 = 3, 1, 2, 3 // streams of b
	u := c[uploadX] + ub
	w[uploadX], w[uploadY] = r.of(x-u), r.of(y-c[uploadY]-yb)
	seen := append(make([]int, 0, received), w[uploadX], w[uploadY])
	send := func(at, word int) int {
		w[at] = r.of(word - c[at])
		seen = append(seen, w[at])
		return w[at]
	}
	e, y1 := w[uploadX], w[uploadY]+c[uploadY]
	for _, g := range []int{0, again} {
		send(dealt1+g, u*(c[opened1+g]+v1))
		send(dealt2+g, u*(c[opened2+g]+v2))
		first := send(opened1+g, y1) + lie(seen)
		send(opened2+g, r.of(e*y1+c[uploadX]*first+c[dealt1+g])>>1)
	}
	return w
}

// views returns how many different views of b there are over all streams, if its words are those of a function. Word i is
// covered by stream alias(i).
func (r ring) views(of func(x, y int, c words, lie func([]int) int) words, x, y int, lie func([]int) int, alias func(int) int) (n int) {
	seen := make([]bool, 1<<(2*received))
	for k := range seen {
		var c words
		for i := range c {
			c[i] = k >> (2 * alias(i)) & 3
		}
		if at := number(of(x, y, c, lie)); !seen[at] {
			seen[at], n = true, n+1
		}
	}
	return n
}

// number returns words of two bits as one number.
func number(w words) (n int) {
	for i, x := range w {
		n |= x << (2 * i)
	}
	return n
}

// Whatever server b sends, each view belongs to exactly one choice of the honest streams, for each input.
func TestOpenedWords(t *testing.T) {
	const r = ring(3)
	last := func(s []int) int { return s[len(s)-1] }
	for name, lie := range map[string]func([]int) int{
		"0": func([]int) int { return 0 }, "the last word": last,
		"the dealer's later words": func(s []int) int { return s[3] * (s[5] + last(s)) },
	} {
		for _, in := range [][2]int{{0, 0}, {1, 2}} {
			if n := r.views(r.transcript, in[0], in[1], lie, func(i int) int { return i }); n != 1<<(2*received) {
				t.Errorf("b sends %s, input %v: %d views", name, in, n)
			}
		}
	}
	reuse := func(i int) int {
		if i == opened2 {
			return opened1
		}
		return i
	}
	if n := r.views(r.transcript, 1, 2, last, reuse); n == 1<<(2*received) {
		t.Error("if one stream covers two words, all views remain")
	}
}

// The same of two generations with one upload, whatever b sends in the second after it has seen the first. If a stream of
// the first covers a word of the second, some views are gone.
func TestOpenedWordsOfTwoGenerations(t *testing.T) {
	const r = ring(3)
	for name, lie := range map[string]func([]int) int{
		"the last word": func(s []int) int { return s[len(s)-1] }, "words of the first": func(s []int) int { return s[2] * s[len(s)-1] },
	} {
		for _, in := range [][2]int{{0, 0}, {1, 2}} {
			if n := r.views(r.twoGenerations, in[0], in[1], lie, func(i int) int { return i }); n != 1<<(2*received) {
				t.Errorf("b sends %s, input %v: %d views", name, in, n)
			}
		}
	}
	reuse := func(i int) int {
		if i >= dealtSquare {
			return i - again
		}
		return i
	}
	lie := func(s []int) int { return len(s) }
	if n := r.views(r.twoGenerations, 1, 2, lie, reuse); n == 1<<(2*received) {
		t.Error("if the streams of the first generation serve in the second, all views remain")
	}
}

// passes returns how many of the 4^n choices of coins -1, 0, 0, 1 bring s + <coins, x> within h of 0.
func (r ring) passes(x []int, s, h int) int {
	if len(x) == 0 {
		if r.near(s, h) {
			return 1
		}
		return 0
	}
	return r.passes(x[1:], s-x[0], h) + 2*r.passes(x[1:], s, h) + r.passes(x[1:], s+x[0], h)
}

// A word outside twice what is accepted fails a sum with at least 1/2, whatever the rest of the sum is.
func TestOneWord(t *testing.T) {
	const r, h = ring(127), 9
	for x := range r.size() {
		most := 0
		for s := range r.size() {
			most = max(most, r.passes([]int{x}, s, h))
		}
		if far := !r.near(x, 2*h); far != (most <= 2) {
			t.Errorf("word %d: %d of 4 coins pass", x, most)
		}
	}
	half := r.size() / 2 // the reason for the zeros among the coins
	if s := half; !r.near(s-half, h) || !r.near(s+half, h) {
		t.Error("coins -1 and 1 find half of the ring")
	}
}

// binomials returns the sum of the g largest of C(2k, i)/4^k.
func binomials(k, g int) float64 {
	term := 1.0
	for i := 1; i <= k; i++ {
		term *= 1 - 1/float64(2*i)
	}
	sum := term // the middle one; the others come in pairs
	for j := 1; j < g; j++ {
		if i := (j + 1) / 2; j%2 == 1 {
			term *= float64(k-i+1) / float64(k+i)
		}
		sum += term
	}
	return sum
}

// above returns how many numbers exceed 2h/g.
func above(x []int, h, g int) (k int) {
	for _, w := range x {
		if w*g > 2*h {
			k++
		}
	}
	return k
}

// If k words exceed 2h/g in size, a sum passes with at most the g largest binomials, and some words reach that.
func TestManyWords(t *testing.T) {
	const r, h, n = ring(255), 6, 4
	reached := map[[2]int]bool{}
	for code := range 1 << (4 * n) {
		x := []int{code & 15, code >> 4 & 15, code >> 8 & 15, code >> 12}
		if !slices.IsSorted(x) || x[n-1] > 2*h {
			continue // coins are symmetric; a larger word is the case of TestOneWord
		}
		most := 0
		for s := -h; s <= h+2*h*n; s++ {
			most = max(most, r.passes(x, s, h))
		}
		for g := 1; g <= 4; g++ {
			k := above(x, h, g)
			p, bound := float64(most)/(1<<(2*n)), binomials(k, g)
			if p > bound+1e-12 {
				t.Fatalf("words %v pass with %v; %d exceed 2h/%d, the bound is %v", x, p, k, g, bound)
			}
			reached[[2]int{k, g}] = reached[[2]int{k, g}] || p > bound-1e-12
		}
	}
	for _, kg := range [][2]int{{1, 2}, {2, 2}, {3, 2}, {4, 2}, {2, 3}, {4, 3}, {4, 4}} {
		if !reached[kg] {
			t.Errorf("no words reach the bound of %d words above 2h/%d", kg[0], kg[1])
		}
	}
}

// An error that passes 40 sums with more than 2^-40 is smaller than 18 beta over 5,120 words, 16 beta over 512.
func TestManyWordsTogether(t *testing.T) {
	for words, bound := range map[int]float64{512: 16, 5120: 18} {
		sum, g := 0.0, 1
		for k := 1; k <= words; k++ {
			for binomials(k, g+1) <= .5 {
				g++
			}
			if low := int(math.Sqrt(math.Pi*float64(k)) / 2); g < low {
				t.Fatalf("%d words: g is %d, and not at least %d", k, g, low)
			}
			sum += 1 / float64(g*g)
		}
		if got := 5 * math.Sqrt(sum); got > bound || got < bound-1 {
			t.Errorf("%d words: %v beta", words, got)
		}
	}
}

// accepted returns how many challenges accept the errors e of claims and e1 of the words q_j, of all n for lambda times n
// for each rho_j. The error of the word q is the best for the prover.
func (r ring) accepted(e, e1 []int, n int) int {
	hits := make([]int, r.size()) // challenges by the error of q that they accept
	var each func(j, x, y int)
	each = func(j, x, y int) {
		if j == len(e) {
			for lambda := range n {
				hits[r.of(-lambda*x-y)]++
			}
			return
		}
		for rho := range n {
			each(j+1, x+rho*e[j], y+rho*e1[j])
		}
	}
	each(0, 0, 0)
	return slices.Max(hits)
}

// A claim that is false mod 2^k is accepted with at most (s+5)/4 2^-s, by challenges of s bits over words of k+s
// bits, and the error 2^(k-1) with that. Over words of k bits it is accepted at least half of the time.
func TestCrossTerm(t *testing.T) {
	for _, c := range []struct{ k, s int }{{1, 3}, {2, 3}, {2, 5}, {3, 4}} {
		n := 1 << c.s
		wide, narrow := ring(1<<(c.k+c.s)-1), ring(1<<c.k-1)
		for e := 1; e < 1<<c.k; e *= 2 { // odd factors are units
			for e1 := range wide.size() {
				if a := wide.accepted([]int{e}, []int{e1}, n); 4*a > (c.s+5)*n {
					t.Errorf("%d + %d bits: errors %d, %d: %d of %d challenges accept", c.k, c.s, e, e1, a, n*n)
				}
			}
		}
		if a := wide.accepted([]int{1 << (c.k - 1)}, []int{0}, n); 4*a != (c.s+5)*n {
			t.Errorf("%d + %d bits: %d of %d challenges accept error %d", c.k, c.s, a, n*n, 1<<(c.k-1))
		}
		if a := narrow.accepted([]int{1 << (c.k - 1)}, []int{0}, n); 2*a < n*n {
			t.Errorf("%d bits: %d of %d challenges accept", c.k, a, n*n)
		}
	}
	const k, s = 2, 3
	wide, n := ring(1<<(k+s)-1), 1<<s
	for code := range wide.size() * wide.size() * wide.size() {
		e, e1 := []int{2, wide.of(code)}, []int{wide.of(code >> (k + s)), code >> (2 * (k + s))}
		if a := wide.accepted(e, e1, n); 4*a > (s+5)*n*n {
			t.Errorf("errors %v and %v: %d of %d challenges accept", e, e1, a, n*n*n)
		}
	}
}

// refused is no sum.
const refused = -1

// hidden holds what keeper a lacks in a check of one word by one sum: U_b, V_b, and U_b of B.
type hidden struct{ u, v, b int }

// rest holds what keeper a learns besides the words of view: the two words o, and the total of b and c. The piece w^b
// is for comparison; b and c do not send it.
type rest struct{ o1, o2, total, piece uint8 }

// check runs the check for keeper a, with masks of the cross terms M_b and M_c. It returns the words y, q_j, q, v, v' of
// each term, the rest, and the sum of all totals, or refused if a would not accept a term.
func (r ring) check(h hidden, mask words) (w words, s rest, sum int) {
	const e, ua, f, va, be, ba = 1, 3, 2, 1, 2, 3 // what a holds
	const coin, lambda, rho = -1, 3, 3
	var o [2]int
	term := func(at, g, f, v, u int) (accepted bool) {
		m := mask[5*at : 5*at+5]
		w[5*at] = r.of(m[0] - coin*(g*v+u*f))
		w[5*at+1], w[5*at+2] = r.of(m[1]-coin*g*m[3]), r.of(m[2]-m[4]*f)
		w[5*at+3], w[5*at+4] = r.of(lambda*v+m[3]), r.of(lambda*u*rho*coin+m[4])
		o[at] = r.of(rho*(lambda*m[0]+m[1]) + m[2])
		y := w[5*at:]
		return o[at] == r.of(g*rho*coin*y[3]+y[4]*f+rho*(lambda*y[0]+y[1])+y[2])
	}
	if b, c := term(0, e, f, h.v, h.u), term(1, ua, va, h.v, h.u); !b || !c {
		return w, s, refused
	}
	total := r.of(coin*(h.b-h.v-h.u*h.v) - mask[0] - mask[5])
	sum = r.of(coin*(be-f-e*f) - coin*(e*va+ua*f) + w[0] + coin*(ba-va-ua*va) + w[5] + total)
	return w, rest{uint8(o[0]), uint8(o[1]), uint8(total), uint8(mask[0])}, sum
}

// Masks cover what keeper a receives in a check, and the rest follows from that and the sum. So a learns the sum only. A
// single piece would distinguish inputs of the same sum.
func TestCheckView(t *testing.T) {
	const r = ring(3)
	first := map[int][]rest{} // by sum: the rest for each view, in the first input with this sum
	differ := 0
	for k := range 16 {
		h := hidden{k & 3, k >> 2, 1}
		want := r.of((1+3+h.u+1)*(2+1+h.v) - (2 + 3 + h.b)) // the coin is -1, alpha is 1
		table := make([]rest, 1<<(2*received))
		seen := make([]bool, len(table))
		for i := range table {
			var mask words
			for j := range mask {
				mask[j] = i >> (2 * j) & 3
			}
			w, s, sum := r.check(h, mask)
			if sum != want {
				t.Fatalf("%+v: the totals add up to %d, the residual is %d", h, sum, want)
			}
			at := number(w)
			if seen[at] {
				t.Fatalf("%+v: two masks give the same words", h)
			}
			table[at], seen[at] = s, true
		}
		if first[want] == nil {
			first[want] = table
		}
		for at, s := range table {
			f := first[want][at]
			if s.o1 != f.o1 || s.o2 != f.o2 || s.total != f.total {
				t.Fatalf("%+v: the rest is %v, and %v for another input of the same sum", h, s, f)
			}
			if s.piece != f.piece {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("a single piece tells nothing more")
	}
}

// If M_b and M_c had the same masks, their words would differ by a number that depends on what a lacks, whatever the
// masks are, and also among inputs of the same sum.
func TestCheckViewOneMask(t *testing.T) {
	const r = ring(3)
	bySum := map[int][]int{}
	for k := range 16 {
		var differences []int
		sum := 0
		for i := range 1 << 10 { // five masks of two bits
			var mask words
			for j := range 5 {
				mask[j] = i >> (2 * j) & 3
				mask[5+j] = mask[j]
			}
			var w words
			w, _, sum = r.check(hidden{k & 3, k >> 2, 1}, mask)
			differences = append(differences, r.of(w[0]-w[5]))
		}
		if slices.Min(differences) != slices.Max(differences) {
			t.Errorf("input %d: the difference depends on masks", k)
		}
		bySum[sum] = append(bySum[sum], differences[0])
	}
	for sum, d := range bySum {
		if slices.Min(d) == slices.Max(d) {
			t.Errorf("sum %d: the difference tells nothing more", sum)
		}
	}
}
