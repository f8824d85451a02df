package edition

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// patient is somebody with cells in two columns and a label; every fourth is held out.
type patient struct {
	cells [2]uint64
	label uint64
}

type patients map[int]patient

func (p patients) with(from, to int, label uint64) patients {
	next := maps.Clone(p)
	if next == nil {
		next = make(patients)
	}
	for i := from; i < to; i++ {
		next[i] = patient{label: label}
	}
	return next
}

func (p patients) without(from, to int) patients {
	next := maps.Clone(p)
	for i := from; i < to; i++ {
		delete(next, i)
	}
	return next
}

// edited changes a column's cells.
func (p patients) edited(from, to, column int, cell uint64) patients {
	next := maps.Clone(p)
	for i := from; i < to; i++ {
		if one, in := next[i]; in {
			one.cells[column] = cell
			next[i] = one
		}
	}
	return next
}

func (p patients) people() (list []Person) {
	for i, one := range p {
		list = append(list, Person{ID: element(i), Held: i%4 == 0, Whole: one.cells[0]<<32 | one.cells[1]<<8 | one.label, Columns: slices.Clone(one.cells[:]), Labels: [][]uint64{{one.label}}})
	}
	slices.SortFunc(list, func(a, b Person) int { return compareElements(a.ID, b.ID) })
	return list
}

// For a person with several rows it is unknown which row has changed, so such a person neither hides
// another one nor counts towards ten.
func TestBesideWithSeveralRows(t *testing.T) {
	base := func() (list []Person) {
		for i := 1; i < 200; i += 2 { // nobody is held out
			list = append(list, Person{ID: element(i), Several: i < 30, Whole: 1, Columns: []uint64{1, 1}, Labels: [][]uint64{{1, 2}}})
		}
		slices.SortFunc(list, func(a, b Person) int { return compareElements(a.ID, b.ID) })
		return list
	}
	changed := func(from, to int, change func(*Person)) []Person {
		list := base()
		for i := from; i < to; i += 2 {
			at := slices.IndexFunc(list, func(p Person) bool { return p.ID == element(i) })
			list[at].Whole++
			change(&list[at])
		}
		return list
	}
	visit := func(p *Person) { p.Columns[1]++ }
	for name, tt := range map[string]struct {
		now   []Person
		clear bool // for a job over age
	}{
		"nobody":                               {base(), true},
		"14 visits, of several rows":           {changed(1, 29, visit), false}, // the rows' ages may be others'
		"20 visits, of one row":                {changed(31, 71, visit), true},
		"labels swapped between rows":          {changed(1, 3, func(*Person) {}), false},
		"20 of one row change the age, surely": {changed(31, 71, func(p *Person) { p.Columns[0]++ }), true},
	} {
		p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
		remember(p, "id1", 1, base())
		remember(p, "id2", 2, tt.now)
		b := compared(p)[0]
		if b.ClearSums([]string{"age"}) != tt.clear || b.ClearRows([]string{"age"}, "ill") != tt.clear || b.ClearClasses([]string{"age"}, "ill") && !tt.clear {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// pastOf is the past of some editions; each is read back before the next.
func pastOf(t *testing.T, byRows bool, editions ...patients) *past {
	t.Helper()
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}, byRows: byRows}
	for i, e := range editions {
		remember(p, fmt.Sprint("id", i+1), i+1, e.people())
		again, err := readPast(opening(encoded(p)))
		if err != nil {
			t.Fatal(err)
		}
		p = again
	}
	return p
}

func TestBeside(t *testing.T) {
	first := patients(nil).with(0, 100, 1).with(100, 200, 2)
	spoilt := first.edited(0, 200, 0, 7)
	of := func(few ...string) map[string][]string { return map[string][]string{"ill": few} }
	for name, tt := range map[string]struct {
		editions []patients
		rows     Few
		sums     Few
		classes  map[string][]string
	}{
		"one of a class comes, nine go": {[]patients{first, first.without(101, 113).with(201, 202, 2).with(301, 341, 1)}, Few{}, Few{Any: true}, of("")},
		"nobody moves":                  {[]patients{first, first}, Few{}, Few{}, nil},
		"40 of one class come":          {[]patients{first, first.with(200, 240, 1)}, Few{}, Few{}, nil},
		"4 come":                        {[]patients{first, first.with(200, 204, 1)}, Few{}, Few{Any: true}, of("")},
		"40 and 4 of two classes":       {[]patients{first, first.with(200, 240, 1).with(240, 244, 2)}, Few{}, Few{}, of("")},
		"a column changes for all":      {[]patients{first, spoilt}, Few{}, Few{}, nil},
		"and another for few":           {[]patients{first, spoilt.edited(1, 3, 1, 9)}, Few{Columns: []string{"visit"}}, Few{Columns: []string{"visit"}}, of("visit")},
		"for few of those held out":     {[]patients{first, first.edited(4, 5, 1, 9)}, Few{Columns: []string{"visit"}}, Few{Columns: []string{"visit"}}, nil},
		"for few of one class":          {[]patients{first, first.edited(96, 140, 0, 9)}, Few{}, Few{}, of("age")},
		"a few labels":                  {[]patients{first, first.without(1, 4).with(1, 4, 2)}, Few{Labels: []string{"ill"}}, Few{Labels: []string{"ill"}}, of("")},
		"changed and changed back":      {[]patients{first, spoilt, first.edited(1, 2, 0, 9)}, Few{Columns: []string{"age"}}, Few{Columns: []string{"age"}}, of("age")},
		"come, gone and back":           {[]patients{first.without(100, 200), first, first.without(100, 200), first}, Few{}, Few{}, nil},
		"all but a few are back":        {[]patients{first, first.without(100, 200), first.without(102, 103)}, Few{}, Few{Any: true}, of("")},
		"back with a few other rows":    {[]patients{first, first.without(100, 200), first.edited(101, 102, 0, 9)}, Few{Columns: []string{"age"}}, Few{Columns: []string{"age"}}, of("age")},
	} {
		b := compared(pastOf(t, false, tt.editions...))
		got := b[len(b)-1] // beside the first
		want := Beside{ID: "id1", Number: 1, Rows: tt.rows, Sums: tt.sums, Classes: tt.classes}
		if d := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Beside{}, "Numbers", "HeldOut", "Compared")); d != "" || len(b) != len(tt.editions)-1 {
			t.Errorf("%s: %s", name, d)
		}
	}
	// Errors are sums over those held out: one more of them, among many who train, tells.
	more := maps.Clone(first)
	for i := 201; i < 260; i++ {
		if i%4 != 0 || i == 204 {
			more[i] = patient{label: 1}
		}
	}
	if b := compared(pastOf(t, false, first, more)); !b[0].Sums.Any || b[0].Rows.Any {
		t.Errorf("one of those held out came: %+v", b)
	}
	// In a table without ids a row that changes is one that goes and one that comes.
	if b := compared(pastOf(t, true, first, first.with(200, 240, 1))); b[0].Rows.Any || b[0].Sums.Any {
		t.Errorf("rows come: %+v", b)
	}
	if b := compared(pastOf(t, true, first, first.without(0, 40).with(200, 240, 1))); !b[0].Rows.Any || !b[0].Sums.Any {
		t.Errorf("rows come and go: %+v", b)
	}
}

func TestBesideWithNumbers(t *testing.T) {
	first := patients(nil).with(0, 100, 1)
	for name, tt := range map[string]struct {
		then patients
		few  bool
	}{
		"40 with one number":    {first.with(200, 240, 7), false},
		"and 3 with another":    {first.with(200, 240, 7).with(241, 244, 8), true},
		"and 12 with another":   {first.with(200, 240, 7).with(240, 256, 8), false},
		"each with another one": {first.with(200, 213, 7).with(213, 230, 8).with(230, 247, 9), false},
	} {
		if got := compared(pastOf(t, false, first, tt.then))[0].Numbers["ill"]; (got != nil) != tt.few {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// told counts, of two editions, whom sums over some columns tell apart, by label, and the fewest of a class in a column.
func told(now, then patients, columns []int) (apart map[[2]uint64]int, within map[int]map[uint64]int) {
	apart, within = make(map[[2]uint64]int), make(map[int]map[uint64]int) // by label, and whether they came or went
	for i := range 300 {
		a, in := now[i]
		b, was := then[i]
		switch {
		case i%4 == 0:
		case in && !was:
			apart[[2]uint64{a.label, 0}]++
		case was && !in:
			apart[[2]uint64{b.label, 1}]++
		case in && a.label != b.label:
			apart[[2]uint64{a.label, 0}]++
			apart[[2]uint64{b.label, 1}]++
		}
		for _, c := range columns {
			if in && was && i%4 != 0 && a.cells[c] != b.cells[c] { // whoever has another label counts in the new class
				if within[c] == nil {
					within[c] = make(map[uint64]int)
				}
				within[c][a.label]++
			}
		}
	}
	return apart, within
}

// People come, go, come back, change and change back, over five editions: clear columns reveal
// something about nobody or about ten people.
func TestNoFewAreMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	random := rand.New(rand.NewPCG(5, 6))
	clear, waits := 0, 0
	for range 300 {
		editions := []patients{patients(nil).with(0, 80, 1).with(80, 160, 2)}
		for range 4 {
			next := maps.Clone(editions[len(editions)-1])
			for range random.IntN(3) {
				from := random.IntN(200)
				to := from + 1 + random.IntN(60)
				switch random.IntN(4) {
				case 0:
					next = next.without(from, to)
				case 1:
					next = next.edited(from, to, random.IntN(2), uint64(random.IntN(2)))
				case 2:
					next = next.with(from, to, 1+uint64(random.IntN(3)))
				default:
					next = next.with(200+random.IntN(50), 300, 1)
				}
			}
			editions = append(editions, next)
		}
		last := editions[len(editions)-1]
		for _, b := range compared(pastOf(t, false, editions...)) {
			for names, columns := range map[string][]int{"age": {0}, "visit": {1}, "age,visit": {0, 1}} {
				list := []string{"age", "visit"}
				if len(columns) == 1 {
					list = []string{names}
				}
				if !b.ClearClasses(list, "ill") {
					waits++
					continue
				}
				clear++
				apart, within := told(last, editions[b.Number-1], columns)
				for label, n := range apart {
					if n > 0 && n < Least {
						t.Fatalf("editions %d and 5: %d of class %v", b.Number, n, label)
					}
				}
				for c, counts := range within {
					for label, n := range counts {
						if n > 0 && n < Least {
							t.Fatalf("editions %d and 5, column %d: %d of class %d", b.Number, c, n, label)
						}
					}
				}
			}
		}
	}
	if clear < 200 || waits < 200 {
		t.Errorf("%d pairs are clear and %d wait: the test tries too little", clear, waits)
	}
}

// The time for an edition depends on the number of changes, not on the number of editions.
func TestBesideManyEditions(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
	now := patients(nil).with(0, 2000, 1)
	for week := range 104 {
		remember(p, fmt.Sprint("id", week), week+1, now.people())
		if week%30 == 20 { // the file has editions that are forgotten later
			again, err := readPast(opening(encoded(p)))
			if err != nil {
				t.Fatal(err)
			}
			p = again
		}
		now = now.edited(0, 2000, 1, uint64(week+1)).with(2000+week*40, 2040+week*40, 1+uint64(week%2))
	}
	if again, err := readPast(opening(encoded(p))); err != nil || p.forgotten == 0 || len(again.editions) != len(p.editions) {
		t.Errorf("%d editions are forgotten, %v", p.forgotten, err)
	}
	begun := time.Now()
	list := compared(p)
	// 2,000 people change each week: of these, some 65,000 are kept.
	if took := time.Since(begun); took > 30*time.Second || len(list) < 20 || len(list) > 40 || list[0].Number != 103 {
		t.Errorf("%d pairs in %v", len(list), took)
	}
	if few := slices.ContainsFunc(list, func(b Beside) bool { return b.Sums.Any || b.Sums.Columns != nil }); few {
		t.Error("a column that changes for all each week has jobs wait")
	}
	if !slices.IsSortedFunc(list, func(a, b Beside) int { return cmp.Compare(b.Number, a.Number) }) {
		t.Error("not the newest first")
	}
}

// BenchmarkPast adds an edition of a million people, of whom a thousand came, to 63 others.
func BenchmarkPast(b *testing.B) {
	people := million(1_000_000)
	p := &past{columns: []string{"a", "b", "c", "d", "e"}, labels: []string{"ill"}}
	for n := range 63 {
		remember(p, fmt.Sprint("id", n), n+1, people[:len(people)-64_000+1000*n])
	}
	written := encoded(p)
	b.SetBytes(int64(len(written)))
	for b.Loop() {
		again, err := readPast(opening(written))
		if err != nil {
			b.Fatal(err)
		}
		remember(again, "id", 64, people)
		if list := compared(again); len(list) != 63 {
			b.Fatal(len(list))
		}
		encoded(again)
	}
}

func FuzzDecodePast(f *testing.F) {
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
	remember(p, "id1", 1, patients(nil).with(0, 12, 1).people())
	remember(p, "id2", 2, patients(nil).with(2, 14, 2).people())
	f.Add(encoded(p))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if p, err := readPast(opening(b)); err == nil {
			compared(p)
		}
	})
}

// If there are too many classes or numbers none is counted, and jobs wait for approval.
func TestTooManyClasses(t *testing.T) {
	var c tallies[uint64]
	for v := range uint64(mostClasses) {
		for range Least {
			c.add(v, true, 1)
		}
	}
	if c.few() || c.fewOthers() {
		t.Error("as many as are counted are few")
	}
	c.add(mostClasses, true, 1)
	c.add(mostClasses, true, -1)
	if !c.few() || !c.fewOthers() || c.of != nil {
		t.Errorf("%d classes are kept, few %t, %t", len(c.of), c.few(), c.fewOthers())
	}
}
