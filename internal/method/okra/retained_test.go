package okra

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/scale"
)

func someKept(t testing.TB) *Kept {
	t.Helper()
	params, err := okra.NewParams(okra.Spec{Encoder: okra.Hadamard, Wire: "float32", Mode: "hardened", Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	return &Kept{
		Params: params, Epoch: okra.Seed{1}, Parent: protocol.SessionID{2}, Width: 2,
		Scaling: scale.Scaling{Offset: []float64{1, 2}, Factor: []float64{3, 4}}, Columns: []string{"x", "y"}, Output: model.Output{Kind: model.SVC, Classes: []string{"a", "b"}},
	}
}

func TestEncoderRoundTrip(t *testing.T) {
	scaled, plain := someKept(t), someKept(t)
	plain.Scaling, plain.Columns = scale.Scaling{}, nil
	for _, e := range []*Kept{scaled, plain} {
		back, err := DecodeKept(e.encode())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.encode(), e.encode()) || back.Epoch != e.Epoch || back.Width != 2 || len(back.Scaling.Offset) != len(e.Scaling.Offset) {
			t.Errorf("%+v comes back as %+v", e, back)
		}
	}
}

func TestAnswersRoundTrip(t *testing.T) {
	a := answerFacts{protocol.SessionID{1}, okra.Tag{2}}
	if back, err := decodeAnswers(a.encode()); err != nil || back != a {
		t.Errorf("%v, %v", back, err)
	}
}

func TestDecodersRefuseWhatIsCutShort(t *testing.T) {
	for name, tt := range map[string]struct {
		whole  []byte
		decode func([]byte) error
	}{
		"encoder": {someKept(t).encode(), func(b []byte) error { _, err := DecodeKept(b); return err }},
		"answers": {answerFacts{}.encode(), func(b []byte) error { _, err := decodeAnswers(b); return err }},
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
	f.Add(someKept(f).encode())
	f.Add(answerFacts{}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := DecodeKept(b); err == nil && !bytes.Equal(e.encode(), b) {
			t.Error("encoder is not canonical")
		}
		if a, err := decodeAnswers(b); err == nil && !bytes.Equal(a.encode(), b) {
			t.Error("answers are not canonical")
		}
	})
}

// A column's name that is too long to keep is refused before anything is trained.
func TestLongColumnNames(t *testing.T) {
	s := set(9)
	s.Columns = []string{"x", strings.Repeat("y", 1<<17)}
	if _, err := Protocol().Party(methodtest.Instance(parse(t, "none", "{every: 3}")), "north", method.Table{Set: s}); err == nil || !strings.Contains(err.Error(), "the name of column 2 has 131072 bytes") {
		t.Errorf("error %v", err)
	}
	s.Columns[1] = strings.Repeat("y", method.MaxLabelBytes)
	p := partyOf(t, s)
	p.total = 9
	e, err := p.retainState(method.Closing{Classes: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeKept(e.Body); err != nil || cmp.Diff(s.Columns, back.Columns) != "" {
		t.Errorf("columns %.40q, error %v", back.Columns, err)
	}
}

// A query can be withdrawn, and its retained state erased, while the querying machine is being
// built. Rows must not be encoded under an erased seed, which everybody knows.
func TestQuestionOutlivesItsRetained(t *testing.T) {
	announced := func(erase bool) string {
		e := someKept(t)
		o := &inquirer{encoder: e}
		q := method.Question{Instance: method.Instance{ID: job.ID{1}, Coordinator: "hub", Parties: []string{"north"}}, Asker: "north", Tag: [16]byte{2}}
		rows := &dataset.Set{Name: "new rows", X: dataset.NewDense(linalg.New[float64](3, e.Width)), Columns: e.Columns}
		asker, err := o.newAsker(q, "north", method.Table{Set: rows})
		if err != nil {
			t.Fatal(err)
		}
		if erase {
			o.erase()
		}
		plan, err := (&inquirer{encoder: someKept(t)}).steps(q)
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.NewSession(plan[0].Session.Descriptor(q.ID, 0, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		run, err := plan[0].Party(asker, method.Setup{Setup: protocol.Setup{Session: s, Self: "north", Seed: [32]byte{3}}})
		if err != nil {
			t.Fatal(err)
		}
		first, err := run.Machine.Step(protocol.Start{InputHash: run.InputHash})
		if err != nil || len(first.Send) != 1 {
			t.Fatalf("%+v, %v", first, err)
		}
		return string(first.Send[0].Body) // holds a tag of the seed
	}
	if announced(true) != announced(false) {
		t.Error("the rows are encoded under another seed once the retained state is erased")
	}
}
