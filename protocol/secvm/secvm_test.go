package secvm_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/learn/hinge"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

func random(seed byte) *prg.Stream { return prg.New([32]byte{seed}, "secvm/test") }

func params(t testing.TB, change func(*secvm.Spec)) secvm.Params {
	t.Helper()
	s := secvm.Spec{Name: "toy", Bins: 16, Packages: 8, Cohort: 2}
	if change != nil {
		change(&s)
	}
	p, err := secvm.NewParams(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func device(t testing.TB, p secvm.Params, v secvm.Vector, label int8, role secvm.Role) *secvm.Device {
	t.Helper()
	d, err := secvm.NewDevice(p, secvm.Record{Vector: v, Label: label}, role)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// golden is the reference in testdata: four rows of three features through
// four iterations with either schedule, and some bins.
type golden struct {
	Schedule string `json:"sched"`
	Lambda   float64
	Weights  [][]float64 `json:"w_per_iter"`
	Mean     []float64   `json:"w_avg_last2"`
	Hash     map[string][2]int
}

func readGolden(t *testing.T) []golden {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []golden
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestGoldenBins(t *testing.T) {
	checked := 0
	for _, g := range readGolden(t) {
		for name, bins := range g.Hash {
			for k, want := range bins {
				if got := secvm.Bin(name, k, 1000); got != want {
					t.Errorf("%s, hash %d: bin %d, want %d", name, k, got, want)
				}
				checked++
			}
			p := params(t, func(s *secvm.Spec) { s.Bins, s.Hashes = 1000, len(bins) })
			left := bins[:]
			for _, e := range p.Vector([]string{name}) { // a record's feature is in the same bins
				left = slices.DeleteFunc(left, func(b int) bool { return b == e.Bin })
			}
			if len(left) > 0 {
				t.Errorf("a record with %s is not in bins %v", name, left)
			}
		}
	}
	if checked == 0 {
		t.Fatal("nothing checked")
	}
}

// Devices, tally and learner together give the reference's weights.
func TestGoldenTraining(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Bins = 3 })
	rows := []secvm.Record{
		{Vector: secvm.Vector{{0, 1}, {2, 2}}, Label: 1}, {Vector: secvm.Vector{{1, 1}, {2, 1}}, Label: -1},
		{Vector: secvm.Vector{{0, 1}, {1, 1}}, Label: 1}, {Vector: secvm.Vector{{2, 3}}, Label: -1},
	}
	schedules := map[string]hinge.Schedule{"pegasos": hinge.Pegasos, "cliqz": hinge.Published}
	for _, g := range readGolden(t) {
		if g.Schedule == "" {
			continue
		}
		learner, err := hinge.New(hinge.Spec{Lambda: g.Lambda, Schedule: schedules[g.Schedule], Average: 2}, p.Features())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range g.Weights {
			tally := secvm.NewTally(p)
			for k, row := range rows {
				d := device(t, p, row.Vector, row.Label, secvm.Train)
				add(t, tally, answer(t, p, d, uint32(i), learner.Weights(), byte(k)))
			}
			sum, n, err := tally.Gradient(1, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := learner.Step(sum, n); err != nil {
				t.Fatal(err)
			}
			near(t, learner.Weights(), want)
		}
		near(t, learner.Mean(), g.Mean)
	}
}

func near(t *testing.T, got, want []float64) {
	t.Helper()
	for j := range want {
		if len(got) != len(want) || math.Abs(got[j]-want[j]) > 1e-15*max(1, math.Abs(want[j])) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func checked(t testing.TB, p secvm.Params, w []float64) secvm.Weights {
	t.Helper()
	ok, err := p.Weights(w)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func answer(t testing.TB, p secvm.Params, d *secvm.Device, iteration uint32, w []float64, seed byte) []secvm.Package {
	t.Helper()
	list, err := d.Answer(iteration, checked(t, p, w), random(seed))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func add(t testing.TB, tally *secvm.Tally, list []secvm.Package) {
	t.Helper()
	for _, one := range list {
		b := one.Encode()
		again, err := secvm.DecodePackage(b)
		if err != nil || again != one || len(b) != secvm.PackageSize {
			t.Fatalf("%+v read again: %+v, %v", one, again, err)
		}
		if err := tally.Add(again); err != nil {
			t.Fatal(err)
		}
	}
}

// Tallies of shards add up to the tally of all packages, in any order.
func TestMerge(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Classes = true })
	w := make([]float64, p.Features())
	var all []secvm.Package
	for i := range 20 {
		v := secvm.Vector{{i % 16, 1 + i%3}}
		all = append(all, answer(t, p, device(t, p, v, int8(1-i%2*2), secvm.Role(i%5/4)), 0, w, byte(i))...)
	}
	whole, shards := secvm.NewTally(p), []*secvm.Tally{secvm.NewTally(p), secvm.NewTally(p)}
	add(t, whole, all)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, one := range all {
		add(t, shards[i%2], []secvm.Package{one})
	}
	if err := shards[0].Merge(shards[1]); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(whole)
	b, _ := json.Marshal(shards[0])
	if !bytes.Equal(a, b) {
		t.Errorf("%s\n%s", a, b)
	}
	if whole.Count() != 16 || whole.Tests[0].Total+whole.Tests[1].Total != 4 {
		t.Errorf("%d participants, %v tests", whole.Count(), whole.Tests)
	}
	sum, n, err := whole.Gradient(1, 3)
	if err != nil || n != float64(whole.Participants[0])+3*float64(whole.Participants[1]) {
		t.Errorf("n %g, %v", n, err)
	}
	if bias := sum[len(sum)-1]; bias != 3*float64(whole.Participants[1])-float64(whole.Participants[0]) {
		t.Errorf("bias %g", bias)
	}
}

// The hinge is strict: a record exactly on the margin sends nothing.
func TestStrictHinge(t *testing.T) {
	p := params(t, nil)
	w := make([]float64, p.Features())
	d := device(t, p, secvm.Vector{{3, 2}}, -1, secvm.Train)
	for score, want := range map[float64]int{-1: 1, -.999: 4, 0: 4, 5: 4, -2: 1} {
		w[3] = score / 2
		list, err := d.AnswerAsPublished(0, checked(t, p, w))
		if err != nil || len(list) != want {
			t.Errorf("score %g: %d packages, want %d; %v", score, len(list), want, err)
		}
	}
}

func TestSample(t *testing.T) {
	p := params(t, nil)
	v := p.Vector([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
	if v.Units() != 10 {
		t.Fatalf("%d units", v.Units())
	}
	hits := map[int]int{}
	for seed := range 200 {
		s := v.Sample(4, random(byte(seed)))
		if s.Units() != 4 {
			t.Fatalf("%d units", s.Units())
		}
		for _, e := range s {
			i := slices.IndexFunc(v, func(f secvm.Entry) bool { return f.Bin == e.Bin })
			if i < 0 || e.Count > v[i].Count {
				t.Fatalf("%v is no part of %v", s, v)
			}
			hits[e.Bin] += e.Count
		}
	}
	for _, e := range v { // 80 expected for each unit, with a deviation of 7
		if got := float64(hits[e.Bin]) / float64(e.Count); got < 50 || got > 110 {
			t.Errorf("bin %d: %g of 200 draws for each unit, where 80 are expected", e.Bin, got)
		}
	}
	if s := v.Sample(10, random(1)); !slices.Equal(s, v) {
		t.Errorf("%v, want all of %v", s, v)
	}
}

func TestRefused(t *testing.T) {
	p := params(t, nil)
	for _, s := range []secvm.Spec{{}, {Name: "a", Bins: 1, Packages: 2, Cohort: 2}, {Name: "a", Bins: 1 << 21, Packages: 9, Cohort: 2},
		{Name: "a", Bins: 5, Packages: 9, Cohort: 1}, {Name: "a", Bins: 5, Packages: 9, Cohort: 1<<30 + 1}, {Name: "a", Bins: 5, Packages: 9, Cohort: 2, MaxWeight: math.NaN()},
		{Name: "a", Bins: 5, Packages: 9, Cohort: 2, Hashes: 9}} {
		if _, err := secvm.NewParams(s); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	for _, r := range []secvm.Record{{Label: 0}, {Label: 1, Vector: secvm.Vector{{16, 1}}}, {Label: 1, Vector: secvm.Vector{{-1, 1}}},
		{Label: 1, Vector: secvm.Vector{{2, 1}, {1, 1}}}, {Label: 1, Vector: secvm.Vector{{1, 7}}}, {Label: 1, Vector: secvm.Vector{{1, 0}}}} {
		if _, err := secvm.NewDevice(p, r, secvm.Train); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
	tally := secvm.NewTally(p)
	for _, bad := range []secvm.Package{{}, {Kind: 9}, {Kind: secvm.Training, Index: 17, Value: 1}, {Kind: secvm.Training, Value: 2},
		{Kind: secvm.Training, Value: 0}, {Kind: secvm.Training, Value: 1, Guess: 1}, {Kind: secvm.Participation, Value: 1},
		{Kind: secvm.Participation, Index: 1}, {Kind: secvm.Testing, Value: 1}, {Kind: secvm.Cover, Value: 1}} {
		if tally.Add(bad) == nil {
			t.Errorf("%+v was counted", bad)
		}
	}
	if tally.Count() != 0 || tally.Covers != 0 {
		t.Error("what was refused changed the tally")
	}
	if _, _, err := tally.Gradient(1, 2); err == nil {
		t.Error("weighted classes that nobody told")
	}
	if tally.Merge(secvm.NewTally(params(t, func(s *secvm.Spec) { s.Bins = 4 }))) == nil {
		t.Error("tallies of different models were merged")
	}
	b := secvm.Package{Kind: secvm.Cover}.Encode()
	b[secvm.PackageSize-1] = 1
	if _, err := secvm.DecodePackage(b); err == nil {
		t.Error("padding with something in it was read")
	}
}

func TestEnough(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Cohort = 3 })
	tally := secvm.NewTally(p)
	for i := range 3 {
		if tally.Enough() {
			t.Fatalf("enough with %d participants of 3", i)
		}
		add(t, tally, []secvm.Package{{Kind: secvm.Participation}})
	}
	if !tally.Enough() {
		t.Error("not enough with 3 participants")
	}
	for n := 1; n <= 4; n++ { // the same of a secure sum over n devices that train
		features, census := make([]int64, p.Features()), make([]int64, p.Blocks()[1].Entries)
		census[0] = int64(n)
		sum, err := secvm.NewSum(p, [][]int64{features, census}, n)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Enough() != (n >= 3) {
			t.Errorf("a sum over %d participants of 3 is enough: %v", n, sum.Enough())
		}
	}
}

func TestParamsComeBack(t *testing.T) {
	p := params(t, func(s *secvm.Spec) { s.Classes, s.Hashes = true, 2 })
	q, err := secvm.DecodeParams(p.Encode())
	if err != nil || q != p || q.Tag() == params(t, nil).Tag() {
		t.Errorf("%+v, %v", q, err)
	}
}

func FuzzDecode(f *testing.F) {
	p := params(f, nil)
	f.Add(p.Encode())
	f.Add(secvm.Package{Kind: secvm.Testing, Value: -1, Guess: 1}.Encode())
	f.Add(secvm.EncodeWeights(make([]float64, p.Features())))
	f.Add(chain(p, 3).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, err := secvm.DecodeParams(b); err == nil && !bytes.Equal(q.Encode(), b) {
			t.Error("parameters have two encodings")
		}
		if q, err := secvm.DecodePackage(b); err == nil && !bytes.Equal(q.Encode(), b) {
			t.Error("a package has two encodings")
		}
		if w, err := p.DecodeWeights(b); err == nil && !bytes.Equal(secvm.EncodeWeights(w.Values()), b) {
			t.Error("weights have two encodings")
		}
		if c, err := secvm.DecodeChain(b); err == nil && !bytes.Equal(c.Encode(), b) {
			t.Error("a chain has two encodings")
		}
	})
}
