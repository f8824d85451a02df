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
	mustHold(t, l, sumWith(a, nil, "b"), went+"c; the difference of the two sums is the sum over their rows alone, and three such sums reveal each party's own")
	mustHold(t, l, sumWith(a, nil, "c"), went+"b")
	mustHold(t, l, sumWith(a, nil, "b", "c", "d"), came+"d")
	mustHold(t, l, sumWith(a, span(0, 200), "b"), went+"c") // rows that a larger sum had
	mustHold(t, l, sumWith(a, span(0, 200), "b", "d"), came+"d")
	letOut(t, l, sumWith(a, span(0, 200), "b", "c"))
	letOut(t, l, sumWith(others(a), nil, "b")) // other people
}

// People leave one after the other. The difference of two successive sums is one person's row.
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

func firstSums(set *dataset.Set, n int, model string) method.Release {
	r := of(method.ReleaseSums, set.Subset(linalg.Range(0, n)))
	r.Model = model
	return r
}

// A sum over other columns that was approved makes its rows known one by one, and not the sums over few of
// them: one person less than in a sum before it is seen.
func TestAttackKnownRowsOfSums(t *testing.T) {
	both := table(200, "age", "income")
	age := both.SelectColumns([]int{0})
	age.IDs = both.IDs
	l := Ledger(t.TempDir())
	letOut(t, l, firstSums(both, 100, "a"))
	held := mustHold(t, l, firstSums(age, 110, "b"), "income")
	if err := l.Approve(held, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, firstSums(age, 110, "b"))
	mustHold(t, l, firstSums(age, 99, "c"), "1 in the earlier one alone")
	read := minus(total(both.Subset(linalg.Range(0, 100))), total(age.Subset(linalg.Range(0, 99))))[0]
	if want := both.X.Row(99, nil)[0]; read != want {
		t.Errorf("%v, want person 99's age %v", read, want)
	}
}

// ill has labels 0 and 1; of the people from 100 on, number 105 alone has 1.
func ill(n int, classes bool, model string) method.Release {
	set := table(200, "age", "income")
	for i := range 200 {
		label := "0"
		if i < 100 && i%2 == 1 || i == 105 {
			label = "1"
		}
		set.Labels = append(set.Labels, label)
	}
	r := firstSums(set, n, model)
	r.Label, r.Classes = "ill", classes
	return r
}

// Two jobs of a learner of numbers whose labels have two values: the sums of label times features would
// differ by one person's.
func TestAttackNumbersOfTwoValues(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, ill(110, false, "first"))
	mustHold(t, l, ill(100, false, "second"), "1 person has another label than the rest")
	weighted := func(n int) (sum float64) {
		set := ill(n, false, "").Set
		for i := range n {
			if set.Labels[i] == "1" {
				sum += set.X.Row(i, nil)[0]
			}
		}
		return sum
	}
	if got, want := weighted(110)-weighted(100), table(200, "age", "income").X.Row(105, nil)[0]; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A job of a learner of numbers over the rows of a classifier's takes no classes from its entry.
func TestAttackNumbersEraseClasses(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, ill(110, true, "classifier"))
	mustHold(t, l, ill(100, true, "fewer"), "1 person is of one class")
	letOut(t, l, ill(110, false, "ridge")) // a repetition: passes
	mustHold(t, l, ill(100, true, "fewer"), "1 person is of one class")
}

// A third value is no excuse: twelve people come, ten with label 0, one with 1 and one with 2. The sum of
// label times features differs by the last two's alone.
func TestAttackNumbersOfThreeValues(t *testing.T) {
	labelled := func(n int, model string) method.Release {
		r := ill(n, false, model)
		if n > 106 {
			r.Set.Labels[106] = "2"
		}
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, labelled(112, "first"))
	mustHold(t, l, labelled(100, "second"), "2 people have another label than the rest")
}

// Twenty visits are one patient's: sums that differ by them alone are that patient's, and sums that differ by ten
// patients' visits are not. A release that knows no groups is no company.
func TestAttackSumsThatDifferByOnePatientsVisits(t *testing.T) {
	visits := func(rows []int, model string, groups bool) method.Release {
		r := sums(rows, model)
		for i := range r.Set.IDs {
			if groups {
				r.Set.Groups = append(r.Set.Groups, fmt.Sprint("patient ", i/20))
			}
		}
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, visits(span(0, 200), "first", true))
	mustHold(t, l, visits(span(0, 180), "second", true), "over these 1 alone")
	mustHold(t, l, visits(span(0, 195), "third", true), "over these 1 alone")
	mustHold(t, l, visits(span(0, 100), "fourth", true), "over these 5 alone")
	mustHold(t, l, visits(span(0, 100), "fifth", false), "does not record which rows belong to one person")
	many := visits(span(0, 200), "sixth", true)
	for i := range many.Set.Groups {
		many.Set.Groups[i] = fmt.Sprint("patient ", i/5)
	}
	other := Ledger(t.TempDir())
	letOut(t, other, many)
	few := many
	few.Among, few.Model = span(0, 150), "seventh"
	admit(t, other, few)
}
