package stage

import (
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// A question can be withdrawn, and its keepsake erased, while the machine that asks is
// being built. Rows must not be encoded under an erased seed, which everybody knows.
func TestQuestionOutlivesItsKeepsake(t *testing.T) {
	announced := func(erase bool) string {
		e := encoder(t)
		o := &okraInquirer{encoder: e}
		q := method.Question{Case: method.Case{ID: job.ID{1}, Coordinator: "hub", Parties: []string{"north"}}, Asker: "north", Tag: [16]byte{2}}
		rows := &dataset.Set{Name: "new rows", X: dataset.NewDense(linalg.New[float64](3, e.Width)), Columns: e.Columns}
		asker, err := o.Party(q, "north", Table{Set: rows})
		if err != nil {
			t.Fatal(err)
		}
		if erase {
			o.Erase()
		}
		plan, err := (&okraInquirer{encoder: encoder(t)}).Plan(q)
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.NewSession(plan[0].Session.Descriptor(q.ID, 0, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		run, err := asker.Machine("predict", Setup{Setup: protocol.Setup{Session: s, Self: "north", Seed: [32]byte{3}}})
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
		t.Error("the rows are encoded under another seed once the keepsake is erased")
	}
}
