package stage

import (
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/release"
	"github.com/mercer-fl/mercer/linalg"
)

// What goes into sums is the training rows, whichever are held out: two jobs over a table
// that nobody touched, which hold out one row each, differ by two people.
func TestAttackHoldingOutOneRowEach(t *testing.T) {
	set := &dataset.Set{X: dataset.NewDense(linalg.New[float64](200, 3))}
	ledger, cast := release.Ledger(t.TempDir()), Cast{Coordinator: "hub", Parties: []string{"north", "south"}}
	holdingOut := func(rows ...int) method.Release {
		p := &Party{Job: &job.Job{Name: "digits"}, Self: "north", split: Split{Set: set, Test: make([]bool, 200)}}
		for _, i := range rows {
			p.split.Test[i] = true
		}
		r := p.sumsReleased(cast)
		r.Model = "a job"
		return r
	}
	id, err := ledger.Admit(holdingOut(100), 0)
	if err == nil {
		err = ledger.Release(method.ReleaseSums, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	var held *release.HeldError
	if _, err := ledger.Admit(holdingOut(101), 0); !errors.As(err, &held) {
		t.Errorf("error %v, want that the release is held", err)
	}
	half := make([]int, 60)
	for i := range half {
		half[i] = i
	}
	if _, err := ledger.Admit(holdingOut(half...), 0); err != nil {
		t.Errorf("a job that holds out 60 other rows: %v", err)
	}
}
