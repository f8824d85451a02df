package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
)

// unscaled is a job of okra between some of the parties that has no scaling.
func unscaled(t testing.TB, parties, keys string) *job.Job {
	t.Helper()
	text := strings.NewReplacer("[north, south, east]", parties, "{name: okra}", "{name: okra, "+keys+"}",
		"label: label", "label: label\n    scale: none").Replace(fmt.Sprintf(jobFile, ""))
	return jobtest.Parse(t, text)
}

// rowsOf returns the rows of a table at some places.
func rowsOf(t method.Table, places []int) method.Table {
	t.Set = t.Set.Subset(places)
	return t
}

// growing is a testbed in which north and south have ended a job while north had its first 15 rows.
// The table of all its 20 rows is returned.
func growing(t *testing.T) (*testbed, method.Table, job.ID) {
	t.Helper()
	w := newTestbed(t, tumours(t, parse(t, "")))
	w.policy.Continuation = true
	whole := named(w.table("north"))
	w.brings("north", rowsOf(whole, span(0, 15)))
	return w, whole, w.mustRun(unscaled(t, "[north, south]", "continuable: true")).ID
}

// named returns a table whose rows have ids.
func named(t method.Table) method.Table {
	set := *t.Set
	set.IDs = nil
	for i := range set.X.Rows() {
		set.IDs = append(set.IDs, fmt.Sprintf("patient %d", i))
	}
	t.Set = &set
	return t
}

func (w *testbed) brings(name string, t method.Table) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables[name] = t
}

// A party whose table has grown sends its new rows alone, wherever they stand in the table. The
// model is, bit for bit, the model of a job of the same epoch that had all rows from the beginning.
func TestAddedRowsAloneTravel(t *testing.T) {
	t.Parallel()
	fresh := newTestbed(t, tumours(t, parse(t, "")))
	fresh.policy.Continuation = true
	fresh.brings("north", named(fresh.table("north")))
	want := fresh.mustRun(unscaled(t, "[north, south]", "continuable: true")).Result
	w, whole, first := growing(t)
	w.brings("north", rowsOf(whole, []int{15, 0, 1, 2, 16, 17, 3, 4, 5, 6, 7, 8, 18, 9, 10, 11, 12, 13, 14, 19}))
	next := w.mustRun(unscaled(t, "[north, south]", "continuable: true, continues: "+first.String()))
	if next.Result.ModelHash != want.ModelHash {
		t.Errorf("model %s, want the fresh run's %s", next.Result.ModelHash, want.ModelHash)
	}
	d, err := method.DetailsOf[okra.Details](next.Result)
	if err != nil || d == nil || d.Continued == nil {
		t.Fatalf("no costs of the continuation: %v", err)
	}
	c := d.Continued
	t.Logf("%d bytes, rows %v, products %d (%.3f of all)", c.Sent, c.Rows, c.Products, c.ProductsShare)
	if c.Job != first.String() || c.Rows["north"] == 0 || c.Rows["south"] != 0 || c.Sent <= uint64(c.Rows["north"]) {
		t.Errorf("%+v", c)
	}
	if products := int64(5*35 + 5*6/2); c.Products != products {
		t.Errorf("%d products, want those of 5 rows with 35 and among themselves, %d", c.Products, products)
	}
	if log := w.logs.String(); !strings.Contains(log, "consented to continue an earlier job") || !strings.Contains(log, first.String()) {
		t.Error("no log has the consent")
	}
	// The job can be continued again, and nothing is new then.
	last := w.mustRun(unscaled(t, "[north, south]", "continues: "+next.ID.String()))
	if d, err = method.DetailsOf[okra.Details](last.Result); err != nil || d.Continued.Products != 0 || d.Continued.Rows["north"] != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// New rows are scaled as the first ones were, though they would have changed the scaling.
func TestAddedRowsAreScaledAsTheOthers(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, tumours(t, parse(t, "")))
	w.policy.Continuation = true
	whole := w.table("north")
	w.brings("north", rowsOf(whole, span(0, 15)))
	first := w.mustRun(between(t, "[north, south]", "continuable: true")).ID
	w.brings("north", whole)
	done := w.mustRun(between(t, "[north, south]", "continues: "+first.String()))
	if n := done.Result.Training + done.Result.HeldOut; n != 40 {
		t.Errorf("the model is from %d rows, want 40", n)
	}
}

// A row that changed or went away ends the later job with one sentence, which names the party and
// not the row.
func TestChangedRowsAreNotContinued(t *testing.T) {
	t.Parallel()
	w, whole, first := growing(t)
	relabelled := rowsOf(whole, span(0, 20))
	relabelled.Set.Labels = slices.Clone(relabelled.Set.Labels)
	relabelled.Set.Labels[3] = map[string]string{"0": "1", "1": "0"}[relabelled.Set.Labels[3]]
	for name, table := range map[string]method.Table{
		"a row is gone":      rowsOf(whole, span(1, 20)),
		"all rows are other": rowsOf(whole, span(15, 20)),
		"a label changed":    relabelled,
	} {
		w.brings("north", table)
		done := w.run(unscaled(t, "[north, south]", "continues: "+first.String()))
		if done.Failure == nil || done.Failure.Code != fault.CodePolicy || !strings.Contains(done.Failure.Message, "rows of north in the earlier job are missing or have changed; restore them") {
			t.Errorf("%s: %+v", name, done.Failure)
		}
	}
	w.brings("north", whole) // nothing is used up by the refusals
	w.mustRun(unscaled(t, "[north, south]", "continues: "+first.String()))
}

// A newcomer's columns come into the order in which the kept rows were encoded, although the
// party that leads now has another order.
func TestContinuedColumnsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	model := func(turn bool) string {
		w := newTestbed(t, tumours(t, parse(t, "")))
		w.policy.Continuation = true
		for _, name := range []string{"north", "south", "east"} {
			w.table(name).Set.Columns = columnNames(30)
		}
		if turn {
			table := w.table("south")
			order := span(0, table.Set.X.Cols())
			slices.Reverse(order)
			table.Set = table.Set.SelectColumns(order)
			w.brings("south", table)
		}
		first := w.mustRun(between(t, "[north, south]", "continuable: true")).ID
		return w.mustRun(between(t, "[south, east]", "late: [east], preparation: keep, continues: "+first.String())).Result.ModelHash
	}
	if one, other := model(false), model(true); one != other {
		t.Errorf("models %s and %s", one, other)
	}
}

// A job that a party adds rows to dies in the middle, and ends in an identical model.
func TestCrashWithAddedRows(t *testing.T) {
	t.Parallel()
	w, whole, first := growing(t)
	w.brings("north", whole)
	want := w.mustRun(unscaled(t, "[north, south]", "continues: "+first.String())).Result.ModelHash
	for _, d := range []death{{"north", 1, "send okra/Confirm"}, {"north", 1, "send okra/Rows"}, {hub, 1, "send okra/Grant"}, {hub, 1, "send okra/Receipt"}} {
		t.Run(fmt.Sprintf("%s/%s", d.name, d.op), func(t *testing.T) {
			w, whole, id := growing(t)
			w.brings("north", whole)
			w.halt(d.name)
			died := w.dies(d)
			if done := w.run(unscaled(t, "[north, south]", "continues: "+id.String())); done.Failure != nil || done.Result.ModelHash != want || !died.Load() {
				t.Errorf("failure %+v, model %v, undisturbed %s; died: %v", done.Failure, done.Result, want, died.Load())
			}
		})
	}
}
