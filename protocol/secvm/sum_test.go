package secvm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// crowd returns devices of both labels and roles, some inside the margin.
func crowd(t *testing.T, p secvm.Params) []*secvm.Device {
	t.Helper()
	var list []*secvm.Device
	for i := range 30 {
		v := secvm.Vector{{i % 5, 1 + i%3}, {5 + i%7, 1}}
		list = append(list, device(t, p, v, int8(1-i%2*2), secvm.Role(i%5/4)))
	}
	return list
}

// read returns a whole summand, read in pieces.
func read(p secvm.Params, s secvm.Summand) [][]int64 {
	var blocks [][]int64
	for b, block := range p.Blocks() {
		all := make([]int64, block.Entries)
		for lo := 0; lo < len(all); lo += 4 {
			s.Read(b, lo, all[lo:min(lo+4, len(all))])
		}
		blocks = append(blocks, all)
	}
	return blocks
}

// The sum of summands gives the gradient, the participants and the test results of the
// packages' tally, to the bit; and every entry keeps its bound.
func TestSumIsTheTally(t *testing.T) {
	for _, classes := range []bool{false, true} {
		p := params(t, func(s *secvm.Spec) { s.Classes = classes })
		w := make([]float64, p.Features())
		for j := range w {
			w[j] = float64(j%3) - 1
		}
		tally, devices := secvm.NewTally(p), crowd(t, p)
		var total [][]int64
		for i, d := range devices {
			add(t, tally, answer(t, p, d, 0, w, byte(i)))
			s, err := d.Summand(checked(t, p, w))
			if err != nil {
				t.Fatal(err)
			}
			total = plus(t, p, total, read(p, s))
		}
		sum, err := secvm.NewSum(p, total, len(devices))
		if err != nil {
			t.Fatal(err)
		}
		minus, plus := 1., 1.
		if classes {
			minus, plus = .3, 1.7
		}
		got, n, err := sum.Gradient(minus, plus)
		if err != nil {
			t.Fatal(err)
		}
		want, m, err := tally.Gradient(minus, plus)
		if err != nil || !slices.Equal(got, want) || n != m || sum.Census != tally.Census || sum.Enough() != tally.Enough() {
			t.Errorf("classes %v: %v %g %+v, want %v %g %+v; %v", classes, got, n, sum.Census, want, m, tally.Census, err)
		}
		if !classes {
			if _, _, err := sum.Gradient(1, 2); err == nil {
				t.Error("weighted classes that nobody told")
			}
		}
	}
}

// plus adds a summand and checks its bounds.
func plus(t *testing.T, p secvm.Params, total, summand [][]int64) [][]int64 {
	t.Helper()
	for b, block := range p.Blocks() {
		if total == nil {
			return summand
		}
		for j, x := range summand[b] {
			if x > block.Bound || x < -block.Bound || x < 0 && !block.Signed {
				t.Errorf("entry %d of block %d is %d, bound %d", j, b, x, block.Bound)
			}
			total[b][j] += x
		}
	}
	return total
}

// A sum that honest devices cannot give is refused with the reason.
func TestFalseSums(t *testing.T) {
	for want, spoil := range map[string]func(blocks [][]int64){
		"sum has 1 blocks":                         nil,
		"not a possible sum over 4 honest devices": func(b [][]int64) { b[0][3] = 25 },
		"entry 5 of block 0":                       func(b [][]int64) { b[0][5] = -25 },
		"entry 1 of block 1 is -1":                 func(b [][]int64) { b[1][1] = -1 },
		"3 correct guesses in 2 tests":             func(b [][]int64) { b[1][2], b[1][3], b[1][0] = 2, 3, 2 },
		"3 devices train or test":                  func(b [][]int64) { b[1][0] = 3 },
		"has 16 entries; it must have 17":          func(b [][]int64) { b[0] = b[0][:16] },
	} {
		p := params(t, nil)
		blocks := [][]int64{make([]int64, p.Features()), {4, 0, 0, 0, 0, 0}}
		if _, err := secvm.NewSum(p, blocks, 4); err != nil {
			t.Fatal(err)
		}
		if spoil == nil {
			blocks = blocks[:1]
		} else {
			spoil(blocks)
		}
		if _, err := secvm.NewSum(p, blocks, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Attack: a bin that one person has. Summed with both signs together the entry is that
// person's label, as with packages, though the attacker cannot be sure that it is one
// person; it succeeds, and the documents say so.
func TestAttackRareBinInASum(t *testing.T) {
	p := params(t, nil)
	w := checked(t, p, make([]float64, p.Features()))
	var total [][]int64
	for i := range 10 {
		v := secvm.Vector{{2, 1}}
		if i == 7 {
			v = append(v, secvm.Entry{Bin: 11, Count: 1})
		}
		s, err := device(t, p, v, int8(1-2*(i%2)), secvm.Train).Summand(w)
		if err != nil {
			t.Fatal(err)
		}
		total = plus(t, p, total, read(p, s))
	}
	if total[0][11] != -1 || total[0][2] != 0 {
		t.Error(fmt.Sprint(total))
	}
}
