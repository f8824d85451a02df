package fedcfk

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/komd"
)

// ratedDevices has ratings from 1 to 5.
func ratedDevices(items int) Devices {
	c := someDevices(items, MarginNone)
	c.Keys().Ratings = 5
	return c
}

// Vectors of ratings, read in pieces of any size, equal the vectors that a plain double loop makes.
func TestVectorsOfRatings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		items := 1 + rng.IntN(30)
		rating := make([]int64, items) // 0: not liked
		d := Device{Devices: ratedDevices(items)}
		var kept []int
		var first, pairs []int64
		for i := range items {
			if rng.IntN(3) == 0 {
				rating[i] = 1 + rng.Int64N(5)
				d.Liked, d.Rated = append(d.Liked, i), append(d.Rated, rating[i])
			}
			if rng.IntN(3) > 0 {
				kept = append(kept, i)
			}
			first = append(first, min(1, rating[i]))
		}
		for _, v := range rating {
			first = append(first, v*v)
		}
		for k, i := range kept {
			for _, j := range kept[k+1:] {
				pairs = append(pairs, rating[i]*rating[j])
			}
		}
		checkVector(t, rng, d.Likes(), first)
		checkVector(t, rng, d.Pairs(kept), pairs)
	}
}

// The bound of every entry is the square of the greatest rating, from which secure aggregation takes
// the modulus: a sum of everybody's greatest product fits, and is the sum.
func TestBoundOfRatings(t *testing.T) {
	c := ratedDevices(20)
	if g := c.Spec(100, c.firstEntries()).Groups[0]; g.Bound != 25 || g.Entries != 40 {
		t.Errorf("first sum %+v", g)
	}
	if g := c.pairSpec(100, 90, 45).Groups[0]; g.Bound != 25 {
		t.Errorf("second sum %+v", g)
	}
	if g := someDevices(20, MarginNone).Spec(100, 20).Groups[0]; g.Bound != 1 {
		t.Errorf("without ratings %+v", g)
	}
}

// The server's counts are believed only if ratings may have them.
func TestCountsOfRatingsThatCannotBe(t *testing.T) {
	c, people := ratedDevices(2), []string{"a", "b", "c"}
	if err := c.checkCounts(people, []int64{3, 1, 75, 1}); err != nil {
		t.Error(err)
	}
	for name, tt := range map[string]struct {
		counts []int64
		want   string
	}{
		"no squares":         {[]int64{3, 1}, "the first sum counts 1 items, but the catalogue has 2"},
		"too many people":    {[]int64{4, 1, 4, 1}, "item 0 has 4 likes from 3 people, which is impossible"},
		"squares too small":  {[]int64{3, 1, 2, 1}, "3 squared ratings of item 0 cannot add up to 2"},
		"squares too large":  {[]int64{3, 1, 75, 26}, "1 squared ratings of item 1 cannot add up to 26"},
		"squares of nothing": {[]int64{0, 1, 1, 1}, "0 squared ratings of item 0 cannot add up to 1"},
	} {
		if err := c.checkCounts(people, tt.counts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

func TestRatingsThatAreNoWholeNumbers(t *testing.T) {
	for name, tt := range map[string]struct {
		value float64
		want  string
	}{
		"a half":    {3.5, `fedcfk: u.data: user ann rates item tea with 3.5; the job has "ratings: 5", so a rating must be a whole number from 1 to 5`},
		"nothing":   {0, "user ann rates item tea with 0;"},
		"above":     {6, "user ann rates item tea with 6;"},
		"below":     {-1, "user ann rates item tea with -1;"},
		"one of it": {5, ""},
	} {
		all := &dataset.Ratings{Name: "u.data", Users: []string{"ann"}, Items: []string{"tea"}, List: []dataset.Rating{{Value: tt.value}}}
		rated, err := ratedDevices(1).Rated(all, [][]int{{0}})
		if tt.want == "" {
			if err != nil || rated[0][0] != int64(tt.value) {
				t.Errorf("%s: %v, %v", name, rated, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// Where people are missing from the second sum, the matrix is a kernel still: the diagonal of the
// first is never too small.
func TestKernelOfRatingsWithoutTheMissing(t *testing.T) {
	c := ratedDevices(3)
	c.Job.Kernel = job.Kernel{Name: job.Linear}
	all := komd.ProductsOf(3, 5, [][]int{{0, 1, 2}, {0, 1}, {1, 2}}, [][]int64{{5, 1, 4}, {2, 5}, {3, 3}})
	there := komd.ProductsOf(3, 5, [][]int{{0, 1, 2}, {1, 2}}, [][]int64{{5, 1, 4}, {3, 3}})
	var squares, pairs []int64
	for i := range 3 {
		squares = append(squares, int64(all.C.Row(i)[i]))
		for _, v := range there.C.Row(i)[i+1:] {
			pairs = append(pairs, int64(v))
		}
	}
	if _, err := c.ItemKernel([]int{0, 1, 2}, squares, pairs, 3); err != nil {
		t.Error(err)
	}
	pairs[0] = 35 // the squares of items 0 and 1 add up to 29 and 35
	if _, err := c.ItemKernel([]int{0, 1, 2}, squares, pairs, 3); err == nil {
		t.Error("products above what the squares allow")
	}
}
