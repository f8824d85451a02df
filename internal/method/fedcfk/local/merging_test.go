package local

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/local/dropout"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// paperJob is the recommender the paper's way.
func paperJob() string {
	return strings.Replace(recommender, "threshold: 4", "mode: paper, rounds: 12, participation: 0.3, decoys: 1", 1)
}

// The paper's way runs on the same machines: exact sums of every round, people
// who vanish, rankings, and every attack with its figures.
func TestPaperDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := runDevices(t, paperJob())
	figures := figuresOf(t, r)
	if r.Exact == nil || !*r.Exact || len(figures.Sums) != 12 {
		t.Errorf("exact %v over %d rounds", r.Exact, len(figures.Sums))
	}
	for _, s := range figures.Sums {
		if s.Clients != 18 || s.Vanished != 1 || s.Entries != 80*81/2 {
			t.Errorf("%+v", s)
		}
	}
	p := figures.Paper
	if p.Rounds != 12 || p.Added < 12*17 || p.Added > 12*18 || p.Requested < 12*1080*17/10 || p.Requested > 12*1080*19/10 {
		t.Errorf("%+v", p)
	}
	if e := p.KernelErrors; len(e) != 12 || e[0] > .1 || e[11] <= 0 || e[11] > e[0] {
		t.Errorf("errors of the kernel: %v", e)
	}
	if p.Indefinite == 0 || p.ListsRead == 0 || p.ListsNamed > p.ListsRead || p.GuessRecall < .9 || p.GuessPrecision < .9 {
		t.Errorf("the attacks find too little: %+v", p)
	}
	if a, b := r.Metrics["auc"], r.Pooled["auc"]; a < .6 || a > b+.05 {
		t.Errorf("auc %v, pooled %v", a, b)
	}
	said := strings.Join(r.Leakage["server"], " ") + strings.Join(r.Leakage["party"], " ")
	for _, attack := range []string{"Sole raters", "Differencing", "Decoy intersection", "Max-merge"} {
		if !strings.Contains(said, attack) {
			t.Errorf("%s is not in the leakage: %s", attack, said)
		}
	}
	if lists := readLists(t, r); strings.Count(lists, "\n") != 1+60*10 {
		t.Errorf("not 10 recommendations to each of 60 people: %s", lists)
	}
}

// In mode paper, too, devices weigh their items with the job's lambda.
func TestPaperDevicesHaveTheJobsLambda(t *testing.T) {
	const lambda = 3
	p, err := gather(played(t, strings.Replace(paperJob(), "name: cf-komd", "name: cf-komd, lambda: 3", 1)), small())
	if err != nil {
		t.Fatal(err)
	}
	m := newMerging(p)
	if m.offer, err = m.pooledEstimate().Offer(m.Job.Kernel); err != nil {
		t.Fatal(err)
	}
	m.requestRows(1)
	if err := m.evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	scores, _, err := m.devices[0].Rank(m.offer.Mean, lambda)
	if err != nil {
		t.Fatal(err)
	}
	want := p.devices[0].Best(scores, p.ratings.Items)[:maxShown]
	if d := cmp.Diff(want, p.figures.Recommended); d != "" {
		t.Errorf("recommended to the first: %s", d)
	}
}

// In mode paper, too, one count that is off makes the sums inexact, and later rounds do not mend it.
func TestRoundsThatAreNotExact(t *testing.T) {
	p, err := gather(played(t, paperJob()), small())
	if err != nil {
		t.Fatal(err)
	}
	m := newMerging(p)
	if m.truth, err = m.pooledEstimate().Offer(m.Job.Kernel); err != nil {
		t.Fatal(err)
	}
	for round, off := range []int64{0, 1, 0} {
		names := m.drawPeople(round + 1)
		s, err := Round(p.setting, p.Roster, round+1, names)
		if err != nil {
			t.Fatal(err)
		}
		var lists [][]int
		for _, name := range names {
			lists = append(lists, p.train[p.Place[name]])
		}
		counts := pairsOf(p.setting.Items, lists)
		counts[len(counts)-2] += off // of the last two items
		sum := &clients.Sum{Summation: s, Result: new(dropout.Result), Added: names, Sums: [][]int64{counts}}
		if err := m.take(round+1, sum); err != nil {
			t.Fatal(err)
		}
		if want := round == 0; m.exact != want {
			t.Errorf("after round %d: exact %v, want %v", round+1, m.exact, want)
		}
	}
}

// With once: true each person is in one round, also where the share of a round does not divide all
// people.
func TestOnceEachPersonIsInOneRound(t *testing.T) {
	for share, rounds := range map[string]int{"1": 1, "0.3": 3, "0.25": 4, "0.07": 14} {
		once := strings.Replace(paperJob(), "mode: paper, rounds: 12, participation: 0.3", "mode: paper, once: true, participation: "+share, 1)
		p, err := gather(played(t, once), small())
		if err != nil {
			t.Fatal(err)
		}
		m, times := newMerging(p), make(map[string]int)
		if got := p.setting.Keys().Rounds; got != rounds {
			t.Errorf("a share of %s: %d rounds, want %d", share, got, rounds)
		}
		for round := 1; round <= rounds; round++ {
			for _, name := range m.drawPeople(round) {
				times[name]++
			}
		}
		for _, name := range p.Names {
			if times[name] != 1 {
				t.Errorf("a share of %s: %s is in %d rounds", share, name, times[name])
			}
		}
	}
}

// Without once, each round draws its people anew. Each device draws its requests apart from the others.
func TestRoundsAndRequestsAreDrawnApart(t *testing.T) {
	p, err := gather(played(t, paperJob()), small())
	if err != nil {
		t.Fatal(err)
	}
	m := newMerging(p)
	if one, two := m.drawPeople(1), m.drawPeople(2); slices.Equal(one, two) {
		t.Errorf("two rounds have the same people, %v", one)
	}
	seen := make(map[string]bool)
	for _, d := range m.devices {
		seen[fmt.Sprint(d.random.Perm(1000))] = true
	}
	if len(seen) != len(m.devices) {
		t.Errorf("%d devices have %d sequences of random numbers", len(m.devices), len(seen))
	}
}

// In mode paper the server serves people who are in no sum, too: after one round of three tenths of
// the people, the others have rows of the kernel of that round, and the recommendations that follow from these.
func TestPaperDevicesOutsideOfTheSumsAreServed(t *testing.T) {
	text := strings.NewReplacer("rounds: 12", "rounds: 1", ", dropout: 0.1", "").Replace(paperJob())
	p, err := gather(played(t, text), small())
	if err != nil {
		t.Fatal(err)
	}
	m := newMerging(p)
	if err := errors.Join(m.rounds(t.Context()), m.evaluate(t.Context())); err != nil {
		t.Fatal(err)
	}
	sum := m.drawPeople(1)
	if figures := m.figures.Sums; len(figures) != 1 || figures[0].Added != len(sum) || len(sum) != 18 {
		t.Fatalf("sums %+v, want one of 18 people", figures)
	}
	var added [][]int
	for _, name := range sum {
		added = append(added, p.train[p.Place[name]])
	}
	kernel, err := komd.Spec{Name: komd.Linear}.Kernel(komd.CountsOf(p.setting.Items, added))
	if err != nil {
		t.Fatal(err)
	}
	lists := recommendedItems(t, p)
	for i, name := range p.Names {
		if slices.Contains(sum, name) {
			continue
		}
		if held := len(m.devices[i].held); held != len(p.train[i]) {
			t.Fatalf("%s likes %d items and keeps room for rows of %d", name, len(p.train[i]), held)
		}
		twin := rowsOf(p.train[i], m.devices[i], kernel)
		if d := cmp.Diff(twin.Rows.Data, m.devices[i].stripe(m.offer.Mean).Rows.Data); d != "" || 2*len(twin.Liked) < len(p.train[i]) {
			t.Errorf("%s likes %d items and has rows of %d: %s", name, len(p.train[i]), len(twin.Liked), d)
		}
		twin.Mean = m.offer.Mean
		scores, _, err := twin.Scores(komd.DefaultLambda)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, r := range p.devices[i].Best(scores, p.ratings.Items) {
			want = append(want, r.Item)
		}
		if d := cmp.Diff(want, lists[p.ratings.Users[i]]); d != "" || len(want) != 10 {
			t.Errorf("recommended to %s: %s", name, d)
		}
	}
}

// rowsOf returns a kernel's rows of those liked items of which a device has rows, as they are sent.
func rowsOf(liked []int, d *PaperDevice, kernel linalg.Matrix[float64]) (s komd.Stripe) {
	for at, item := range liked {
		if d.held[at].round > 0 {
			s.Liked = append(s.Liked, item)
		}
	}
	s.Rows = linalg.New[float64](len(s.Liked), kernel.Cols)
	for r, item := range s.Liked {
		for j, v := range fedcfk.Quantised(kernel.Row(item)) {
			s.Rows.Row(r)[j] = float64(v) / fedcfk.One
		}
	}
	return s
}

// recommendedItems returns the recommended items of each person, the best first.
func recommendedItems(t *testing.T, p *people) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(p.figures.Recommendations)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lists := make(map[string][]string)
	for _, r := range records[1:] {
		lists[r[0]] = append(lists[r[0]], r[2])
	}
	return lists
}

// Everybody adds a list once. The estimate is a kernel after each round and approaches the kernel
// of all lists, no list follows from several rounds, and no person's problem has several solutions.
func TestRoundsThatAreAddedUpEndInTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	once := strings.Replace(paperJob(), "mode: paper, rounds: 12, participation: 0.3", "mode: paper, once: true, participation: 0.25", 1)
	r := runDevices(t, strings.Replace(once, ", dropout: 0.1", "", 1))
	p := figuresOf(t, r).Paper
	if len(p.KernelErrors) != 4 || p.Added != 60 || p.KernelErrors[3] != 0 || p.KernelErrors[0] <= p.KernelErrors[2] {
		t.Errorf("%d lists in rounds, errors of the kernel %v", p.Added, p.KernelErrors)
	}
	if p.Indefinite != 0 || p.Solved != 0 {
		t.Errorf("%d people without a convex problem, %d lists from several rounds", p.Indefinite, p.Solved)
	}
	if a, b := r.Metrics["auc"], r.Pooled["auc"]; a < .7 || a > b+.05 {
		t.Errorf("auc %v, pooled %v", a, b)
	}
	said := strings.Join(r.Leakage["server"], " ") + strings.Join(r.Leakage["party"], " ")
	if strings.Contains(said, "Max-merge") || !strings.Contains(said, "nobody is in two rounds") {
		t.Errorf("leakage: %s", said)
	}
}

// TestDifferencingTwoRounds: in mode paper the same people add their lists to a second sum, over
// all but one of them, and the difference of the two sums is that person's list. In hardened mode
// nobody adds a list twice (TestRule14_OneEpochOnly), and a second sum over fewer people than
// agreed is refused (TestDeviceRefuses in internal/method/fedcfk).
func TestDifferencingTwoRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p, err := gather(played(t, strings.Replace(paperJob(), ", dropout: 0.1", "", 1)), small())
	if err != nil {
		t.Fatal(err)
	}
	p.result, p.figures = &method.Result{}, &fedcfk.Figures{}
	m := newMerging(p)
	sum := func(round int, names []string) []int64 {
		s, err := Round(p.setting, p.Roster, round, names)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Sum(t.Context(), s, nil, func(i int) secagg.Vector { return p.devices[i].Square(m.catalogue) })
		if err != nil {
			t.Fatal(err)
		}
		m.attackSum(out)
		return out.Sums[0]
	}
	all, but := sum(1, p.Names[:30]), sum(2, p.Names[1:30])
	if d := cmp.Diff([]int{0}, m.differences.Solved()); d != "" {
		t.Fatal(d)
	}
	for at := range all {
		all[at] -= but[at]
	}
	if d := cmp.Diff([][]int{p.train[0]}, SoleLists(p.setting.Items, all)); d != "" {
		t.Errorf("the difference is not the first person's list: %s", d)
	}
}

// TestDecoyIntersectionHasNoInput: in hardened mode the server hears the same messages from
// each device as it would if the device had another list: sums, and no requests. All get the
// same kernel. (TestDecoyIntersection in internal/method/fedcfk/local has the attack on mode
// paper.)
func TestDecoyIntersectionHasNoInput(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	hear := func(change bool) *method.Result {
		c := played(t, recommender)
		all := small()
		if change { // the first person likes what the second does, and the other way round
			for i := range all.List {
				if u := all.List[i].User; u < 2 {
					all.List[i].User = 1 - u
				}
			}
		}
		c.Ratings = from(all)
		r, err := play(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, other := hear(false), hear(true)
	heard := figuresOf(t, one)
	if d := cmp.Diff(heard.Sums, figuresOf(t, other).Sums); d != "" {
		t.Errorf("what the server hears depends on lists: %s", d)
	}
	if heard.Paper != nil || heard.Broadcast == 0 {
		t.Errorf("%+v", heard)
	}
	if readLists(t, one) == readLists(t, other) {
		t.Error("the lists did not change: the test does not test it")
	}
}
