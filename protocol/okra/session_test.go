package okra

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// worstRelative is the largest difference, relative to the rows' norms.
func worstRelative(got, want linalg.Matrix[float64]) (worst float64) {
	for i := range want.Rows {
		for j, v := range want.Row(i) {
			worst = max(worst, math.Abs(got.Row(i)[j]-v)/math.Sqrt(want.Row(i)[i]*want.Row(j)[j]))
		}
	}
	return worst
}

func TestTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		spec  Spec
		f     int
		sizes []int
		limit float64
	}{
		{Spec{Wire: Float64}, 64, []int{40, 1, 25}, 1e-14},
		{Spec{}, 64, []int{40, 1, 25}, 1e-6},
		{Spec{Encoder: Haar, Wire: Float64}, 37, []int{20, 30}, 1e-14},
		{Spec{Encoder: HBH, Wire: Float64}, 3001, []int{400, 300}, 1e-14}, // several pieces of each kind
		{Spec{Mode: Paper}, 300, []int{50, 60, 70}, 1e-6},
		{Spec{Encoder: Flake, Wire: Float64}, 300, []int{50, 60, 70}, 1e-14},
		{Spec{Encoder: Flake, Mode: Paper, Wire: Float64}, 300, []int{50, 60, 70}, 1e-14},
		{Spec{}, 1, []int{3}, 1e-6},
		{Spec{Rounds: 2}, 3000, []int{400, 300}, 1e-6},                // several chunks, steps, tiles and slices
		{Spec{Wire: Float64}, 140_001, []int{2, 3}, 1e-14},            // a row needs three chunks
		{Spec{Rounds: 2, Wire: Float64}, 530_000, []int{1, 1}, 1e-14}, // and more than one step
	} {
		t.Run(fmt.Sprintf("%v/%d", c.spec, c.f), func(t *testing.T) {
			total := 0
			for _, n := range c.sizes {
				total += n
			}
			x := randomRows("training", total, c.f)
			inputs := share(x, c.sizes...)
			inputs[0].Grid = true
			w := train(t, c.spec, inputs...)
			s := w.server()
			want := linalg.New[float64](total, total)
			linalg.Syrk(want, x)
			if worst := worstRelative(s.Gram(), want); worst > c.limit {
				t.Errorf("Gram matrix is off by %.2g, at most %.2g", worst, c.limit)
			}
			checkServer(t, s, c.f, inputs)
			checkUploads(t, w, c.sizes)
			for i := range c.sizes {
				if got := w.party(hospitals[1+i].Name).TotalRows(); got != total {
					t.Errorf("%s learns of %d rows, want %d", hospitals[1+i].Name, got, total)
				}
			}
		})
	}
}

// checkUploads demands that each party has sent each number of its encoded rows once, and to the server.
func checkUploads(t *testing.T, w *outcome, sizes []int) {
	t.Helper()
	got, want := make(map[string]int), make(map[string]int)
	for i, n := range sizes {
		name := hospitals[1+i].Name
		want[name+" to hub"] = n * w.server().Width() * w.party(name).params.wordBytes()
	}
	for _, m := range w.sent {
		if m.Kind == kindRows {
			got[m.Sender+" to "+m.Receiver] += len(m.Body)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("bytes of rows:", diff)
	}
}

// Whatever a party is sent does not depend on the others' rows, labels and held-out rows, but on their
// numbers only.
func TestPartiesReceiveNothingOfTheOthers(t *testing.T) {
	for _, spec := range append([]Spec{{Wire: Float64}}, encoders...) {
		one, other := share(randomRows("one", 7, 5), 3, 2, 2), share(randomRows("other", 7, 5), 3, 2, 2)
		for i := range other {
			slices.Reverse(other[i].Test)
			for k, label := range other[i].Labels {
				other[i].Labels[k] = label + " or not"
			}
		}
		want := train(t, spec, one...)
		for i, m := range hospitals[1:] {
			mixed := slices.Clone(other)
			mixed[i] = one[i]
			before, after := receivedBy(want, m.Name), receivedBy(train(t, spec, mixed...), m.Name)
			if diff := cmp.Diff(before, after); diff != "" || len(before) == 0 {
				t.Errorf("%v: %s is sent %d messages, and others if the others have other rows: %s", spec, m.Name, len(before), diff)
			}
		}
	}
}

// receivedBy lists the messages to a member, in an order of their own.
func receivedBy(o *outcome, name string) (list []string) {
	for _, m := range o.sent {
		if m.Receiver == name {
			list = append(list, fmt.Sprintf("%s from %s, piece %d: %x", m.Kind, m.Sender, m.Chunk, m.Body))
		}
	}
	slices.Sort(list)
	return list
}

// matrixOf returns the matrix that rows are, or else a copy of them.
func matrixOf(rows linalg.Rows) linalg.Matrix[float64] {
	if m, ok := rows.(linalg.Matrix[float64]); ok {
		return m
	}
	m := linalg.New[float64](rows.Shape())
	linalg.Gather(m, rows, 0)
	return m
}

// checkServer compares everything but the Gram matrix with the inputs.
func checkServer(t *testing.T, s *Server, f int, inputs []Input) {
	t.Helper()
	var labels []string
	var test []bool
	var owner []Range
	for i, in := range inputs {
		owner = append(owner, Range{hospitals[1+i].Name, len(labels), len(labels) + matrixOf(in.Rows).Rows})
		labels, test = append(labels, in.Labels...), append(test, in.Test...)
	}
	if diff := cmp.Diff(labels, s.Labels()); diff != "" {
		t.Error("labels:", diff)
	}
	if diff := cmp.Diff(test, s.Test()); diff != "" {
		t.Error("held-out flags:", diff)
	}
	if diff := cmp.Diff(owner, s.Owner()); diff != "" {
		t.Error("owners:", diff)
	}
	if s.Width() != f+Padding(f) || !s.Grid() {
		t.Errorf("width %d, grid %v", s.Width(), s.Grid())
	}
	index := []int{len(labels) - 1, 0}
	rows := matrixOf(s.Rows(index))
	for a, i := range index {
		for b, j := range index {
			if got, want := dot(rows.Row(a), rows.Row(b)), s.Gram().Row(i)[j]; math.Abs(got-want) > 1e-12*want {
				t.Errorf("Rows gives <%d, %d> = %v, Gram %v", i, j, got, want)
			}
		}
	}
}

func TestUnlabelledTraining(t *testing.T) {
	w := train(t, Spec{}, Input{Rows: randomRows("a", 3, 4)}, Input{Rows: randomRows("b", 2, 4)})
	if got := w.server().Labels(); got != nil {
		t.Errorf("labels %q", got)
	}
	if diff := cmp.Diff(make([]bool, 5), w.server().Test()); diff != "" {
		t.Error(diff)
	}
	if w.server().Grid() {
		t.Error("values on a grid, although no party said so")
	}
}

// The order in which messages come does not change a bit of the result, with
// several tiles and slices of the Gram matrix as well.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	inputs := share(randomRows("order", 700, 1000), 300, 200, 200)
	want := train(t, Spec{Rounds: 2}, inputs...).server()
	for seed := range uint64(3) {
		cfg := training(t, Spec{Rounds: 2}, inputs...)
		cfg.Schedule = sim.Schedule{Seed: seed, Reorder: 1, MaxDelay: 50, Duplicate: .5}
		if err := equalServers(mustRun(t, cfg).server(), want); err != nil {
			t.Errorf("order %d: %v", seed, err)
		}
	}
}

// Security rule: the epoch's seed goes from the leader to the parties and
// nowhere else, and no row travels in clear. All parties encode with this seed.
func TestNothingSecretReachesTheServer(t *testing.T) {
	x := linalg.New[float64](6, 5)
	for i := range x.Data {
		x.Data[i] = 1 + float64(i)/8 // exact in both precisions
	}
	for _, spec := range append([]Spec{{Wire: Float64}}, encoders...) {
		w := train(t, spec, share(x, 2, 2, 2)...)
		seed := w.party("north").EpochSeed()
		if seed == (Seed{}) || seed != w.party("south").EpochSeed() || seed != w.party("east").EpochSeed() {
			t.Fatal("the parties do not share a seed")
		}
		seeds := 0
		for _, m := range w.sent {
			secret := bytes.Contains(m.Body, seed[:16]) || bytes.Contains(m.Body, seed[16:])
			if secret {
				seeds++
			}
			if secret != (m.Kind == kindSeed) || secret && (m.Sender != "north" || m.Receiver == "hub") {
				t.Errorf("%v: holds the seed: %v", m.Header, secret)
			}
			if m.Kind == kindRows && holdsAny(m.Body, x.Data, w.party("north").params.wordBytes()) {
				t.Errorf("%v: %v: holds a value of a row", spec, m.Header)
			}
		}
		if seeds != 2 {
			t.Errorf("the seed was sent %d times, want 2", seeds)
		}
		encoder, err := NewEncoder(w.party("north").params, seed, x.Cols, Padding(x.Cols))
		if err != nil {
			t.Fatal(err)
		}
		want := linalg.New[float64](x.Rows, encoder.Width())
		encoder.Encode(want, x)
		got := matrixOf(w.server().Rows(linalg.Range(0, x.Rows)))
		for i, v := range want.Data {
			if math.Abs(got.Data[i]-v) > 1e-5 { // rounded to float32
				t.Fatalf("%v: number %d of the encoded rows is %v; the encoder of the seed gives %v", spec, i, got.Data[i], v)
			}
		}
	}
}

// holdsAny reports whether a word of body is one of the values or its negative.
func holdsAny(body []byte, values []float64, word int) bool {
	s := newStore(1, len(body)/word, word)
	if err := s.put(span{0, 1, 0, len(body) / word}, 0, body); err != nil {
		return true
	}
	row := make([]float64, len(body)/word)
	s.rows().ReadRow(0, row)
	for _, v := range row {
		for _, x := range values {
			if math.Abs(v) == x {
				return true
			}
		}
	}
	return false
}

// Epochs of different sessions and leaders have different seeds, and a party
// claims the epoch before it encodes.
func TestEpochIsClaimedOnce(t *testing.T) {
	claims := make(map[string]int)
	w := mustRun(t, watch(training(t, Spec{}, share(randomRows("claim", 4, 3), 2, 2)...), func(_ protocol.Machine, _ protocol.Event, e protocol.Effects, _ error) {
		for _, c := range e.Claim {
			claims[c]++
			if !e.Sync {
				t.Error("the claim is not on disk before the messages")
			}
		}
	}))
	want := w.party("north").EpochSeed().claim()
	if diff := cmp.Diff(map[string]int{want: 2}, claims); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(want, fmt.Sprintf("%x", w.party("north").epoch[:4])) {
		t.Error("the claim shows the seed")
	}
	p := mustParams(t, Spec{})
	a, b := newSession(t, p, hospitals[:2]...), newSession(t, p, hospitals[:3]...)
	one := epochSeed(protocol.Setup{Session: a, Seed: [32]byte{1}})
	if one == epochSeed(protocol.Setup{Session: b, Seed: [32]byte{1}}) || one == epochSeed(protocol.Setup{Session: a, Seed: [32]byte{2}}) {
		t.Error("two epochs have one seed")
	}
}

// Everything in an input changes its hash.
func TestInputHash(t *testing.T) {
	base := func() Input {
		return Input{Rows: randomRows("hash", 3, 2), Labels: []string{"a", "b", "a"}, Test: []bool{true, false, false}}
	}
	seen := map[[32]byte]string{base().Hash(): "base"}
	for name, change := range map[string]func(*Input){
		"value":     func(in *Input) { matrixOf(in.Rows).Data[3]++ },
		"label":     func(in *Input) { in.Labels[1] = "a" },
		"no labels": func(in *Input) { in.Labels = nil },
		"moved":     func(in *Input) { in.Labels[0], in.Labels[1] = "ab", "" },
		"flag":      func(in *Input) { in.Test[2] = true },
		"no flags":  func(in *Input) { in.Test = nil },
		"grid":      func(in *Input) { in.Grid = true },
		"shape":     func(in *Input) { in.Rows = shaped(matrixOf(in.Rows).Data, 2, 3) },
		"row less":  func(in *Input) { in.Rows = matrixOf(in.Rows).Panel(0, 2) },
	} {
		in := base()
		change(&in)
		if old, dup := seen[in.Hash()]; dup {
			t.Errorf("%s has the hash of %s", name, old)
		}
		seen[in.Hash()] = name
	}
	wide := linalg.New[float64](3, 5)
	in := base()
	for i := range 3 {
		in.Rows.ReadRow(i, wide.Row(i)[1:3])
	}
	in.Rows = columns(wide, 1, 3)
	if in.Hash() != base().Hash() {
		t.Error("the hash depends on the stride")
	}
}
