package stage

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

func crowdOf(items int, margin job.Margin) Crowd {
	return Crowd{Server: "server", Items: items, Job: &job.Job{
		Protocol: job.Protocol{Name: job.FedCFK, Adversary: job.Active, Corrupted: .05, Dropped: .1, Threshold: 10, Margin: margin},
		Kernel:   job.Kernel{Name: job.Linear}, Learner: job.Learner{Name: job.CFKOMD, Lambda: .1},
	}}
}

func named(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%04d", i)
	}
	return names
}

// Both vectors, read in pieces of any size, are what a plain double loop makes.
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
		d := NewDevice(crowdOf(items, job.MarginNone), "c", liked)
		likes := func(i int) int64 {
			if slices.Contains(liked, i) {
				return 1
			}
			return 0
		}
		var one, pairs []int64
		for i := range items {
			one = append(one, likes(i))
		}
		for k, i := range kept {
			for _, j := range kept[k:] {
				pairs = append(pairs, likes(i)*likes(j))
			}
		}
		checkVector(t, rng, d.Popularity(), one)
		checkVector(t, rng, d.Triangle(kept), pairs)
	}
}

func checkVector(t *testing.T, rng *rand.Rand, v secagg.Vector, want []int64) {
	t.Helper()
	var got []int64
	for len(got) < len(want) {
		piece := make([]int64, 1+rng.IntN(len(want)-len(got)))
		for i := range piece {
			piece[i] = 7 // what is left there must not matter
		}
		v.Read(0, len(got), piece)
		got = append(got, piece...)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

// The second session's name depends on all that it is to hold (rule 12).
func TestRule12_SecondSessionHoldsTheFirst(t *testing.T) {
	c := crowdOf(4, job.MarginNone)
	first, err := c.Popularity(named(100))
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Popularity(named(99))
	if err != nil {
		t.Fatal(err)
	}
	sums := []int64{50, 9, 10, 30}
	base, kept, err := c.Triangle(first, sums, named(95))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 2, 3}, kept); d != "" {
		t.Error(d)
	}
	if base.Session.Parent != first.Session.ID() || base.Params.Layout().Entries() != 6 {
		t.Errorf("%+v", base.Session.Descriptor)
	}
	for name, again := range map[string]func() (Summation, []int, error){
		"another first session": func() (Summation, []int, error) { return c.Triangle(other, sums, named(95)) },
		"other sums":            func() (Summation, []int, error) { return c.Triangle(first, []int64{51, 9, 10, 30}, named(95)) },
		"other items":           func() (Summation, []int, error) { return c.Triangle(first, []int64{50, 10, 9, 30}, named(95)) },
		"other people":          func() (Summation, []int, error) { return c.Triangle(first, sums, named(94)) },
	} {
		s, _, err := again()
		if err != nil || s.Session.ID() == base.Session.ID() {
			t.Errorf("%s: the same session, or %v", name, err)
		}
	}
	if _, _, err := c.Triangle(first, []int64{9, 9, 0, 0}, named(95)); err == nil || !strings.Contains(err.Error(), "no item has the 10 likes") {
		t.Errorf("a sum over no items: %v", err)
	}
}

func TestDeviceRefuses(t *testing.T) {
	c := crowdOf(3, job.MarginCorrupted)
	first, err := c.Popularity(named(100))
	if err != nil {
		t.Fatal(err)
	}
	sums, survivors := []int64{50, 14, 15}, named(96)
	second, _, err := c.Triangle(first, sums, named(95))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice(c, "c0000", []int{1})
	honest := Proposal{sums, named(95), second.Session.ID()}
	if _, kept, err := d.Accept(first, survivors, honest); err != nil || !slices.Equal(kept, []int{0, 2}) {
		t.Fatalf("%v, %v: items with 10 + 5 likes take part", kept, err)
	}
	for name, tt := range map[string]struct {
		change func(*Proposal)
		want   string
	}{
		"counts of other items": {func(p *Proposal) { p.Sums = sums[:2] }, "counts of 2 items, the catalogue has 3"},
		"a count below zero":    {func(p *Proposal) { p.Sums = []int64{50, -1, 15} }, "item 1 is liked by -1 of 96 people"},
		"more than there are":   {func(p *Proposal) { p.Sums = []int64{97, 14, 15} }, "item 0 is liked by 97 of 96 people"},
		"a newcomer":            {func(p *Proposal) { p.Clients = append(named(94), "c0099") }, "c0099 is to be in the second sum, and is not in the first"},
		"few":                   {func(p *Proposal) { p.Clients = named(89) }, "a second sum over 89 clients, fewer than the agreed minimum of 90"},
		"one less":              {func(p *Proposal) { p.Clients = named(94) }, "the second sum is not the one that follows from the first"},
		"an item more":          {func(p *Proposal) { p.Sums = []int64{50, 15, 15} }, "the second sum is not the one that follows from the first"},
	} {
		p := honest
		tt.change(&p)
		_, _, err := d.Accept(first, survivors, p)
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "server" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// What falls below the cut when people vanish is left out of the kernel, and the
// rest survives the way to the devices.
func TestItemKernel(t *testing.T) {
	c := crowdOf(5, job.MarginNone)
	first, err := c.Popularity(named(40))
	if err != nil {
		t.Fatal(err)
	}
	second, kept, err := c.Triangle(first, []int64{20, 3, 16, 10, 25}, named(36))
	if err != nil {
		t.Fatal(err)
	}
	pairs := []int64{18, 9, 3, 12, 16, 2, 4, 9, 1, 25} // items 0, 2, 3, 4; 9 people are left that like item 3
	k, err := c.ItemKernel(second, kept, pairs, 36)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 2, 4}, k.Kept); d != "" {
		t.Error(d)
	}
	if n := len(k.Values); n != 6 || k.Values[0] != one || k.Values[1] != 34755 { // 9 / sqrt(18 16) = .53033
		t.Errorf("values %v", k.Values)
	}
	back, err := DecodeItemKernel(k.Encode())
	if d := cmp.Diff(k, back); err != nil || d != "" {
		t.Error(err, d)
	}
	if got := back.Model().Items(); got != 5 {
		t.Errorf("a model of %d items", got)
	}
	if _, err := c.ItemKernel(second, kept, make([]int64, 10), 36); err == nil {
		t.Error("a kernel between no items")
	}
	if _, err := c.ItemKernel(second, kept, []int64{18, 19, 3, 12, 16, 2, 4, 9, 1, 25}, 36); err == nil {
		t.Error("counts that no crowd can have become a kernel")
	}
}

func FuzzDecodeItemKernel(f *testing.F) {
	k := ItemKernel{Catalogue: 5, Kept: []int{1, 4}, Values: []uint16{one, 7, one}}
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

// ratingsOf reads ml-100k, or skips the test unless it must be there.
func ratingsOf(t *testing.T) *dataset.Ratings {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	file, err := os.ReadFile(filepath.Join(dir, "ml-100k", "u.data"))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skip("MovieLens is not here: set MERCER_DATA to the folder that holds ml-100k")
	}
	r, err := dataset.ReadRatings(bytes.NewReader(file), dataset.RatingsOptions{Name: "u.data"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// movieLens is who has seen what in ml-100k.
func movieLens(t *testing.T) ([][]int, int) {
	t.Helper()
	r := ratingsOf(t)
	all := make([]int, len(r.List))
	for i := range all {
		all[i] = i
	}
	return r.Profiles(all), len(r.Items)
}

// exposed counts the honest people whose list, as far as it is kept, the server
// reads off a row of the second sum: the row of an item that one honest person
// alone likes. What its own clients have added it takes off first.
func exposed(t *testing.T, c Crowd, honest [][]int, fakes [][]int) int {
	t.Helper()
	first, err := c.Popularity(named(len(honest) + len(fakes)))
	if err != nil {
		t.Fatal(err)
	}
	all := komd.CountsOf(c.Items, slices.Concat(honest, fakes)).C
	sums := make([]int64, c.Items)
	for i := range sums {
		sums[i] = int64(all.Row(i)[i])
	}
	own := komd.CountsOf(c.Items, fakes).C
	read := make(map[int]bool)
	for _, i := range c.Kept(first, sums) {
		if all.Row(i)[i]-own.Row(i)[i] != 1 {
			continue
		}
		u := slices.IndexFunc(honest, func(profile []int) bool { return slices.Contains(profile, i) })
		list := NewDevice(c, "u", honest[u]).Triangle(c.Kept(first, sums)).liked
		var row []int
		for at, j := range c.Kept(first, sums) {
			if all.Row(i)[j]-own.Row(i)[j] == 1 {
				row = append(row, at)
			}
		}
		if !slices.Equal(list, row) {
			t.Fatalf("the row of item %d is not the list of person %d: the attack is wrong", i, u)
		}
		read[u] = true
	}
	return len(read)
}

// TestRule13_SoleRaters: without a threshold, the sum alone lays lists open; the
// threshold closes that; nine clients of the server's open it again, unless the
// corrupted ones are not relied upon.
func TestRule13_SoleRaters(t *testing.T) {
	people, items := movieLens(t)
	none, corrupted := crowdOf(items, job.MarginNone), crowdOf(items, job.MarginCorrupted)
	open := crowdOf(items, job.MarginNone)
	open.Job.Protocol.Threshold = 1
	everything := make([]int, items)
	for i := range everything {
		everything[i] = i
	}
	fakes := slices.Repeat([][]int{everything}, 9)
	for _, tt := range []struct {
		name  string
		crowd Crowd
		fakes [][]int
		want  int
	}{
		{"no threshold", open, nil, 58},
		{"threshold of 10, honest people", none, nil, 0},
		{"threshold of 10, nine fakes", none, fakes, 58},
		{"threshold of 10 and a margin, nine fakes", corrupted, fakes, 0},
	} {
		if got := exposed(t, tt.crowd, people, tt.fakes); got != tt.want {
			t.Errorf("%s: %d of %d lists are read, want %d", tt.name, got, len(people), tt.want)
		}
	}
}
