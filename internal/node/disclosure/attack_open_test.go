package disclosure

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
)

// A coordinator has sixteen jobs open at a time, all admitted before the first one releases anything:
// each counts. The ledger's caller represents one that proposes any number of jobs in any order.
func TestAttackSumsOfJobsOpenAtOnce(t *testing.T) {
	l, out := Ledger(t.TempDir()), 0
	for round := range 3 {
		var ids []string
		for k := range 16 {
			id, err := l.Admit(Asker{}, sums(span(0, 100), fmt.Sprint("m", round, "/", k)), 0)
			if errors.As(err, new(*HeldError)) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if err := l.Release(method.ReleaseSums, id); err != nil {
				t.Fatal(err)
			}
			out++
		}
	}
	list, err := l.List()
	if err != nil || out != maxSums || len(list) == 0 || list[0].Uses != out {
		t.Errorf("%d sums are out, want %d, and the ledger has %+v, %v", out, maxSums, list, err)
	}
}

// The same for random directions over all jobs.
func TestAttackDirectionsOfJobsOpenAtOnce(t *testing.T) {
	l := Ledger(t.TempDir())
	admission := 0
	for k := range 16 {
		r := of(method.ReleasePhases, table(40, "age", "income"))
		r.Model, r.Directions = fmt.Sprint("m", k), 100
		_, err := l.Admit(Asker{}, r, 400)
		if errors.As(err, new(*DirectionsError)) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		admission++
	}
	if admission != 4 {
		t.Errorf("%d jobs of 100 directions are admitted where 400 are allowed", admission)
	}
}

// Two studies have a schema each over one table that grows. The second of them is approved once, and
// both continue; a third schema waits.
func TestTwoStudiesOverATableThatGrows(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, described(method.ReleaseRows, table(40, "age", "income"), "people", "first"))
	second := described(method.ReleaseRows, table(50, "age", "income"), "people", "second")
	if err := l.Approve(mustHold(t, l, second, "the job's schema or views differ"), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, second)
	for week := range 5 {
		for _, schema := range []string{"first", "second"} {
			letOut(t, l, described(method.ReleaseRows, table(60+10*week, "age", "income"), "people", schema))
		}
	}
	mustHold(t, l, described(method.ReleaseRows, table(100, "age", "income"), "people", "third"), "the job's schema or views differ")
}

// Two sums differ by many people, of whom few are of one class: the difference of that class's sums is
// theirs. Ten of each pass, and so do the same people again.
func TestAttackFewOfAClassInADifference(t *testing.T) {
	l := Ledger(t.TempDir())
	classed := func(rows []int, ill ...int) method.Release {
		r := sums(rows, "m")
		r.Label, r.Classes = "diagnosis", true
		set := *r.Set
		set.Labels = make([]string, set.X.Rows())
		for i := range set.Labels {
			set.Labels[i] = "well"
			if i%2 == 0 && i < 100 {
				set.Labels[i] = "ill"
			}
		}
		for _, i := range ill {
			set.Labels[i] = "ill"
		}
		r.Set, r.Table, r.Model = &set, "people", fmt.Sprint(len(rows), ill)
		return r
	}
	letOut(t, l, classed(span(0, 100)))
	mustHold(t, l, classed(span(0, 120), 105), "1 person is of one class and in only one of the two jobs")
	letOut(t, l, classed(span(0, 120), 100, 101, 102, 103, 104, 105, 106, 107, 108, 109))
	letOut(t, l, classed(span(0, 100)))
}
