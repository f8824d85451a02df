package disclosure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// modelOf is the release of a model of the first n rows: its numbers for each hundred cells.
func modelOf(set *dataset.Set, n int, job string, percent int64, peers ...string) method.Release {
	r := of(method.ReleaseModels, set.Subset(linalg.Range(0, n)))
	r.Model, r.Numbers, r.Cells = job, percent, 100
	if peers != nil {
		r.Peers = peers
	}
	return r
}

// Two models of rows that differ by few people tell about these people, whatever columns and parties they have.
func TestModelsThatDifferByFewPeople(t *testing.T) {
	both := table(200, "age", "income")
	age := both.SelectColumns([]int{0})
	age.IDs = both.IDs
	for name, second := range map[string]method.Release{
		"alike":         modelOf(both, 109, "b", 1),
		"other columns": modelOf(age, 109, "b", 1),
		"other parties": modelOf(both, 109, "b", 1, "x", "y"),
		"fewer":         modelOf(both, 91, "b", 1),
	} {
		l := Ledger(t.TempDir())
		letOut(t, l, modelOf(both, 100, "a", 1))
		said := "9 people are in this job and not in the earlier one, 0 in the earlier one alone: the two models together tell about these 9 alone"
		if name == "fewer" {
			said = "0 people are in this job and not in the earlier one, 9 in the earlier one alone: the two models together tell about these 9 alone"
		}
		mustHold(t, l, second, said)
	}
	l := Ledger(t.TempDir())
	letOut(t, l, modelOf(both, 100, "a", 1))
	letOut(t, l, modelOf(both, 110, "b", 1))
	letOut(t, l, modelOf(age, 110, "c", 1, "x", "y"))
}

// Nine people of one class are few, among twelve who came.
func TestModelsThatDifferByFewOfAClass(t *testing.T) {
	set := *table(200, "age", "income")
	for i := range 200 {
		set.Labels = append(set.Labels, map[bool]string{true: "ill", false: "well"}[i%2 == 0 || i >= 100 && i < 103])
	}
	labelled := func(n int, job string) method.Release {
		r := modelOf(&set, n, job, 1)
		r.Label, r.Classes = "ill", true
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, labelled(100, "a"))
	mustHold(t, l, labelled(112, "b"), "5 people are of one class and in only one of the two jobs: the two models together tell about these 5 alone")
	letOut(t, l, labelled(140, "c"))
}

// A row with other values is a person who left and one who came.
func TestModelsOfAChangedRow(t *testing.T) {
	set := table(200, "age", "income")
	changed := dataset.DenseOf(set.X).Matrix()
	other := linalg.New[float64](changed.Rows, changed.Cols)
	copy(other.Data, changed.Data)
	other.Data[0]++
	late := *set
	late.X = dataset.NewDense(other)
	l := Ledger(t.TempDir())
	letOut(t, l, modelOf(set, 200, "a", 1))
	mustHold(t, l, modelOf(&late, 200, "b", 1), "the difference of the two models reveals what changed")
	mustHold(t, l, modelOf(&late, 200, "c", 1, "x", "y"), "the difference of the two models reveals what changed")
}

// The same rows are in three models, or attempts at one, whoever the keepers are.
func TestTheFourthModel(t *testing.T) {
	set := table(200, "age", "income")
	l := Ledger(t.TempDir())
	for i := range maxModels {
		letOut(t, l, modelOf(set, 200, fmt.Sprint("job ", i), 1))
	}
	letOut(t, l, modelOf(set, 200, "job 0", 1)) // the same job, in a later step
	mustHold(t, l, modelOf(set, 200, "another", 1, "x", "y"), "some of the rows have been in 3 models, or attempts at one, and each further model reveals more about single rows")
}

// Models of the same rows together have no more numbers than a quarter of the cells.
func TestModelsWithTooManyNumbers(t *testing.T) {
	set := table(200, "age", "income")
	l := Ledger(t.TempDir())
	letOut(t, l, modelOf(set, 200, "a", 20))
	mustHold(t, l, modelOf(set, 200, "b", 6), "with this job, the models over some of the rows have 26 % as many numbers as these rows have cells, and 20 % without it")
	letOut(t, l, modelOf(set, 200, "c", 5))
}

// Weights in the directions of the columns tell by which rotation rows were encoded.
func TestModelsBesideEncodedRows(t *testing.T) {
	set := table(200, "age", "income")
	const said = "200 people would be both in a model and among encoded rows"
	l := Ledger(t.TempDir())
	letOut(t, l, of(method.ReleaseRows, set))
	mustHold(t, l, modelOf(set, 200, "a", 1), said)
	l = Ledger(t.TempDir())
	letOut(t, l, modelOf(set, 200, "a", 1))
	mustHold(t, l, of(method.ReleaseRows, set), said)
}

// A coordinator has the sums over all people but one, and as a party's accomplice the model of all: the model's equations
// less the sums are that person's. The second of a model and sums waits, in either order, also over other columns, with
// other parties, or where one of a class changed.
func TestAttackAModelBesideSums(t *testing.T) {
	both := table(200, "age", "income")
	for i := range 200 {
		both.Labels = append(both.Labels, map[bool]string{true: "ill", false: "well"}[i%2 == 0])
	}
	age := both.SelectColumns([]int{0})
	age.IDs, age.Labels = both.IDs, both.Labels
	relabelled := *both
	relabelled.Labels = append([]string{"well"}, both.Labels[1:]...)
	labelled := func(kind method.ReleaseKind, set *dataset.Set, n int, job string) method.Release {
		r := modelOf(set, n, job, 1)
		r.Kind, r.Label, r.Classes = kind, "diagnosis", true
		return r
	}
	models, sums := method.ReleaseModels, method.ReleaseSums
	for _, order := range [][2]method.ReleaseKind{{models, sums}, {sums, models}} {
		for name, tt := range map[string]struct {
			second *dataset.Set
			n      int
			peers  []string
			held   bool
		}{
			"the same people":       {both, 100, nil, false},
			"one more":              {both, 101, nil, true},
			"one less":              {both, 99, nil, true},
			"nine more of a class":  {both, 118, nil, true},
			"ten of each class":     {both, 120, nil, false},
			"one more, one column":  {age, 101, nil, true},
			"all, one column":       {age, 100, nil, false},
			"one more, other peers": {both, 101, []string{"x", "y"}, true},
			"another label of one":  {&relabelled, 100, nil, true},
			"another value of one":  {edited(both, 7, 1), 100, nil, true},
		} {
			l := Ledger(t.TempDir())
			letOut(t, l, labelled(order[0], both, 100, "a"))
			r := labelled(order[1], tt.second, tt.n, "b")
			if tt.peers != nil {
				r.Peers = tt.peers
			}
			if !tt.held {
				letOut(t, l, r)
				continue
			}
			id := mustHold(t, l, r, besides)
			if err := l.Approve(id, agree); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			letOut(t, l, r)
			letOut(t, l, labelled(order[0], both, 100, "a")) // both are out
		}
	}
}

// asModel is a release of sums as one of a model with few numbers.
func asModel(r method.Release, job string) method.Release {
	r.Kind, r.Model, r.Numbers, r.Cells = method.ReleaseModels, job, 1, 100
	return r
}

// What holds the second of two sums over an unchanged or a changed table holds the second of two models. Each row is an
// attack on sums.
func TestAttacksOnSumsMeetModels(t *testing.T) {
	front := table(401, "age", "income") // without ids a row is known by its place
	front.IDs = nil
	first := linalg.New[float64](401, 2)
	linalg.Gather(first, dataset.RowsOf(front.X), 0)
	first.Row(0)[0] = 97
	front.X = dataset.NewDense(first)
	whole := table(400, "age", "income")
	visits := func(rows []int, each int, groups bool) method.Release {
		r := sums(rows, "")
		for i := range r.Set.IDs {
			if groups {
				r.Set.Groups = append(r.Set.Groups, fmt.Sprint("patient ", i/each))
			}
		}
		return r
	}
	split := func(name string) method.Release {
		r := sums(span(0, 200), "")
		r.Split = "all rows of " + name
		return r
	}
	for name, tt := range map[string]struct {
		first, second method.Release
		want          string // "" where it passes
	}{
		"somebody leaves":              {sumWith(whole, span(0, 400), "b", "c"), sumWith(whole, span(1, 400), "b", "c"), "1 in the earlier one alone"},
		"one held out for another":     {sums(span(0, 100), ""), sums(span(1, 101), ""), "1 person is in this job and not in the earlier one, 1 in the earlier one alone"},
		"ten for ten":                  {sums(span(0, 100), ""), sums(span(5, 105), ""), ""},
		"a row in front":               {sumWith(front.Subset(span(1, 401)), nil, "b", "c"), sumWith(front, nil, "b", "c"), "400 rows have other values"},
		"one patient's visits":         {visits(span(0, 200), 20, true), visits(span(0, 180), 20, true), "about these 1 alone"},
		"ten patients' visits":         {visits(span(0, 200), 5, true), visits(span(0, 150), 5, true), ""},
		"visits without patients":      {visits(span(0, 200), 5, true), visits(span(0, 150), 5, false), "does not record which rows belong to one person"},
		"one with another number":      {ill(110, false, ""), ill(100, false, ""), "1 person has another label than the rest"},
		"one of a class":               {ill(110, true, ""), ill(100, true, ""), "1 person is of one class"},
		"classes after numbers":        {ill(110, false, ""), ill(100, true, ""), "1 person is of one class"},
		"a split that the job chooses": {sums(span(0, 150), ""), split("east"), "the job, not the party's key, chooses the held-out rows"},
		"another schema": {described(method.ReleaseModels, whole.Subset(span(0, 200)), "people", "age below 50"),
			described(method.ReleaseModels, whole.Subset(span(200, 400)), "people", "age from 50 on"), anotherSchema},
	} {
		l := Ledger(t.TempDir())
		letOut(t, l, asModel(tt.first, "a"))
		t.Run(name, func(t *testing.T) {
			if tt.want == "" {
				letOut(t, l, asModel(tt.second, "b"))
			} else {
				mustHold(t, l, asModel(tt.second, "b"), tt.want)
			}
		})
	}
}

// A coordinator has sixteen jobs open at a time, all admitted before the first one shares anything: each counts.
func TestAttackModelsOfJobsOpenAtOnce(t *testing.T) {
	l, admitted := Ledger(t.TempDir()), 0
	for k := range 16 {
		_, err := l.Admit(Asker{}, asModel(sums(span(0, 100), ""), fmt.Sprint("job ", k)), 0)
		if why := whyHeld(t, err); why == nil {
			admitted++
		}
	}
	if admitted != maxModels {
		t.Errorf("%d models of the same rows are admitted, want %d", admitted, maxModels)
	}
}

// Sums of another table of the home, some of whose people are in the model, cannot be compared with it, nor can an edition
// with a table that is none.
func TestModelsBesideSumsOfAnotherTable(t *testing.T) {
	in := func(table, edition string, ids ...string) func(*method.Release) {
		return func(r *method.Release) { r.Table, r.Edition.ID, r.Edition.IDs = table, edition, ids }
	}
	for _, order := range [][2]method.ReleaseKind{{method.ReleaseSums, method.ReleaseModels}, {method.ReleaseModels, method.ReleaseSums}} {
		l := Ledger(t.TempDir())
		letOut(t, l, frozen(order[0], 1))
		letOut(t, l, with(frozen(order[1], 1), in("others", strings.Repeat("f", 32), "q1")))
		mustHold(t, l, with(frozen(order[1], 1), in("others", strings.Repeat("e", 32), "p2")), peopleInBoth)
		plain := of(order[1], table(20, "age", "income"))
		plain.Table, plain.Schema = "people", "dictionary d"
		mustHold(t, l, plain, "of an edition of the table and this one is not")
		l = Ledger(t.TempDir()) // the entry of a former program lists its rows, and an edition beside it its own
		plain.Kind = order[0]
		letOut(t, l, plain)
		now := with(plain, func(r *method.Release) {
			r.Kind, r.Edition = order[1], method.Edition{ID: strings.Repeat("a", 32), Number: 1, IDs: r.Set.IDs}
		})
		mustHold(t, l, with(now, func(r *method.Release) { r.Set = edited(r.Set, 7, 0) }), besides)
		letOut(t, l, now)
	}
}
