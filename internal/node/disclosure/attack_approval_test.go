package disclosure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// The operator takes an approval back after a session was accepted and before its first message: nothing
// goes out.
func TestAttackWithdrawnApprovalStillLetsOut(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(40, "age", "income"), "hub"))
	less := products(table(40, "age"), "hub")
	held := mustHold(t, l, less, "up to its sign")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	id := admit(t, l, less) // a coordinator proposes, the party accepts; nothing has been sent
	if err := l.Withdraw(id, agree); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(method.ReleaseProducts, id); !errors.Is(err, ErrNotAdmitted) {
		t.Errorf("the withdrawn release leaves: %v", err)
	}
	mustHold(t, l, less, "up to its sign") // at the next step, or in another job of the same content
	if got := states(t, l)[id]; got != Held {
		t.Errorf("it is %s", got)
	}
}

// The same, between a job's fit, which is out, and its rows.
func TestAttackWithdrawnApprovalBetweenFitAndRows(t *testing.T) {
	l := Ledger(t.TempDir())
	fitted := func(rows int, values string) method.Release {
		r := of(method.ReleaseRows, table(rows, "age", "income"))
		r.Fit = method.Fit{By: method.NewFit, Among: []int{0, 1, 2, rows - 1}, Train: []string{"north"}}
		if values != "" {
			r.Fit.Values = []byte(values)
		}
		return r
	}
	letOut(t, l, fitted(40, ""))
	letOut(t, l, fitted(40, "first"))
	held := mustHold(t, l, fitted(60, ""), "another fit")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, fitted(60, "")) // the fit is out, and the approval stays for the rows
	if err := l.Withdraw(held, agree); err != nil {
		t.Fatal(err)
	}
	mustHold(t, l, fitted(60, "second"), "another fit")
}

// A question and a job over the same rows have two names: an approved question (rows against a model's
// rows) does not admit the job (all products of the rows with each other), and a released job does not
// admit a question.
func TestAttackAQuestionAdmitsAJob(t *testing.T) {
	l := Ledger(t.TempDir())
	n := table(40, "age", "income")
	less := products(n.SelectColumns([]int{0}), "hub")
	letOut(t, l, less) // a job over one column
	q := products(n, "hub")
	q.Question, q.Model = true, "m"
	held := mustHold(t, l, q, "up to its sign")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, q)
	mustHold(t, l, products(n, "hub"), "up to its sign")
}

func sumsOf(from, to int, model string) method.Release {
	rows := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	r := of(method.ReleaseSums, table(200, "age", "income").Subset(rows))
	r.Model = model
	return r
}

// The operator approves a difference of five people. A job that passes by itself comes between.
// Together with it the approved one reveals five others, which the approval did not cover: it is held
// again.
func TestAttackAnApprovalCoversWhatCameAfterIt(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sumsOf(0, 100, "first"))
	x := sumsOf(0, 95, "x")
	held := mustHold(t, l, x, "over these 5 alone")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, sumsOf(0, 90, "between"))           // ten people less than the first: passes
	again := mustHold(t, l, x, "over these 5 alone") // x less the job between is the sums over people 90 to 94
	if err := l.Approve(again, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, x)
}

// The same where the later difference reads word for word as the one that was approved.
func TestAttackAnApprovalCoversAnEqualSentence(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sumsOf(0, 100, "first"))
	x := sumsOf(0, 95, "x")
	held := mustHold(t, l, x, "5 in the earlier one alone")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	other := of(method.ReleaseSums, table(200, "age", "income").Subset(slices.Concat(linalg.Range(0, 95), linalg.Range(100, 105))))
	other.Model = "other"
	letOut(t, l, other) // ten people are in one of it and the first: passes
	mustHold(t, l, x, "5 in the earlier one alone")
}

// An operator moves a full ledger's folder away, as docs/ledger.md says, while a job is open: its rows do
// not leave before they are in the new one.
func TestAttackAMovedFolderForgetsWhatIsOpen(t *testing.T) {
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	first := products(table(40, "age", "income"), "hub")
	id := admit(t, l, first)
	if err := os.Rename(string(l), string(l)+".old"); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(first.Kind, id); !errors.Is(err, ErrNotAdmitted) {
		t.Errorf("the first message leaves: %v", err)
	}
	letOut(t, l, first)                                                 // as the party does then
	mustHold(t, l, products(table(40, "age"), "hub"), "up to its sign") // one column less
}

// People with several rows: the ledger keeps all their classes. Ten people come, and with them one row of
// class b, by which the sums over class b would differ.
func TestAttackAClassOfASecondRow(t *testing.T) {
	build := func(people int, rare float64) method.Release {
		set := &dataset.Set{Name: "visits.csv", Columns: []string{"age"}}
		var cells []float64
		add := func(person int, label string, v float64) {
			set.IDs, set.Labels, cells = append(set.IDs, fmt.Sprint("p", person)), append(set.Labels, label), append(cells, v)
		}
		for i := range 60 {
			add(i, string(rune('a'+i%2)), float64(i))
		}
		for i := 60; i < people; i++ {
			add(i, "a", float64(i))
			if i == 60 {
				add(i, "b", rare)
			} else {
				add(i, "a", float64(100+i))
			}
		}
		m := linalg.New[float64](len(cells), 1)
		copy(m.Data, cells)
		set.X = dataset.NewDense(m)
		r := of(method.ReleaseSums, set)
		r.Label, r.Classes, r.Model = "label", true, fmt.Sprint(people)
		return r
	}
	for k := range 20 {
		l := Ledger(t.TempDir())
		letOut(t, l, build(60, 0))
		mustHold(t, l, build(70, float64(200+k)), "1 person is of one class and in only one of the two jobs")
	}
}

// The operator withdraws between the acceptance of the rows' session and its first message. The fit was
// disclosed under the same ID, and does not count as the rows.
func TestAttackWithdrawnAfterTheFit(t *testing.T) {
	fitted := func(rows int, values string) method.Release {
		r := of(method.ReleaseRows, table(rows, "age", "income"))
		r.Fit = method.Fit{By: method.NewFit, Among: linalg.Range(0, rows), Train: []string{"north"}}
		if values != "" {
			r.Fit.Values = []byte(values)
		}
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, fitted(40, ""))
	letOut(t, l, fitted(40, "first"))
	held := mustHold(t, l, fitted(60, ""), "another fit")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, fitted(60, ""))            // the fit
	id := admit(t, l, fitted(60, "second")) // the rows' session is accepted
	if err := l.Withdraw(held, agree); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(method.ReleaseRows, id); !errors.Is(err, ErrNotAdmitted) {
		t.Errorf("the first message: %v", err)
	}
	mustHold(t, l, fitted(60, "second"), "another fit")
}

// A question's release that an earlier program kept under the name that a job's has now is not the job's,
// which takes its place.
func TestFormerQuestionIsNoJob(t *testing.T) {
	l := Ledger(t.TempDir())
	q := products(table(40, "age", "income"), "hub")
	q.Question, q.Model = true, "m"
	id := letOut(t, l, q)
	e, err := l.read(l.entry(method.ReleaseProducts, id, Released))
	if err != nil {
		t.Fatal(err)
	}
	former := l.entry(method.ReleaseProducts, e.formerID(), Released)
	if err := os.Rename(l.entry(method.ReleaseProducts, id, Released), former); err != nil { // as the earlier program wrote it
		t.Fatal(err)
	}
	j := products(table(40, "age", "income"), "hub")
	letOut(t, l, j)
	list, err := l.List()
	if err != nil || len(list) != 1 || list[0].Question {
		t.Errorf("the job is not entered: %+v %v", list, err)
	}
}
