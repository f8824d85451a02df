package disclosure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// The adversary of these tests sees all releases of a party, as the coordinator or an active worker
// does, and proposes any jobs; the party's table may change in between. The adversary knows the
// ledger's rules, and not its key.

func question(ids []string, values ...float64) method.Release {
	m := linalg.New[float64](len(ids), 1)
	copy(m.Data, values)
	return method.Release{
		Kind: method.ReleaseProducts, Job: "job", Question: true, Peers: []string{"hub", "south"}, Model: "m",
		Set: &dataset.Set{IDs: ids, X: dataset.NewDense(m), Columns: []string{"hiv"}},
	}
}

// Two questions to one model are about different people, except for one person whose record has
// changed: the products of both with the whole model would reveal the change.
func TestAttackChangedValueWithinOneModel(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, question([]string{"x", "y"}, 0, 0))
	letOut(t, l, question([]string{"y", "v"}, 0, 1)) // others of the same model pass
	mustHold(t, l, question([]string{"x", "z"}, 1, 0), "1 row has other values")
	mustHold(t, l, question([]string{"x", "y"}, 1, 0), "1 row has other values")
	list, err := l.List()
	if err != nil || list[0].Rows != 3 {
		t.Errorf("questions about one model are kept as %+v, %v; want one entry of 3 rows", list, err)
	}
}

// A job's id and file together identify a model. Another job under a used id is compared with the rows
// of the model.
func TestAttackModelUnderAUsedName(t *testing.T) {
	l := Ledger(t.TempDir())
	training := products(table(8, "age", "income"), "hub", "south")
	training.Model = "id and one file"
	letOut(t, l, training)
	more := products(table(9, "age", "income").Subset([]int{7, 8}), "hub", "south")
	more.Question, more.Model = true, "id and another file"
	mustHold(t, l, more, "1 rows are new in this question, 7 of the earlier one are missing")
	more.Model = training.Model
	letOut(t, l, more)
}

// The same model trained again is of the same rows: its questions are no others.
func TestQuestionsAfterTrainingAgain(t *testing.T) {
	l := Ledger(t.TempDir())
	for _, model := range []string{"first", "second"} {
		training := products(table(8, "age", "income"), "hub", "south")
		training.Model = model
		letOut(t, l, training)
		more := products(table(10, "age", "income").Subset([]int{6, 7, 8}), "hub", "south")
		more.Question, more.Model = true, model
		letOut(t, l, more)
		more.Set = table(10, "age", "income").Subset([]int{7, 8, 9})
		letOut(t, l, more)
	}
}

// A model whose job was approved can be asked about its own rows, though an earlier job
// without one of its columns is in the ledger: the difference has been approved.
func TestQuestionAboutApprovedRows(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(8, "age"), "hub", "south"))
	training := products(table(8, "age", "income"), "hub", "south")
	training.Model = "m"
	if err := l.Approve(mustHold(t, l, training, "income"), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, training)
	asked := products(table(8, "age", "income").Subset([]int{2, 3}), "hub", "south")
	asked.Question, asked.Model = true, "m"
	letOut(t, l, asked)
	letOut(t, l, training)
	changed := asked
	changed.Set = edited(table(8, "age", "income"), 2, 0).Subset([]int{2, 3})
	mustHold(t, l, changed, "1 row has other values")
}

// Rows encoded by an isometry have their Gram matrix, however new the isometry: other
// labels, columns, scales or values of the same rows are held; more rows pass.
func TestAttackDifferentJobsOverEncodedRows(t *testing.T) {
	l := Ledger(t.TempDir())
	base := of(method.ReleaseRows, table(20, "age", "income"))
	base.Label = "ill"
	letOut(t, l, base)
	change := func(do func(*method.Release)) method.Release {
		r := base
		r.Job, r.Peers = "another", []string{"hub", "elsewhere"}
		do(&r)
		return r
	}
	wealthy, older := table(12, "age", "income", "wealth"), edited(table(30, "age", "income"), 3, 1)
	for want, r := range map[string]method.Release{
		`column "income", in the earlier job and not in this one`: change(func(r *method.Release) { r.Set = table(20, "age") }),
		`column "wealth", in this job`:                            change(func(r *method.Release) { r.Set = wealthy }),
		`the label is column "dead", formerly column "ill"`:       change(func(r *method.Release) { r.Label = "dead" }),
		`columns are scaled by none, formerly by standard`:        change(func(r *method.Release) { r.Scale = "none" }),
		`1 row has other values`:                                  change(func(r *method.Release) { r.Set = older }),
	} {
		mustHold(t, l, r, want)
	}
	letOut(t, l, change(func(r *method.Release) { r.Set = table(30, "age", "income") }))
	letOut(t, l, change(func(r *method.Release) { r.Set = table(5, "age", "income") }))
}

func sums(rows []int, model string) method.Release {
	r := of(method.ReleaseSums, table(200, "age", "income"))
	r.Among, r.Model = rows, model
	return r
}

func span(from, to int) []int {
	var rows []int
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return rows
}

// Two exact sums over rows that differ by a few people reveal the sum over these people, for any choice of
// held-out rows and in steps of any size.
func TestAttackSumsThatDifferByFewPeople(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sums(span(0, 100), "m0"))
	for name, rows := range map[string][]int{
		"1 less": span(1, 100), "1 more": span(0, 101), "9 less": span(9, 100), "one for another": span(1, 101), "4 for 5": span(4, 105),
	} {
		if _, err := l.Admit(Asker{}, sums(rows, name), 0); whyHeld(t, err) == nil {
			t.Errorf("%s: passes", name)
		}
	}
	letOut(t, l, sums(span(10, 100), "m1"))
	mustHold(t, l, sums(span(11, 100), "m2"), "1 in the earlier one alone: the difference of the two sums is the sum over these 1 alone")
	letOut(t, l, sums(span(5, 105), "m3"))
	mustHold(t, l, sums(span(5, 106), "m4"), "1 person is in this job and not in the earlier one")
	letOut(t, l, sums(span(120, 200), "m5")) // others
}

// A value, a label or a person's other row that changes between two sums over the same
// people is held, even if nothing else changes; a change that cannot be compared is held too.
func TestAttackSumsOfAChangedRow(t *testing.T) {
	l := Ledger(t.TempDir())
	base := sums(span(0, 100), "m0")
	base.Set.Labels = slices.Repeat([]string{"ill"}, 200)
	base.Label = "diagnosis"
	letOut(t, l, base)
	change := func(do func(*method.Release)) method.Release {
		r := base
		set := *base.Set
		r.Set, r.Model, r.Scale = &set, "m1", "none"
		do(&r)
		return r
	}
	letOut(t, l, change(func(*method.Release) {}))
	mustHold(t, l, change(func(r *method.Release) { r.Set.X = edited(r.Set, 17, 1).X }), "1 row has other values")
	mustHold(t, l, change(func(r *method.Release) {
		r.Set.X, r.Among = edited(r.Set, 17, 1).X, span(0, 140)
	}), "1 row has other values")
	mustHold(t, l, change(func(r *method.Release) {
		r.Set.Labels = slices.Clone(r.Set.Labels)
		r.Set.Labels[40] = "healthy"
	}), "1 row has other values")
	mustHold(t, l, change(func(r *method.Release) { r.Set.X, r.Set.Columns = r.Set.X.Columns([]int{0}), []string{"age"} }), `column "income", in the earlier job`)
}

// With three parties, sums that leave each out in turn give every party's own sums by
// subtraction: a split that the job chooses is held until it is approved, each by itself, and
// an approved one counts as often as any sum.
func TestAttackSumsThatLeaveAPartyOutInTurn(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, sums(span(0, 150), "m"))
	without := func(name, model string) method.Release {
		r := sums(span(0, 200), model)
		r.Split = "all rows of " + name
		return r
	}
	id := mustHold(t, l, without("east", "first"), "the job, not the party's key, chooses the held-out rows (all rows of east)")
	var held *HeldError
	if _, err := l.Admit(Asker{}, without("east", "first"), 0); !errors.As(err, &held) || held.Earlier != nil || !strings.Contains(held.Error(), "release approve "+id) || strings.Contains(held.Public(), "east") {
		t.Errorf("error %v", err)
	}
	if err := l.Approve(id, agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, without("east", "first"))
	letOut(t, l, without("east", "again"))
	if other := mustHold(t, l, without("south", "second"), "all rows of south"); other == id {
		t.Error("two splits of the same rows have one approval")
	}
	for i := range maxSums - 3 {
		letOut(t, l, without("east", fmt.Sprint("more", i)))
	}
	mustHold(t, l, without("east", "one too many"), "some of the rows have been in 20 sums")
}

// Two jobs with bounds a few days apart differ by the people of these days: also after the
// first has been approved the second one's reasons say how few they are.
func TestAttackTwoBoundsThatAreNear(t *testing.T) {
	l := Ledger(t.TempDir())
	until := func(rows int, day string) method.Release {
		r := sums(span(0, rows), "m"+day)
		r.Split = "rows with \"admitted\" from " + day + " on"
		return r
	}
	if err := l.Approve(mustHold(t, l, until(150, "2024-01-01"), "2024-01-01"), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, until(150, "2024-01-01"))
	mustHold(t, l, until(153, "2024-01-03"), "3 people are in this job and not in the earlier one")
	mustHold(t, l, until(150, "2024-01-02"), "2024-01-02") // nobody was admitted on the first
}

// The same rows go into 20 sums, and into each further one only if the operator approves it; a job that
// continues after a crash counts once.
func TestAttackManySumsOfTheSameRows(t *testing.T) {
	l := Ledger(t.TempDir())
	for i := range maxSums {
		letOut(t, l, sums(span(0, 100+10*(i%2)), fmt.Sprint("m", i)))
	}
	admit(t, l, sums(span(0, 100), "m18"))
	for i := range 2 {
		next := sums(span(0, 100), fmt.Sprint("next", i))
		id := mustHold(t, l, next, fmt.Sprintf("some of the rows have been in %d sums", maxSums+i))
		if err := l.Approve(id, agree); err != nil {
			t.Fatal(err)
		}
		letOut(t, l, next)
	}
	mustHold(t, l, sums(span(90, 190), "others too"), "some of the rows have been in 22 sums")
}

// Fresh directions in each job would make distances exact: they are counted over jobs,
// for each row by itself, and once if a question uses the directions of its model.
func TestAttackManyDirections(t *testing.T) {
	l := Ledger(t.TempDir())
	phases := func(rows []int, model string, directions int) method.Release {
		r := of(method.ReleasePhases, table(40, "age", "income").Subset(rows))
		r.Model, r.Directions = model, directions
		return r
	}
	pass := func(r method.Release) {
		t.Helper()
		id, err := l.Admit(Asker{}, r, 400)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(r.Kind, id); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		pass(phases(span(0, 20), fmt.Sprint("m", i), 100))
	}
	asked := phases(span(20, 30), "m2", 100)
	asked.Question = true
	pass(asked)
	pass(phases(span(0, 20), "m3", 100))
	var over *DirectionsError
	if _, err := l.Admit(Asker{}, phases(span(0, 20), "m4", 1), 400); !errors.As(err, &over) || over.Would != 401 || !strings.Contains(err.Error(), "max_directions_total") {
		t.Errorf("error %v", err)
	}
	pass(phases(span(0, 20), "m3", 100)) // goes on after a crash
	pass(phases(span(30, 40), "m5", 400))
}

// A peer that looks up other ids in each session, and breaks off once it has its answers, is stopped by
// the total number of its ids.
func TestAttackManyProbes(t *testing.T) {
	l := Ledger(t.TempDir())
	const most, total = 1000, 10_000
	passed := 0
	for i := range 1000 {
		session := fmt.Sprint("s", i)
		err := l.Expect(session, []string{"north", "south"}, most, total)
		var over *IDsError
		if errors.As(err, &over) {
			if over.Name != "north" || !strings.Contains(err.Error(), "max_ids_total") {
				t.Fatal(err)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		passed++
		switch i % 3 {
		case 0: // broken off after the announcement
			err = l.Announced(session, map[string]int{"north": 700, "south": 10})
		case 1: // a crash, after which nobody knows
			err = l.Restart(func(string) bool { return false })
		case 2: // ends well, and is told twice
			err = errors.Join(l.Announced(session, map[string]int{"north": 700, "south": 10}), l.Closed(session), l.Announced(session, map[string]int{"north": 1, "south": 1}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	peers, err := l.Peers()
	if err != nil || len(peers) != 2 || peers[0].IDs > total || peers[0].IDs <= total-most || peers[0].Sessions != passed {
		t.Errorf("after %d sessions: %+v, %v", passed, peers, err)
	}
	// A session that ended before anybody announced anything costs nothing.
	other := Ledger(t.TempDir())
	for i := range 100 {
		session := fmt.Sprint("s", i)
		if err := errors.Join(other.Expect(session, []string{"north"}, most, total), other.Announced(session, nil), other.Closed(session)); err != nil {
			t.Fatal(err)
		}
	}
}

// The ledger keeps a few words of a refused proposal, for a table of any size, and of a bounded number of
// proposals.
func TestAttackHeldReleasesFillTheDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	names := strings.Split("a b c d e f g h", " ")
	all := table(2000, names...)
	letOut(t, l, products(all, "north", "south"))
	size := func() (total int64) {
		files, err := os.ReadDir(string(l))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			total += info.Size()
		}
		return total
	}
	before, last := size(), ""
	for mask := 1; mask < 64; mask++ {
		var cols []int
		for c := range names {
			if mask>>c&1 == 1 {
				cols = append(cols, c)
			}
		}
		last = mustHold(t, l, products(all.SelectColumns(cols), "north", "south"), "column")
	}
	held := 0
	for _, s := range states(t, l) {
		if s == Held {
			held++
		}
	}
	if grown := size() - before; held != maxHeld || grown > 4<<10 {
		t.Errorf("63 refused proposals leave %d held releases and %d bytes", held, grown)
	}
	if err := l.Approve(last, agree); err != nil { // the last can still be approved
		t.Error(err)
	}
}

// Rows and products with labels, which leave row by row: one person's label changes, or the job's classes
// split in two what an earlier job merged. An earlier program's entry, without labels, holds neither.
func TestAttackOtherLabelsOfTheSameRows(t *testing.T) {
	for _, kind := range []method.ReleaseKind{method.ReleaseRows, method.ReleaseProducts} {
		r := func(people int, label func(int) string) method.Release {
			set := table(60, "age", "income")
			if people < 60 {
				set.IDs = nil
			}
			for i := range 60 {
				set.Labels = append(set.Labels, label(i))
				if people < 60 {
					set.IDs = append(set.IDs, fmt.Sprint("p", i%people)) // several rows each
				}
			}
			r := of(kind, set)
			r.Label = "diagnosis"
			return r
		}
		for _, people := range []int{60, 20} {
			merged := r(people, func(i int) string { return fmt.Sprint(i%2 == 1) })
			changed := r(people, func(i int) string { return fmt.Sprint(i%2 == 1 != (i == 17)) })
			full := r(people, func(i int) string { return fmt.Sprint("icd", i%7) })
			l := Ledger(t.TempDir())
			letOut(t, l, merged)
			mustHold(t, l, changed, "1 row has another label than in the earlier job")
			mustHold(t, l, full, "rows have other labels than in the earlier job")
			letOut(t, l, merged)
			other := full
			other.Label = "ward" // another column of labels
			if kind == method.ReleaseProducts {
				letOut(t, l, other)
			}
			bare := *merged.Set
			bare.Labels = nil
			before := merged
			before.Set = &bare
			l = Ledger(t.TempDir())
			letOut(t, l, before)
			letOut(t, l, changed)
		}
	}
}

// visits are rows of people with several each, and labels.
func visits(each int, label func(i int) string) method.Release {
	set := table(60, "age", "income")
	set.IDs = nil
	for i := range 60 {
		set.IDs = append(set.IDs, fmt.Sprint("p", i/each))
		set.Labels = append(set.Labels, label(i))
	}
	r := of(method.ReleaseRows, set)
	r.Label = "diagnosis"
	return r
}

// One label of one row changes for people with several rows, so that the person has the same labels as
// before: the ledger notices, whichever row it is.
func TestAttackALabelOfAFurtherRow(t *testing.T) {
	base := func(i int) string { return []string{"a", "b", "a"}[i%3] }
	for at := range 60 {
		l := Ledger(t.TempDir())
		letOut(t, l, visits(3, base))
		mustHold(t, l, visits(3, func(i int) string {
			if i == at {
				return map[string]string{"a": "b", "b": "a"}[base(i)]
			}
			return base(i)
		}), "1 row has another label")
	}
}

// Rows of a person with equal cells and different labels, in another order, are what they were; so are they
// when others come.
func TestEqualRowsWithTwoLabels(t *testing.T) {
	twice := func(n int, labels ...string) method.Release {
		set := table(n, "sex").Subset(append(span(0, n), span(0, n)...))
		for i := range 2 * n {
			set.Labels = append(set.Labels, labels[i/n])
		}
		r := of(method.ReleaseRows, set)
		r.Label = "diagnosis"
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, twice(60, "a", "b"))
	letOut(t, l, twice(60, "b", "a"))
	letOut(t, l, twice(100, "a", "b"))
	mustHold(t, l, twice(100, "a", "a"), "rows have other labels")
}

// Two fits under one name with known values: an earlier job's, which was stored, and one that the party
// received.
func TestAttackTwoFitsUnderOneName(t *testing.T) {
	set := table(20, "age", "income")
	for name, by := range map[string]func(values string) method.Release{
		"kept": func(values string) method.Release { return kept(set, values, 7) },
		"told": func(values string) method.Release {
			r := newcomer(set, 7)
			if values != "" {
				r.Fit.Values = []byte(values)
			}
			return r
		},
	} {
		l := Ledger(t.TempDir())
		if name == "told" {
			letOut(t, l, by("")) // before it is told
		}
		letOut(t, l, by("first"))
		letOut(t, l, by("first"))
		mustHold(t, l, by("second"), anotherFit)
	}
}

// An earlier program's job has fitted a dictionary by itself; then one person comes, and the first job of
// kind Fit is on one more.
func TestAttackAFirstFitAfterAnUpgrade(t *testing.T) {
	l := Ledger(t.TempDir())
	r := fitted(table(20, "age", "income"), span(0, 15), "")
	r.Schema = "cohort"
	letOut(t, l, r)
	r.Fit.Values = []byte("first")
	letOut(t, l, r)
	fit := func(n int, among []int) method.Release {
		f := of(method.ReleaseFit, table(n, "age", "income"))
		f.Among, f.Schema = among, "cohort"
		f.Fit = method.Fit{By: method.NewFit, Among: among, Train: r.Fit.Train}
		return f
	}
	mustHold(t, l, fit(21, append(span(0, 15), 20)), anotherFit)
	letOut(t, l, fit(20, span(0, 15)))
}
