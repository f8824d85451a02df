package disclosure

// The attacks of this file succeed: docs/ledger.md says so ("What gets past it"). A test that fails
// here says that one is mended: turn it round, and take the attack out of the document.

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Approve approves the present content of the note, which may differ from the content that the operator
// has read.
func TestAttackApproveIsNotOfWhatWasRead(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sumsOf(0, 100, "first"))
	x := sumsOf(0, 95, "x")
	held := mustHold(t, l, x, "over these 5 alone") // the operator reads this
	letOut(t, l, sumsOf(0, 90, "between"))
	mustHold(t, l, x, "over these 5 alone") // proposed again: the note is another, under the same ID
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, x)
}

// An approval of rows under one fit serves another fit, and the one before is forgotten.
func TestAttackApprovalOfAnotherFit(t *testing.T) {
	fitted := func(values string) method.Release {
		r := of(method.ReleaseRows, table(60, "age", "income"))
		r.Fit = method.Fit{By: method.NewFit, Among: linalg.Range(0, 60), Train: []string{"north"}}
		if values != "" {
			r.Fit.Values = []byte(values)
		}
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, fitted(""))
	letOut(t, l, fitted("first"))
	held := mustHold(t, l, fitted("second"), "another fit")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, fitted("third")) // another than was held
	e, err := l.read(l.entry(method.ReleaseRows, held, Released))
	if err != nil {
		t.Fatal(err)
	}
	key, err := l.key()
	if err != nil {
		t.Fatal(err)
	}
	if e.Fit.Values != newEntry(key, fitted("third")).Fit.Values {
		t.Error("first kept")
	}
	mustHold(t, l, fitted("first"), "another fit") // the first is forgotten: not "out" any more
}
