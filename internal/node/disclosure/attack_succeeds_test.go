package disclosure

// The attacks of this file succeed: docs/ledger.md says so ("What gets past it"). A test that fails
// here says that one is mended: turn it round, and take the attack out of the document.

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Approve takes what the note says now, which need not be what the operator has read.
func TestAttackApproveIsNotOfWhatWasRead(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sumsOf(0, 100, "first"))
	x := sumsOf(0, 95, "x")
	held := mustHold(t, l, x, "over these 5 alone") // the operator reads this
	letOut(t, l, sumsOf(0, 90, "between"))
	mustHold(t, l, x, "over these 5 alone") // proposed again: the note is another, under the same ID
	if err := l.Approve(held); err != nil {
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
	if err := l.Approve(held); err != nil {
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

// Rows and products with labels: the labels leave row by row, and no digest has them. One person's label
// changes, or the job's classes: split in two what an earlier job merged: the same ID, nothing is held,
// and an approval of the one serves the other.
func TestAttackLabelsOfRowsHaveNoDigest(t *testing.T) {
	for _, kind := range []method.ReleaseKind{method.ReleaseRows, method.ReleaseProducts} {
		r := func(label func(int) string) method.Release {
			set := table(60, "age", "income")
			for i := range 60 {
				set.Labels = append(set.Labels, label(i))
			}
			r := of(kind, set)
			r.Label = "diagnosis"
			return r
		}
		merged := r(func(i int) string { return fmt.Sprint(i%2 == 1) })
		changed := r(func(i int) string { return fmt.Sprint(i%2 == 1 != (i == 17)) })
		full := r(func(i int) string { return fmt.Sprint("icd", i%7) })
		l := Ledger(t.TempDir())
		a := letOut(t, l, merged)
		if b, c := letOut(t, l, changed), letOut(t, l, full); a != b || a != c {
			t.Error("they differ")
		}
		if list, err := l.List(); err != nil || len(list) != 1 {
			t.Errorf("%d entries", len(list))
		}
	}
}
