package okra

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// score answers the inner products with encoded support vectors.
func score(support linalg.Rows) Answer {
	vectors := matrixOf(support)
	return func(encoded linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
		d := linalg.New[float64](encoded.Rows, vectors.Rows)
		linalg.MulTransB(d, encoded, vectors)
		return d, nil
	}
}

func TestPrediction(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		spec       Spec
		f, n, cols int
		limit      float64
	}{
		{Spec{Wire: Float64}, 64, 7, 3, 1e-14},
		{Spec{}, 64, 1, 1, 1e-6},
		{Spec{Encoder: Haar}, 30, 700, 2, 1e-6},          // two panels
		{Spec{Encoder: HBH}, 100, 600, 2, 1e-6},          // two panels
		{Spec{Mode: Paper}, 200, 40, 5, 1e-6},            //
		{Spec{Rounds: 2}, 3000, 900, 1, 1e-6},            // several steps of rows
		{Spec{Wire: Float64}, 10, 1500, 500, 1e-14},      // several steps of decisions
		{Spec{Wire: Float64}, 70_001, 3, 2, 1e-14},       // rows in parts
		{Spec{Wire: Float64}, 5, 2, maxDecisions, 1e-14}, // the widest decisions
	} {
		t.Run(fmt.Sprintf("%v/%d", c.spec, c.f), func(t *testing.T) {
			x := randomRows("train", 6, c.f)
			trained := train(t, c.spec, share(x, 3, 3)...)
			index := make([]int, c.cols)
			support := linalg.New[float64](c.cols, c.f)
			for i := range index {
				index[i] = i * 5 % 6
				copy(support.Row(i), x.Row(index[i]))
			}
			rows := randomRows("new", c.n, c.f)
			w := mustRun(t, trained.prediction(t, query{spec: c.spec, epoch: trained.party("south").EpochSeed(), rows: rows, answer: score(trained.server().Rows(index))}))
			want := linalg.New[float64](c.n, c.cols)
			linalg.MulTransB(want, rows, support)
			got := w.Outcome("south").Machine.(*PredictParty).Decisions()
			if got.Rows != c.n || got.Cols != c.cols {
				t.Fatalf("%d x %d decisions", got.Rows, got.Cols)
			}
			for i, v := range want.Data {
				if math.Abs(got.Data[i]-v) > c.limit*max(1, v) {
					t.Fatalf("decision %d of row %d is %v, want %v", i%c.cols, i/c.cols, got.Data[i], v)
				}
			}
		})
	}
}

// Rows under another seed, or of another width, or of other settings, get no
// answer.
func TestPredictionNeedsTheTrainingSeed(t *testing.T) {
	trained := train(t, Spec{}, share(randomRows("train", 6, 64), 3, 3)...)
	seed := trained.party("north").EpochSeed()
	other := seed
	other[5]++
	answer := func(linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
		t.Error("the server answers")
		return linalg.Matrix[float64]{}, nil
	}
	const want = "okra: south's encoding parameters differ from the model's: features, seed or settings are not the same"
	for name, q := range map[string]query{
		"seed":     {epoch: other, rows: randomRows("new", 2, 64)},
		"width":    {epoch: seed, rows: randomRows("new", 2, 65)},
		"bucket":   {epoch: seed, rows: randomRows("new", 2, 63)},
		"settings": {epoch: seed, rows: randomRows("new", 2, 64), spec: Spec{Rounds: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			q.answer = answer
			w := run(t, trained.prediction(t, q))
			w.wantEnd(t, "hub", want)
			var mismatch *MismatchError
			if !errors.As(w.end("hub"), &mismatch) {
				t.Errorf("%T, want a MismatchError", w.end("hub"))
			}
		})
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	trained := train(t, Spec{}, share(randomRows("train", 6, 9), 3, 3)...)
	rows := randomRows("new", 600, 9)
	calls := 0
	sized := func(n, c int, v float64) Answer {
		return func(linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
			m := linalg.New[float64](n, c)
			for i := range m.Data {
				m.Data[i] = v
			}
			return m, nil
		}
	}
	for want, answer := range map[string]Answer{
		"okra: the decisions on rows 0 to 511 failed: out of memory": func(linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
			return linalg.Matrix[float64]{}, errors.New("out of memory")
		},
		"okra: the decisions on rows 0 to 511 failed: the model returned 511 x 1 decisions; for each row it must return the same number of decisions, at least one": sized(511, 1, 0),
		"okra: the decisions on rows 0 to 511 failed: the model returned 512 x 0 decisions; for each row it must return the same number of decisions, at least one": sized(512, 0, 0),
		"okra: the decisions on rows 0 to 511 failed: the model returned the decision NaN for row 0; decisions must be finite":                                      sized(512, 1, math.NaN()),
		"okra: the decisions on rows 0 to 511 failed: the model returned the decision +Inf for row 0; decisions must be finite":                                     sized(512, 1, math.Inf(1)),
		"okra: the decisions on rows 512 to 599 failed: the model returned 88 x 2 decisions; for each row it must return the same number of decisions, at least one": func(e linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
			calls++
			return linalg.New[float64](e.Rows, calls), nil
		},
	} {
		run(t, trained.prediction(t, query{epoch: trained.party("north").EpochSeed(), rows: rows, answer: answer})).wantEnd(t, "hub", want)
	}
}

// As TestBadMessages, for predictions.
func TestBadMessagesOfPredictions(t *testing.T) {
	decisions := func(cols uint32, values ...float64) func(*protocol.Message) {
		return func(m *protocol.Message) {
			var w wire.Writer
			w.Uint32(cols)
			w.Float64s(values)
			m.Body = w.Bytes()
		}
	}
	forgeries := []forgery{
		{"announces labels", kindAnnounce, changeAnnounce(func(a *announce) { a.labelled = true }), protocol.KindInconsistent, "it must announce numbers of 8 bytes, without grid or labels"},
		{"announces a grid", kindAnnounce, changeAnnounce(func(a *announce) { a.grid = true }), protocol.KindInconsistent, "it must announce numbers of 8 bytes, without grid or labels"},
		{"other wire", kindAnnounce, changeAnnounce(func(a *announce) { a.wire = 4 }), protocol.KindInconsistent, "it must announce numbers of 8 bytes, without grid or labels"},
		{"announcement truncated", kindAnnounce, truncate, protocol.KindMalformed, "okra: announcement: the bytes end too early"},
		{"announcement in parts", kindAnnounce, func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindUnexpected, "must be sent whole"},
		{"rows truncated", kindRows, truncate, protocol.KindMalformed, "okra: rows: the bytes end too early"},
		{"not a number", kindRows, number(math.NaN()), protocol.KindMalformed, "coordinate 1 is NaN"},
		{"a chunk too many", kindRows, func(m *protocol.Message) { m.Chunk, m.Chunks = 1, 2 }, protocol.KindInconsistent, "chunk 1 of 2 of Rows"},
		{"labels", kindRows, func(m *protocol.Message) { m.Kind = kindLabels }, protocol.KindUnexpected, "Labels of round 3 is not expected"},
		{"no decisions", kindDecisions, decisions(0), protocol.KindMalformed, "0 decisions for each row"},
		{"too many decisions", kindDecisions, decisions(1 << 20), protocol.KindMalformed, "1048576 decisions for each row"},
		{"decisions missing", kindDecisions, decisions(3, 1, 2, 3), protocol.KindInconsistent, "there are 3 decisions in chunk 0; it must have 6"},
		{"decisions over", kindDecisions, decisions(3, 1, 2, 3, 4, 5, 6, 7), protocol.KindInconsistent, "there are 7 decisions in chunk 0; it must have 6"},
		{"half a decision", kindDecisions, truncate, protocol.KindMalformed, "okra: decisions: 7 bytes are left over"},
		{"not a decision", kindDecisions, decisions(3, 1, 2, math.NaN(), 4, 5, 6), protocol.KindMalformed, "decision 2 is NaN; decisions must be finite"},
		{"decisions in more chunks", kindDecisions, func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindInconsistent, "chunk 0 of 2 of Decisions does not match the announcement of 1 chunks"},
	}
	trained := train(t, Spec{Wire: Float64}, share(randomRows("train", 6, 9), 3, 3)...)
	checkRefusals(t, trained.prediction(t, query{spec: Spec{Wire: Float64}, epoch: trained.party("north").EpochSeed(),
		rows: randomRows("new", 2, 9), answer: score(trained.server().Rows([]int{0, 1, 2}))}), forgeries)
}

// Decisions of another width than the first chunk's are refused, whichever
// chunk came first.
func TestDecisionsAgreeOnTheirWidth(t *testing.T) {
	trained := train(t, Spec{}, share(randomRows("train", 6, 9), 3, 3)...)
	rows := randomRows("new", 1000, 9)
	cfg := trained.prediction(t, query{epoch: trained.party("north").EpochSeed(), rows: rows, answer: func(e linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
		return linalg.New[float64](e.Rows, 100), nil
	}})
	for _, reverse := range []bool{false, true} {
		var held []protocol.Message
		cfg.Intercept = func(m protocol.Message) []protocol.Message {
			if m.Kind != kindDecisions {
				return []protocol.Message{m}
			}
			if held = append(held, m); m.Chunk+1 < m.Chunks {
				return nil
			}
			if reverse {
				slices.Reverse(held)
			}
			bad := held[1]
			bad.Body = encodeDecisions(linalg.New[float64](10, 99))
			return slices.Insert(held, 1, bad)
		}
		r := run(t, cfg)
		for _, refusal := range r.Refusals {
			if !strings.Contains(refusal.Err.Error(), "the chunk has 99 decisions for each row, but earlier chunks have 100") {
				t.Error(refusal.Err)
			}
		}
		if err := r.Err(); err != nil || len(r.Refusals) != 1 {
			t.Errorf("%v, %d refusals\n%s", err, len(r.Refusals), r.Transcript())
		}
	}
}

func TestPredictionTimers(t *testing.T) {
	trained := train(t, Spec{}, share(randomRows("train", 6, 9), 3, 3)...)
	for _, c := range []struct{ lost, who, want string }{
		{kindAnnounce, "hub", "south (silent): okra: an announcement did not come in time"},
		{kindRows, "hub", "south (silent): okra: rows did not come in time"},
		{kindDecisions, "south", "hub (silent): okra: decisions did not come in time"},
	} {
		cfg := trained.prediction(t, query{epoch: trained.party("north").EpochSeed(), rows: randomRows("new", 2, 9), answer: score(trained.server().Rows([]int{0}))})
		cfg.Intercept = without(func(m protocol.Message) bool { return m.Kind == c.lost })
		run(t, cfg).wantEnd(t, c.who, c.want)
	}
}

// As TestSlowUploadLives, for rows on their way to the hub and for decisions on
// theirs to the owner.
func TestSlowPredictionLives(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	trained := train(t, Spec{}, share(randomRows("train", 6, 9), 3, 3)...)
	support := trained.server().Rows(make([]int, 700))
	epoch := trained.party("north").EpochSeed()
	for slow, q := range map[string]query{
		"hub":   {epoch: epoch, rows: randomRows("new", 1<<16, 9), answer: score(trained.server().Rows([]int{0}))}, // 18 MiB of rows
		"south": {epoch: epoch, rows: randomRows("new", 3000, 9), answer: score(support)},                          // 16 MiB of decisions
	} {
		cfg := trained.prediction(t, q)
		cfg.Schedule = sim.Schedule{Window: 1, Slow: map[string]int64{slow: 900}, Prompt: true}
		patience := map[protocol.Timer]int64{TimerAnnounce: 1000, TimerRows: 1000, TimerDecisions: 1000}
		cfg.Nodes[0].Timers, cfg.Nodes[1].Timers = patience, patience
		r := run(t, cfg)
		if err := r.Err(); err != nil || r.Ticks < 3*patience[TimerRows] {
			t.Errorf("%s is slow: after %d ticks: %v\n%s", slow, r.Ticks, err, r.Transcript())
		}
	}
}

// Timers whose wait has not begun or is over do nothing. Timers that were never armed are refused.
func TestIdlePredictionTimers(t *testing.T) {
	trained := train(t, Spec{}, share(randomRows("train", 6, 9), 3, 3)...)
	cfg := trained.prediction(t, query{epoch: trained.party("north").EpochSeed(), rows: randomRows("new", 3000, 9), answer: score(trained.server().Rows([]int{0}))})
	mustRun(t, watch(cfg, func(m protocol.Machine, _ protocol.Event, eff protocol.Effects, err error) {
		if err != nil || eff.End != nil {
			return
		}
		if _, err := m.Step(protocol.Expired{Timer: "okra/other"}); err == nil || !strings.Contains(err.Error(), `has no timer "okra/other"`) {
			t.Errorf("%T: a timer that it never armed: %v", m, err)
		}
		var idle protocol.Timer
		switch m := m.(type) {
		case *PredictParty:
			if m.upload.done() {
				return
			}
			idle = TimerDecisions
		case *PredictServer:
			if idle = TimerRows; m.store != nil {
				idle = TimerAnnounce
			}
		}
		if effects, err := m.Step(protocol.Expired{Timer: idle}); err != nil || effects.End != nil {
			t.Errorf("%T, %s: %+v, %v", m, idle, effects, err)
		}
	}))
}

func TestPredictionConstructorsRefuse(t *testing.T) {
	p := mustParams(t, Spec{})
	rows := randomRows("new", 2, 9)
	parent := protocol.SessionID{1}
	good := predictSession(t, p, parent)
	d := good.Descriptor
	d.Members = hospitals
	several, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session *protocol.Session
		self    string
		rows    linalg.Matrix[float64]
		want    string
	}{
		{several, "south", rows, "okra: the session has 3 owners of rows; a prediction has exactly one"},
		{predictSession(t, p, protocol.SessionID{}), "south", rows, "okra: the session has no parent; a prediction's descriptor must name the training session"},
		{good, "hub", rows, `okra: "hub" is not a party in this session`},
		{good, "south", linalg.New[float64](0, 9), "okra: the input has 0 rows; 1 to 67108864 are allowed"},
	} {
		if _, err := NewPredictParty(protocol.Setup{Session: c.session, Self: c.self}, p, Seed{}, c.rows); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for session, want := range map[*protocol.Session]string{
		several: "okra: the session has 3 owners of rows; a prediction has exactly one",
		predictSession(t, p, protocol.SessionID{}): "okra: the session has no parent; a prediction's descriptor must name the training session",
	} {
		if _, err := NewPredictServer(protocol.Setup{Session: session, Self: "hub"}, p, Tag{}, 80, nil, Limits{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	party, err := NewPredictParty(protocol.Setup{Session: good, Self: "south"}, p, Seed{}, rows)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := party.Step(protocol.Start{}); !errors.Is(err, errEdited) {
		t.Error(err)
	}
}

func TestPredictionLimits(t *testing.T) {
	trained := train(t, Spec{}, share(randomRows("train", 6, 9), 3, 3)...)
	q := query{epoch: trained.party("north").EpochSeed(), rows: randomRows("new", 5, 9), limits: Limits{Rows: 4}}
	run(t, trained.prediction(t, q)).wantEnd(t, "hub", "okra: the parties announce 5 rows, but this server takes at most 4; bring fewer rows")
}
