package disclosure

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// The adversary of these tests is the coordinator, which sees the sums over all parties' rows.

// total adds up the columns of tables.
func total(tables ...*dataset.Set) []float64 {
	sum := make([]float64, tables[0].X.Cols())
	for _, set := range tables {
		for i := range set.X.Rows() {
			set.X.Each(i, func(c int, v float64) { sum[c] += v })
		}
	}
	return sum
}

// minus subtracts sums from sums.
func minus(a, b []float64) []float64 {
	d := slices.Clone(a)
	for i := range b {
		d[i] -= b[i]
	}
	return d
}

func sumWith(set *dataset.Set, among []int, peers ...string) method.Release {
	r := of(method.ReleaseSums, set)
	r.Peers, r.Among, r.Model = append(peers, "hub"), among, fmt.Sprint(peers, len(among), set.X.Rows())
	return r
}

// No job holds a party out: it names other parties. Three sums give each party's own. The second
// set of parties is held, larger or smaller, and the same set passes in any order.
func TestAttackSumsOfOtherParties(t *testing.T) {
	a, b, c := table(400, "age", "income"), others(table(300, "age", "income")), edited(table(200, "age", "income"), 7, 1)
	without := minus(total(a, b, c), total(a, c)) // b's own
	if read := minus(total(a, b), without); !slices.Equal(read, total(a)) {
		t.Errorf("the coordinator reads %v of a, which has %v", read, total(a))
	}
	l := Ledger(t.TempDir())
	letOut(t, l, sumWith(a, nil, "b", "c"))
	letOut(t, l, sumWith(a, nil, "c", "b"))
	const went, came = "peers that took part then and do not now: ", "peers that did not take part then: "
	mustHold(t, l, sumWith(a, nil, "b"), went+"c; the difference of the two sums is one over their rows alone, and three such sums tell each party's own")
	mustHold(t, l, sumWith(a, nil, "c"), went+"b")
	mustHold(t, l, sumWith(a, nil, "b", "c", "d"), came+"d")
	mustHold(t, l, sumWith(a, span(0, 200), "b"), went+"c") // rows that a larger sum had
	mustHold(t, l, sumWith(a, span(0, 200), "b", "d"), came+"d")
	letOut(t, l, sumWith(a, span(0, 200), "b", "c"))
	letOut(t, l, sumWith(others(a), nil, "b")) // other people
}

// People who leave one after the other are each the difference of two sums.
func TestAttackWithdrawals(t *testing.T) {
	whole := table(400, "age", "income")
	left := slices.Delete(span(0, 400), 7, 8)
	if read := minus(total(whole), total(whole.Subset(left))); !slices.Equal(read, total(whole.Subset([]int{7}))) {
		t.Errorf("the coordinator reads %v", read)
	}
	l := Ledger(t.TempDir())
	letOut(t, l, sumWith(whole, span(0, 400), "b", "c"))
	mustHold(t, l, sumWith(whole, left, "b", "c"), "0 people are in this job and not in the earlier one, 1 in the earlier one alone")
	mustHold(t, l, sumWith(whole.Subset(left), nil, "b", "c"), "1 in the earlier one alone")
	left = span(0, 397)
	mustHold(t, l, sumWith(whole, left, "b", "c"), "3 in the earlier one alone")
}

// In a table without ids a row is known by its place: one that is put in front has changed them all.
func TestAttackARowInFront(t *testing.T) {
	all := table(401, "age", "income")
	all.IDs = nil
	m := linalg.New[float64](401, 2)
	linalg.Gather(m, dataset.RowsOf(all.X), 0)
	m.Row(0)[0] = 97
	all.X = dataset.NewDense(m)
	behind := all.Subset(span(1, 401))
	if read := minus(total(all), total(behind)); !slices.Equal(read, total(all.Subset([]int{0}))) {
		t.Errorf("the coordinator reads %v", read)
	}
	l := Ledger(t.TempDir())
	letOut(t, l, sumWith(behind, nil, "b", "c"))
	mustHold(t, l, sumWith(all, nil, "b", "c"), "400 rows have other values")
}

// An extract whose pseudonyms are new each time is a table of other people to the ledger, so that this
// attack succeeds: a party that keeps such a table has no ledger. It is possible until the ledger
// knows editions of a table.
func TestAttackNewPseudonymsSucceeds(t *testing.T) {
	one, two := table(400, "age", "income"), others(table(401, "age", "income"))
	if read := minus(total(two), total(one)); !slices.Equal(read, total(two.Subset([]int{400}))) {
		t.Errorf("the coordinator reads %v", read)
	}
	l := Ledger(t.TempDir())
	letOut(t, l, sumWith(one, nil, "b", "c"))
	letOut(t, l, sumWith(two, nil, "b", "c"))
	letOut(t, l, of(method.ReleaseRows, others(two))) // and so does the one by encoded rows
}
