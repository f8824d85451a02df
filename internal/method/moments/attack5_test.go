package moments

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/moments"
)

// exactAUC is the area of decisions, ties counting half.
func exactAUC(pos, neg []float64) float64 {
	neg = slices.Clone(neg)
	sort.Float64s(neg)
	sum := 0.0
	for _, p := range pos {
		lo, _ := slices.BinarySearch(neg, p)
		hi := sort.Search(len(neg), func(i int) bool { return neg[i] > p })
		sum += float64(lo) + float64(hi-lo)/2
	}
	return sum / float64(len(pos)) / float64(len(neg))
}

func attack5Bin(d float64) int {
	d = min(max(d, -2), 2)
	return max(int(math.Ceil(d*100/4))+49, 0)
}

// What a result says of the area holds: the area of the decisions themselves is within it.
func TestTheAreaIsWithinWhatIsSaid(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	told, worst, apOff, balOff, f1Off := 0, 0.0, 0.0, 0.0, 0.0
	for trial := range 4000 {
		parties := 1 + r.IntN(4)
		sum := make([]int64, 2*moments.Bins)
		var all [2][]float64
		tight := math.Pow(10, -2*r.Float64())
		share, shift := 0.02+0.96*r.Float64(), 2*r.Float64()*tight
		held := int64(0)
		for range parties {
			n := 50 + r.IntN(1500)
			switch r.IntN(5) {
			case 0:
				n = 4990 + r.IntN(4000)
			case 1:
				n = 5*(10+r.IntN(100)) + 4
			}
			own := share
			switch r.IntN(4) {
			case 0:
				own = 0
			case 1:
				own = 1
			}
			held += int64(n)
			counts := [2][]int{make([]int, moments.Bins), make([]int, moments.Bins)}
			for range n {
				c := 0
				if r.Float64() < own {
					c = 1
				}
				d := tight*r.NormFloat64() + float64(2*c-1)*shift
				if r.IntN(3) == 0 { // on a few places only
					d = math.Round(d*3) / 3
				}
				all[c] = append(all[c], d)
				counts[c][attack5Bin(d)]++
			}
			for c := range 2 {
				for k, v := range moments.RoundCounts(counts[c], n) {
					sum[c*moments.Bins+k] += v
				}
			}
		}
		b := binsOf([]string{"0", "1"}, sum)
		if err := b.check(held, parties); err != nil {
			t.Fatalf("honest parties are refused: %v", err)
		}
		h := metrics.Histogram{Positive: b.counts[1], Negative: b.counts[0]}
		area, within, both := h.AUC()
		if within = min(1, within+b.rounding(area, parties)); !both || within > widest {
			continue
		}
		told++
		exact := exactAUC(all[1], all[0])
		if d := math.Abs(exact - area); d > within+1e-9 {
			t.Fatalf("trial %d, %d parties, %d and %d rows: area %.4f, exact %.4f, said within %.4f", trial, parties, len(all[1]), len(all[0]), area, exact, within)
		} else {
			worst = max(worst, d/within)
		}
		// the same figures of exact bins
		var e [2][]float64
		for c := range 2 {
			e[c] = make([]float64, moments.Bins)
			for _, d := range all[c] {
				e[c][attack5Bin(d)]++
			}
		}
		eh := metrics.Histogram{Positive: e[1], Negative: e[0]}
		ap1, _ := h.AveragePrecision()
		ap2, _ := eh.AveragePrecision()
		apOff = max(apOff, math.Abs(ap1-ap2)-within)
		eb := bins{classes: b.classes, counts: e}
		c1, c2 := b.confusion(), eb.confusion()
		balOff = max(balOff, math.Abs(c1.BalancedAccuracy()-c2.BalancedAccuracy())-within)
		if d := math.Abs(c1.F1Macro()-c2.F1Macro()) - within; d > f1Off {
			f1Off = d
			t.Logf("f1 %v exact %v within %v, %d and %d rows", c1.F1Macro(), c2.F1Macro(), within, len(all[1]), len(all[0]))
		}
	}
	t.Logf("%d told; worst %.3f of what is said; beyond it: average precision %.4f, balanced accuracy %.4f, f1 %.4f", told, worst, apOff, balOff, f1Off)
}
