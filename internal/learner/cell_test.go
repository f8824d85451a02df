package learner

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
)

// A cell has its learner's numbers beside its own, where results have them.
func TestCellInJSON(t *testing.T) {
	for text, want := range map[string]Cell{
		`{"kernel":{"name":"rbf","gamma":0.5},"C":10,"epsilon":1e-7,"score":"r2","folds":[0.5],"mean":0.5,"correct":0,"n":4,"best":true,"pooled_mean":null,"pooled_correct":null}`: {
			Kernel: kernel.Spec{Name: "rbf", Gamma: 0.5}, Numbers: []Number{{"C", 10}, {"epsilon", 1e-7}}, Score: "r2", Folds: []float64{0.5}, Mean: 0.5, Rows: 4, Best: true,
		},
		`{"kernel":{"name":"linear"},"score":"accuracy","folds":[],"mean":0,"correct":0,"n":0,"best":false,"pooled_mean":null,"pooled_correct":null}`: {
			Kernel: kernel.Spec{Name: "linear"}, Score: "accuracy", Folds: []float64{},
		},
	} {
		got, err := json.Marshal(want)
		if err != nil || string(got) != text {
			t.Errorf("%v\n got %s\nwant %s", err, got, text)
		}
		back := Cell{Numbers: []Number{{"old", 1}}}
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, back); d != "" {
			t.Error(d)
		}
	}
	for _, bad := range []string{`{"kernel":{"name":"linear"},"C":"ten","score":"r2"}`, `[]`, `{"score":1}`, `{"C":1`} {
		if err := json.Unmarshal([]byte(bad), new(Cell)); err == nil {
			t.Errorf("%s is a cell", bad)
		}
	}
	if c := (Cell{Numbers: []Number{{"nu", 0.5}}}); c.Number("nu") != 0.5 || c.Number("C") != 0 {
		t.Error("numbers by their keys")
	}
}
