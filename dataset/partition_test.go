package dataset

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/linalg"
	"pgregory.net/rapid"
)

func TestByRowsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels, parties := drawPartition(t)
		shares, err := ByRows(labels, parties, 0, rapid.Uint64().Draw(t, "seed"))
		classes := rowsByClass(labels)
		if places := placesOf(classes, parties); places < 2*parties {
			if err == nil {
				t.Fatalf("%d places for %d parties, and no error", places, parties)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkDealt(t, labels, shares)
		checkEnough(t, labels, shares)
	})
}

func drawPartition(t *rapid.T) (labels []string, parties int) {
	parties = rapid.IntRange(1, 5).Draw(t, "parties")
	n := rapid.IntRange(10*parties, 120).Draw(t, "rows")
	classes := rapid.IntRange(1, 6).Draw(t, "classes")
	big := rapid.IntRange(0, 9).Draw(t, "share of class 0")
	for i := range n {
		c := 0
		if i%10 >= big {
			c = rapid.IntRange(0, classes-1).Draw(t, "class")
		}
		labels = append(labels, strconv.Itoa(c))
	}
	return labels, parties
}

func checkEnough(t *rapid.T, labels []string, shares [][]int) {
	t.Helper()
	for p, share := range shares {
		if len(share) < 10 || len(count(labels, share)) < 2 {
			t.Fatalf("party %d has %d rows of classes %v", p, len(share), count(labels, share))
		}
	}
}

func TestByRowsSkewed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels, parties := drawPartition(t)
		skew := rapid.Float64Range(leastSkew, 10).Draw(t, "skew")
		seed := rapid.Uint64().Draw(t, "seed")
		shares, err := ByRows(labels, parties, skew, seed)
		if err != nil {
			return // small parties may be out of reach; TestByRowsRefuses has the messages
		}
		checkCover(t, len(labels), shares...)
		checkEnough(t, labels, shares)
		again, err := ByRows(labels, parties, skew, seed)
		if diff := cmp.Diff(shares, again); diff != "" || err != nil {
			t.Fatalf("the same seed gives two partitions, error %v:\n%s", err, diff)
		}
	})
}

// unevenness is the mean over parties and classes of the squared difference
// between a party's share of a class and an equal share.
func unevenness(labels []string, shares [][]int) float64 {
	all := count(labels, linalg.Range(0, len(labels)))
	sum := 0.0
	for _, share := range shares {
		for class, n := range count(labels, share) {
			d := float64(n)/float64(all[class]) - 1/float64(len(shares))
			sum += d * d
		}
	}
	return sum / float64(len(shares)*len(all))
}

func TestSkewOrdersPartitions(t *testing.T) {
	labels := make([]string, 2000)
	for i := range labels {
		labels[i] = strconv.Itoa(i % 10)
	}
	last := math.Inf(1)
	for _, skew := range []float64{0.1, 0.3, 1, 10, 1000} {
		mean := 0.0
		for seed := range uint64(20) {
			shares, err := ByRows(labels, 4, skew, seed)
			if err != nil {
				t.Fatal(err)
			}
			mean += unevenness(labels, shares) / 20
		}
		// The variance of a Dirichlet(a, ..., a) share among 4 is 3/(16(4a+1)).
		want := 3 / (16 * (4*skew + 1))
		if mean >= last || mean < want/2 && skew < 100 {
			t.Errorf("skew %v: unevenness %v after %v, theory says %v", skew, mean, last, want)
		}
		last = mean
	}
}

func TestByRowsRefuses(t *testing.T) {
	repeat := func(n int, labels ...string) []string { return slices.Repeat(labels, n) }
	tests := []struct {
		name    string
		labels  []string
		parties int
		skew    float64
		want    string
	}{
		{"no parties", repeat(9, "a", "b"), 0, 0, "dataset: the partition has 0 parties; choose at least one"},
		{"few rows", repeat(9, "a", "b"), 2, 0, "dataset: 18 rows are too few for 2 parties with at least 10 each; use fewer parties"},
		{"one class", repeat(40, "a"), 2, 0, `dataset: all 40 rows have the same label, "a"; a classifier needs two classes or more`},
		{"small class", append(repeat(40, "a"), "b"), 2, 1, "dataset: 2 classes are too few or too small to give each of 2 parties rows of 2 classes; use fewer parties"},
		{"negative skew", repeat(40, "a", "b"), 2, -1, "dataset: the label skew is -1; choose 0 (even) or 0.001 (uneven) to 1e+06 (nearly even)"},
		{"no skew at all", repeat(40, "a", "b"), 2, math.NaN(), "dataset: the label skew is NaN; choose 0 (even) or 0.001 (uneven) to 1e+06 (nearly even)"},
		{"out of reach", repeat(40, "a", "b"), 4, 0.001, "dataset: 100 draws with skew 0.001 gave no partition in which each of 4 parties has 10 rows and 2 classes; raise the skew or use fewer parties"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ByRows(tt.labels, tt.parties, tt.skew, 1); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := ByRowsPlain(19, 2, 1); err == nil {
		t.Error("ByRowsPlain gave a party fewer than 10 rows")
	}
}

func TestByColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parties := rapid.IntRange(1, 8).Draw(t, "parties")
		cols := rapid.IntRange(parties, 60).Draw(t, "columns")
		shares, err := ByColumns(cols, parties)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Concat(shares...), linalg.Range(0, cols)) {
			t.Fatalf("shares %v are no runs", shares)
		}
		for _, share := range shares {
			if len(share) < cols/parties || len(share) > (cols-1)/parties+1 {
				t.Fatalf("%d of %d columns for one of %d parties", len(share), cols, parties)
			}
		}
	})
}

func TestByColumnRatio(t *testing.T) {
	tests := []struct {
		cols  int
		ratio []float64
		want  []int // sizes
	}{
		{30, []float64{10, 20}, []int{10, 20}},
		{30, []float64{1, 2}, []int{10, 20}},
		{23, []float64{13, 10}, []int{13, 10}},
		{3, []float64{1000, 1, 1}, []int{1, 1, 1}},
		{3, []float64{1, 1, 1000}, []int{1, 1, 1}},
		{10, []float64{.1, .2, .7}, []int{1, 2, 7}},
	}
	for _, tt := range tests {
		shares, err := ByColumnRatio(tt.cols, tt.ratio)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, share := range shares {
			sizes = append(sizes, len(share))
		}
		if !slices.Equal(sizes, tt.want) || !slices.Equal(slices.Concat(shares...), linalg.Range(0, tt.cols)) {
			t.Errorf("%d columns as %v: shares %v, want sizes %v", tt.cols, tt.ratio, shares, tt.want)
		}
	}
}

func TestByColumnsRefuses(t *testing.T) {
	columns := func(cols, parties int) error { _, err := ByColumns(cols, parties); return err }
	ratio := func(cols int, ratio ...float64) error { _, err := ByColumnRatio(cols, ratio); return err }
	tests := []struct {
		err  error
		want string
	}{
		{columns(3, 0), "dataset: the partition has 0 parties; choose at least one"},
		{columns(3, 4), "dataset: 3 columns cannot be divided among 4 parties; use fewer parties"},
		{ratio(3), "dataset: 3 columns cannot be divided among 0 parties; use fewer parties"},
		{ratio(3, 1, 0), "dataset: the column ratio of party 1 (from 0) is 0; choose a finite number above 0"},
		{ratio(3, math.NaN()), "dataset: the column ratio of party 0 (from 0) is NaN; choose a finite number above 0"},
		{ratio(3, math.Inf(1)), "dataset: the column ratio of party 0 (from 0) is +Inf; choose a finite number above 0"},
	}
	for _, tt := range tests {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error %v, want %s", tt.err, tt.want)
		}
	}
}

func TestBelowIsUniform(t *testing.T) {
	s := newStream(1, 0)
	const n, draws = 7, 70000
	var counts [n]int
	for range draws {
		counts[s.uniformBelow(n)]++
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - draws/n
		chi += d * d / (draws / n)
	}
	if chi > 30 { // six degrees of freedom: beyond 30 once in 25,000 seeds
		t.Errorf("counts %v, chi-square %v", counts, chi)
	}
}

func TestGammaMoments(t *testing.T) {
	const draws = 40000
	for _, alpha := range []float64{0.3, 1, 2.5, 40} {
		s := newStream(1, 0)
		sum, squares := 0.0, 0.0
		for range draws {
			g := math.Exp(s.logGamma(alpha))
			sum, squares = sum+g, squares+g*g
		}
		mean := sum / draws
		variance := squares/draws - mean*mean
		// Mean and variance of Gamma(alpha, 1) are alpha; its excess kurtosis is 6/alpha.
		if off := math.Abs(mean - alpha); off > 5*math.Sqrt(alpha/draws) {
			t.Errorf("alpha %v: mean %v", alpha, mean)
		}
		if off := math.Abs(variance - alpha); off > 5*alpha*math.Sqrt((2+6/alpha)/draws) {
			t.Errorf("alpha %v: variance %v", alpha, variance)
		}
	}
}

func TestDirichletOfTinyAlpha(t *testing.T) {
	s := newStream(1, 0)
	for range 100 {
		sum := 0.0
		for _, share := range s.dirichlet(5, leastSkew) {
			if !(share >= 0) {
				t.Fatalf("share %v", share)
			}
			sum += share
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("shares sum to %v", sum)
		}
	}
}

func TestCover(t *testing.T) {
	one, err := Cover(100, 0.9, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Cover(100, 0.9, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Cover(100, 0.9, 0, 1)
	if err != nil || !slices.Equal(one, again) || slices.Equal(one, two) || slices.IsSorted(one) {
		t.Errorf("parties have %v and %v, the first again %v: %v", one, two, again, err)
	}
	sorted := slices.Sorted(slices.Values(one))
	if len(slices.Compact(sorted)) != 90 || sorted[0] < 0 || sorted[89] > 99 {
		t.Errorf("%v: want 90 different rows of 100", one)
	}
	if all, err := Cover(7, 1, 2, 3); err != nil || len(all) != 7 {
		t.Errorf("all rows: %v, %v", all, err)
	}
	if few, err := Cover(3, 0.01, 0, 1); err != nil || len(few) != 1 {
		t.Errorf("a small share: %v, %v; want one row", few, err)
	}
	for _, share := range []float64{0, -1, 1.01, math.NaN()} {
		if _, err := Cover(10, share, 0, 1); err == nil {
			t.Errorf("share %v: accepted", share)
		}
	}
}
