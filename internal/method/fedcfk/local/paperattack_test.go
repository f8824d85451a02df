package local

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
)

// TestSoleRatersInPaperMode: in a round over a tenth of MovieLens' people most lists can be read
// from the sum, and the rounds together reveal whose they are. The same rounds reveal nothing in
// hardened mode, which publishes no item that few people like (TestRule13_SoleRaters).
func TestSoleRatersInPaperMode(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	people, items := fedcfktest.MovieLens(t)
	owner := make(map[string]string)
	for u, list := range people {
		owner[fmt.Sprint(list)] = fmt.Sprint(u)
	}
	var r Readings
	const rounds = 20
	each := 0
	for round := range rounds {
		chosen, lists := someOf(people, .1, round)
		names := make([]string, len(chosen))
		for i, u := range chosen {
			names[i] = fmt.Sprint(u)
		}
		read := SoleLists(items, pairsOf(items, lists))
		for _, list := range read {
			if u, public := owner[fmt.Sprint(list)]; !public || !slices.Contains(names, u) {
				t.Fatalf("round %d: a list of %d items is nobody's: the attack is wrong", round, len(list))
			}
		}
		each += len(read)
		r.Add(read, names)
	}
	if mean := float64(each) / rounds; mean < 45 || mean > 65 {
		t.Errorf("a round gives %.1f lists away, want about 55 of 94", mean)
	}
	lists, named := r.Count()
	t.Logf("%.1f lists in a round; after %d rounds %d of %d lists are read, and of %d it is known whose", float64(each)/rounds, rounds, lists, len(people), named)
	if lists < 500 || named < 50 {
		t.Errorf("%d lists are read, %d of them named", lists, named)
	}
	for list, among := range r.among {
		if len(among) == 1 && among[0] != owner[list] {
			t.Errorf("a list is said to be person %s's and is person %s's", among[0], owner[list])
		}
	}
}

// TestDifferencing: sums over groups of people give the lists of those whom the groups of people'
// equations leave alone.
func TestDifferencing(t *testing.T) {
	people, items := randomLists(20, 15, 7), 15
	var all, but []int
	for u := range people {
		all = append(all, u)
		if u != 7 {
			but = append(but, u)
		}
	}
	d := NewDifferences(len(people))
	d.Add(all)
	if got := d.Solved(); got != nil {
		t.Errorf("one sum gives %v away", got)
	}
	d.Add(but)
	if diff := cmp.Diff([]int{7}, d.Solved()); diff != "" {
		t.Fatal(diff)
	}
	pairs, others := pairsOf(items, people), pairsOf(items, slices.Delete(slices.Clone(people), 7, 8))
	for at := range pairs {
		pairs[at] -= others[at]
	}
	if diff := cmp.Diff([][]int{people[7]}, SoleLists(items, pairs)); diff != "" {
		t.Errorf("the difference of two sums is not the list: %s", diff)
	}
}

// TestDifferencingManyRounds: few rounds of random people isolate no person's list. As many rounds
// as people, or slightly more, isolate everybody's list.
func TestDifferencingManyRounds(t *testing.T) {
	const people = 60
	rng, d := rand.New(rand.NewPCG(5, 6)), NewDifferences(people)
	for round := 1; round <= people+10; round++ {
		d.Add(rng.Perm(people)[:20])
		if round == people/2 && len(d.Solved()) > 0 {
			t.Errorf("after %d rounds %v are alone", round, d.Solved())
		}
	}
	if n := len(d.Solved()); n != people {
		t.Errorf("after %d rounds %d of %d people are alone", people+10, n, people)
	}
}

// Against a dumb twin: a person is alone if taking off that column lowers the
// rank of the rounds' matrix, by plain elimination in floating
// point.
func TestDifferencesAgainstRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		people, rounds := 2+rng.IntN(8), 1+rng.IntN(8)
		d := NewDifferences(people)
		var rows [][]float64
		for range rounds {
			group := rng.Perm(people)[:1+rng.IntN(people)]
			d.Add(group)
			row := make([]float64, people)
			for _, u := range group {
				row[u] = 1
			}
			rows = append(rows, row)
		}
		var want []int
		for u := range people {
			single := make([]float64, people)
			single[u] = 1
			if rank(rows) == rank(append(slices.Clone(rows), single)) {
				want = append(want, u)
			}
		}
		if diff := cmp.Diff(want, d.Solved()); diff != "" {
			t.Fatalf("%v: %s", rows, diff)
		}
	}
}

func rank(rows [][]float64) (n int) {
	m := make([][]float64, len(rows))
	for i := range rows {
		m[i] = slices.Clone(rows[i])
	}
	for col := range m[0] {
		best := n
		for r := n; r < len(m); r++ {
			if m[r][col]*m[r][col] > m[best][col]*m[best][col] {
				best = r
			}
		}
		if n == len(m) || m[best][col]*m[best][col] < 1e-18 {
			continue
		}
		m[n], m[best] = m[best], m[n]
		for r := n + 1; r < len(m); r++ {
			factor := m[r][col] / m[n][col]
			for k := range m[r] {
				m[r][k] -= factor * m[n][k]
			}
		}
		n++
	}
	return n
}

// TestDecoyIntersection: one request is covered by its decoys; the items that are asked for
// again and again are those that a person likes. (A person stays covered who likes so large a
// part of the catalogue that other items are asked for about as often: a fifth, with these
// settings.) A device of hardened mode sends no request (TestDecoyIntersectionHasNoInput in
// internal/local/simulate).
func TestDecoyIntersection(t *testing.T) {
	const items = 400
	lists := randomLists(40, items, items/8)
	c := paperDevices(items)
	n := NewIntersection(c, len(lists))
	for round := 1; round <= 50; round++ {
		n.Begin()
		for u, list := range lists {
			n.Count(u, NewPaperDevice(c, list, prg.New([32]byte{byte(round), byte(u)}, "test")).Request())
		}
		if precision, recall := guesses(n, lists); round == 1 && precision > .6 {
			t.Errorf("one request gives %.2f of the liked items away, precision %.2f", recall, precision)
		}
	}
	precision, recall := guesses(n, lists)
	t.Logf("after 50 rounds: precision %.3f, recall %.3f", precision, recall)
	if precision < .98 || recall < .98 {
		t.Errorf("after 50 rounds: precision %.3f, recall %.3f", precision, recall)
	}
	if got := NewIntersection(c, 1).Guess(0); got != nil {
		t.Errorf("without requests: %v", got)
	}
}

func guesses(n *Intersection, lists [][]int) (precision, recall float64) {
	guessed, right, liked := 0, 0, 0
	for u, list := range lists {
		liked += len(list)
		for _, i := range n.Guess(u) {
			guessed++
			if slices.Contains(list, i) {
				right++
			}
		}
	}
	return float64(right) / float64(guessed), float64(right) / float64(liked)
}
