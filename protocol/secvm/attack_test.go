package secvm_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Attacks of the relay and the gateway on single devices, each in both modes.
// Those that need a gateway, tokens or a network are with the programs;
// docs/protocols/secvm.md has a table of all.

// modes returns a device's answers in both modes: as published, and hardened.
func modes(t *testing.T, p secvm.Params, d *secvm.Device, w []float64) map[string][]secvm.Package {
	t.Helper()
	said, err := d.AnswerAsPublished(0, checked(t, p, w))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]secvm.Package{"paper": said, "hardened": answer(t, p, d, 0, w, 1)}
}

// totals returns the gateway's tally of many devices, in both modes.
func totals(t *testing.T, p secvm.Params, crowd []*secvm.Device, w []float64) map[string]*secvm.Tally {
	t.Helper()
	all := map[string]*secvm.Tally{"paper": secvm.NewTally(p), "hardened": secvm.NewTally(p)}
	for _, d := range crowd {
		for mode, list := range modes(t, p, d, w) {
			add(t, all[mode], list)
		}
	}
	return all
}

// summed returns, for each bin, what the server reads from the sum over many devices whose weights are
// all 0: those with label +1 less those with label -1.
func summed(t *testing.T, p secvm.Params, crowd []*secvm.Device) []float64 {
	t.Helper()
	var total [][]int64
	for _, d := range crowd {
		s, err := d.Summand(checked(t, p, make([]float64, p.Features())))
		if err != nil {
			t.Fatal(err)
		}
		total = plus(t, p, total, read(p, s))
	}
	sum, err := secvm.NewSum(p, total, len(crowd))
	if err != nil {
		t.Fatal(err)
	}
	bins, _, err := sum.Gradient(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return bins
}

// Attack: an observer that counts a device's packages, or adds up their sizes, learns the
// device's side of the margin. It succeeds as published and fails with cover packages.
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

// Attack: link two packages of one device by their contents. It fails in both modes: every
// package of a device could be another device's. (As published, a package also has an id
// that the client draws; here that is its token's nonce.)
func TestAttackLinkByValue(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Packages = 40 })
	w := make([]float64, p.Features())
	a := modes(t, p, device(t, p, secvm.Vector{{1, 1}, {2, 1}}, 1, secvm.Train), w)
	b := modes(t, p, device(t, p, secvm.Vector{{2, 1}, {9, 1}}, 1, secvm.Train), w)
	fields := func(list []secvm.Package) map[secvm.Package]int {
		m := map[secvm.Package]int{}
		for _, one := range list {
			one.Index = 0 // what the record says; no handle on the device
			m[one]++
		}
		return m
	}
	for mode := range a {
		if fa, fb := fields(a[mode]), fields(b[mode]); !maps.Equal(fa, fb) {
			t.Errorf("%s: something tells the devices apart: %v, %v", mode, fa, fb)
		}
	}
}

// Attack: link packages by value, if the loss is logistic: the paper chooses the hinge loss
// for this reason (section 4.3). An entry of the logistic loss's gradient (equation 6) is
// one number for all features of a device, and no other device has it: all packages with
// this number are that device's. An entry of the hinge loss (equation 7) is -1 or 1, from
// every device.
func TestAttackLinkByValueOfTheLoss(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Bins = 64 })
	r := rand.New(rand.NewPCG(1, 1))
	w := make([]float64, p.Features())
	for j := range w {
		w[j] = r.NormFloat64() / 8
	}
	logistic, hinge := make(map[float64][]int), make(map[secvm.Package][]int) // devices by all that a package holds but its feature
	for d := range 200 {
		var v secvm.Vector
		margin, label := 0.0, 1-2*(d%2)
		for i, j := range r.Perm(64)[:4+d%4/2] { // records of two lengths for each label
			count := 1
			if i == 0 { // one feature that the record has twice
				count = 2
			}
			v = append(v, secvm.Entry{Bin: j, Count: count})
			margin += float64(label*count) * w[j]
		}
		slices.SortFunc(v, func(a, b secvm.Entry) int { return a.Bin - b.Bin })
		for range v {
			entry := float64(label) / (1 + math.Exp(margin))
			logistic[entry] = append(logistic[entry], d)
		}
		said, err := device(t, p, v, int8(label), secvm.Train).AnswerAsPublished(0, checked(t, p, w))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range said {
			if one.Kind == secvm.Training {
				one.Index = 0
				hinge[one] = append(hinge[one], d)
			}
		}
	}
	if linked := linked(logistic); linked != 1 {
		t.Errorf("logistic loss: of pairs of packages with one value, %v are of one device", linked)
	}
	if linked := linked(hinge); linked > .02 || len(hinge) != 2 {
		t.Errorf("hinge loss: of pairs of packages with one of %d values, %v are of one device", len(hinge), linked)
	}
}

// linked returns the share of the pairs of packages with equal values that are of one
// device.
func linked[V comparable](devices map[V][]int) float64 {
	pairs, same := 0, 0
	for _, list := range devices {
		for i, a := range list {
			for _, b := range list[:i] {
				pairs++
				if a == b {
					same++
				}
			}
		}
	}
	return float64(same) / float64(pairs)
}

// Attack: order. The place of a package among a device's packages reveals nothing in
// hardened mode; as published, participation is sent first.
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
	// 3 of 8 packages are no cover: 90 expected, deviation 7.5.
	if said := draws - first[secvm.Cover]; said < 60 || said > 120 {
		t.Errorf("the first package says something %d times of %d, where 90 are expected", said, draws)
	}
}

// Attack: rare bins. The tally of a bin that one person has reveals the person's label. It
// succeeds in both modes, and with sums; the documents say so.
func TestAttackRareBin(t *testing.T) {
	for _, classes := range []bool{false, true} {
		p := params(t, func(s *secvm.Spec) { s.Classes = classes })
		var crowd []*secvm.Device
		for i := range 10 {
			crowd = append(crowd, device(t, p, secvm.Vector{{2, 1}}, int8(1-2*(i%2)), secvm.Train))
		}
		crowd = append(crowd, device(t, p, secvm.Vector{{2, 1}, {11, 1}}, -1, secvm.Train))
		for mode, tally := range totals(t, p, crowd, make([]float64, p.Features())) {
			if tally.Minus[11] != 1 || tally.Plus[11] != 0 {
				t.Errorf("%s: the rare bin shows %d and %d", mode, tally.Minus[11], tally.Plus[11])
			}
		}
		if got := summed(t, p, crowd)[11]; got != -1 {
			t.Errorf("sums with the classes apart %v: the rare bin shows %v", classes, got)
		}
	}
}

// Attack: many units of one feature. A person who has a feature five times sends five equal
// packages, which are conspicuous if no other device sends any. It succeeds in both modes;
// binary features do not have such packages.
func TestAttackRepeatedUnits(t *testing.T) {
	p := params(t, nil)
	crowd := []*secvm.Device{
		device(t, p, secvm.Vector{{4, 5}}, 1, secvm.Train),
		device(t, p, secvm.Vector{{5, 1}}, 1, secvm.Train),
	}
	for mode, tally := range totals(t, p, crowd, make([]float64, p.Features())) {
		if tally.Plus[4] != 5 || tally.Plus[5] != 1 {
			t.Errorf("%s: %v", mode, tally.Plus)
		}
	}
}

// Attack: two windows that differ by one person give that person's record. It succeeds in
// both modes, and with sums; the documents say so.
func TestAttackWindowDifference(t *testing.T) {
	for _, classes := range []bool{false, true} {
		p := params(t, func(s *secvm.Spec) { s.Classes = classes })
		window := func(people int) (tallies map[string]*secvm.Tally, sum []float64) {
			var crowd []*secvm.Device
			for i := range people {
				crowd = append(crowd, device(t, p, secvm.Vector{{i, 2}, {i + 1, 1}}, 1, secvm.Train))
			}
			return totals(t, p, crowd, make([]float64, p.Features())), summed(t, p, crowd)
		}
		with, sum := window(8)
		without, before := window(7)
		for j := range p.Features() {
			want := map[int]uint64{7: 2, 8: 1, 16: 1}[j]
			for mode := range with {
				if got := with[mode].Plus[j] - without[mode].Plus[j]; got != want {
					t.Errorf("%s: feature %d: %d, want %d", mode, j, got, want)
				}
			}
			if got := sum[j] - before[j]; got != float64(want) {
				t.Errorf("sums with the classes apart %v: feature %d: %v, want %d", classes, j, got, want)
			}
		}
	}
}

// Attack: weights as a query. Weights within all limits put everybody with a bin outside
// the margin; the difference to a window without them is the sum of these people's records.
// It succeeds in both modes, unless someone notices the weights, which all devices see and
// which are signed.
func TestAttackChosenWeights(t *testing.T) {
	p := params(t, nil)
	crowd := []*secvm.Device{
		device(t, p, secvm.Vector{{1, 1}, {9, 1}, {12, 1}}, 1, secvm.Train), // alone has bin 9
		device(t, p, secvm.Vector{{1, 1}, {12, 1}}, 1, secvm.Train),
		device(t, p, secvm.Vector{{2, 1}, {12, 1}}, -1, secvm.Train),
	}
	w := make([]float64, p.Features())
	before := totals(t, p, crowd, w)
	w[9] = 1
	after := totals(t, p, crowd, w)
	for mode := range before {
		for j := range p.Features() {
			want := map[int]uint64{1: 1, 9: 1, 12: 1, 16: 1}[j]
			if got := before[mode].Plus[j] - after[mode].Plus[j]; got != want {
				t.Errorf("%s: feature %d: %d, want %d", mode, j, got, want)
			}
		}
	}
}

// Attack: link by value over many windows. A person's features appear and disappear
// together, as the weights move the person in and out of the margin; the attacker links
// bins that one person has alone, from tallies only. It succeeds in both modes.
func TestAttackLinkOverWindows(t *testing.T) {
	const people, windows = 6, 24
	p := params(t, func(s *secvm.Spec) { s.Bins = 2*people + 1 })
	var crowd []*secvm.Device
	for i := range people {
		crowd = append(crowd, device(t, p, secvm.Vector{{i, 1}, {i + people, 1}, {2 * people, 1}}, int8(1-2*(i%2)), secvm.Train))
	}
	history := map[string][][]uint64{"paper": make([][]uint64, p.Features()), "hardened": make([][]uint64, p.Features())}
	r := random(3)
	for range windows {
		w := make([]float64, p.Features())
		for j := range w {
			w[j] = float64(r.Uint64n(5)) - 2
		}
		for mode, tally := range totals(t, p, crowd, w) {
			for j := range history[mode] {
				history[mode][j] = append(history[mode][j], tally.Plus[j]+tally.Minus[j])
			}
		}
	}
	for mode, of := range history {
		for a := range 2 * people {
			for b := range a {
				if alike := slices.Equal(of[a], of[b]); alike != (a == b+people) {
					t.Errorf("%s: bins %d and %d come together: %t", mode, a, b, alike)
				}
			}
		}
	}
}

// Attack: unlimited packages. Without tokens, as published and in simulations, one device
// has as much weight as it likes. With tokens it has as many packages as other devices
// (issuer.TestAttackQuota, gateway.TestPackagesThatAreRefused), but may still fill them with the content
// that moves the model most: up to that many people's share of one feature.
func TestAttackUnlimitedPackages(t *testing.T) {
	p := params(t, nil)
	tally := secvm.NewTally(p)
	stuffing := secvm.Package{Tag: p.Tag(), Kind: secvm.Training, Index: 3, Value: 1}
	for range 1000 {
		if err := tally.Add(stuffing); err != nil {
			t.Fatal(err)
		}
	}
	if tally.Plus[3] != 1000 {
		t.Errorf("without tokens %d of 1000 packages were counted", tally.Plus[3])
	}
}

// Attack: other weights for one device in the newest announcement, within the ball. The
// bias at its edge silences one label on every other device, so that the remaining packages
// with that label are one person's whole record. It succeeds in both modes for an attacker
// that can send one device other weights: gateway, relay and issuer together. Against fewer
// see device.TestAttackOneDeviceIsToldOtherwise.
func TestAttackForkAtTheTip(t *testing.T) {
	const people, victim = 300, 17
	p := params(t, func(s *secvm.Spec) { s.Packages, s.Radius = 20, 10 })
	loud := make([]float64, p.Features())
	loud[p.Features()-1] = p.Spec().Radius
	tallies := map[string]*secvm.Tally{"paper": secvm.NewTally(p), "hardened": secvm.NewTally(p)}
	want := make([]uint64, p.Features())
	r := random(11)
	for i := range people {
		v := secvm.Vector{}
		for b := range p.Spec().Bins {
			if r.Uint64n(4) == 0 {
				v = append(v, secvm.Entry{Bin: b, Count: 1})
			}
		}
		label, told := int8(1-2*(i%2)), loud
		if i == victim {
			label, told = 1, make([]float64, p.Features())
			for _, e := range v {
				want[e.Bin] = 1
			}
			want[p.Features()-1] = 1
		}
		for mode, list := range modes(t, p, device(t, p, v, label, secvm.Train), told) {
			add(t, tallies[mode], list)
		}
	}
	for mode, tally := range tallies {
		if !slices.Equal(tally.Plus, want) {
			t.Errorf("%s: read %v, the record is %v", mode, tally.Plus, want)
		}
	}
}

// Attack: a greedy model, whose weights or bins single out people. Devices refuse with the
// reason.
func TestAttackGreedyModel(t *testing.T) {
	l := secvm.DefaultLimits()
	ok := func(s *secvm.Spec) { s.Cohort, s.Radius = 200, 10 }
	if err := l.Check(params(t, ok)); err != nil {
		t.Errorf("a modest model: %v", err)
	}
	most := func(s *secvm.Spec) { s.Bins, s.MaxWeight, s.Radius, s.Cohort = 1<<16, 1e3, 100, 100 }
	if err := l.Check(params(t, most)); err != nil {
		t.Errorf("a model at all limits: %v", err)
	}
	for want, change := range map[string]func(*secvm.Spec){
		"bins":                    func(s *secvm.Spec) { s.Bins = 1<<16 + 1 },
		"hashes":                  func(s *secvm.Spec) { s.Hashes = 2 },
		"weights":                 func(s *secvm.Spec) { s.MaxWeight = 1001 },
		"does not limit the norm": func(s *secvm.Spec) { s.Radius = 0 },
		"norm":                    func(s *secvm.Spec) { s.Radius = 101 },
		"participants":            func(s *secvm.Spec) { s.Cohort = 99 },
	} {
		p := params(t, func(s *secvm.Spec) { ok(s); change(s) })
		if err := l.Check(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if got := (secvm.Limits{Bins: 5}).OrDefaults(); got.Cohort != 100 || got.Bins != 5 || got.Radius != l.Radius || got.Paper {
		t.Errorf("what is not set is not as by default: %+v", got)
	}
	p := params(t, nil)
	w := make([]float64, p.Features())
	w[1] = 1e9
	if _, err := p.Weights(w); err == nil {
		t.Error("a huge weight was taken")
	}
	p = params(t, ok)
	w[1], w[2] = 8, 6
	if _, err := p.Weights(w); err != nil {
		t.Errorf("weights on the edge of the ball: %v", err)
	}
	w[2] = 6.1
	if _, err := p.Weights(w); err == nil || !strings.Contains(err.Error(), "a ball of radius 10") {
		t.Errorf("weights beyond the ball, each small: %v", err)
	}
}
