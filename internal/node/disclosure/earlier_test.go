package disclosure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// awaiting returns the only release of a ledger that awaits approval.
func awaiting(t *testing.T, l Ledger) Listed {
	t.Helper()
	list, err := l.Awaiting()
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// named returns a release of a job.
func named(r method.Release, job string) method.Release {
	r.Job = job
	return r
}

// A release that awaits approval names each earlier release because of which it does, with the columns of both and of
// each alone. Peers learn of neither.
func TestEarlierReleases(t *testing.T) {
	today := time.Now().UTC().Format(time.DateOnly)
	t.Run("columns", func(t *testing.T) {
		l := Ledger(t.TempDir())
		letOut(t, l, named(products(table(6, "age", "income", "sex"), "hub"), "first"))
		_, err := l.Admit(Asker{}, named(products(table(6, "age", "bmi", "income"), "hub"), "second"), 0)
		want := Earlier{Job: "first", Day: today, Kind: method.ReleaseProducts, Both: `"age", "income"`, There: `"sex"`, Here: `"bmi"`}
		if n := awaiting(t, l); !slices.Contains(n.Earlier, want) || n.Others != 0 {
			t.Errorf("%+v", n.Earlier)
		}
		var held *HeldError
		if !errors.As(err, &held) || !slices.Contains(held.Earlier, "first") || strings.Contains(held.Public(), "first") || strings.Contains(held.Public(), "age") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no names", func(t *testing.T) {
		l := Ledger(t.TempDir())
		nameless := func(columns int, job string) method.Release {
			r := named(products(table(6, make([]string, columns)...), "hub"), job)
			set := *r.Set
			set.Columns = nil
			r.Set = &set
			return r
		}
		letOut(t, l, nameless(2, "first"))
		mustHold(t, l, nameless(3, "second"), "")
		if n := awaiting(t, l); n.Earlier[0].There != "2 columns without names" || n.Earlier[0].Here != "3 columns without names" || !strings.HasPrefix(n.Earlier[0].Both, "not known") {
			t.Errorf("%+v", n.Earlier)
		}
		again := nameless(2, "third")
		again.Scale = "none"
		l = Ledger(t.TempDir())
		letOut(t, l, nameless(2, "first"))
		mustHold(t, l, again, "")
		if n := awaiting(t, l); n.Earlier[0].Both != "2 columns without names" || n.Earlier[0].Here+n.Earlier[0].There != "" {
			t.Errorf("%+v", n.Earlier)
		}
	})
	t.Run("only counted", func(t *testing.T) { // no sentence is about the earlier release alone
		l := Ledger(t.TempDir())
		for i := range maxSums {
			letOut(t, l, named(sums(span(0, 100), fmt.Sprint("m", i)), fmt.Sprint("job ", i)))
		}
		mustHold(t, l, sums(span(0, 100), "last"), "each further sum")
		if n := awaiting(t, l); len(n.Earlier) != 1 || len(n.From) != 0 || n.Earlier[0].Both != `"age", "income"` {
			t.Errorf("%+v of %+v", n.Earlier, n.From)
		}
	})
	t.Run("many", func(t *testing.T) {
		l := Ledger(t.TempDir())
		var wide []string
		for i := range 200 {
			wide = append(wide, fmt.Sprintf("%s %03d", strings.Repeat("\x01", 100), i))
		}
		for i := range maxEarlier + 4 {
			r := named(products(table(6, append([]string{fmt.Sprint("own ", i)}, wide...)...), "hub"), "j")
			if _, err := l.Admit(Asker{}, r, 0); err != nil {
				if err := l.Approve(awaiting(t, l).ID, agree); err != nil {
					t.Fatal(err)
				}
			}
			letOut(t, l, r)
		}
		mustHold(t, l, products(table(6, "own 0", "own 1"), "hub"), "")
		n := awaiting(t, l)
		if len(n.Earlier) != maxEarlier || n.Others != 4 || !strings.HasSuffix(n.Earlier[0].There, ", and 168 more") && !strings.HasSuffix(n.Earlier[0].There, ", and 169 more") {
			t.Errorf("%d and %d others: %.200s", len(n.Earlier), n.Others, n.Earlier[0].There)
		}
	})
}

// A note is read as it was written. Notes of earlier versions name no earlier releases.
func TestNotesOfEarlierReleases(t *testing.T) {
	n := Listed{Kind: method.ReleaseSums, Also: []method.ReleaseKind{method.ReleaseCounts}, Job: "job", Peers: []string{"hub"}, Since: time.Unix(1, 0), Table: "people", Reveals: []string{"much"}, From: []string{"f"},
		Askers:  []Asker{{Job: "a", Submitter: access.Person{Member: "hub"}}},
		Earlier: []Earlier{{Job: "first", Day: "2026-11-20", Kind: method.ReleaseRows, Both: `"age"`, There: `"sex"`, Here: `"bmi"`}}, Others: 3}
	got, err := decodeNote(n.encode())
	if err != nil || cmp.Diff(n, got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(n, got))
	}
	var w, old wire.Writer
	w.String(noteWithMagic)
	writeEarlier(&w, n.Earlier)
	w.Uint32(3)
	old.String(noteAskMagic)
	got, err = decodeNote(append(old.Bytes(), n.encode()[len(w.Bytes()):]...))
	n.Earlier, n.Others = nil, 0
	if err != nil || cmp.Diff(n, got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(n, got))
	}
	for name, list := range map[string][]Earlier{"too many": make([]Earlier, maxEarlier+1), "too long": {{Both: strings.Repeat("x", maxShownAs+1)}}} {
		n.Earlier = list
		if _, err := decodeNote(n.encode()); err == nil {
			t.Errorf("%s earlier releases are read", name)
		}
	}
}

// A release that is refused is gone from the list, and waits again when a job asks again. Nothing happens to it if the
// refusal cannot be recorded, and only a release that waits can be refused.
func TestRefusing(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(6, "age", "income"), "hub"))
	other := products(table(6, "age"), "hub")
	id := mustHold(t, l, other, "income")
	if err := l.Refuse(id, func(n Listed) error { return errNotNow }); !errors.Is(err, errNotNow) || states(t, l)[id] != Held {
		t.Errorf("%v, %v", err, states(t, l))
	}
	var seen Listed
	if err := l.Refuse(id, func(n Listed) error { seen = n; return nil }); err != nil || seen.ID != id || seen.Job != "job" {
		t.Errorf("%v, %+v", err, seen)
	}
	if state, there := states(t, l)[id]; there {
		t.Errorf("a refused release is %s", state)
	}
	mustHold(t, l, other, "income")
	if err := l.Approve(id, agree); err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]string{"an approved one": id, "none": "0123456789abcdef"} {
		if err := l.Refuse(id, func(Listed) error { return nil }); !errors.Is(err, ErrNotHeld) {
			t.Errorf("%s: %v", what, err)
		}
	}
	admit(t, l, other)
}

// An approval for less ends with the refusal of the release.
func TestRefusingEndsAnEarlierApproval(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(6, "age", "income"), "hub"))
	one, other := products(table(6, "age"), "hub"), products(table(6, "age", "bmi"), "hub")
	id := mustHold(t, l, one, "income")
	if err := l.Approve(id, agree); err != nil {
		t.Fatal(err)
	}
	admit(t, l, one)
	if err := l.Approve(mustHold(t, l, other, ""), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, other)
	mustHold(t, l, one, "bmi") // it now reveals more than the operator has read
	if err := l.Refuse(id, agree); err != nil {
		t.Fatal(err)
	}
	if state, there := states(t, l)[id]; there {
		t.Errorf("a refused release is %s", state)
	}
	if err := l.Release(one.Kind, id); !errors.Is(err, ErrNotAdmitted) {
		t.Errorf("a refused release leaves: %v", err)
	}
}
