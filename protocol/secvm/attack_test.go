package secvm_test

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Attacks of the relay and the gateway on single devices. Those that need a
// gateway, tokens or a network are with the programs.

// Attack: who counts a device's packages learns on which side of the margin it
// lies. It succeeds as published and fails with cover packages.
func TestAttackCountPackages(t *testing.T) {
	p := params(t, nil)
	w := make([]float64, p.Features())
	w[3] = 5
	inside := device(t, p, secvm.Vector{{3, 2}}, -1, secvm.Train)
	outside := device(t, p, secvm.Vector{{3, 2}}, 1, secvm.Train)
	tester := device(t, p, secvm.Vector{{3, 2}}, 1, secvm.Test)
	counts := map[int]bool{}
	for i, d := range []*secvm.Device{inside, outside, tester} {
		if n := len(answer(t, p, d, 0, w, byte(i))); n != p.Spec().Packages {
			t.Errorf("device %d sends %d packages", i, n)
		}
		said, err := d.AnswerAsPublished(0, checked(t, p, w))
		if err != nil {
			t.Fatal(err)
		}
		counts[len(said)] = true
	}
	if len(counts) < 2 {
		t.Error("as published, the number of packages should tell the margin")
	}
}

// Attack: link two packages of one device by what they hold. There is nothing
// to link by: every package of a device may as well be another's.
func TestAttackLinkByValue(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Packages = 40 })
	w := make([]float64, p.Features())
	a := answer(t, p, device(t, p, secvm.Vector{{1, 1}, {2, 1}}, 1, secvm.Train), 5, w, 1)
	b := answer(t, p, device(t, p, secvm.Vector{{2, 1}, {9, 1}}, 1, secvm.Train), 5, w, 2)
	fields := func(list []secvm.Package) map[secvm.Package]int {
		m := map[secvm.Package]int{}
		for _, one := range list {
			one.Index = 0 // what the record says; no handle on the device
			m[one]++
		}
		return m
	}
	fa, fb := fields(a), fields(b)
	if len(fa) != len(fb) {
		t.Fatalf("%v, %v", fa, fb)
	}
	for one := range fa {
		if fb[one] != fa[one] {
			t.Errorf("%+v tells the devices apart", one)
		}
	}
}

// Attack: order. The place of a package among a device's says nothing.
func TestAttackLinkByOrder(t *testing.T) {
	p := params(t, nil)
	d := device(t, p, secvm.Vector{{3, 1}}, 1, secvm.Train)
	w := make([]float64, p.Features())
	first := map[secvm.Kind]int{}
	const draws = 240
	r := random(9)
	for range draws {
		list, err := d.Answer(0, checked(t, p, w), r)
		if err != nil {
			t.Fatal(err)
		}
		first[list[0].Kind]++
	}
	// 3 of 8 packages say something: 90 expected, deviation 7.5.
	if said := draws - first[secvm.Cover]; said < 60 || said > 120 {
		t.Errorf("the first package says something %d times of %d, where 90 are expected", said, draws)
	}
}

// Attack: rare bins. The tally of a bin that one person has tells the person's
// label. It succeeds in every mode of single packages; documents say so.
func TestAttackRareBin(t *testing.T) {
	p := params(t, nil)
	w := make([]float64, p.Features())
	tally := secvm.NewTally(p)
	for i := range 10 {
		add(t, tally, answer(t, p, device(t, p, secvm.Vector{{2, 1}}, int8(1-2*(i%2)), secvm.Train), 0, w, byte(i)))
	}
	add(t, tally, answer(t, p, device(t, p, secvm.Vector{{2, 1}, {11, 1}}, -1, secvm.Train), 0, w, 77))
	if tally.Minus[11] != 1 || tally.Plus[11] != 0 {
		t.Errorf("the rare bin shows %d and %d", tally.Minus[11], tally.Plus[11])
	}
}

// Attack: two windows that differ by one person give that person's record.
// It succeeds; documents say so.
func TestAttackWindowDifference(t *testing.T) {
	p := params(t, nil)
	w := make([]float64, p.Features())
	window := func(people int) *secvm.Tally {
		tally := secvm.NewTally(p)
		for i := range people {
			add(t, tally, answer(t, p, device(t, p, secvm.Vector{{i, 2}, {i + 1, 1}}, 1, secvm.Train), 0, w, byte(i)))
		}
		return tally
	}
	with, without := window(8), window(7)
	for j := range with.Plus {
		want := map[int]uint64{7: 2, 8: 1, 16: 1}[j]
		if got := with.Plus[j] - without.Plus[j]; got != want {
			t.Errorf("feature %d: %d, want %d", j, got, want)
		}
	}
}

// Attack: a greedy model, whose weights or bins tell people apart. Devices
// refuse, and say why.
func TestAttackGreedyModel(t *testing.T) {
	l := secvm.DefaultLimits()
	ok := func(s *secvm.Spec) { s.Cohort = 200 }
	if err := l.Check(params(t, ok)); err != nil {
		t.Errorf("a modest model: %v", err)
	}
	for want, change := range map[string]func(*secvm.Spec){
		"bins":         func(s *secvm.Spec) { s.Bins = 1 << 18 },
		"hashes":       func(s *secvm.Spec) { s.Hashes = 2 },
		"weights":      func(s *secvm.Spec) { s.MaxWeight = 1e6 },
		"participants": func(s *secvm.Spec) { s.Cohort = 5 },
	} {
		p := params(t, func(s *secvm.Spec) { ok(s); change(s) })
		if err := l.Check(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p := params(t, nil)
	w := make([]float64, p.Features())
	w[1] = 1e9
	if _, err := p.Weights(w); err == nil {
		t.Error("a huge weight was taken")
	}
}
