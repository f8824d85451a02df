package method_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

func outcome() *method.Outcome {
	m := linalg.New[float64](2, 1)
	m.Data[0], m.Data[1] = 0.5, -1
	return &method.Outcome{Classes: []string{"a", "b"}, Predicted: []string{"a", "b"}, Decisions: m}
}

// labelled is an outcome whose learner has the labels.
func labelled() *method.Outcome {
	o := outcome()
	o.Kind, o.Truth = model.SVC, []string{"a", "a"}
	return o
}

func TestOutcomeRoundTrip(t *testing.T) {
	for _, o := range []*method.Outcome{outcome(), labelled()} {
		back, err := method.DecodeOutcome(o.Encode())
		if err != nil || cmp.Diff(o, back) != "" {
			t.Errorf("%v %s", err, cmp.Diff(o, back))
		}
	}
	bad := labelled()
	bad.Truth = bad.Truth[:1]
	if o, err := method.DecodeOutcome(bad.Encode()); err == nil {
		t.Errorf("%d labels of two rows are accepted", len(o.Truth))
	}
}

func TestOutcomesThatAreCutShort(t *testing.T) {
	for name, tt := range map[string]struct {
		whole  []byte
		decode func([]byte) error
	}{
		"outcome": {outcome().Encode(), func(b []byte) error { _, err := method.DecodeOutcome(b); return err }},
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

func FuzzDecodeOutcome(f *testing.F) {
	f.Add(outcome().Encode())
	f.Add(labelled().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := method.DecodeOutcome(b); err == nil && !bytes.Equal(o.Encode(), b) {
			t.Error("outcome is not canonical")
		}
	})
}

func TestTakeRefusesDecisionsForOtherClasses(t *testing.T) {
	a := &method.Prediction{Output: model.Output{Kind: model.SVC, Classes: []string{"a", "b", "c"}}}
	if err := a.Take(linalg.New[float64](2, 1)); err == nil || a.Predicted != nil {
		t.Errorf("error %v, predicted %v; want an error and nothing", err, a.Predicted)
	}
	a = &method.Prediction{Output: model.Output{Kind: model.SVC, Classes: []string{"a", "b"}}}
	if err := a.Take(outcome().Decisions); err != nil || cmp.Diff([]string{"a", "b"}, a.Predicted) != "" {
		t.Errorf("error %v, predicted %v; want a, b", err, a.Predicted)
	}
}

func TestHashModels(t *testing.T) {
	a, b := method.ModelFile{Party: "north", SHA256: "1", Path: "x"}, method.ModelFile{Party: "south", SHA256: "2"}
	if method.HashModels([]method.ModelFile{a, b}) != method.HashModels([]method.ModelFile{b, {Party: "north", SHA256: "1", Path: "elsewhere"}}) {
		t.Error("the hash depends on the order or on a path")
	}
	if method.HashModels([]method.ModelFile{a}) == method.HashModels([]method.ModelFile{b}) {
		t.Error("two models have one hash")
	}
	if got := method.HashModels(nil); got != "" {
		t.Errorf("no model has the hash %s", got)
	}
	f, err := learner.Constant(&job.Job{Learner: job.Named{Kind: learner.SVC{}, Values: learner.SVC{}.New()}}, "a", []string{"a"})
	if err != nil || method.NewOutcome(f).Predicted[0] != "a" {
		t.Error("a constant does not predict its class")
	}
}
