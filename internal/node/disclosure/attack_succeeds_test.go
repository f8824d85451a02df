package disclosure

// The attacks of this file succeed: docs/ledger.md says so ("What gets past it"). A test that fails
// here says that one is mended: turn it round, and take the attack out of the document.

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// The operator takes an approval back after a session was accepted and before its first message. The
// command says yes, and the release goes out all the same.
func TestAttackWithdrawnApprovalStillLetsOut(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(40, "age", "income"), "hub"))
	less := products(table(40, "age"), "hub")
	held := mustHold(t, l, less, "up to its sign")
	if err := l.Approve(held); err != nil {
		t.Fatal(err)
	}
	id := admit(t, l, less) // a coordinator proposes, the party accepts; nothing has been sent
	if err := l.Withdraw(id); err != nil {
		t.Fatal(err)
	}
	admit(t, l, less) // the next step, or another job of the same content
	if err := l.Release(method.ReleaseProducts, id); err != nil || states(t, l)[id] != Released {
		t.Errorf("the withdrawn release does not leave: %v", err)
	}
}

// A question and a job over the same rows have one name. Whoever has been allowed a question (rows
// against a model's rows) is allowed the job (all products of the rows with each other).
func TestAttackAQuestionAdmitsAJob(t *testing.T) {
	l := Ledger(t.TempDir())
	n := table(40, "age", "income")
	less := products(n.SelectColumns([]int{0}), "hub")
	letOut(t, l, less) // a job over one column
	q := products(n, "hub")
	q.Question, q.Model = true, "m"
	held := mustHold(t, l, q, "up to its sign")
	if err := l.Approve(held); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, q)
	admit(t, l, products(n, "hub"))
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

// The operator approves a difference of five people. A job that passes by itself comes between, and
// the approved one then tells five others, of whom the approval said nothing.
func TestAttackAnApprovalCoversWhatCameAfterIt(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sumsOf(0, 100, "first"))
	x := sumsOf(0, 95, "x")
	held := mustHold(t, l, x, "over these 5 alone")
	if err := l.Approve(held); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, sumsOf(0, 90, "between")) // ten people less than the first: passes
	admit(t, l, x)                         // x less the job between is the sums over people 90 to 94 alone
	control := Ledger(t.TempDir())
	letOut(t, control, sumsOf(0, 90, "between"))
	mustHold(t, control, x, "over these 5 alone")
}

// An operator moves a full ledger's folder away, as docs/ledger.md says, while a job is open: its rows
// leave, and neither ledger says so.
func TestAttackAMovedFolderForgetsWhatIsOpen(t *testing.T) {
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	first := products(table(40, "age", "income"), "hub")
	id := admit(t, l, first)
	if err := os.Rename(string(l), string(l)+".old"); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(first.Kind, id); err != nil { // what is admitted no more is taken for out already
		t.Errorf("the first message does not leave: %v", err)
	}
	admit(t, l, products(table(40, "age"), "hub")) // one column less
}

// People with several rows: the ledger keeps the class of one of them. Ten people come, and with them
// one row of class b: the sums over class b differ by that row.
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
	pass := 0
	for k := range 20 {
		l := Ledger(t.TempDir())
		letOut(t, l, build(60, 0))
		if _, err := l.Admit(build(70, float64(200+k)), 0); err == nil {
			pass++
		}
	}
	if pass == 0 {
		t.Error("no job passes whose sums over class b differ by one row")
	}
}
