package disclosure

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
)

// older puts a release into the ledger as an earlier program wrote it: without the table's name, its
// schema and its fit.
func older(t *testing.T, l Ledger, r method.Release, magic string) {
	t.Helper()
	key, err := l.key()
	if err != nil {
		t.Fatal(err)
	}
	e := newEntry(key, r)
	e.Table, e.Schema, e.Fit = "", "", Fit{}
	if err := l.write(l.entry(r.Kind, e.ID(), Released), former(e, magic)); err != nil {
		t.Fatal(err)
	}
}

// former encodes an entry as earlier programs did.
func former(e *Entry, magic string) []byte {
	var w wire.Writer
	w.String(magic)
	whole := magic == wholeMagic || magic == editionMagic
	if whole {
		w.String(e.Day)
	}
	if magic == alsoMagic || magic == moreMagic || whole {
		w.Strings(texts(e.Also))
	}
	switch magic {
	case entryMagic:
	case splitMagic:
		w.String(e.Split)
	default:
		e.writeTable(&w)
	}
	e.writeHead(&w)
	w.Uint32(uint32(len(e.Uses)))
	for _, u := range e.Uses {
		w.String(u.Model)
		w.Uint32(u.Directions)
		if magic == editionMagic {
			w.Uint64(u.Numbers)
			w.Uint64(u.Cells)
		}
	}
	if magic == editionMagic {
		e.writeEdition(&w)
	}
	if whole {
		w.Bool(true)
	}
	w.Uint32(uint32(len(e.Rows)))
	for _, row := range e.Rows {
		w.Fixed(row.Person[:])
		w.Fixed(row.Content[:])
		if magic != entryMagic && magic != splitMagic && e.Kind == method.ReleaseSums {
			w.Uint16(row.Class)
		}
	}
	if magic == moreMagic || whole {
		w.Uint32(uint32(len(e.More)))
		for _, m := range e.More {
			w.Fixed(m.Person[:])
			w.Uint16(m.Class)
		}
	}
	return w.Bytes()
}

// Each format of earlier programs is read as what it says, and under the name that it was kept by.
func TestFormerFormats(t *testing.T) {
	sums := of(method.ReleaseSums, table(6, "age", "income"))
	sums.Set.IDs = nil
	for i := range 6 {
		sums.Set.IDs = append(sums.Set.IDs, string(rune('a'+i/2)))
		sums.Set.Labels = append(sums.Set.Labels, string(rune('x'+i%2)))
	}
	sums.Label, sums.Classes, sums.Split, sums.Model = "diagnosis", true, "all rows of east", "m"
	plain := newEntry(testKey, sums)
	plain.Table, plain.Split, plain.More = "", "", nil
	for i := range plain.Rows {
		plain.Rows[i].Class = 0
	}
	split := *plain
	split.Split = "all rows of east"
	whole := newEntry(testKey, sums)
	whole.More = nil
	also := *whole
	also.Also = []method.ReleaseKind{method.ReleaseCounts, method.ReleaseErrors}
	more := newEntry(testKey, sums)
	more.Also = also.Also
	dated := *more
	dated.Day = "2026-11-27"
	counted := dated
	counted.Uses = []Use{{"m", 0, 100, 2000}}
	if len(more.More) != 3 {
		t.Fatalf("%d further classes", len(more.More))
	}
	for magic, e := range map[string]*Entry{entryMagic: plain, splitMagic: &split, tableMagic: whole, alsoMagic: &also, moreMagic: more, wholeMagic: &dated, editionMagic: &counted} {
		b := former(e, magic)
		back, err := DecodeEntry(b)
		if err != nil || !bytes.Equal(back.Encode(), e.Encode()) || back.ID() != e.ID() {
			t.Errorf("%s: %v: %+v comes back as %+v", magic, err, e, back)
		}
		for n := range b {
			if _, err := DecodeEntry(b[:n]); err == nil {
				t.Fatalf("%s: %d of %d bytes are a release", magic, n, len(b))
			}
		}
	}
}

// Releases of earlier programs keep their names, so that the same again passes, and what differs from
// them is held as it was.
func TestOlderEntriesAreCompared(t *testing.T) {
	set := table(40, "age", "income")
	chosen := of(method.ReleaseSums, set)
	chosen.Split, chosen.Model = "all rows of east", "m"
	for _, c := range []struct {
		magic string
		then  method.Release
	}{
		{entryMagic, of(method.ReleaseRows, set)}, {entryMagic, of(method.ReleaseSums, set)}, {entryMagic, of(method.ReleaseProducts, set)},
		{entryMagic, of(method.ReleaseIDs, set)}, {entryMagic, of(method.ReleasePhases, set)}, {splitMagic, chosen},
	} {
		l := Ledger(t.TempDir())
		older(t, l, c.then, c.magic)
		described := c.then
		described.Schema = "age below 50"
		mustHold(t, l, described, anotherSchema)
		renamed := described
		renamed.Table = "renamed"
		mustHold(t, l, renamed, anotherSchema)
		if c.then.Kind == method.ReleaseRows {
			mustHold(t, l, of(method.ReleaseSums, set), bothKinds)
		}
		if c.then.Kind == method.ReleaseSums {
			mustHold(t, l, of(method.ReleaseRows, set.Subset([]int{39})), bothKinds)
			fewer := c.then
			fewer.Peers = []string{"hub"}
			mustHold(t, l, fewer, "peers that took part then and do not now: shop")
		}
		letOut(t, l, c.then)
		if n := len(states(t, l)); n > 5 || n == 0 {
			t.Errorf("%d releases are listed", n)
		}
	}
}

// An entry of an earlier program does not say which rows were fitted on. Equal rows pass, in whatever
// share they are fitted on, and are known from then on. Anything else is held: more rows, and a fit
// that an earlier program's job has left.
func TestOlderEntriesOfScaledRows(t *testing.T) {
	set := table(20, "age", "income")
	older := func(t *testing.T) Ledger {
		l := Ledger(t.TempDir())
		older(t, l, of(method.ReleaseRows, set), entryMagic)
		return l
	}
	l := older(t)
	mustHold(t, l, fitted(table(21, "age", "income"), span(0, 15), ""), anotherFit)
	mustHold(t, l, fitted(set.Subset(span(0, 19)), span(0, 15), ""), anotherFit)
	mustHold(t, l, fitted(edited(set, 3, 0), span(0, 15), ""), anotherFit)
	mustHold(t, l, kept(set, "first", 1), anotherFit)
	mustHold(t, l, newcomer(set, 2), anotherFit)
	letOut(t, l, fitted(set, span(0, 15), ""))
	letOut(t, l, fitted(set, span(0, 15), "first"))
	mustHold(t, l, fitted(set, span(0, 16), ""), anotherFit)
	mustHold(t, l, fitted(set, span(0, 15), "second"), anotherFit)
	letOut(t, l, kept(set, "first", 1))
	letOut(t, older(t), fitted(set, span(0, 16), "")) // an earlier program's share is not known
}

// Rows that an earlier program released, and an approved job by another fit since, are two fits: the
// first entry, which does not know its own fit, does not hide the second, in whichever order the ledger
// reads them.
func TestOlderEntriesBesideAnotherFit(t *testing.T) {
	set := table(20, "age", "income")
	for range 8 { // an entry's name, and so the order, follows from the ledger's key
		l := Ledger(t.TempDir())
		older(t, l, of(method.ReleaseRows, set), entryMagic)
		if err := l.Approve(mustHold(t, l, kept(set, "second", 9), anotherFit), agree); err != nil {
			t.Fatal(err)
		}
		letOut(t, l, kept(set, "second", 9))
		mustHold(t, l, fitted(set, span(0, 15), ""), anotherFit)
	}
}

// The newest format decodes to the encoded entry, and content that it cannot hold is rejected.
func TestTablesOfEntries(t *testing.T) {
	r := fitted(table(3, "age", "income"), span(0, 2), "first")
	r.Schema, r.Split = "age below 50", "all rows of east"
	e := newEntry(testKey, r)
	b := e.Encode()
	back, err := DecodeEntry(b)
	if err != nil || !bytes.Equal(back.Encode(), b) || back.Table != "people" || back.Schema != e.Schema || back.Fit != e.Fit || back.ID() != e.ID() {
		t.Fatalf("%v: %+v comes back as %+v", err, e, back)
	}
	for n := range b {
		if _, err := DecodeEntry(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a release", n, len(b))
		}
	}
	if _, err := DecodeEntry(append(bytes.Clone(b), 0)); err == nil {
		t.Error("a byte too many is taken")
	}
	var newest, first wire.Writer
	first.String(entryMagic)
	newest.String(tableMagic)
	newest.Fixed(make([]byte, 2+4+2+1+2+2+2)) // nothing in any of its fields
	empty := append(newest.Bytes(), former(newEntry(testKey, question([]string{"x"}, 1)), entryMagic)[len(first.Bytes()):]...)
	if _, err := DecodeEntry(empty); err == nil || !strings.Contains(err.Error(), "the entry has no table name, schema or fit") {
		t.Errorf("an empty table: %v", err)
	}
	beside := *e
	beside.Also = []method.ReleaseKind{method.ReleaseCounts, method.ReleaseLabels}
	if back, err := DecodeEntry(beside.Encode()); err != nil || !slices.Equal(back.Also, beside.Also) || back.ID() != e.ID() || back.Table != "people" {
		t.Errorf("%v: %+v comes back as %+v", err, beside, back)
	}
	for _, also := range [][]method.ReleaseKind{{method.ReleaseLabels, method.ReleaseCounts}, {method.ReleaseLabels, method.ReleaseLabels}, {method.ReleaseRows}} {
		beside.Also = also
		if _, err := DecodeEntry(beside.Encode()); err == nil {
			t.Errorf("%q are let out beside rows", also)
		}
	}
	strange := *e
	strange.Fit.By = method.ToldFit + 1
	if _, err := DecodeEntry(strange.Encode()); err == nil || !strings.Contains(err.Error(), "the entry's fit has unknown kind") {
		t.Errorf("a fit of no kind: %v", err)
	}
}
