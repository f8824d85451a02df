package fdskl

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

const spreadSettings = ", mode: paper, bits: 32, active: 2, training: faithful, labels: spread"

// owners decides whether party guest or host has the label of row i of the table.
type owners func(i int) (guest, host bool)

// third leaves every third row to host.
func third(i int) (guest, host bool) { return i%3 > 0, i%3 == 0 }

// spreadTables shares a set out, whose labels the owners have.
func spreadTables(t *testing.T, set *dataset.Set, protocol string, has owners) (*federated, *dataset.Set) {
	t.Helper()
	j := random(t, protocol, "logistic, lambda: 1e-3")
	guest, host := *set, *set
	guest.Labels, host.Labels = slices.Clone(set.Labels), slices.Clone(set.Labels)
	for i := range set.Labels {
		g, h := has(i)
		if !g {
			guest.Labels[i] = ""
		}
		if !h {
			host.Labels[i] = ""
		}
	}
	tables := columnstest.Share(t, j, &guest)
	tables["host"] = columnstest.Share(t, j, &host)["host"]
	return federate(t, j, tables), set
}

// spreadRun runs a job on wdbc, whose labels the owners have.
func spreadRun(t *testing.T, protocol string, rows int, has owners) (*federated, *dataset.Set) {
	t.Helper()
	f, set := spreadTables(t, columnstest.Numbered(t, "wdbc", rows), protocol, has)
	f.Finish(t)
	return f, set
}

// inOrder returns all labels of a set in the common order.
func inOrder(t *testing.T, f *federated, set *dataset.Set) []string {
	t.Helper()
	var labels []string
	for _, id := range f.Parties["guest"].Aligned() {
		at := slices.Index(set.IDs, id)
		if at < 0 {
			t.Fatalf("no row has the id %s", id)
		}
		labels = append(labels, set.Labels[at])
	}
	return labels
}

// twins are the active workers of a job in one place. Each has all labels, and draws only the
// rows of which the worker of the job has labels.
func twins(t *testing.T, f *federated, labels []string) []*partner {
	t.Helper()
	var all []*partner
	for i, name := range f.Job.Active() {
		party := f.Parties[name]
		train, _, err := columns.Sizes(f.Job, len(labels))
		if err != nil {
			t.Fatal(err)
		}
		p, err := newProblem(f.Job, labels, train)
		if err != nil {
			t.Fatal(err)
		}
		own := party.Spread()
		p.out.Y = linalg.Matrix[float64]{Rows: 1, Cols: len(own.Training), Stride: len(own.Training), Data: linalg.At(p.out.Y.Row(0), own.Training)}
		twin, err := partnerOf(p, i, own, party.labelBroadcast.weight(i), methodtest.Setup(nil, name).Seed)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, twin)
	}
	return all
}

// Workers with spread labels learn the function of workers that have all labels and draw only from
// their own rows, and of one place with all columns. This holds for any division of the labels,
// even if each worker has one class only.
func TestSpreadLabelsEqualTheTwin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	whole := columnstest.Numbered(t, "wdbc", 120)
	for name, has := range map[string]owners{
		"thirds":  third,
		"quarter": func(i int) (guest, host bool) { return i%4 == 0, i%4 > 0 },
		"classes": func(i int) (guest, host bool) { return whole.Labels[i] == "0", whole.Labels[i] != "0" },
		"twice":   func(i int) (guest, host bool) { return i%3 > 0, i%3 < 2 },
	} {
		t.Run(name, func(t *testing.T) {
			f, set := spreadRun(t, spreadSettings, 120, has)
			labels := inOrder(t, f, set)
			all := twins(t, f, labels)
			phases := pooledPhases(t, f, set.X.Cols())
			takeTurns(all, phases)
			var owned []*partner
			for i, name := range f.Job.Active() {
				p := f.Parties[name]
				o, err := newOwner(f.Job, p.Set.Labels, p.Spread(), p.labelBroadcast, all[0].train, i, methodtest.Setup(nil, name).Seed)
				if err != nil {
					t.Fatal(err)
				}
				owned = append(owned, o)
			}
			takeTurns(owned, phases)
			judged := 0
			for i, name := range f.Job.Active() {
				got := f.Parties[name].solver.(*partner)
				judged += got.judged
				for _, other := range f.Job.Active() {
					if n := f.Parties[other].labelBroadcast.counts[i]; n != len(f.Parties[name].Spread().Training) {
						t.Errorf("%s weighs %d labels of %s, who has %d", other, n, name, len(f.Parties[name].Spread().Training))
					}
				}
				if a, b := all[i].optimizer.Coefficients().Row(0), owned[i].optimizer.Coefficients().Row(0); !slices.Equal(a, b) {
					t.Errorf("%s has other coefficients than its twin with all labels", name)
				}
				if len(got.decisions) == 0 || len(got.decisions) != len(all[i].decisions) {
					t.Fatalf("%s has judged %d rows, its twin %d", name, len(got.decisions), len(all[i].decisions))
				}
				for k, v := range all[i].decisions {
					if math.Abs(v-got.decisions[k]) > 1e-6 {
						t.Errorf("%s: decision %d is %v, its twin's %v", name, k, got.decisions[k], v)
					}
				}
			}
			if want := len(labels) - all[0].train; judged != want {
				t.Errorf("%d of %d held-out rows are judged, each once", judged, want)
			}
		})
	}
}

// The coordinator learns sums over the active workers, and nothing in the session in which they
// agree on classes. Passive workers have no part in it either.
func TestSpreadLabelsAreAddedUp(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, set := spreadRun(t, ", active: 2, training: faithful, labels: spread", 300, third)
	r := f.Result(t)
	labels, right := inOrder(t, f, set), 0
	for _, name := range f.Job.Active() {
		s := f.Parties[name].solver.(*partner)
		for i, row := range s.own.HeldOut {
			if (s.decisions[i] >= 0) == (labels[row] == s.out.Classes[1]) {
				right++
			}
		}
	}
	judged := 0
	for name, p := range f.Parties {
		g, err := p.judgeDecisions()
		if err != nil || (g != nil) != (name != "third") {
			t.Fatalf("%s has judged rows: %v, %v", name, g != nil, err)
		}
		if g == nil {
			continue
		}
		judged += len(g.Outcome.Held)
		for i, id := range g.Outcome.Held {
			if row := slices.Index(p.Aligned(), id); row < r.Training || labels[row] != g.Outcome.Truth[i] || p.Set.Labels[row] != labels[row] {
				t.Errorf("%s keeps a score of %s, whose label it has not", name, id)
			}
		}
	}
	if judged != r.HeldOut {
		t.Errorf("%d of %d held-out rows have been judged", judged, r.HeldOut)
	}
	t.Log(r.Metrics, r.Warnings)
	if want := float64(right) / float64(r.HeldOut); math.Abs(r.Metrics["accuracy"]-want) > 1e-12 || want < 0.7 || len(r.Metrics) != 3 {
		t.Errorf("metrics %v, want an accuracy of %v", r.Metrics, want)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("each row has one label: %q", r.Warnings)
	}
	f.LooksLikeNoise(t, "errors")
	checkCoefficientsStay(t, f)
	if n := len(f.Sent["labels"]); n > 0 || f.Plan[f.Index(t, "labels")].Session.Has("third") {
		t.Errorf("the coordinator is sent %d messages about classes", n)
	}
	if p := f.Parties["third"]; p.labelBroadcast.counts != nil || p.Set.Labels != nil || p.solver != nil {
		t.Error("a passive worker knows of labels")
	}
	if !strings.Contains(strings.Join(r.Leakage["party"], " "), "who has its label") || !strings.Contains(strings.Join(r.Leakage["server"], " "), "no party's part of the sums") {
		t.Error(r.Leakage)
	}
}

// The result warns of rows without a label, and of rows with two, whose labels may differ. The
// numbers are sums over all active workers.
func TestSpreadLabelsThatAreNotOneEach(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, c := range map[string]struct {
		has  owners
		want string
	}{
		"some without":             {func(i int) (guest, host bool) { return i%4 == 0, i%4 == 1 }, "held-out rows have no label"},
		"some twice":               {func(i int) (guest, host bool) { return i%4 > 0, i%4 < 2 }, "a row with two counts twice"},
		"as many twice as without": {func(i int) (guest, host bool) { return i%4 < 2, i%4 == 1 || i%4 == 2 }, "and not one each"},
	} {
		f, _ := spreadRun(t, ", active: 2, training: faithful, labels: spread", 120, c.has)
		if w := strings.Join(f.Result(t).Warnings, " "); !strings.Contains(w, c.want) || !strings.Contains(w, "not one each") {
			t.Errorf("%s: warnings %q", name, w)
		}
	}
}

// Two labels of a row that differ stop nothing and show nothing: the row counts for both.
func TestSpreadLabelsThatDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set := columnstest.Numbered(t, "wdbc", 120)
	both := func(int) (guest, host bool) { return true, true }
	f, _ := spreadTables(t, set, spreadSettings, both)
	turned := f.Parties["host"].Table
	for i := range turned.Labels {
		turned.Labels[i] = map[string]string{"0": "1", "1": "0"}[turned.Labels[i]]
	}
	f.Finish(t)
	r := f.Result(t)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], fmt.Sprintf("%d training rows have %d labels", r.Training, 2*r.Training)) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Labels of different pairs of classes are detected before anything is learnt. Other parties learn
// only that they differ.
func TestSpreadClassesThatAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, c := range map[string]struct {
		host func(string) string
		want string
	}{
		"one class":       {func(string) string { return "0" }, ""},
		"other names":     {func(l string) string { return "class " + l }, `the classes ["0" "1" "class 0" "class 1"]`},
		"three of one":    {func(string) string { return "2" }, `the classes ["0" "1" "2"]`},
		"three at a time": {nil, "the party's labels have 3 classes"},
	} {
		f, _ := spreadTables(t, columnstest.Numbered(t, "wdbc", 120), spreadSettings, third)
		labels := f.Parties["host"].Table.Labels
		for i, l := range labels {
			switch {
			case l == "":
			case c.host == nil:
				labels[i] = fmt.Sprint(i % 3)
			default:
				labels[i] = c.host(l)
			}
		}
		at := f.Index(t, "labels")
		for i := range at {
			f.Step(t, i)
		}
		err := f.Try(t.Context(), at, func() {})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var coded *fault.Error
		if !errors.As(err, &coded) || coded.Code != fault.CodeBadInput || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(coded.Public, "0123456789") {
			t.Errorf("%s: error %v, others are told %q", name, err, fault.NoticeOf(err).Sentence())
		}
	}
}

// A table without a single label has nothing to be active with.
func TestSpreadLabelsOfNobody(t *testing.T) {
	j := random(t, spreadSettings, "logistic")
	set := *columnstest.Numbered(t, "wdbc", 30)
	set.Labels = make([]string, 30)
	if _, err := Protocol().Party(methodtest.Instance(j), "host", method.Table{Set: &set}); err == nil || !strings.Contains(err.Error(), "has no label in any row, but in this job host learns from its own labels") {
		t.Errorf("error %v", err)
	}
}

// By their weights all labels pull alike at each worker: the mean over the workers of their
// weighted mean slopes is the mean slope of all labels.
func TestWeightsOfSpreadLabels(t *testing.T) {
	slopes := [][]float64{{3, 5, -1, 4, 2}, {7}, {1, -6}}
	r, sum, all := labelBroadcast{}, 0.0, 0
	for _, own := range slopes {
		r.counts = append(r.counts, len(own))
		for _, v := range own {
			sum, all = sum+v, all+1
		}
	}
	got := 0.0
	for i, own := range slopes {
		for _, v := range own {
			got += r.weight(i) * v / float64(len(own)*len(slopes))
		}
	}
	if want := sum / float64(all); math.Abs(got-want) > 1e-15 {
		t.Errorf("mean %v, want %v", got, want)
	}
	l := weighted{linear.Square{}, 3}
	if l.Value(2, 1) != 3 || l.Slope(2, 1) != 6 || l.Curvature() != 6 {
		t.Errorf("three times the square loss is %v, its slope %v, its curvature %v", l.Value(2, 1), l.Slope(2, 1), l.Curvature())
	}
}

// A worker's steps have its weight: the first coefficients with weight 3 are three times those with
// weight 1.
func TestStepsHaveTheWorkersWeight(t *testing.T) {
	labels, _ := halves(8)
	words := newWords(8, 256)
	coefficients := func(weight float64) []float64 {
		p, err := newProblem(random(t, ", mode: paper, bits: 16, active: 2, training: faithful, labels: spread", "logistic"), labels, 6)
		if err != nil {
			t.Fatal(err)
		}
		s, err := partnerOf(p, 0, columns.Spread{Training: linalg.Range(0, 6)}, weight, [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		q, _ := s.Next()
		row := []int{q.Rows[0].First}
		b := make([]byte, 2*q.Directions.Count)
		words.Block(b, row, q.Directions.First, q.Directions.Count)
		s.Answer(row, b)
		s.Shares([]float64{0})
		return s.optimizer.Coefficients().Row(0)
	}
	one, three := coefficients(1), coefficients(3)
	if len(one) != 2 || len(three) != 2 {
		t.Fatalf("%d and %d coefficients of one step", len(one), len(three))
	}
	for k, v := range one {
		if v == 0 || math.Abs(three[k]/v-3) > 1e-12 {
			t.Errorf("coefficient %d is %v, three times the weight gives %v", k, v, three[k])
		}
	}
}

// A held-out row is evaluated by the worker that requests it first. A later request for it stops
// nothing.
func TestHeldOutRowsAreJudgedOnce(t *testing.T) {
	labels := strings.Split(strings.Repeat("a b ", 10)+"a b", " ")
	j := random(t, ", active: 2, training: faithful, labels: spread", "logistic")
	keysOf(j).Directions = 4
	own := columns.Spread{Training: linalg.Range(0, 10), HeldOut: linalg.Range(12, 20)}
	s, err := newOwner(j, labels, own, labelBroadcast{[]int{10, 10}, []string{"a", "b"}}, 12, 0, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	share := func(rows ...int) {
		for {
			_, q, complete := s.Share(rows)
			if complete {
				return
			}
			for _, span := range q.Rows {
				rows := linalg.Range(span.First, span.First+span.Count)
				s.Answer(rows, make([]byte, 2*len(rows)*q.Directions.Count))
			}
		}
	}
	for {
		q, more := s.Next()
		if !more || q.Rows[0].First >= 12 {
			break
		}
		s.Answer([]int{q.Rows[0].First}, make([]byte, 2*q.Directions.Count))
		s.Shares([]float64{0})
		share(13, 15, 21)
	}
	share(12, 13, 21) // in the middle of the own request
	s.Shares(make([]float64, 6))
	share(12, 14)
	if want := []int{12, 14, 16, 17, 18, 19}; !slices.Equal(s.own.HeldOut, want) || s.judged != 6 || len(s.decisions) != 6 {
		t.Errorf("judged %v, %d rows", s.own.HeldOut, s.judged)
	}
	if _, more := s.Next(); more {
		t.Error("there is more to ask for")
	}
}

func TestLabelBroadcastThatIsRefused(t *testing.T) {
	good := entry{3, []string{"0", "1"}}.encode()
	long := append(slices.Clone(good), 0)
	filled := slices.Clone(good)
	filled[len(filled)-1] = 1
	for name, b := range map[string][]byte{
		"nothing": {}, "one byte more": long, "padding": filled,
		"no labels": entry{0, []string{"0"}}.encode(), "labels of more rows than there are": entry{8, []string{"0"}}.encode(),
		"no class": entry{3, nil}.encode(), "a class without a name": entry{3, []string{""}}.encode(), "one class twice": entry{3, []string{"0", "0"}}.encode(),
	} {
		_, err := readLabelBroadcast([]string{"guest", "host"}, nil, [][]byte{good, b}, 7)
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "host" {
			t.Errorf("%s: %v, want host named", name, err)
		}
	}
	if e := (entry{3, []string{strings.Repeat("x", method.MaxLabelBytes), strings.Repeat("y", method.MaxLabelBytes)}}).encode(); len(e) != len(good) || len(entry{1, []string{"0"}}.encode()) != len(good) {
		t.Errorf("entries of %d and %d bytes tell what is in them", len(e), len(good))
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(entry{3, []string{"0", "1"}}.encode())
	f.Add(entry{1, []string{"benign"}}.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := decodeEntry(b, 100); err == nil && !bytes.Equal(e.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, e.encode())
		}
	})
}

// Sums that no job can have are refused.
func TestVerdictThatIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, _ := spreadRun(t, ", active: 2, training: faithful, labels: spread", 60, third)
	train, test, err := f.Server.sizes()
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range [][][]int64{
		{{int64(test), 1, 0, 0}, {int64(train)}, {0}},
		{{0, 0, 0, 0}, {int64(2*train + 1)}, {0}},
	} {
		if err := f.Server.takeSums(sum); err == nil {
			t.Errorf("%v are taken", sum)
		}
	}
	none := &verdict{labels: int64(train), single: true}
	if m, err := none.metrics(); err != nil || len(m) > 0 {
		t.Errorf("nobody has judged a row: %v, %v", m, err)
	}
	var _ fdskl.Partner = (*partner)(nil)
}

// If one worker evaluates all held-out rows, another worker that requests them first is detected.
func TestAskingBeforeTheJudgeIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, _ := federatedPhases(t, ", active: 2, training: faithful", "logistic", 60)
	guest := f.Parties["guest"]
	s := guest.solver.(*partner)
	s.decisions = s.decisions[1:]
	if _, err := guest.learn(nil); err == nil || !strings.Contains(err.Error(), "another active worker has requested the other rows") {
		t.Errorf("error %v", err)
	}
}

// A part that an active worker sends is its coefficients times the features of the row (Algorithm 2
// of the paper), before the iteration's decay. Held-out rows cause no decay.
func TestPartsAreCoefficientsTimesFeatures(t *testing.T) {
	f, set := spreadTables(t, columnstest.Numbered(t, "wdbc", 60), spreadSettings, third)
	for i := range f.Index(t, "protocol") {
		f.Step(t, i)
	}
	all := twins(t, f, inOrder(t, f, set))
	params := all[0].optimizerParamsOf(1).DSGParams
	parts := 0
	takeTurnsWatched(all, pooledPhases(t, f, set.X.Cols()), func(p *partner, rows []int, sum []float64) {
		want := make([]float64, len(rows))
		for _, other := range all {
			if other == p {
				continue
			}
			phi := linalg.New[float64](other.optimizer.Features(), len(rows))
			other.table.ReadAt(phi, 0, rows)
			undecayed := 1.
			if rows[0] < other.train {
				undecayed = 1 - params.Rate*params.Lambda
			}
			for j, a := range other.optimizer.Coefficients().Row(0) {
				linalg.Axpy(a/undecayed, phi.Row(j), want)
			}
		}
		for i, v := range sum {
			if math.Abs(v-want[i]) > 1e-9 {
				t.Fatalf("part at row %d is %v, want %v", rows[i], v, want[i])
			}
			if v != 0 {
				parts++
			}
		}
	})
	if parts < 50 {
		t.Errorf("only %d parts", parts)
	}
}
