package disclosure

import (
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
)

const (
	bothKinds     = "both in sums and among encoded rows"
	anotherSchema = "the job's schema or views differ from those of an earlier job"
)

// The adversary is the coordinator: sums in the columns' own directions reveal the rotation of encoded
// rows. One common person is enough, in either order, whatever is in between.
func TestAttackSumsAndEncodedRowsOfOnePerson(t *testing.T) {
	set := table(40, "age", "income")
	rows, sums := of(method.ReleaseRows, set.Subset(span(0, 20))), of(method.ReleaseSums, set.Subset(span(19, 40)))
	for _, order := range [][2]method.Release{{rows, sums}, {sums, rows}} {
		l := Ledger(t.TempDir())
		admit(t, l, order[0]) // a job that has begun
		mustHold(t, l, order[1], "1 person would be "+bothKinds)
		letOut(t, l, order[0])
		letOut(t, l, of(method.ReleaseProducts, others(set)))
		id := mustHold(t, l, order[1], "1 person would be "+bothKinds)
		if err := l.Approve(id, agree); err != nil {
			t.Fatal(err)
		}
		letOut(t, l, order[1])
		letOut(t, l, order[0]) // both are out
	}
	l := Ledger(t.TempDir())
	letOut(t, l, rows)
	letOut(t, l, of(method.ReleaseSums, set.Subset(span(20, 40)))) // nobody in common
}

// Products, distances and ids beside encoded rows or sums are not compared, as the pages say.
func TestOtherKindsAreNotCompared(t *testing.T) {
	kinds := []method.ReleaseKind{method.ReleaseRows, method.ReleaseSums, method.ReleaseModels, method.ReleaseProducts, method.ReleasePhases, method.ReleaseIDs}
	for _, first := range kinds {
		for _, second := range kinds {
			l := Ledger(t.TempDir())
			letOut(t, l, of(first, table(20, "age", "income")))
			if first == method.ReleaseRows && second.Summed() || first.Summed() && second == method.ReleaseRows {
				mustHold(t, l, of(second, table(20, "age", "income")), "20 people would be both in ")
				continue
			}
			letOut(t, l, of(second, table(20, "age", "income")))
		}
	}
}

// described are rows, of a table, that a schema has read.
func described(kind method.ReleaseKind, set *dataset.Set, from, schema string) method.Release {
	r := of(kind, set)
	r.Table, r.Schema, r.Scale = from, schema, "none"
	return r
}

// The adversary is the coordinator, which writes schemas: two releases of any kinds together reveal
// what one schema leaves out. A table is known by its name, so that two halves of it are one table, and
// its people by their ids, so that another name makes no difference.
func TestAttackAnotherSchema(t *testing.T) {
	set := table(40, "age", "income")
	young, old := set.Subset(span(0, 20)), set.Subset(span(20, 40))
	kinds := []method.ReleaseKind{method.ReleaseRows, method.ReleaseSums, method.ReleaseModels, method.ReleaseProducts, method.ReleasePhases, method.ReleaseIDs}
	for _, first := range kinds {
		for _, second := range kinds {
			l := Ledger(t.TempDir())
			letOut(t, l, described(first, young, "people", "age below 50"))
			mustHold(t, l, described(second, old, "people", "age from 50 on"), anotherSchema)
			mustHold(t, l, described(second, old, "people", ""), anotherSchema)
			mustHold(t, l, described(second, set.Subset(span(19, 40)), "renamed", "age from 49 on"), anotherSchema)
			letOut(t, l, described(second, old, "renamed", "age from 50 on")) // nobody in common, and another table
			if first != second {
				continue
			}
			letOut(t, l, described(first, young, "people", "age below 50"))
			letOut(t, l, described(first, young, "renamed again", "age below 50")) // under any name
		}
	}
	l := Ledger(t.TempDir())
	letOut(t, l, described(method.ReleaseRows, young, "people", ""))
	mustHold(t, l, described(method.ReleaseRows, old, "people", "age from 50 on"), anotherSchema)
}

// Encoded rows of two tables under one schema are kept apart, each under its table's name: a half of
// the first one that has nobody in common with the other half is held afterwards, too.
func TestAttackAnotherSchemaAfterAnotherTable(t *testing.T) {
	l, set := Ledger(t.TempDir()), table(40, "age", "income")
	letOut(t, l, described(method.ReleaseRows, set.Subset(span(0, 20)), "people", "age below 50"))
	letOut(t, l, described(method.ReleaseRows, others(set), "others", "age below 50"))
	mustHold(t, l, described(method.ReleaseRows, set.Subset(span(20, 40)), "people", "age from 50 on"), anotherSchema)
}

// Approved rows under another schema, or a fit, are kept by themselves: what was out before passes.
func TestRowsUnderTwoSchemasAreKeptApart(t *testing.T) {
	l, set := Ledger(t.TempDir()), table(40, "age", "income")
	first, second := described(method.ReleaseRows, set, "people", "first"), described(method.ReleaseRows, set, "people", "second")
	letOut(t, l, first)
	if err := l.Approve(mustHold(t, l, second, anotherSchema), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, second)
	letOut(t, l, first)
	mustHold(t, l, described(method.ReleaseRows, set, "people", "third"), anotherSchema)
	if list, err := l.List(); err != nil || len(list) != 3 {
		t.Errorf("%+v, %v; want two releases, and one that is held", list, err)
	}
}
