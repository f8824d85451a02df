package edition

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

func element(i int) (e Element) {
	sum := sha256.Sum256(fmt.Append(nil, i))
	copy(e[:], sum[:])
	return e
}

// people are in a cut; every fourth is held out.
func people(from, to int) Cut {
	c := make(map[Element]Part)
	for i := from; i < to; i++ {
		c[element(i)] = Part{Held: i%4 == 0}
	}
	return Ascending(c)
}

// A further cut may come when those who came, and those who went, are none or ten in training and held out.
func TestRefine(t *testing.T) {
	first, small := refine(nil, people(0, 100))
	if small != nil {
		t.Fatalf("the first edition: %v", small)
	}
	for _, tt := range []struct {
		name  string
		cut   Cut
		small []int
	}{
		{"the same people", people(0, 100), nil},
		{"1 came", people(0, 101), []int{1}},
		{"20 came, of whom 5 are held out", people(0, 120), []int{5}},
		{"40 came", people(0, 140), nil},
		{"8 went", people(8, 100), []int{2, 6}},
		{"40 went", people(40, 100), nil},
		{"40 came and 1 went", people(1, 140), []int{1}},
		{"40 came and 40 went", people(40, 140), nil},
	} {
		if _, small := refine(first, tt.cut); fmt.Sprint(small) != fmt.Sprint(tt.small) {
			t.Errorf("%s: %v, want %v", tt.name, small, tt.small)
		}
	}
	moved := people(0, 100)
	for i := range moved {
		if moved[i].Element == element(1) {
			moved[i].Of.Held = true
		}
	}
	if _, small := refine(first, moved); len(small) != 1 || small[0] != 1 {
		t.Errorf("one goes from training to held out: %v", small)
	}
	// Each pair of editions is apart by 40, and the third tells one of them apart from the others.
	second, _ := refine(first, people(0, 140))
	if _, small := refine(second, people(0, 101)); len(small) == 0 {
		t.Error("an edition between two others tells one person apart")
	}
	if _, small := refine(second, people(0, 100)); small != nil {
		t.Errorf("back to the first: %v", small)
	}
}

// For any cuts, groups are the sets that the cuts tell apart, counted in another way.
func TestGroupsAreWhatCutsTellApart(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		var groups []Known[uint32]
		story := make(map[Element]string)
		var small []int
		for range 4 {
			cut := make(map[Element]Part)
			for i := range 60 {
				if random.IntN(3) > 0 {
					cut[element(i)] = Part{random.IntN(2) == 0, random.IntN(4) == 0}
				}
			}
			for i := range 60 {
				part, in := cut[element(i)]
				story[element(i)] += fmt.Sprint(part, in, " ")
			}
			groups, small = refine(groups, Ascending(cut))
		}
		size := make(map[string]int)
		for _, k := range groups {
			size[story[k.Element]]++
		}
		few := 0
		for _, n := range size {
			if n < Least {
				few++
			}
		}
		if few != len(small) {
			t.Fatalf("%d small groups, and %d counted", few, len(small))
		}
		number := make(map[string]uint32)
		for _, k := range groups {
			if known, seen := number[story[k.Element]]; seen && known != k.Of {
				t.Fatal("two of one story are in two groups")
			}
			number[story[k.Element]] = k.Of
		}
	}
}

func store(t testing.TB) Store {
	t.Helper()
	id, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "editions")
	return Store{folder, func() (*vault.Artifacts, error) { return vault.OpenArtifacts(folder, id.KEMKey()) }}
}

// draft is an edition of people whose cells are what they were, but for some.
func draft(cut Cut, fails error, others ...int) Draft {
	d := Draft{
		Edition: Edition{Day: "2026-11-27", Table: "patients", Name: "cohort", Dictionary: "abc"}, Known: "ids", Labels: []string{"two"}, Rows: InMemory(cut),
		Keep: func(e *vault.Artifacts, id job.ID) error {
			if fails != nil {
				return fails
			}
			return e.Write(id, "rows", func(w io.Writer) error {
				_, err := io.WriteString(w, "rows")
				return err
			})
		},
	}
	cells := make(map[Element]Element)
	for _, k := range cut {
		cells[k.Element] = k.Element
	}
	for _, i := range others {
		cells[element(i)] = element(-i)
	}
	d.Cells = InMemory(Ascending(cells))
	return d
}

func mustMake(t *testing.T, s Store, d Draft, number int) Edition {
	t.Helper()
	made, err := s.Make(d)
	if err != nil || made.Number != number {
		t.Fatalf("%+v, %v; want edition %d", made, err, number)
	}
	return made
}

func mustLack(t *testing.T, s Store, d Draft, lack int) {
	t.Helper()
	var few *LackError
	if made, err := s.Make(d); !errors.As(err, &few) || few.Lack != lack {
		t.Fatalf("%+v, %v; want %d to lack", made, err, lack)
	}
}

func TestMake(t *testing.T) {
	s := store(t)
	if _, err := s.Newest("patients", "abc"); !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
	broken := errors.New("the disk is full")
	if _, err := s.Make(draft(people(0, 100), broken)); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if list, err := s.List(); err != nil || len(list) > 0 {
		t.Fatalf("after a failure: %v, %v", list, err)
	}
	mustMake(t, s, draft(people(0, 100), nil), 1)
	mustLack(t, s, draft(people(0, 103), nil), 9)
	if e, err := s.Newest("patients", "abc"); err != nil || e.Number != 1 || e.Lack != 9 {
		t.Fatalf("%+v, %v", e, err)
	}
	mustMake(t, s, draft(people(0, 140), nil), 2)
	list, err := s.List()
	if err != nil || len(list) != 2 || list[0].Lack+list[1].Lack != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := s.Erase("patients", "cohort", 2); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase("patients", "cohort", 2); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if holds(t, s, list[1].ID) {
		t.Error("the rows of an erased edition are there")
	}
	// It is erased, and yet nobody is told apart from whom it had, and its number is not given again.
	mustLack(t, s, draft(people(0, 141), nil), 9)
	mustMake(t, s, draft(people(0, 140), nil), 3)
	// Another dictionary of the table: the people are the same.
	other := func(cut Cut) Draft {
		d := draft(cut, nil)
		d.Dictionary = "def"
		return d
	}
	mustLack(t, s, other(people(0, 141)), 9)
	mustMake(t, s, other(people(0, 140)), 1)
}

// holds reports whether the rows of an edition can be opened.
func holds(t *testing.T, s Store, text string) bool {
	t.Helper()
	artifacts, err := s.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	id, err := job.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = artifacts.Get(id, "rows")
	if err != nil && !errors.Is(err, vault.ErrNoState) {
		_, err = artifacts.Open(id, "rows")
	}
	return err == nil
}

// A cell changes while many come and many go: who stays and changes is a group of its own.
func TestAttackOneChangesAmongComersAndGoers(t *testing.T) {
	s := store(t)
	mustMake(t, s, draft(people(0, 400), nil), 1)
	mustLack(t, s, draft(people(100, 500), nil, 150), 9)
	var many []int
	for i := 100; i < 140; i++ {
		many = append(many, i)
	}
	mustMake(t, s, draft(people(100, 500), nil, many...), 2)
	mustLack(t, s, draft(people(100, 500), nil, many[1:]...), 9) // one changes back
	mustMake(t, s, draft(people(100, 500), nil, many...), 3)
	back := people(0, 500) // those who went come again, one of them changed
	mustLack(t, s, draft(back, nil, append(many, 7)...), 9)
	mustMake(t, s, draft(back, nil, many...), 4)
}

// A cell changes between the editions for two dictionaries that both read it.
func TestAttackOneChangesBetweenTwoDictionaries(t *testing.T) {
	s := store(t)
	mustMake(t, s, draft(people(0, 200), nil), 1)
	by := func(others ...int) Draft {
		now := draft(people(0, 200), nil, others...)
		d := draft(people(0, 200), nil, others...)
		d.Dictionary, d.Others = "def", map[string]Stream[Element]{"abc": now.Cells, "ghi": nil}
		return d
	}
	mustLack(t, s, by(7), 9)
	mustMake(t, s, by(), 1)
	mustLack(t, s, by(7), 9) // by both now
}

// If people are identified by another id, group or key, or other labels are offered, the home cannot
// find out who came.
func TestAttackPeopleAreKnownOtherwise(t *testing.T) {
	s := store(t)
	mustMake(t, s, draft(people(0, 100), nil), 1)
	known, labels, fresh := draft(people(1000, 1101), nil), draft(people(0, 100), nil), draft(people(0, 100), nil)
	known.Known, labels.Labels, fresh.Known, fresh.Dictionary = "groups", []string{"three"}, "groups", "def"
	for _, d := range []Draft{known, labels, fresh} {
		if _, err := s.Make(d); !errors.Is(err, ErrOtherEntry) {
			t.Errorf("%+v: %v", d.Edition, err)
		}
	}
	further := draft(people(0, 100), nil)
	further.Labels, further.Dictionary = []string{"three"}, "def"
	mustMake(t, s, further, 1)
}

// A crash before the list is written, or after it and before keys are erased, leaves nothing that the next
// change does not take away, and no edition's groups.
func TestCrashesOfEditions(t *testing.T) {
	s := store(t)
	mustMake(t, s, draft(people(0, 100), nil), 1)
	path := filepath.Join(s.Folder, "list")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	artifacts, err := s.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	phantom := job.ID{7}
	if err := artifacts.Put(phantom, "rows", []byte("rows")); err != nil {
		t.Fatal(err)
	}
	if err := artifacts.Put(job.ID{8}, groupsItem, encodedGroups([]Known[uint32]{{element(1), 1}})); err != nil {
		t.Fatal(err)
	}
	mustLack(t, s, draft(people(0, 101), nil), 9)
	if holds(t, s, phantom.String()) {
		t.Error("rows of no edition are there")
	}
	second := mustMake(t, s, draft(people(0, 140), nil), 2)
	if err := os.WriteFile(path, before, 0o600); err != nil { // as if the list had not been written
		t.Fatal(err)
	}
	if _, err := s.Make(draft(people(0, 141), nil)); !errors.Is(err, errLost) {
		t.Errorf("groups that a restored list names are gone: %v", err)
	}
	if holds(t, s, second.ID) {
		t.Error("rows of no edition are there")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Make(draft(people(0, 141), nil)); !errors.Is(err, errLost) {
		t.Errorf("a list that is lost: %v", err)
	}
}

func FuzzReadCells(f *testing.F) {
	f.Add(encodedCells(Ascending(map[Element]Element{element(1): element(2), element(3): element(4)})))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := collect(storedCells(opening(b)))
		if err == nil && string(encodedCells(c)) != string(b) {
			t.Errorf("%x is read and not written", b)
		}
	})
}

func FuzzReadGroups(f *testing.F) {
	g, _ := refine(nil, people(0, 12))
	f.Add(encodedGroups(g))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := collect(storedGroups(opening(b)))
		if err == nil && string(encodedGroups(g)) != string(b) {
			t.Errorf("%x is read and not written", b)
		}
	})
}

// BenchmarkRefine is about 10^6 people beside earlier ones.
func BenchmarkRefine(b *testing.B) {
	const n = 1_000_000
	cut := people(0, n)
	g, _ := refine(nil, cut)
	for b.Loop() {
		g, _ = refine(g, cut)
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpeople/s")
}

// BenchmarkMake makes an edition of 10^6 people beside 63 earlier ones, of five columns and a label. The peak of memory
// is the whole process's, with who is in the edition.
func BenchmarkMake(b *testing.B) {
	const n, earlier = 1_000_000, 63
	people := million(n)
	of := func(people []Person) Draft {
		d := Draft{
			Edition: Edition{Day: "2026-11-27", Table: "patients", Name: "cohort", Dictionary: "abc"}, Known: "ids", Labels: []string{"ill"},
			Columns: []string{"a", "b", "c", "d", "e"}, People: Everybody(people),
			Keep: func(*vault.Artifacts, job.ID) error { return nil },
		}
		var cut Cut
		var cells Cells
		for i := range people {
			cut = append(cut, Known[Part]{people[i].ID, Part{Held: people[i].Held}})
			cells = append(cells, Known[Element]{people[i].ID, people[i].ID})
		}
		d.Rows, d.Cells = InMemory(cut), InMemory(cells)
		return d
	}
	s := store(b)
	if _, err := s.Make(of(people[:n-1000*(earlier+1)])); err != nil {
		b.Fatal(err)
	}
	rememberMany(b, s, people, earlier)
	d := of(people)
	free(b)
	for b.Loop() {
		made, err := s.Make(d)
		if err != nil || len(made.Beside) < earlier {
			b.Fatal(len(made.Beside), err)
		}
	}
	b.ReportMetric(peak(b), "peak-MB")
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpeople/s")
}

// million are people who are ascending, a quarter of them held out.
func million(n int) []Person {
	people := make([]Person, n)
	for i := range people {
		people[i] = Person{ID: element(i), Held: i%4 == 0, Whole: uint64(i), Columns: []uint64{uint64(i), 1, 2, 3, 4}, Labels: [][]uint64{{uint64(i % 2)}}}
	}
	slices.SortFunc(people, func(a, b Person) int { return compareElements(a.ID, b.ID) })
	return people
}

// rememberMany has the only edition of a store be the last of many, of which each has a thousand people more.
func rememberMany(b *testing.B, s Store, people []Person, editions int) {
	b.Helper()
	list, err := s.book()
	if err != nil {
		b.Fatal(err)
	}
	id, err := job.ParseID(list.Tables["patients"].Dictionaries["abc"].Past)
	if err != nil {
		b.Fatal(err)
	}
	artifacts, err := s.Sealed()
	if err != nil {
		b.Fatal(err)
	}
	p := &past{columns: []string{"a", "b", "c", "d", "e"}, labels: []string{"ill"}}
	for n := range editions {
		remember(p, fmt.Sprint("id", n), n+1, people[:len(people)-1000*(editions+1-n)])
	}
	if err := artifacts.Put(id, pastItem, encoded(p)); err != nil {
		b.Fatal(err)
	}
}

// free forgets the peak of memory so far.
func free(b *testing.B) {
	b.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Log("the peak of memory is that of the whole process: ", err)
	}
}

// peak returns the peak of memory in MB; 0 where the system does not tell.
func peak(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kB float64
	if _, err := fmt.Sscan(after, &kB); err != nil {
		b.Fatal(err)
	}
	return kB / 1000
}

// encodedGroups, encodedCells and encoded write groups, cells and a past.
func encodedGroups(list []Known[uint32]) []byte {
	return encodedList(groupsMagic, list, (*wire.Writer).Uint32)
}

func encodedCells(list []Known[Element]) []byte { return encodedList(cellsMagic, list, putCells) }

func encodedList[V any](magic string, list []Known[V], put func(*wire.Writer, V)) []byte {
	var b bytes.Buffer
	if err := writeList(&b, magic, len(list), InMemory(list), put); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// opening opens an item that is in memory.
func opening(b []byte) opener {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

// refine divides groups by a cut.
func refine(g []Known[uint32], cut Cut) (next []Known[uint32], small []int) {
	d, err := divide(InMemory(g), InMemory(cut))
	if err == nil {
		next, err = collect(d.groups())
	}
	if err != nil {
		panic(err)
	}
	return next, d.small
}

// remember adds an edition, and compared compares the last one; lists in memory cannot fail.
func remember(p *past, id string, number int, people []Person) {
	if err := p.add(id, number, reusing(people)); err != nil {
		panic(err)
	}
}

// reusing yields the people of a list in one piece of memory, which the next person overwrites.
func reusing(list []Person) People {
	return func(yield func(*Person, error) bool) {
		var t Person
		for i := range list {
			if t.ID, t.Held, t.Several, t.Whole = list[i].ID, list[i].Held, list[i].Several, list[i].Whole; list[i].Columns == nil {
				t.Columns = nil
			} else {
				t.Columns = append(t.Columns[:0], list[i].Columns...)
			}
			t.Labels = slices.Grow(t.Labels[:0], len(list[i].Labels))[:len(list[i].Labels)]
			for l, classes := range list[i].Labels {
				t.Labels[l] = append(t.Labels[l][:0], classes...)
			}
			if !yield(&t, nil) {
				return
			}
		}
	}
}

func compared(p *past) []Beside {
	list, err := p.beside(new(extsort.Memory))
	if err != nil {
		panic(err)
	}
	return list
}

func encoded(p *past) []byte {
	var b bytes.Buffer
	if err := p.writeTo(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}
