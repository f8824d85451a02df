package daemon

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// judged returns the figures of a party with labels over two held-out rows.
func judged() *method.Judged {
	decisions := linalg.New[float64](2, 1)
	decisions.Data[0], decisions.Data[1] = 0.1, -2
	return &method.Judged{
		Result:  &method.Result{Job: "one", Metrics: learner.Metrics{"accuracy": 0.5}, Figures: &learner.Assessment{Positive: "b"}, Grid: []learner.Cell{}, HeldOut: 2},
		Outcome: &method.Outcome{Kind: model.Logistic, Classes: []string{"a", "b"}, Predicted: []string{"b", "a"}, Truth: []string{"b", "b"}, Held: []string{"p1", "p7"}, Decisions: decisions},
	}
}

// A party's figures are kept sealed, and are gone once the job is forgotten.
func TestJudgedIsKept(t *testing.T) {
	home := At(t.TempDir())
	seed := [32]byte{1}
	id, err := identity.Create(home.IdentityPath(), seed)
	if err != nil {
		t.Fatal(err)
	}
	e, err := vault.OpenArtifacts(home.retained(), id.KEMKey())
	if err != nil {
		t.Fatal(err)
	}
	name := job.ID{1}
	if err := keepJudged(e)(name, judged()); err != nil {
		t.Fatal(err)
	}
	own, err := home.Judged(name.String())
	if d := cmp.Diff(judged(), own); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if gone, err := e.Erase(name); err != nil || len(gone) != 1 || gone[0] != vault.Figures {
		t.Errorf("erased %v, %v", gone, err)
	}
	if _, err := home.Judged(name.String()); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("after it is forgotten: %v", err)
	}
}

func FuzzDecodeJudged(f *testing.F) {
	add := func(change func(*method.Judged)) {
		own := judged()
		change(own)
		b, err := json.Marshal(own)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(func(*method.Judged) {})
	add(func(own *method.Judged) { own.Outcome.Held = own.Outcome.Held[1:] })
	add(func(own *method.Judged) { own.Outcome.Decisions.Data = nil })
	add(func(own *method.Judged) { own.Outcome = nil })
	f.Fuzz(func(t *testing.T, b []byte) {
		own, err := decodeJudged(b)
		if err != nil {
			return
		}
		for i := range own.Outcome.Held {
			_ = own.Outcome.Truth[i] + own.Result.Job
			if own.Outcome.Decisions.Row(i) == nil {
				t.Error("a row without decisions is accepted")
			}
		}
	})
}
