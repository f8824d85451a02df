package stage

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

func outcome() *Outcome {
	m := linalg.New[float64](2, 1)
	m.Data[0], m.Data[1] = 0.5, -1
	return &Outcome{Classes: []string{"a", "b"}, Predicted: []string{"a", "b"}, Decisions: m}
}

func encoder(t testing.TB) *Encoder {
	t.Helper()
	params, err := okra.NewParams(okra.Spec{Encoder: okra.Hadamard, Wire: "float32", Mode: "hardened", Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	return &Encoder{
		Params: params, Epoch: okra.Seed{1}, Parent: protocol.SessionID{2}, Width: 2,
		Scaling: Scaling{Offset: []float64{1, 2}, Factor: []float64{3, 4}}, Columns: []string{"x", "y"}, Reading: model.Reading{Kind: model.SVC, Classes: []string{"a", "b"}},
	}
}

func TestOutcomeRoundTrip(t *testing.T) {
	o := outcome()
	back, err := method.DecodeOutcome(o.Encode())
	if err != nil || cmp.Diff(o, back) != "" {
		t.Errorf("%v %s", err, cmp.Diff(o, back))
	}
}

func TestEncoderRoundTrip(t *testing.T) {
	scaled, plain := encoder(t), encoder(t)
	plain.Scaling, plain.Columns = Scaling{}, nil
	for _, e := range []*Encoder{scaled, plain} {
		back, err := DecodeEncoder(e.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Encode(), e.Encode()) || back.Epoch != e.Epoch || back.Width != 2 || len(back.Scaling.Offset) != len(e.Scaling.Offset) {
			t.Errorf("%+v comes back as %+v", e, back)
		}
	}
}

func TestAnswersRoundTrip(t *testing.T) {
	a := Answers{protocol.SessionID{1}, okra.Tag{2}}
	if back, err := DecodeAnswers(a.Encode()); err != nil || back != a {
		t.Errorf("%v, %v", back, err)
	}
}

func TestDecodersRefuseWhatIsCutShort(t *testing.T) {
	for name, tt := range map[string]struct {
		whole  []byte
		decode func([]byte) error
	}{
		"outcome": {outcome().Encode(), func(b []byte) error { _, err := method.DecodeOutcome(b); return err }},
		"encoder": {encoder(t).Encode(), func(b []byte) error { _, err := DecodeEncoder(b); return err }},
		"answers": {Answers{}.Encode(), func(b []byte) error { _, err := DecodeAnswers(b); return err }},
	} {
		for n := range tt.whole {
			if tt.decode(tt.whole[:n]) == nil {
				t.Errorf("%s: %d of %d bytes are accepted", name, n, len(tt.whole))
			}
		}
		if tt.decode(append(tt.whole, 0)) == nil {
			t.Errorf("%s: one more byte is accepted", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(outcome().Encode())
	f.Add(encoder(f).Encode())
	f.Add(Answers{}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := method.DecodeOutcome(b); err == nil && !bytes.Equal(o.Encode(), b) {
			t.Error("outcome is not canonical")
		}
		if e, err := DecodeEncoder(b); err == nil && !bytes.Equal(e.Encode(), b) {
			t.Error("encoder is not canonical")
		}
		if a, err := DecodeAnswers(b); err == nil && !bytes.Equal(a.Encode(), b) {
			t.Error("answers are not canonical")
		}
	})
}

// A column's name that is too long to keep is refused before anything is trained.
func TestLongColumnNames(t *testing.T) {
	s := set(9)
	s.Columns = []string{"x", strings.Repeat("y", 1<<17)}
	if _, err := NewParty(parse(t, "none", "{every: 3}"), "north", Table{Set: s}); err == nil || !strings.Contains(err.Error(), "the name of column 2 has 131072 bytes") {
		t.Errorf("error %v", err)
	}
	s.Columns[1] = strings.Repeat("y", method.MaxLabelBytes)
	p, err := NewParty(parse(t, "none", "{every: 3}"), "north", Table{Set: s})
	if err != nil {
		t.Fatal(err)
	}
	p.total = 9
	e, err := p.Encoder([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeEncoder(e.Encode()); err != nil || cmp.Diff(s.Columns, back.Columns) != "" {
		t.Errorf("columns %.40q, error %v", back.Columns, err)
	}
}

func TestTakeRefusesDecisionsForOtherClasses(t *testing.T) {
	a := &Prediction{Reading: model.Reading{Kind: model.SVC, Classes: []string{"a", "b", "c"}}}
	if err := a.Take(linalg.New[float64](2, 1)); err == nil || a.Predicted != nil {
		t.Errorf("error %v, predicted %v; want an error and nothing", err, a.Predicted)
	}
	a = &Prediction{Reading: model.Reading{Kind: model.SVC, Classes: []string{"a", "b"}}}
	if err := a.Take(outcome().Decisions); err != nil || cmp.Diff([]string{"a", "b"}, a.Predicted) != "" {
		t.Errorf("error %v, predicted %v; want a, b", err, a.Predicted)
	}
}

func TestHashModels(t *testing.T) {
	a, b := Model{Party: "north", SHA256: "1", Path: "x"}, Model{Party: "south", SHA256: "2"}
	if method.HashModels([]Model{a, b}) != method.HashModels([]Model{b, {Party: "north", SHA256: "1", Path: "elsewhere"}}) {
		t.Error("the hash depends on the order or on a path")
	}
	if method.HashModels([]Model{a}) == method.HashModels([]Model{b}) {
		t.Error("two models have one hash")
	}
	if method.NewOutcome(evaluate.Constant("a", []string{"a"})).Predicted[0] != "a" {
		t.Error("a constant does not predict its class")
	}
}
