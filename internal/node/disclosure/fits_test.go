package disclosure

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// The adversary of these tests is the coordinator, which has the products of all encoded rows: under
// two fits they reveal the columns. A party that receives two fits is one, too: their difference is
// over people who came or went.

const anotherFit = "prepared or scaled by another fit than in the earlier job, or may be"

// fitted are rows of a job that fits on some of them; values are "" before it has.
func fitted(set *dataset.Set, among []int, values string) method.Release {
	r := of(method.ReleaseRows, set)
	r.Fit = method.Fit{By: method.NewFit, Among: among}
	if values != "" {
		r.Fit.Values = []byte(values)
	}
	return r
}

// kept are rows of a job that continues another, by the fit that it keeps.
func kept(set *dataset.Set, values string, earlier byte) method.Release {
	r := of(method.ReleaseRows, set)
	r.Fit = method.Fit{By: method.KeptFit, Values: []byte(values), Earlier: job.ID{earlier}}
	return r
}

// newcomer returns rows of a party that receives a fit in a job.
func newcomer(set *dataset.Set, in byte) method.Release {
	r := of(method.ReleaseRows, set)
	r.Fit = method.Fit{By: method.ToldFit, Earlier: job.ID{in}}
	return r
}

// others returns the set with other ids.
func others(set *dataset.Set) *dataset.Set {
	renamed := *set
	renamed.IDs = slices.Clone(set.IDs)
	for i := range renamed.IDs {
		renamed.IDs[i] = "q" + renamed.IDs[i]
	}
	return &renamed
}

// Rows pass again under the fit under which they were released. They are held under a fit on other own
// rows, before the fit is revealed; under one with other values, once these are known; and beside any
// more rows.
func TestAttackRowsUnderAnotherFit(t *testing.T) {
	l := Ledger(t.TempDir())
	set, half := table(20, "age", "income"), span(0, 15)
	for range 2 {
		letOut(t, l, fitted(set, half, "")) // the fit is told
		letOut(t, l, fitted(set, half, "first"))
	}
	elsewhere := fitted(set, half, "")
	elsewhere.Peers = []string{"hub", "shop", "bank"}
	for name, r := range map[string]method.Release{
		"among other parties":     elsewhere,
		"other values of the fit": fitted(set, half, "second"),
		"fewer take part":         fitted(set, span(0, 14), ""),
		"more take part":          fitted(set, span(0, 16), ""),
		"others take part":        fitted(set, span(1, 16), ""),
		"one came":                fitted(table(21, "age", "income"), half, ""),
		"fifteen came":            fitted(table(35, "age", "income"), half, ""),
		"one went":                fitted(set.Subset(span(0, 19)), half, ""),
		"another value":           fitted(edited(set, 19, 1), half, ""),
		"another trained value":   fitted(edited(set, 3, 1), half, ""),
	} {
		t.Run(name, func(t *testing.T) { mustHold(t, l, r, anotherFit) })
	}
	letOut(t, l, fitted(others(set), half, "third"))
	letOut(t, l, fitted(set, half, "first")) // what else is in the ledger makes it no other fit
	mustHold(t, l, fitted(set, half, "third"), anotherFit)
}

// The releases of a job before it was aborted stay, though its rows never left; releases that were only
// admitted do not.
func TestAttackAFitWithoutItsRows(t *testing.T) {
	l, more := Ledger(t.TempDir()), fitted(table(21, "age", "income"), span(0, 16), "")
	admit(t, l, fitted(table(20, "age", "income"), span(0, 15), ""))
	mustHold(t, l, more, anotherFit)
	if err := l.Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, more)
	mustHold(t, l, fitted(table(20, "age", "income"), span(0, 15), ""), anotherFit)
	if err := l.Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	mustHold(t, l, fitted(table(20, "age", "income"), span(0, 15), ""), anotherFit)
	letOut(t, l, fitted(table(21, "age", "income"), span(0, 16), "first"))
}

// One approval is for a fit and for the rows that follow it. It ends with the rows.
func TestApprovalOfAFit(t *testing.T) {
	l := Ledger(t.TempDir())
	set := table(20, "age", "income")
	letOut(t, l, fitted(set, span(0, 15), ""))
	letOut(t, l, fitted(set, span(0, 15), "first"))
	more := table(35, "age", "income")
	if err := l.Approve(mustHold(t, l, fitted(more, span(0, 25), ""), anotherFit), agree); err != nil {
		t.Fatal(err)
	}
	id := letOut(t, l, fitted(more, span(0, 25), ""))
	if s := states(t, l)[id]; s != Approved {
		t.Errorf("after the fit the release is %s", s)
	}
	letOut(t, l, fitted(more, span(0, 25), "second"))
	if s := states(t, l)[id]; s != Released {
		t.Errorf("after the rows the release is %s", s)
	}
	letOut(t, l, fitted(more, span(0, 25), "second"))
	// An approval of other values is for them alone, and makes the first ones others.
	if err := l.Approve(mustHold(t, l, fitted(more, span(0, 25), "third"), anotherFit), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, fitted(more, span(0, 25), "third"))
	mustHold(t, l, fitted(more, span(0, 25), "second"), anotherFit)
	mustHold(t, l, fitted(more, span(0, 25), "fourth"), anotherFit)
}

// A job that continues keeps the fit, and its rows pass, also more of them. By another fit, and in a
// job that fits anew, they are held.
func TestAttackAnotherFitInAContinuingJob(t *testing.T) {
	l := Ledger(t.TempDir())
	set, more := table(20, "age", "income"), table(35, "age", "income")
	letOut(t, l, fitted(set, span(0, 15), ""))
	letOut(t, l, fitted(set, span(0, 15), "first"))
	mustHold(t, l, kept(more, "second", 9), anotherFit)
	letOut(t, l, kept(set, "first", 1))
	letOut(t, l, kept(more, "first", 1))
	letOut(t, l, kept(more, "first", 2))
	mustHold(t, l, kept(edited(more, 3, 0), "first", 2), "1 row has other values")
	mustHold(t, l, kept(more, "second", 9), anotherFit)
	mustHold(t, l, fitted(more, span(0, 25), ""), anotherFit)
	mustHold(t, l, newcomer(more, 7), anotherFit)
	letOut(t, l, fitted(set, span(0, 15), "first"))
}

// A newcomer does not know the values of the fit when it agrees. It stores them for later jobs, which
// identify the fit by the job in which the newcomer received it.
func TestAttackANewFitOfANewcomer(t *testing.T) {
	l := Ledger(t.TempDir())
	set, more := table(20, "age", "income"), table(35, "age", "income")
	letOut(t, l, newcomer(set, 2))
	letOut(t, l, newcomer(set, 2)) // goes on after a crash
	mustHold(t, l, newcomer(set, 3), anotherFit)
	mustHold(t, l, kept(set, "first", 3), anotherFit)
	mustHold(t, l, fitted(set, span(0, 15), ""), anotherFit)
	letOut(t, l, kept(more, "first", 2))
	letOut(t, l, kept(more, "first", 4)) // by its values now
	mustHold(t, l, fitted(more, span(0, 25), ""), anotherFit)
	mustHold(t, l, kept(more, "second", 5), anotherFit)
	letOut(t, l, fitted(others(set), span(0, 15), ""))
}

// A scaling that is fitted is another one than none, in either order.
func TestAttackRowsWithAndWithoutAFit(t *testing.T) {
	set := table(20, "age", "income")
	plain := of(method.ReleaseRows, set)
	plain.Scale = "none"
	for _, order := range [][2]method.Release{{plain, fitted(set, span(0, 15), "")}, {fitted(set, span(0, 15), ""), plain}} {
		l := Ledger(t.TempDir())
		letOut(t, l, order[0])
		mustHold(t, l, order[1], "columns are scaled by")
	}
}
