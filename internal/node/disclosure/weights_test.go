package disclosure

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
)

// weighed is a release of encoded rows with labels and the given weights, from column w.
func weighed(weights ...float64) method.Release {
	set := table(len(weights), "age", "income")
	for i := range weights {
		set.Labels = append(set.Labels, []string{"well", "ill"}[i%2])
	}
	r := of(method.ReleaseRows, set)
	r.Label, r.Weight, set.Weights = "diagnosis", "w", weights
	return r
}

// unweighed is the same release without the weights.
func unweighed(r method.Release) method.Release {
	set := *r.Set
	r.Weight, set.Weights = "", nil
	r.Set = &set
	return r
}

// The ledger sees weights as released: weights of rows that it knows without weights are new, and so
// are weights of another column and changed ones. The same weights pass, and so do no weights after
// weights.
func TestLedgerOfWeights(t *testing.T) {
	fresh := func() Ledger { return Ledger(filepath.Join(t.TempDir(), "releases")) }
	first := weighed(1, 2, 0, 3, 1, 1)
	l := fresh()
	letOut(t, l, first)
	letOut(t, l, first)
	letOut(t, l, unweighed(first))
	letOut(t, l, weighed(1, 2, -5, 3, 1, 1)) // a negative weight is sent as 0
	letOut(t, l, weighed(1, 2, 0, 3, 1, 1, 7))
	mustHold(t, l, weighed(1, 2, 0, 3, 1, 4), "1 row has another weight than in the earlier job: together they reveal whose weight changed")
	mustHold(t, l, weighed(0, 2, 0, 3, 1, 4), "2 rows have other weights than in the earlier job")
	other := first
	other.Weight = "v"
	mustHold(t, l, other, `the weight of the rows is column "v", formerly column "w": the coordinator learns these weights beside what it knows of the same rows`)
	l = fresh()
	letOut(t, l, unweighed(first))
	mustHold(t, l, first, `the weight of the rows is column "w", formerly none`)
	changed := unweighed(first)
	changed.Set = edited(changed.Set, 2, 0)
	l = fresh()
	letOut(t, l, first)
	mustHold(t, l, changed, "1 row has other values than in the earlier job")
}

// The ledger compares all rows of a person, with each row's weight.
func TestWeightsOfAPersonWithSeveralRows(t *testing.T) {
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	of := func(weights ...float64) method.Release {
		r := weighed(weights...)
		r.Set.IDs = []string{"p0", "p0", "p1"}
		return r
	}
	letOut(t, l, of(1, 2, 3))
	letOut(t, l, of(1, 2, 3))
	mustHold(t, l, of(1, 4, 3), "1 row has another weight")
}

// An entry with weights is read as it was written, and an entry without weights has the format that
// earlier programs read.
func TestFormatOfWeights(t *testing.T) {
	r := weighed(1, 0, 2)
	e := newEntry(testKey, r)
	b := e.Encode()
	got, err := DecodeEntry(b)
	if err != nil || got.Weight != "w" || !bytes.Equal(got.Encode(), b) || got.ID() != e.ID() || got.Rows[0].Weight == ([8]byte{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if bare := newEntry(testKey, unweighed(r)).Encode(); !bytes.Contains(bare, []byte(groupMagic)) || !bytes.Contains(b, []byte(weightMagic)) {
		t.Error("the formats do not follow from the weights")
	}
	if id(r) == id(unweighed(r)) || id(r) == id(weighed(1, 0, 3)) {
		t.Error("the weights do not count in the ID")
	}
	for n := range len(b) {
		if _, err := DecodeEntry(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are an entry", n, len(b))
		}
	}
}

// Two editions that differ in few weights are cleared for each other only if the later one lists the
// earlier one, and a release without weights is not cleared by one with weights.
func TestEditionsWithWeights(t *testing.T) {
	of := func(edition string, clear []string, weight bool) method.Release {
		r := weighed(1, 2, 3)
		r.Edition = method.Edition{ID: edition, Number: len(edition), IDs: r.Set.IDs, Clear: method.Clear{Rows: clear}}
		if !weight {
			return unweighed(r)
		}
		return r
	}
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	letOut(t, l, of("e", nil, true))
	letOut(t, l, of("ee", []string{"e"}, true))
	mustHold(t, l, of("eee", nil, true), "one to nine people of edition 3 may have other values, labels or weights than in")
	letOut(t, l, of("e", nil, false))
	l = Ledger(filepath.Join(t.TempDir(), "releases"))
	letOut(t, l, of("e", nil, false))
	mustHold(t, l, of("e", nil, true), `the weight of the rows is column "w", formerly none`)
}
