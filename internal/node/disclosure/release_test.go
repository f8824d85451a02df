package disclosure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

var testKey = []byte("a key of 32 bytes, of tests only")

// table has rows p0, p1, ... and the named columns; value (i, c) is 10 i and the
// length of c's name.
func table(rows int, names ...string) *dataset.Set {
	m := linalg.New[float64](rows, len(names))
	set := &dataset.Set{Name: "people.csv", X: dataset.NewDense(m), Columns: names}
	for i := range rows {
		set.IDs = append(set.IDs, fmt.Sprint("p", i))
		for c, name := range names {
			m.Row(i)[c] = float64(10*i + len(name))
		}
	}
	return set
}

// edited is the set with another value.
func edited(set *dataset.Set, row, col int) *dataset.Set {
	m := linalg.New[float64](set.X.Rows(), set.X.Cols())
	linalg.Gather(m, dataset.RowsOf(set.X), 0)
	m.Row(row)[col]++
	changed := *set
	changed.X = dataset.NewDense(m)
	return &changed
}

func products(set *dataset.Set, peers ...string) method.Release {
	return method.Release{Kind: method.ReleaseProducts, Job: "job", Peers: peers, Scale: "standard", Table: "people", Set: set}
}

func of(kind method.ReleaseKind, set *dataset.Set) method.Release {
	r := products(set, "hub", "shop")
	r.Kind = kind
	return r
}

func id(r method.Release) string { return newEntry(testKey, r).ID() }

// The ID of a release depends on its content, and on nothing else.
func TestID(t *testing.T) {
	set := table(4, "age", "income")
	base := products(set, "hub", "shop")
	other := base
	other.Job, other.Model = "other", "m"
	question := base
	question.Question = true
	for name, r := range map[string]method.Release{
		"rows in another order":    products(set.Subset([]int{2, 0, 3, 1}), "hub", "shop"),
		"columns in another order": products(set.SelectColumns([]int{1, 0}), "hub", "shop"),
		"peers in another order":   products(set, "shop", "hub"),
		"another job":              other,
	} {
		if id(r) != id(base) {
			t.Errorf("%s: another ID", name)
		}
	}
	unscaled := base
	unscaled.Scale = "none"
	for name, r := range map[string]method.Release{
		"a row less": products(table(3, "age", "income"), "hub", "shop"), "a column less": products(table(4, "age"), "hub", "shop"),
		"a peer less": products(set, "hub"), "another scale": unscaled,
		"a question": question, "another kind": of(method.ReleaseIDs, set), "another value": products(edited(set, 2, 1), "hub", "shop"),
	} {
		if id(r) == id(base) {
			t.Errorf("%s: the same ID", name)
		}
	}
	if newEntry(testKey, base).ID() == newEntry([]byte("another key"), base).ID() {
		t.Error("the ID does not depend on the ledger's key")
	}
}

// A row is known by its id, by its place where it has none, and its values by the names
// of their columns, in any order and however a table is stored.
func TestDigestsOfRows(t *testing.T) {
	set := table(3, "age", "income")
	a, b := newEntry(testKey, of(method.ReleaseSums, set)), newEntry(testKey, of(method.ReleaseSums, set.SelectColumns([]int{1, 0})))
	if d := cmp.Diff(a.Rows, b.Rows); d != "" {
		t.Errorf("columns in another order: %s", d)
	}
	// A label is one of the columns of sums: which one is the label makes no difference.
	labelled := func(label, rest string, labels ...string) []Row {
		m := linalg.New[float64](2, 1)
		one := &dataset.Set{X: dataset.NewDense(m), Columns: []string{rest}, Labels: labels}
		m.Row(0)[0], m.Row(1)[0] = 7, 0
		r := of(method.ReleaseSums, one)
		r.Label = label
		return newEntry(testKey, r).Rows
	}
	first := labelled("y", "x", "7", "0")
	if d := cmp.Diff(first, labelled("x", "y", "7.0", "0")); d != "" {
		t.Errorf("the other column is the label: %s", d)
	}
	if cmp.Equal(first, labelled("y", "x", "8", "0")) {
		t.Error("another label of a row is not seen")
	}
	// Several rows of a person are one person.
	twice := table(4, "age")
	twice.IDs = []string{"p0", "p1", "p0", "p2"}
	e := newEntry(testKey, of(method.ReleaseSums, twice))
	if len(e.Rows) != 3 || !slices.IsSortedFunc(e.Rows, compareRows) {
		t.Errorf("%d people in 4 rows of 3", len(e.Rows))
	}
	again := newEntry(testKey, of(method.ReleaseSums, twice.Subset([]int{2, 1, 0, 3})))
	if d := cmp.Diff(e.Rows, again.Rows); d != "" {
		t.Errorf("rows of a person in another order: %s", d)
	}
	// Without ids rows are known by table and place.
	nameless := table(3, "age")
	nameless.IDs = nil
	r := of(method.ReleaseRows, nameless)
	elsewhere := r
	elsewhere.Table = "others"
	if m := newEntry(testKey, r).meet(newEntry(testKey, elsewhere)); m.common != 0 {
		t.Errorf("%d rows of two tables are the same", m.common)
	}
}

func TestReveals(t *testing.T) {
	set := table(6, "age", "income", "score")
	base := products(set, "hub", "shop")
	elsewhere := table(4, "age", "income", "score")
	elsewhere.IDs = []string{"q0", "q1", "q2", "q3"}
	unscaled := base
	unscaled.Scale = "none"
	for name, c := range map[string]struct {
		now  method.Release
		want []string
	}{
		"the same":         {base, nil},
		"other people":     {products(elsewhere, "hub"), nil},
		"another kind":     {of(method.ReleaseIDs, set), nil},
		"a column less":    {products(table(6, "age", "income"), "hub", "shop"), []string{`column "score", in the earlier job and not in this one: the difference of the two matrices gives that column up to its sign`}},
		"a column more":    {products(table(6, "age", "income", "score", "wealth"), "hub", "shop"), []string{`column "wealth", in this job and not in the earlier one: the difference of the two matrices gives that column up to its sign`}},
		"two columns less": {products(table(6, "age"), "hub", "shop"), []string{`columns "income", "score", in the earlier job and not in this one: the difference of the two matrices is the Gram matrix of these columns alone`}},
		"other values":     {products(edited(set, 2, 1), "hub", "shop"), []string{`1 row has other values than in the earlier job: the difference of the two matrices reveals what changed`}},
		"a peer more":      {products(set, "hub", "shop", "bank"), []string{"peers that did not take part then: bank; the difference of the two matrices is the Gram matrix of their columns alone"}},
		"another peer":     {products(set, "hub", "bank"), []string{"peers that did not take part then: bank; the difference of the two matrices is the Gram matrix of their columns alone", "peers that took part then and do not now: shop; the difference of the two matrices is the Gram matrix of their columns alone"}},
		"rows less":        {products(set.Subset([]int{0, 1, 2, 4}), "hub", "shop"), []string{"0 rows are new in this job, 2 of the earlier one are missing: comparing the two matrices reveals which rows belong to the same people, and who came or went"}},
		"scaled otherwise": {unscaled, []string{"columns are scaled by none, formerly by standard: the two matrices together can reveal ranges that one does not"}},
	} {
		if d := cmp.Diff(c.want, reveals(t, c.now, base)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	later := of(method.ReleaseIDs, table(7, "age"))
	later.Peers = []string{"hub", "shop"}
	want := []string{"1 ids are new in this set, 0 of the earlier one are missing: comparing the two intersections reveals which of their people came or went"}
	if d := cmp.Diff(want, reveals(t, later, of(method.ReleaseIDs, set))); d != "" {
		t.Error(d)
	}
	if said := reveals(t, products(table(6, strings.Split("a b c d e f g h i j", " ")...), "hub", "shop"), base); !strings.Contains(said[0], `"h", and 2 more, in`) {
		t.Errorf("many columns: %q", said)
	}
	phases := func(columns ...string) method.Release { return of(method.ReleasePhases, table(6, columns...)) }
	want = []string{`column "score", in the earlier job and not in this one: the difference of the two sets of distances gives that column up to its sign`}
	if d := cmp.Diff(want, reveals(t, phases("age", "income"), phases("age", "income", "score"))); d != "" {
		t.Error(d)
	}
	if said := reveals(t, phases("age"), products(table(6, "age", "income"), "hub", "shop")); said != nil {
		t.Errorf("phases beside products: %v", said)
	}
	nameless := table(6, "age", "income")
	nameless.Columns = nil
	if said := reveals(t, of(method.ReleaseRows, nameless), of(method.ReleaseRows, table(6, "age"))); len(said) != 1 || !strings.HasPrefix(said[0], "2 columns of the table, and 1 in the earlier job") {
		t.Errorf("a table without names: %q", said)
	}
}

// reveals returns what a ledger says of a release after an earlier one.
func reveals(t *testing.T, now, earlier method.Release) []string {
	t.Helper()
	l := Ledger(t.TempDir())
	letOut(t, l, earlier)
	_, err := l.Admit(Asker{}, now, 0)
	return whyHeld(t, err)
}

func FuzzDecodeEntry(f *testing.F) {
	chosen := of(method.ReleaseSums, table(3, "age"))
	chosen.Split = "all rows of east"
	f.Add(newEntry(make([]byte, 32), chosen).Encode())
	r := of(method.ReleasePhases, table(3, "age", "income"))
	r.Model, r.Directions = "m", 3
	f.Add(newEntry(testKey, r).Encode())
	for _, r := range []method.Release{
		fitted(table(3, "age"), span(0, 2), ""), fitted(table(3, "age"), span(0, 2), "first"), kept(table(3, "age"), "first", 1), newcomer(table(3, "age"), 2),
		described(method.ReleaseSums, table(3, "age"), "people", "age below 50"), described(method.ReleaseIDs, table(3, "age"), "people", ""),
	} {
		f.Add(newEntry(testKey, r).Encode())
	}
	f.Add(newEntry(testKey, frozen(method.ReleaseRows, 2, 1)).Encode())
	f.Add(newEntry(testKey, with(frozen(method.ReleaseSums, 2, 1), labelledBy("ill", false))).Encode())
	visits := of(method.ReleaseSums, table(3, "age"))
	visits.Set.Groups = []string{"ann", "bob", "ann"}
	f.Add(newEntry(testKey, visits).Encode())
	f.Add(newEntry(testKey, noise("job", "people", 2, "file x", "dictionary d")).Encode())
	f.Add(lostEntry("unknown").Encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(b)
		if err != nil {
			return
		}
		again, err := DecodeEntry(e.Encode())
		if err != nil || !slices.Equal(again.Encode(), e.Encode()) || again.ID() != e.ID() {
			t.Errorf("%x is read as what is written %x, and then %v", b, e.Encode(), err)
		}
	})
}

func FuzzDecodeNote(f *testing.F) {
	f.Add(Listed{Kind: method.ReleaseSums, Job: "job", Peers: []string{"hub"}, Reveals: []string{"much"}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := decodeNote(b); err == nil && !slices.Equal(n.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, n.encode())
		}
	})
}

func FuzzDecodeBook(f *testing.F) {
	b := book{peers: []Peer{{"bank", 2, 7}}, charges: []charge{{"s", []Peer{{"shop", 1, 9}}, true}}}
	f.Add(b.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := decodeBook(b); err == nil && !slices.Equal(k.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, k.encode())
		}
	})
}

// The kinds that a job releases beside a release are in its entry and in the note of a held one, and
// later jobs that release the same rows add theirs.
func TestWhatIsLetOutBeside(t *testing.T) {
	l := Ledger(t.TempDir())
	first, second := of(method.ReleaseProducts, table(20, "age", "income")), of(method.ReleaseProducts, table(20, "age", "income"))
	first.Also = []method.ReleaseKind{method.ReleaseLabels}
	second.Also = []method.ReleaseKind{method.ReleaseCounts}
	letOut(t, l, first)
	letOut(t, l, second)
	third := of(method.ReleaseProducts, table(20, "age"))
	third.Also = []method.ReleaseKind{method.ReleaseErrors}
	if _, err := l.Admit(Asker{}, third, 0); err == nil {
		t.Fatal("one column fewer passes")
	}
	list, err := l.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if got := list[0].Also; !slices.Equal(got, []method.ReleaseKind{method.ReleaseCounts, method.ReleaseLabels}) {
		t.Errorf("beside what is out: %q", got)
	}
	if got := list[1].Also; list[1].State != Held || !slices.Equal(got, third.Also) {
		t.Errorf("beside what is held: %+v", list[1])
	}
}
