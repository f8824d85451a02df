package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/komd"
)

// paperDevices is a group in mode paper.
func paperDevices(items int) fedcfk.Devices {
	keys := &fedcfk.Keys{
		Moded: job.Moded{Mode: job.Paper}, Keys: sums.Keys{Adversary: sums.Active, Corrupted: .05, Dropped: .1},
		Participation: .1, Decoys: 3, Omitted: .2,
	}
	return fedcfk.Devices{Items: items, Instance: method.Instance{Coordinator: "server", Job: &job.Job{
		Protocol: job.Named{Kind: fedcfk.Protocol(), Values: keys},
		Kernel:   job.Kernel{Name: job.Linear}, Learner: job.Named{Kind: learner.CFKOMD{}, Values: &learner.CFKOMD{Profile: learner.Profile{Lambda: .1}}},
	}}}
}

// pairsOf is the plain sum of a round, as pairs i <= j.
func pairsOf(items int, profiles [][]int) []int64 {
	c := komd.CountsOf(items, profiles).C
	pairs := make([]int64, 0, fedcfk.Entries(items))
	for i := range items {
		for _, n := range c.Row(i)[i:] {
			pairs = append(pairs, int64(n))
		}
	}
	return pairs
}

// someOf draws the people of a round.
func someOf(profiles [][]int, share float64, round int) (chosen []int, lists [][]int) {
	order := prg.New([32]byte{byte(round), byte(round >> 8)}, "test/round").Perm(len(profiles))
	for _, u := range order[:sums.Share(share, len(profiles))] {
		chosen, lists = append(chosen, u), append(lists, profiles[u])
	}
	return chosen, lists
}

// randomLists are lists of 1 to most items.
func randomLists(people, items, most int) [][]int {
	rng, lists := rand.New(rand.NewPCG(3, 4)), make([][]int, people)
	for u := range lists {
		lists[u] = rng.Perm(items)[:1+rng.IntN(most)]
		slices.Sort(lists[u])
	}
	return lists
}

// Each round is a session of its own, over all pairs of the catalogue.
func TestRound(t *testing.T) {
	c := paperDevices(5)
	one, err := Round(c, [32]byte{}, 1, fedcfktest.Names(40))
	if err != nil {
		t.Fatal(err)
	}
	two, err := Round(c, [32]byte{}, 2, fedcfktest.Names(40))
	if err != nil {
		t.Fatal(err)
	}
	if one.Session.Purpose != "fedcfk/paper/1" || one.Session.ID() == two.Session.ID() || one.Params.Layout().Entries() != 15 {
		t.Errorf("%+v", one.Session.Descriptor)
	}
	if _, err := Round(paperDevices(fedcfk.MaxItems+1), [32]byte{}, 1, fedcfktest.Names(40)); err == nil {
		t.Error("a catalogue that no device can hold")
	}
}

// The estimate is the largest count of any round, entry for entry.
func TestEstimate(t *testing.T) {
	lists := randomLists(30, 12, 6)
	e, want := NewEstimate(12), make([]int64, fedcfk.Entries(12))
	for round, share := range []float64{.3, .5, .4, .2} {
		_, some := someOf(lists, share, round)
		pairs := pairsOf(12, some)
		e.Merge(pairs, len(some))
		for at := range want {
			want[at] = max(want[at], pairs[at])
		}
	}
	if d := cmp.Diff(want, e.counts); d != "" || e.people != 15 {
		t.Errorf("%d people %s", e.people, d)
	}
	offer, err := e.Offer(job.Kernel{Name: job.Linear})
	if err != nil {
		t.Fatal(err)
	}
	c := e.matrix().C
	for i, row := range offer.Rows([]int{3, 7}) {
		i = []int{3, 7}[i]
		for j, v := range row {
			value := c.Row(i)[j] / math.Sqrt(c.Row(i)[i]*c.Row(j)[j])
			if math.Abs(float64(v)/fedcfk.One-value) > .51/fedcfk.One {
				t.Errorf("kernel of %d and %d: %v, want %v", i, j, float64(v)/fedcfk.One, value)
			}
		}
	}
	if got := offer.Error(offer); got != 0 {
		t.Errorf("the kernel differs from itself by %v", got)
	}
	none := &Offer{rows: make([][]uint16, 12)}
	squares := 0.0
	for i := range none.rows {
		none.rows[i] = make([]uint16, 12)
		for _, v := range offer.rows[i] {
			squares += float64(v) * float64(v) / (fedcfk.One * fedcfk.One) / 144
		}
	}
	if got := offer.Error(none); math.Abs(got-squares) > 1e-12 || got < .1 {
		t.Errorf("the kernel differs from zero by %v, want %v", got, squares)
	}
	back, err := fedcfk.DecodeItemKernel(offer.ItemKernel().Encode())
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Model().Mean(); math.Abs(got[5]-offer.Mean[5]) > 1./fedcfk.One {
		t.Errorf("mean %v, want %v", got[5], offer.Mean[5])
	}
	if _, err := e.Offer(job.Kernel{Name: "gauss"}); err == nil {
		t.Error("an unknown kernel")
	}
}

// A request holds most of the items that the person likes, and other items beside them, drawn
// anew each time.
func TestRequest(t *testing.T) {
	const rounds = 200
	liked := []int{2, 30, 31, 77, 90}
	a := NewPaperDevice(paperDevices(100), liked, prg.New([32]byte{}, "test"))
	var before []int
	own, others := 0, 0
	for range rounds {
		request := a.Request()
		if !slices.IsSorted(request) || slices.Equal(request, before) {
			t.Fatalf("%v after %v", request, before)
		}
		before = request
		for _, i := range request {
			if slices.Contains(liked, i) {
				own++
			} else {
				others++
			}
		}
	}
	if others != 15*rounds || own < 720 || own > 880 {
		t.Errorf("%d others, want 15 each time; %d of 1000 liked ones, want four fifths", others, own)
	}
	all := NewPaperDevice(paperDevices(6), []int{0, 1, 2, 3}, prg.New([32]byte{}, "test"))
	if request := all.Request(); !slices.Contains(request, 4) || !slices.Contains(request, 5) {
		t.Errorf("%v: there are two others, and both are asked for", request)
	}
}

// A request leaves out the share of the own items that the job names.
func TestRequestLeavesOutTheJobsShare(t *testing.T) {
	const rounds = 400
	liked := []int{2, 30, 31, 77, 90}
	for _, omitted := range []float64{0, .5, .9} {
		c := paperDevices(100)
		c.Keys().Omitted = omitted
		a, own := NewPaperDevice(c, liked, prg.New([32]byte{}, "test")), 0
		for range rounds {
			for _, i := range a.Request() {
				if slices.Contains(liked, i) {
					own++
				}
			}
		}
		asked := rounds * float64(len(liked))
		if want := (1 - omitted) * asked; math.Abs(float64(own)-want) > 5*math.Sqrt(asked*omitted*(1-omitted)) {
			t.Errorf("omitted %v: %d own items in %d requests, want about %.0f", omitted, own, rounds, want)
		}
	}
}

// A request has as many decoys for each item of the own list as the job names.
func TestRequestHasTheJobsDecoys(t *testing.T) {
	liked := []int{2, 30, 31, 77, 90}
	for _, decoys := range []int{1, 4} {
		c := paperDevices(100)
		c.Keys().Decoys = decoys
		request := NewPaperDevice(c, liked, prg.New([32]byte{}, "test")).Request()
		others := slices.DeleteFunc(slices.Clone(request), func(i int) bool { return slices.Contains(liked, i) })
		if len(others) != decoys*len(liked) {
			t.Errorf("%d decoys for each item: %d others in %v", decoys, len(others), request)
		}
	}
}

// If rows disagree, the newer one counts. Rows that were never requested are unknown.
func TestKeep(t *testing.T) {
	a := NewPaperDevice(paperDevices(4), []int{0, 2, 3}, prg.New([32]byte{}, "test"))
	if scores, convex, err := a.Rank([]float64{.1, .4, .2, .3}, .1); err != nil || !convex || !slices.Equal(scores, []float64{.1, .4, .2, .3}) {
		t.Errorf("without a row: %v, %v, %v", scores, convex, err)
	}
	// The device has no row of item 2, which stands between its other items.
	a.Keep(1, []int{0, 1, 3}, [][]uint16{{fedcfk.One, 1, 10, 3}, {1, fedcfk.One, 5, 6}, {3, 6, 8, fedcfk.One}})
	a.Keep(2, []int{0}, [][]uint16{{fedcfk.One, 2, 20, 4}})
	s := a.stripe(make([]float64, 4))
	if d := cmp.Diff([]int{0, 3}, s.Liked); d != "" {
		t.Fatal(d)
	}
	for r, want := range [][]float64{{fedcfk.One, 2, 20, 4}, {4, 6, 8, fedcfk.One}} {
		for j, v := range want {
			if s.Rows.Row(r)[j] != v/fedcfk.One {
				t.Errorf("row %d: %v, want %v / 2^16", r, s.Rows.Row(r), want)
			}
		}
	}
}

// In each round a device receives the rows that it requests, and no others. It keeps the row of the
// latest round that sent one.
func TestDevicesKeepTheRowsOfTheirRequests(t *testing.T) {
	const items, rounds = 12, 6
	c, liked := paperDevices(items), []int{1, 4, 5, 9}
	m := &merging{people: &people{setting: c, figures: &fedcfk.Figures{Paper: new(fedcfk.PaperFigures)}}, intersection: NewIntersection(c, 1)}
	m.devices = []*PaperDevice{NewPaperDevice(c, liked, prg.New([32]byte{3}, "test"))}
	twin := NewPaperDevice(c, liked, prg.New([32]byte{3}, "test"))
	want, omitted := make(map[int]int), 0
	for round := 1; round <= rounds; round++ {
		m.offer = &Offer{rows: make([][]uint16, items)}
		for i := range m.offer.rows {
			m.offer.rows[i] = slices.Repeat([]uint16{uint16(100*round + i)}, items)
		}
		m.requestRows(round)
		for _, i := range twin.Request() {
			want[i] = 100*round + i
		}
		for at, i := range liked {
			if got := m.devices[0].held[at]; len(got.values) == 0 && want[i] > 0 || len(got.values) > 0 && int(got.values[0]) != want[i] {
				t.Errorf("round %d, item %d: the device has %v, want %d", round, i, got, want[i])
			}
			if want[i] < 100*round {
				omitted++
			}
		}
	}
	if omitted == 0 {
		t.Error("every request has all items: the test shows nothing")
	}
	s := m.devices[0].stripe(make([]float64, items))
	for r, i := range s.Liked {
		for c, j := range s.Liked { // for a pair the younger row counts, and its number begins with its round
			if got := s.Rows.Row(r)[j] * fedcfk.One; c != r && int(math.Round(got))/100 != max(want[i], want[j])/100 {
				t.Errorf("pair %d and %d has %v, rows %d and %d", i, j, got, want[i], want[j])
			}
		}
	}
}

// Max-merge is not positive semidefinite: if one round has all three of two items' friends
// together, and another round the third, the result is no longer a kernel.
func TestMaxMergeIsNoKernel(t *testing.T) {
	e := NewEstimate(3)
	e.Merge(pairsOf(3, [][]int{{0, 1}, {0, 1}}), 2)
	e.Merge(pairsOf(3, [][]int{{1, 2}, {1, 2}}), 2)
	offer, err := e.Offer(job.Kernel{Name: job.Linear})
	if err != nil {
		t.Fatal(err)
	}
	a := NewPaperDevice(paperDevices(3), []int{0, 1, 2}, prg.New([32]byte{}, "test"))
	a.Keep(1, a.Liked, offer.Rows(a.Liked))
	if _, convex, err := a.Rank(offer.Mean, .1); err != nil || convex {
		t.Errorf("0 is like 1, 1 like 2, 0 not like 2: convex %v, %v", convex, err)
	}
	sum := pairsOf(3, [][]int{{0, 1}, {0, 1}, {1, 2}, {1, 2}}) // everybody once
	e = NewEstimate(3)
	e.Merge(sum, 4)
	if offer, err = e.Offer(job.Kernel{Name: job.Linear}); err != nil {
		t.Fatal(err)
	}
	a.Keep(2, a.Liked, offer.Rows(a.Liked))
	if _, convex, err := a.Rank(offer.Mean, .1); err != nil || !convex {
		t.Errorf("a sum over everybody: convex %v, %v", convex, err)
	}
}

func ExampleDifferences() {
	d := NewDifferences(4)
	d.Add([]int{0, 1, 2})
	d.Add([]int{0, 2})
	fmt.Println(d.Solved())
	// Output: [1]
}

// A hundred rounds of a tenth of the people have no good estimate with max-merge: for some people the
// problem on the device is not convex, which it is for nobody with the sum over all people.
func TestAHundredRoundsOfMaxMergeAreNoKernel(t *testing.T) {
	const items, people = 40, 200
	lists := randomLists(people, items, 20)
	once, merged := NewEstimate(items), NewEstimate(items)
	once.Merge(pairsOf(items, lists), people)
	for round := range 100 {
		_, some := someOf(lists, .1, round)
		merged.Merge(pairsOf(items, some), len(some))
	}
	for name, tt := range map[string]struct {
		estimate    *Estimate
		least, most int // people whose problem is not convex
	}{"all people at once": {once, 0, 0}, "a hundred rounds": {merged, people / 20, people}} {
		offer, err := tt.estimate.Offer(job.Kernel{Name: job.Linear})
		if err != nil {
			t.Fatal(err)
		}
		saddles := 0
		for _, list := range lists {
			a := NewPaperDevice(paperDevices(items), list, prg.New([32]byte{}, "test"))
			a.Keep(1, list, offer.Rows(list))
			if _, convex, err := a.Rank(offer.Mean, .1); err != nil {
				t.Fatal(err)
			} else if !convex {
				saddles++
			}
		}
		if t.Logf("%s: %d of %d problems are not convex", name, saddles, people); saddles < tt.least || saddles > tt.most {
			t.Errorf("%s: %d of %d problems are not convex, want %d to %d", name, saddles, people, tt.least, tt.most)
		}
	}
}
