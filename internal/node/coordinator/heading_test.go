package coordinator_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
)

// ordered gives the parties' tables their columns in orders of their own, and the
// same names: forwards, backwards, and from the middle on.
func ordered(shares []partition.Share) {
	for i, s := range shares {
		width := s.Table.Set.X.Cols()
		s.Table.Set.Columns = columnNames(width)
		order := span(0, width)
		switch i % 3 {
		case 1:
			slices.Reverse(order)
		case 2:
			order = append(order[width/2:], order[:width/2]...)
		}
		shares[i].Table.Set = s.Table.Set.SelectColumns(order)
	}
}

// Tables with the same columns in three orders are one table: the job ends with the
// same model, bit for bit, and the same figures as where all have one order. New
// rows, too, may come in any.
func TestColumnsInThreeOrders(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]*job.Job{"okra": parse(t, openJob), "moments": moments(t, ", directions: 4", openJob)} {
		t.Run(name, func(t *testing.T) {
			one := tumours(t, j)
			for _, s := range one {
				s.Table.Set.Columns = columnNames(30)
			}
			w := newTestbed(t, one).lets(j)
			want := w.mustRun(j)
			three := tumours(t, j)
			ordered(three)
			v := newTestbed(t, three).lets(j)
			got := v.mustRun(j)
			if d := cmp.Diff(want.Result.Metrics, got.Result.Metrics); d != "" || want.Result.ModelHash != got.Result.ModelHash {
				t.Errorf("models %s and %s: %s", want.Result.ModelHash, got.Result.ModelHash, d)
			}
			rows := newRows(t)
			rows.Columns = columnNames(30)
			answer, err := ask(v, "south", got.ID, rows)
			if err != nil {
				t.Fatal(err)
			}
			swapped, err := ask(v, "east", got.ID, rows.SelectColumns(append([]int{1, 0}, span(2, 30)...)))
			if err != nil || !slices.Equal(answer.Decisions.Data, swapped.Decisions.Data) {
				t.Errorf("rows in another order get other decisions, error %v", err)
			}
		})
	}
}
