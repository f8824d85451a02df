package disclosure

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// unread is a table that fails a test which reads a cell.
type unread struct {
	dataset.Table
	rows, cols int
}

func (u unread) Rows() int                          { return u.rows }
func (u unread) Cols() int                          { return u.cols }
func (u unread) Each(int, func(int, float64))       { panic("a ledger reads a row of an edition") }
func (u unread) AppendCell([]byte, int, int) []byte { panic("a ledger reads a cell of an edition") }

// frozen are rows of an edition, number n of a table, which is clear beside some earlier ones.
func frozen(kind method.ReleaseKind, number int, clear ...int) method.Release {
	set := &dataset.Set{Name: "people.csv", X: unread{rows: 100, cols: 2}, Columns: []string{"age", "income"}}
	r := of(kind, set)
	r.Table, r.Schema, r.Scale = "people", "dictionary d", "none"
	var ids []string
	for _, n := range clear {
		ids = append(ids, editionID(n))
	}
	r.Edition = method.Edition{ID: editionID(number), Number: number, IDs: []string{"p1", "p2"}, Clear: method.Clear{Rows: ids, Sums: ids, Classes: ids, Numbers: ids}}
	if kind != method.ReleaseRows {
		r.Among, r.Edition.Out = linalg.Range(0, 75), "a fraction of 0.25"
	}
	return r
}

func editionID(number int) string { return strings.Repeat("0", 30) + string(rune('a'+number)) + "0" }

func with(r method.Release, change func(*method.Release)) method.Release {
	change(&r)
	return r
}

func labelledBy(label string, classes bool) func(*method.Release) {
	return func(r *method.Release) {
		set := *r.Set
		set.Labels = make([]string, 100)
		r.Set, r.Label, r.Classes = &set, label, classes
	}
}

const (
	fewOfAClass  = "one to nine people of a class may have come, gone or changed between editions 1 and 2"
	fewOfNumbers = "one to nine may have another label than the rest"
)

// Releases of editions are compared by their names: of the second, no row is read.
func TestEditionsAreComparedByWords(t *testing.T) {
	columns := func(names ...string) func(*method.Release) {
		return func(r *method.Release) {
			set := *r.Set
			set.Columns, set.X = names, unread{rows: 100, cols: len(names)}
			r.Set = &set
		}
	}
	peers := func(names ...string) func(*method.Release) {
		return func(r *method.Release) { r.Peers = names }
	}
	scale := func(r *method.Release) { r.Scale = "range" }
	out := func(words string) func(*method.Release) {
		return func(r *method.Release) { r.Edition.Out = words }
	}
	fit := func(values string) func(*method.Release) {
		return func(r *method.Release) {
			r.Fit = method.Fit{By: method.KeptFit, Values: []byte(values), Earlier: [16]byte{values[0]}}
		}
	}
	rows, sums, fits, models := method.ReleaseRows, method.ReleaseSums, method.ReleaseFit, method.ReleaseModels
	for name, tt := range map[string]struct {
		first, second method.Release
		want          string // "" where it passes
	}{
		"rows again":                      {frozen(rows, 1), frozen(rows, 1), ""},
		"rows of a further edition":       {frozen(rows, 1), frozen(rows, 2, 1), ""},
		"rows of which few changed":       {frozen(rows, 1), frozen(rows, 2), "one to nine people of edition 2 may have other values or labels than in edition 1"},
		"with other peers":                {frozen(rows, 1), with(frozen(rows, 1), peers("hub", "other")), ""},
		"rows of other columns":           {frozen(rows, 1), with(frozen(rows, 1), columns("age")), `column "income", in the earlier job and not in this one`},
		"and of a further edition":        {frozen(rows, 1), with(frozen(rows, 2), columns("age")), `column "income", in the earlier job and not in this one`},
		"rows scaled otherwise":           {frozen(rows, 1), with(frozen(rows, 2), scale), "columns are scaled by range, formerly by none"},
		"rows under another label":        {with(frozen(rows, 1), labelledBy("ill", true)), with(frozen(rows, 1), labelledBy("age", true)), "the label is"},
		"rows under one fit":              {with(frozen(rows, 1), fit("one")), with(frozen(rows, 2, 1), fit("one")), ""},
		"rows under two fits":             {with(frozen(rows, 1), fit("one")), with(frozen(rows, 2), fit("two")), "another fit than in the earlier job"},
		"sums beside rows":                {frozen(rows, 1), frozen(sums, 2), "would be " + bothKinds},
		"rows beside sums":                {frozen(sums, 2), frozen(rows, 1), "would be " + bothKinds},
		"sums of a further edition":       {frozen(sums, 1), frozen(sums, 2, 1), ""},
		"of which few changed":            {frozen(sums, 1), frozen(sums, 2), "one to nine people may have changed between editions 1 and 2 in a column that the job picks"},
		"by a label, few of a class":      {with(frozen(sums, 1), labelledBy("ill", true)), with(frozen(sums, 2), labelledBy("ill", true)), fewOfAClass},
		"the other way round":             {with(frozen(sums, 2), labelledBy("ill", true)), with(frozen(sums, 1), labelledBy("ill", true)), "one to nine people of a class may have come, gone or changed between editions 2 and 1"},
		"which the later one found clear": {with(frozen(sums, 2, 1), labelledBy("ill", true)), with(frozen(sums, 1), labelledBy("ill", true)), ""},
		"by a label, ten of each class":   {with(frozen(sums, 1), labelledBy("ill", true)), with(frozen(sums, 3, 2, 1), labelledBy("ill", true)), ""},
		"by a number":                     {with(frozen(sums, 1), labelledBy("cost", false)), with(frozen(sums, 2), labelledBy("cost", false)), fewOfNumbers},
		"one number taken up again":       {with(frozen(sums, 2), func(r *method.Release) { r.Edition.ID = strings.Repeat("9", 32) }), frozen(sums, 2), "may have changed between editions 2 and 2"},
		"an earlier one as numbers":       {with(frozen(sums, 2, 1), labelledBy("cost", true)), with(frozen(sums, 1), labelledBy("cost", false)), "one to nine may have another label"},
		"classes after numbers":           {with(frozen(sums, 1), labelledBy("cost", false)), with(frozen(sums, 2), labelledBy("cost", true)), "one to nine people of a class may have come"},
		"sums with other peers":           {frozen(sums, 1), with(frozen(sums, 1), peers("hub", "other")), "peers that did not take part then: other"},
		"sums over other columns":         {frozen(sums, 1), with(frozen(sums, 2), columns("age")), "from other columns who has changed"},
		"sums over other rows":            {frozen(sums, 1), with(frozen(sums, 1), out("no row")), "this job holds out no row, and the earlier one a fraction of 0.25"},
		"models of a further edition":     {frozen(models, 1), frozen(models, 2, 1), ""},
		"models of which few changed":     {frozen(models, 1), frozen(models, 2), "the difference of the two models reveals how"},
		"models with other peers":         {frozen(models, 1), with(frozen(models, 1), peers("hub", "other")), ""},
		"models over other columns":       {frozen(models, 1), with(frozen(models, 1), columns("age")), ""},
		"over them, few changed":          {frozen(models, 1), with(frozen(models, 2), columns("age")), "one to nine people may have changed"},
		"models by a label, few of each":  {with(frozen(models, 1), labelledBy("ill", true)), with(frozen(models, 2), labelledBy("ill", true)), "the two models together tell about these few alone"},
		"models over other rows":          {frozen(models, 1), with(frozen(models, 1), out("no row")), "this job holds out no row, and the earlier one a fraction of 0.25"},
		"models by a number":              {with(frozen(models, 1), labelledBy("cost", false)), with(frozen(models, 2), labelledBy("cost", false)), fewOfNumbers},
		"models beside sums":              {frozen(sums, 1), frozen(models, 1), ""},
		"of a further edition":            {frozen(sums, 1), frozen(models, 2, 1), ""},
		"of which few changed meanwhile":  {frozen(sums, 1), frozen(models, 2), besides},
		"sums beside models, few changed": {frozen(models, 2), frozen(sums, 1), besides},
		"sums that hold out other rows":   {frozen(models, 1), with(frozen(sums, 1), out("no row")), besides},
		"models beside rows":              {frozen(rows, 1), frozen(models, 2), "the people of the edition would be both in a model and among encoded rows"},
		"a fit again":                     {frozen(fits, 1), frozen(fits, 1), ""},
		"a fit of a further edition":      {frozen(fits, 1), frozen(fits, 2), "this fit is of edition 2, and the earlier one of edition 1: the difference of the two fits is only over people who came, went or changed"},
		"another dictionary": {frozen(rows, 1), with(frozen(rows, 1), func(r *method.Release) {
			r.Schema, r.Edition.ID = "dictionary e", strings.Repeat("e", 32)
		}), anotherSchema},
	} {
		t.Run(name, func(t *testing.T) {
			l := Ledger(t.TempDir())
			letOut(t, l, tt.first)
			if tt.want == "" {
				letOut(t, l, tt.second)
				return
			}
			id := mustHold(t, l, tt.second, tt.want)
			if err := l.Approve(id, agree); err != nil {
				t.Fatal(err)
			}
			letOut(t, l, tt.second)
			letOut(t, l, tt.first) // both are out
		})
	}
}

// Classes and numbers of one edition are two releases: a release of numbers does not admit classes.
func TestAttackClassesAfterNumbers(t *testing.T) {
	as := func(number int, classes bool, clear ...int) method.Release {
		r := with(frozen(method.ReleaseSums, number), labelledBy("grade", classes))
		for _, n := range clear {
			r.Edition.Clear.Numbers = append(r.Edition.Clear.Numbers, editionID(n))
		}
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, as(1, true))
	letOut(t, l, as(2, false, 1))
	mustHold(t, l, as(2, true, 1), fewOfAClass)
}

// After an approved release, a further edition is compared with it only as far as the edition has
// people who came later.
func TestEditionsAfterAnApproval(t *testing.T) {
	narrow := func(number int) method.Release {
		return with(frozen(method.ReleaseRows, number), func(r *method.Release) {
			set := *r.Set
			set.Columns, set.X = []string{"age"}, unread{rows: 100, cols: 1}
			r.Set = &set
		})
	}
	l := Ledger(t.TempDir())
	letOut(t, l, frozen(method.ReleaseRows, 1))
	if err := l.Approve(mustHold(t, l, narrow(1), "in the earlier job and not in this one"), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, narrow(1))
	letOut(t, l, frozen(method.ReleaseRows, 2, 1)) // nobody who came is in the narrow release
	mustHold(t, l, narrow(2), "in the earlier job and not in this one")
	// A later edition may have people again who were in an earlier one, and not in between.
	l = Ledger(t.TempDir())
	letOut(t, l, frozen(method.ReleaseRows, 1))
	if err := l.Approve(mustHold(t, l, narrow(2), "in the earlier job and not in this one"), agree); err != nil {
		t.Fatal(err)
	}
	letOut(t, l, narrow(2))
	mustHold(t, l, narrow(3), "in the earlier job and not in this one")
}

// For two tables of one home, the ledger looks for people who are in both. It does so once for each
// edition, for releases of any kind.
func TestEditionsOfTwoTables(t *testing.T) {
	in := func(table, edition string, ids ...string) func(*method.Release) {
		return func(r *method.Release) { r.Table, r.Edition.ID, r.Edition.IDs = table, edition, ids }
	}
	other := strings.Repeat("f", 32)
	l := Ledger(t.TempDir())
	letOut(t, l, frozen(method.ReleaseRows, 1))
	letOut(t, l, with(frozen(method.ReleaseRows, 1), in("others", other, "q1", "q2")))
	letOut(t, l, with(frozen(method.ReleaseSums, 1), in("others of them", strings.Repeat("e", 32), "r1")))
	mustHold(t, l, with(frozen(method.ReleaseRows, 1), in("again", strings.Repeat("d", 32), "q2", "q3")), peopleInBoth)
	mustHold(t, l, with(frozen(method.ReleaseSums, 1), in("again", strings.Repeat("d", 32), "p2")), bothKinds)

	// A table without a dictionary, in either order.
	plain := of(method.ReleaseSums, table(20, "age", "income"))
	plain.Table = "plain"
	mustHold(t, l, plain, "the job's schema or views differ")
	mustHold(t, l, plain, bothKinds)
	l = Ledger(t.TempDir())
	letOut(t, l, plain)
	mustHold(t, l, frozen(method.ReleaseRows, 1), bothKinds)
	letOut(t, l, with(frozen(method.ReleaseRows, 1), in("others", other, "q1", "q2")))
	// The ledger has a list of the people in an edition. Without the list, anybody may be in it.
	if err := os.Remove(l.peoplePath(other)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, l, with(plain, func(r *method.Release) { r.Table, r.Set = "third", others(plain.Set) }), "the job's schema or views differ")
}

// An entry of a former program lists its rows, and a release of an edition beside it lists its own.
func TestAnEditionAfterAnUpgrade(t *testing.T) {
	l, set := Ledger(t.TempDir()), table(40, "age", "income")
	then := described(method.ReleaseRows, set, "people", "dictionary d")
	letOut(t, l, then)
	now := then
	now.Edition = method.Edition{ID: strings.Repeat("a", 32), Number: 1, IDs: set.IDs}
	letOut(t, l, now)
	now.Edition.ID, now.Set = strings.Repeat("b", 32), edited(set, 7, 0)
	mustHold(t, l, now, "1 row has other values")
	beside := with(now, func(r *method.Release) { r.Kind, r.Edition.ID = method.ReleaseSums, strings.Repeat("a", 32) })
	mustHold(t, l, beside, "the people of the edition would be "+bothKinds)
}

// The 21st sum over an edition, or over a later one, waits.
func TestManySumsOfEditions(t *testing.T) {
	l := Ledger(t.TempDir())
	for i := range maxSums {
		letOut(t, l, with(frozen(method.ReleaseSums, 1+i/10, 1), func(r *method.Release) { r.Model = string(rune('a' + i)) }))
	}
	mustHold(t, l, with(frozen(method.ReleaseSums, 3, 2, 1), func(r *method.Release) { r.Model = "z" }), "some people of this table may have been in 20 sums")
}

func TestEntriesOfEditions(t *testing.T) {
	e := newEntry(testKey, with(frozen(method.ReleaseSums, 3, 1, 2), labelledBy("ill", true)))
	b := e.Encode()
	if len(b) > 500 {
		t.Errorf("an entry of an edition takes %d bytes", len(b))
	}
	got, err := DecodeEntry(b)
	if d := cmp.Diff(e, got, cmpopts.IgnoreUnexported(Entry{}), cmpopts.EquateEmpty()); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}

// The list of an edition's people goes with the last release of it.
func TestPeopleOfAnEditionAreForgotten(t *testing.T) {
	l := Ledger(t.TempDir())
	kept, gone := frozen(method.ReleaseRows, 1), frozen(method.ReleaseRows, 2, 1)
	letOut(t, l, kept)
	admit(t, l, gone)
	if err := l.Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for r, want := range map[*method.Release]bool{&kept: true, &gone: false} {
		if _, err := os.Stat(l.peoplePath(r.Edition.ID)); (err == nil) != want {
			t.Errorf("edition %d: %v", r.Edition.Number, err)
		}
	}
}

// A restarted party asks for a job's sums with the most that they may reach, as before all rows were
// announced: the closer bound stays, and there is one entry.
func TestSumsCountOnceAfterARestart(t *testing.T) {
	r := frozen(method.ReleaseSums, 1)
	r.Model, r.Numbers, r.Cells = "a", 100, 2000
	l, exact := Ledger(t.TempDir()), r
	exact.Cells = 6000
	letOut(t, l, r)
	letOut(t, l, exact)
	for range 2 {
		if err := l.Restart(func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		letOut(t, l, r)
		admit(t, l, r)
		list, err := l.List()
		if err != nil || len(list) != 1 || list[0].State != Released || list[0].Uses != 1 || list[0].Told != 100./6000 {
			t.Errorf("the ledger has %+v, error %v", list, err)
		}
	}
}

func FuzzReadPersons(f *testing.F) {
	f.Add(writtenPersons(f, [][16]byte{{1}, {2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var list [][16]byte
		_, err := readPersons(bufio.NewReader(bytes.NewReader(b)), func(own [16]byte) bool {
			list = append(list, own)
			return true
		})
		if err == nil && !bytes.Equal(writtenPersons(t, list), b) {
			t.Error("read back otherwise")
		}
	})
}

func writtenPersons(t testing.TB, list [][16]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writePersons(&b, inOrder(list)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func inOrder(list [][16]byte) persons {
	return func(yield func([16]byte, error) bool) {
		for _, own := range list {
			if !yield(own, nil) {
				return
			}
		}
	}
}

// Two lists have people in common or not; a list that is cut off or damaged is an error, wherever the
// damage is, and nothing is admitted.
func TestOverlapReadsBothLists(t *testing.T) {
	a, b := inOrder([][16]byte{{1}, {3}, {5}}), inOrder([][16]byte{{2}, {3}})
	for _, tt := range []struct {
		now, then persons
		want      bool
	}{{a, b, true}, {b, a, true}, {inOrder([][16]byte{{2}, {4}, {6}}), a, false}, {a, inOrder(nil), false}, {inOrder(nil), a, false}} {
		if found, err := overlap(tt.now, tt.then); err != nil || found != tt.want {
			t.Errorf("%v, %v; want %v", found, err, tt.want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.people")
	whole := writtenPersons(t, [][16]byte{{1}, {3}, {5}})
	for name, content := range map[string][]byte{"cut short": whole[:len(whole)-1], "longer": append(slices.Clone(whole), 0), "empty": {}} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, other := range []persons{inOrder([][16]byte{{1}}), inOrder([][16]byte{{9}}), inOrder(nil)} {
			if found, err := overlap(other, storedPersons(path)); err == nil || !found {
				t.Errorf("%s, an earlier list: %v", name, found)
			}
			if found, err := overlap(storedPersons(path), other); err == nil || !found {
				t.Errorf("%s, the list of now: %v", name, found)
			}
		}
	}
}

// From as many numbers in sums as the rows in them have cells, rows can be computed: sums beyond that
// wait for approval, whatever the jobs are called, over listed rows, editions, and some of the same
// people.
func TestAttackAsManyNumbersAsCells(t *testing.T) {
	telling := func(r method.Release, model string, numbers int64) method.Release {
		r.Model, r.Numbers, r.Cells = model, numbers, 1000
		return r
	}
	rows := of(method.ReleaseSums, table(40, "age", "income"))
	more := rows
	more.Among = linalg.Range(0, 20)
	for name, tt := range map[string][2]method.Release{
		"listed rows":       {rows, rows},
		"half of them":      {rows, more},
		"one edition":       {frozen(method.ReleaseSums, 1), frozen(method.ReleaseSums, 1)},
		"a further edition": {frozen(method.ReleaseSums, 1), frozen(method.ReleaseSums, 2, 1)},
	} {
		l := Ledger(t.TempDir())
		letOut(t, l, telling(tt[0], "a", 400))
		letOut(t, l, telling(tt[0], "b", 350))
		letOut(t, l, telling(tt[1], "c", 250))
		mustHold(t, l, telling(tt[1], "d", 1), "with this job, the sums over some of the rows have 100 % as many numbers as these rows have cells, and 100 % without it")
		letOut(t, l, telling(tt[1], "c", 250)) // once more, as after a crash
		list, err := l.List()
		if err != nil {
			t.Fatal(err)
		}
		told := 0.0
		for _, e := range list {
			told += e.Told
		}
		if told != 1 {
			t.Errorf("%s: the list tells of %g", name, told)
		}
	}
	// Before its parties have declared their rows, a job counts with the most that it may come to.
	l := Ledger(t.TempDir())
	letOut(t, l, telling(rows, "a", 400))
	admit(t, l, telling(rows, "b", 500))
	mustHold(t, l, telling(rows, "c", 300), "120 % as many numbers")
	letOut(t, l, telling(rows, "b", 200))
	letOut(t, l, telling(rows, "c", 300))
	// One job alone says itself how much it tells.
	letOut(t, Ledger(t.TempDir()), telling(rows, "a", 5000))
}
