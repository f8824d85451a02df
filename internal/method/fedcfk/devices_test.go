package fedcfk

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
	"github.com/mercer-fl/mercer/internal/method/sums"

	"bytes"
	ordering "cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

func someDevices(items int, margin Margin) Devices {
	return Devices{Items: items, Instance: method.Instance{Coordinator: "server", Job: &job.Job{
		Protocol: job.Named{Kind: Protocol(), Values: &Keys{Keys: sums.Keys{Adversary: sums.Active, Corrupted: .05, Dropped: .1}, Threshold: 10, Margin: margin}},
		Kernel:   job.Kernel{Name: job.Linear}, Learner: job.Named{Kind: learner.CFKOMD{}, Values: &learner.CFKOMD{Profile: learner.Profile{Lambda: .1}}},
	}}}
}

// first returns the common knowledge of the clients who are in a first sum.
func first(t testing.TB, c Devices, clients, survivors []string) public {
	t.Helper()
	c.Parties = clients
	plan, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(plan[0].Session.Descriptor(c.ID, 0, [32]byte{}, 1))
	if err != nil {
		t.Fatal(err)
	}
	params, err := secagg.DecodeParams(s.Params)
	if err != nil {
		t.Fatal(err)
	}
	return public{first: publicSum{sums.Summation{Session: s, Params: params}, survivors}}
}

// second is the second sum as it follows for one who knows the first.
func second(t testing.TB, c Devices, k public, likes []int64) sums.Summation {
	t.Helper()
	next, err := c.followPairs(method.Session{}, k, encodeCounts(likes))
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(next.Descriptor(c.ID, 1, [32]byte{}, 1))
	if err != nil {
		t.Fatal(err)
	}
	params, err := secagg.DecodeParams(s.Params)
	if err != nil {
		t.Fatal(err)
	}
	return sums.Summation{Session: s, Params: params}
}

// All vectors, read in pieces of any size, equal the vectors that a plain double loop makes.
func TestVectorsOfADevice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		items := 1 + rng.IntN(30)
		var liked, kept []int
		for i := range items {
			if rng.IntN(3) == 0 {
				liked = append(liked, i)
			}
			if rng.IntN(3) > 0 {
				kept = append(kept, i)
			}
		}
		d := Device{Devices: someDevices(items, MarginNone), Liked: liked}
		likes := func(i int) int64 {
			if slices.Contains(liked, i) {
				return 1
			}
			return 0
		}
		var one, square, pairs []int64
		for i := range items {
			one = append(one, likes(i))
		}
		for k, i := range kept {
			for _, j := range kept[k:] {
				square = append(square, likes(i)*likes(j))
				if j > i {
					pairs = append(pairs, likes(i)*likes(j))
				}
			}
		}
		checkVector(t, rng, d.Likes(), one)
		checkVector(t, rng, d.Square(kept), square)
		checkVector(t, rng, d.Pairs(kept), pairs)
	}
}

func checkVector(t *testing.T, rng *rand.Rand, v secagg.Vector, want []int64) {
	t.Helper()
	var got []int64
	for len(got) < len(want) {
		piece := make([]int64, 1+rng.IntN(len(want)-len(got)))
		for i := range piece {
			piece[i] = 7 // old contents must not matter
		}
		v.Read(0, len(got), piece)
		got = append(got, piece...)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

// likes are counts of twelve items; those from the first on that people like take
// part.
func likes(first ...int64) []int64 { return append(first, 50, 51, 52, 53, 54, 55, 56, 57, 58) }

// The second session's name depends on all that it is to hold (rule 12).
func TestRule12_SecondSessionHoldsTheFirst(t *testing.T) {
	c := someDevices(12, MarginNone)
	k := first(t, c, fedcfktest.Names(100), fedcfktest.Names(95))
	base := second(t, c, k, likes(10, 9, 30))
	if d := cmp.Diff([]int{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, c.Kept(100, likes(10, 9, 30))); d != "" {
		t.Error(d)
	}
	if base.Session.Parent != k.first.Session.ID() || base.Params.Layout().Entries() != 55 || base.Params.Spec().Minimum != 80 {
		t.Errorf("%+v", base.Session.Descriptor)
	}
	for name, s := range map[string]sums.Summation{
		"another first session": second(t, c, first(t, c, fedcfktest.Names(99), fedcfktest.Names(95)), likes(10, 9, 30)),
		"other sums":            second(t, c, k, likes(11, 9, 30)),
		"other items":           second(t, c, k, likes(9, 10, 30)),
		"other people":          second(t, c, first(t, c, fedcfktest.Names(100), fedcfktest.Names(94)), likes(10, 9, 30)),
	} {
		if s.Session.ID() == base.Session.ID() {
			t.Errorf("%s: the same session", name)
		}
	}
	want := "only 9 items have the required 10 likes; at least 10 such items are required"
	if _, err := c.followPairs(method.Session{}, k, encodeCounts(likes(9, 9, 0))); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a sum over few items: %v", err)
	}
}

// The cut is the least with which no more items take part than two thirds of the
// least number of people; items that equally many like take part together or not
// at all.
func TestRule12_CutRises(t *testing.T) {
	c := someDevices(40, MarginCorrupted) // 5 % corrupted, 10 % may vanish twice
	counts := func(n func(item int) int64) []int64 {
		list := make([]int64, c.Items)
		for i := range list {
			list[i] = n(i)
		}
		return list
	}
	for name, tt := range map[string]struct {
		people int
		sums   []int64
		cut    int64
		kept   int
	}{
		"few items":      {30, counts(func(i int) int64 { return int64(min(i, 15)) }), 16, 0},
		"as many as may": {30, counts(func(i int) int64 { return int64(11 * (i % 5 / 3)) }), 11, 16},
		"more":           {30, counts(func(i int) int64 { return int64(i) }), 24, 16},
		"equal ones":     {30, counts(func(i int) int64 { return int64(i / 7 * 5) }), 16, 12},
		"all equal":      {30, counts(func(int) int64 { return 20 }), 21, 0},
		"many people":    {100, counts(func(int) int64 { return 20 }), 15, 40},
	} {
		if tt.people == 30 && c.MaxKept(30) != 16 {
			t.Fatalf("%d items at most, of 24 people at least", c.MaxKept(30))
		}
		cut, n := c.Cut(tt.people, tt.sums), 0
		for _, d := range tt.sums {
			if d >= cut {
				n++
			}
		}
		if cut != tt.cut || n != tt.kept {
			t.Errorf("%s: %d items with %d likes, want %d with %d", name, n, cut, tt.kept, tt.cut)
		}
	}
}

// Devices whose second sum could not be are refused before its first.
func TestDevicesTooSmall(t *testing.T) {
	few, dropped := someDevices(40, MarginCorrupted), someDevices(40, MarginCorrupted)
	job.As[*Keys](dropped.Job.Protocol).Dropped = .3
	for name, tt := range map[string]struct {
		devices Devices
		people  int
		want    string
	}{
		"few people":   {few, 16, "fedcfk: of 16 people 1 can drop out of each of two sums, so that at most 9 items can take part; at least 10 are required; gather more people or lower \"dropped\""},
		"too unstable": {dropped, 50, `because "dropped" applies to both sums: secagg: the fractions of corrupted clients (0.05) and dropped clients (0.6) are too large`},
	} {
		tt.devices.Parties = fedcfktest.Names(tt.people)
		if _, err := tt.devices.Plan(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	few.Parties = fedcfktest.Names(18)
	if _, err := few.Plan(); err != nil {
		t.Error(err)
	}
}

// A device refuses impossible counts, and derives another second session than a server that wants
// it over other people or items.
func TestDeviceRefuses(t *testing.T) {
	c := someDevices(12, MarginCorrupted)
	among := func(survivors []string) public { return first(t, c, fedcfktest.Names(100), survivors) }
	honest := likes(50, 14, 15)
	p := c.Party([]int{1})
	k := among(fedcfktest.Names(96))
	p.NoteFirst(k.first.Summation, k.first.survivors)
	if _, kept, err := c.announcedItems(p.public, encodeCounts(honest)); err != nil || !slices.Equal(kept, []int{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
		t.Fatalf("%v, %v: items with 10 + 5 likes take part", kept, err)
	}
	for want, counts := range map[string][]int64{
		"the first sum counts 2 items, but the catalogue has 12":  honest[:2],
		"item 1 has -1 likes from 96 people, which is impossible": likes(50, -1, 15),
		"item 0 has 97 likes from 96 people, which is impossible": likes(97, 14, 15),
	} {
		if err := c.checkCounts(k.first.survivors, counts); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		_, err := c.followPairs(method.Session{}, p.public, encodeCounts(counts))
		if counts[1] < 0 { // that is not even written
			want = "a count of 18446744073709551615"
		}
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "server" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	own := second(t, c, p.public, honest).Session.ID()
	for name, other := range map[string]sums.Summation{
		"a newcomer":   second(t, c, among(append(fedcfktest.Names(95), "c0099")), honest),
		"one less":     second(t, c, among(fedcfktest.Names(95)), honest),
		"an item more": second(t, c, p.public, likes(50, 15, 15)),
	} {
		if other.Session.ID() == own {
			t.Errorf("%s: the device takes part", name)
		}
	}
	if second(t, c, among(fedcfktest.Names(96)), honest).Session.ID() != own {
		t.Error("it takes part in no session")
	}
}

// The diagonal is the first sum's, and the kernel survives the way to the devices.
func TestItemKernel(t *testing.T) {
	c := someDevices(5, MarginNone)
	pairs := []int64{9, 3, 12, 4, 9, 1} // items 0, 2, 3, 4
	k, err := c.ItemKernel([]int{0, 2, 3, 4}, []int64{18, 3, 16, 12, 25}, pairs, 36)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 2, 3, 4}, k.Kept); d != "" {
		t.Error(d)
	}
	if n := len(k.Values); n != 10 || k.Values[0] != One || k.Values[1] != 34755 { // 9 / sqrt(18 16) = .53033
		t.Errorf("values %v", k.Values)
	}
	back, err := DecodeItemKernel(k.Encode())
	if d := cmp.Diff(k, back); err != nil || d != "" {
		t.Error(err, d)
	}
	if got := back.Model().Items(); got != 5 {
		t.Errorf("a model of %d items", got)
	}
	if _, err := c.ItemKernel([]int{0, 2, 3, 4}, []int64{18, 3, 16, 12, 25}, []int64{17, 3, 12, 4, 9, 1}, 36); err == nil {
		t.Error("counts that no people can have became a kernel")
	}
}

// A device recommends what has the highest scores among the items that its person does not have.
func TestBestAreTheHighestScores(t *testing.T) {
	c := someDevices(5, MarginNone)
	c.Job.Learner.Values.(*learner.CFKOMD).Recommend = 3
	d := Device{Devices: c, Liked: []int{1}}
	var got []string
	for _, r := range d.Best([]float64{.2, 9, -.5, .7, .2}, []string{"a", "b", "c", "d", "e"}) {
		got = append(got, fmt.Sprint(r.Item, r.Score))
	}
	if diff := cmp.Diff([]string{"d0.7", "a0.2", "e0.2"}, got); diff != "" {
		t.Error(diff)
	}
}

// A device weighs its person's items by CF-KOMD with the job's lambda. Items outside the kernel rank
// below all others.
func TestScoresAreOfTheJobsLambda(t *testing.T) {
	c := someDevices(4, MarginNone)
	k, err := c.ItemKernel([]int{0, 1, 2}, []int64{6, 5, 4, 1}, []int64{4, 3, 1}, 9)
	if err != nil {
		t.Fatal(err)
	}
	m := k.Model()
	of := func(both, one, other float64) float64 { return both / math.Sqrt(one*other) }
	want := []float64{(1 + of(4, 6, 5) + of(3, 6, 4)) / 4, (of(4, 6, 5) + 1 + of(1, 5, 4)) / 4, (of(3, 6, 4) + of(1, 5, 4) + 1) / 4, 0}
	if diff := cmp.Diff(want, m.Mean(), cmpopts.EquateApprox(0, 1./One)); diff != "" {
		t.Errorf("means of the kernel's rows: %s", diff)
	}
	var seen [][]float64
	for _, lambda := range []float64{.01, 3} {
		c.Job.Learner.Values.(*learner.CFKOMD).Lambda = lambda
		got, err := Device{Devices: c, Liked: []int{0, 1, 3}}.Recommend(m, k.Kept, []int64{6, 5, 4, 1}) // item 3 is not in the kernel
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Scores([]int{0, 1}, lambda)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[:3], got[:3]); diff != "" || got[3] >= slices.Min(got[:3]) {
			t.Errorf("lambda %v: scores %v: %s", lambda, got, diff)
		}
		seen = append(seen, got)
	}
	if cmp.Equal(seen[0], seen[1]) {
		t.Error("lambda changes nothing")
	}
}

// The sums give the kernel that the job names, with the job's settings. Of nine people six like the
// first item, five the second, and four both. Of three items each pair has the value that it has alone.
func TestItemKernelIsTheJobsKernel(t *testing.T) {
	for name, tt := range map[string]struct {
		kernel job.Kernel
		want   float64
	}{
		"linear":      {job.Kernel{Name: job.Linear}, 4 / math.Sqrt(6*5)},
		"tanimoto":    {job.Kernel{Name: job.Tanimoto}, 4. / 7},
		"rbf":         {job.Kernel{Name: job.RBF, Gamma: .3}, math.Exp(-.3 * 3)},
		"polynomial":  {job.Kernel{Name: job.Polynomial, Degree: 3, Coef0: 2}, 208 / math.Sqrt(504*335)},
		"dot-product": {job.Kernel{Name: job.DotProduct, Coefficients: []float64{7, 1, 2, .5}}, 68 / math.Sqrt(186*117.5)},
		"conjunctive": {job.Kernel{Name: job.Conjunctive, Degree: 2}, 6 / math.Sqrt(15*10)},
		"disjunctive": {job.Kernel{Name: job.Disjunctive, Degree: 2}, 28 / math.Sqrt(33*30)},
		"dnf":         {job.Kernel{Name: job.DNF, Degree: 2, Clause: 2}, 231 / math.Sqrt(420*305)},
		"cnf":         {job.Kernel{Name: job.CNF, Degree: 2, Clause: 2}, 378 / math.Sqrt(528*435)},
		"dnf of 3":    {job.Kernel{Name: job.DNF, Degree: 2, Clause: 3}, 422 / math.Sqrt(1470*785)},
		"cnf of 3":    {job.Kernel{Name: job.CNF, Degree: 3, Clause: 2}, 3276 / math.Sqrt(5456*4060)},
	} {
		c := someDevices(2, MarginNone)
		c.Job.Kernel = tt.kernel
		value := func(one, other, both int64) float64 {
			k, err := c.ItemKernel([]int{0, 1}, []int64{one, other}, []int64{both}, 9)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return float64(k.Values[1]) / One
		}
		if got := value(6, 5, 4); math.Abs(got-tt.want) > .51/One {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		k, err := c.ItemKernel([]int{0, 1, 2}, []int64{6, 5, 3}, []int64{4, 3, 2}, 9)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for at, want := range []float64{1, value(6, 5, 4), value(6, 3, 3), 1, value(5, 3, 2), 1} {
			if got := float64(k.Values[at]) / One; got != want {
				t.Errorf("%s: value %d of three items is %v, want %v", name, at, got, want)
			}
		}
	}
}

// A device's scores come from CF-KOMD with the job's lambda. With two liked items of kernel value s, the
// weight of the first is 1/2 + (q0 - q1) / (2 (1 + lambda - s)) for the means q of their kernel rows.
func TestRecommendHasTheJobsLambda(t *testing.T) {
	const s = .5
	k := mat.NewDense(4, 4, []float64{1, s, .4, .2, s, 1, .1, .1, .4, .1, 1, 0, .2, .1, 0, 1})
	m := linalg.Matrix[float64]{Rows: 4, Cols: 4, Stride: 4, Data: k.RawMatrix().Data}
	for _, lambda := range []float64{.1, 1, 10} {
		c := someDevices(4, MarginNone)
		c.Job.Learner.Values = &learner.CFKOMD{Profile: learner.Profile{Lambda: lambda}}
		got, err := Device{Devices: c, Liked: []int{0, 1}}.Recommend(komd.New(m), []int{0, 1, 2, 3}, []int64{9, 8, 7, 6})
		if err != nil {
			t.Fatal(err)
		}
		mean := make([]float64, 4)
		for i := range mean {
			mean[i] = (k.At(i, 0) + k.At(i, 1) + k.At(i, 2) + k.At(i, 3)) / 4
		}
		a := .5 + (mean[0]-mean[1])/(2*(1+lambda-s))
		for j, v := range got {
			if want := a*k.At(0, j) + (1-a)*k.At(1, j) - mean[j]; math.Abs(v-want) > 1e-9 {
				t.Errorf("lambda %v: item %d has score %v, want %v", lambda, j, v, want)
			}
		}
	}
}

// If a person is missing from the second sum, the kernel is still positive semidefinite, except for
// the steps of its values.
func TestKernelOfTwoDevicessIsDefinite(t *testing.T) {
	lists := tastes(60, 30, rand.New(rand.NewPCG(8, 8)))
	for _, name := range []job.KernelName{job.Linear, job.Tanimoto, job.Conjunctive} {
		c := someDevices(30, MarginCorrupted)
		c.Job.Kernel = job.Kernel{Name: name, Degree: 2}
		kept := all(30)
		o := openSums(c, kept, lists, []int{1, 2, 3, 30, 31, 59})
		var pairs []int64
		for r := range kept {
			for s := r + 1; s < len(kept); s++ {
				pairs = append(pairs, int64(o.both.At(r, s)))
			}
		}
		k, err := c.ItemKernel(kept, whole(o.popularity), pairs, len(lists))
		if err != nil {
			t.Fatal(err)
		}
		full, at := mat.NewSymDense(len(kept), nil), 0
		for r := range kept {
			for s := r; s < len(kept); s++ {
				full.SetSym(r, s, float64(k.Values[at])/One)
				at++
			}
		}
		if values, _ := eigenOf(full); values[0] < -1e-3 {
			t.Errorf("%s: the least eigenvalue is %v", name, values[0])
		}
	}
}

func FuzzDecodeItemKernel(f *testing.F) {
	k := ItemKernel{Catalogue: 5, Kept: []int{1, 4}, Values: []uint16{One, 7, One}}
	f.Add(k.Encode())
	f.Add((&ItemKernel{Catalogue: 1}).Encode())
	f.Add(k.Encode()[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := DecodeItemKernel(b)
		if err == nil && !bytes.Equal(k.Encode(), b) {
			t.Fatal("another encoding")
		}
	})
}

// exposed counts the honest people whose list, as far as it is kept, the server reads off a
// row of the second sum: the row of an item that one honest person alone likes. First it
// subtracts the additions of its own clients.
func exposed(t *testing.T, c Devices, kept []int, honest, fakes [][]int) int {
	t.Helper()
	counts := komd.CountsOf(c.Items, honest).C
	sum := make([]int64, Entries(len(kept)-1))
	for sign, lists := range map[int64][][]int{1: slices.Concat(honest, fakes), -1: fakes} {
		likes := make([]int64, len(sum))
		for _, list := range lists {
			Device{Devices: c, Liked: list}.Pairs(kept).Read(0, 0, likes)
			for i, x := range likes {
				sum[i] += sign * x
			}
		}
	}
	read := make(map[int]bool)
	for at, i := range kept {
		if counts.Row(i)[i] != 1 {
			continue
		}
		u := slices.IndexFunc(honest, func(profile []int) bool { return slices.Contains(profile, i) })
		row := []int{at}
		for other := range kept {
			lo, hi := min(at, other), max(at, other)
			if other != at && sum[RowOf(lo, len(kept)-1)+hi-lo-1] == 1 {
				row = append(row, other)
			}
		}
		if slices.Sort(row); !slices.Equal(Device{Devices: c, Liked: honest[u]}.likedIndices(kept), row) {
			t.Fatalf("the row of item %d is not the list of person %d: the attack is wrong", i, u)
		}
		read[u] = true
	}
	return len(read)
}

// TestRule13_SoleRaters: without a threshold, the sum alone exposes lists. The threshold prevents
// this. Nine clients of the server's undo the protection, unless corrupted clients do not count.
// The test ignores that the cut of many devices is higher than their threshold. The adversary is a
// server that follows the protocol, with clients that do not.
func TestRule13_SoleRaters(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	people, items := fedcfktest.MovieLens(t)
	none, corrupted := someDevices(items, MarginNone), someDevices(items, MarginCorrupted)
	open := someDevices(items, MarginNone)
	job.As[*Keys](open.Job.Protocol).Threshold = 1
	fakes := slices.Repeat([][]int{all(items)}, 9)
	for _, tt := range []struct {
		name    string
		devices Devices
		fakes   [][]int
		want    int
	}{
		{"no threshold", open, nil, 58},
		{"threshold of 10, honest people", none, nil, 0},
		{"threshold of 10, nine fakes", none, fakes, 58},
		{"threshold of 10 and a margin, nine fakes", corrupted, fakes, 0},
	} {
		_, byCut := takingPart(t, tt.devices, slices.Concat(people, tt.fakes))
		if got := exposed(t, tt.devices, byCut, people, tt.fakes); got != tt.want {
			t.Errorf("%s: %d of %d lists are read, want %d", tt.name, got, len(people), tt.want)
		}
	}
}

// TestAttackInventedPopularity: a server that forges the first sum makes the second count any
// items, and so reads the lists of sole raters, for as many items as may take part. It succeeds
// against every device, with any threshold and margin, because nobody can verify a sum.
func TestAttackInventedPopularity(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	people, items := fedcfktest.MovieLens(t)
	c, names := someDevices(items, MarginCorrupted), fedcfktest.Names(len(people))
	k := first(t, c, names, names)
	truth := whole(likedBy(all(items), people))
	wanted := all(items) // those that one person likes, then the most popular
	rank := func(i int) int64 {
		if truth[i] == 1 {
			return math.MaxInt64
		}
		return truth[i]
	}
	slices.SortStableFunc(wanted, func(a, b int) int { return ordering.Compare(rank(b), rank(a)) })
	invented := make([]int64, items)
	for _, i := range wanted[:c.MaxKept(len(people))] {
		invented[i] = 500
	}
	wrong := second(t, c, k, invented).Session.ID()
	for _, list := range people {
		p := c.Party(list)
		p.NoteFirst(k.first.Summation, k.first.survivors)
		if second(t, c, p.public, invented).Session.ID() != wrong {
			t.Fatal("a device refuses, and the documentation says that it cannot tell")
		}
	}
	kept := c.Kept(len(people), invented)
	if got := exposed(t, c, kept, people, nil); got != 58 {
		t.Errorf("%d lists are read, want 58", got)
	}
}
