package edition

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/identity"
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
	c := make(Cut)
	for i := from; i < to; i++ {
		c[element(i)] = i%4 == 0
	}
	return c
}

// A further cut may come when those who came, and those who went, are none or ten in training and held out.
func TestRefine(t *testing.T) {
	first, small := Groups(nil).Refine(people(0, 100))
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
		if _, small := first.Refine(tt.cut); fmt.Sprint(small) != fmt.Sprint(tt.small) {
			t.Errorf("%s: %v, want %v", tt.name, small, tt.small)
		}
	}
	moved := people(0, 100)
	moved[element(1)] = true
	if _, small := first.Refine(moved); len(small) != 1 || small[0] != 1 {
		t.Errorf("one goes from training to held out: %v", small)
	}
	// Each pair of editions is apart by 40, and the third tells one of them apart from the others.
	second, _ := first.Refine(people(0, 140))
	if _, small := second.Refine(people(0, 101)); len(small) == 0 {
		t.Error("an edition between two others tells one person apart")
	}
	if _, small := second.Refine(people(0, 100)); small != nil {
		t.Errorf("back to the first: %v", small)
	}
}

// Whatever cuts there were, groups are what the cuts tell apart, counted another way.
func TestGroupsAreWhatCutsTellApart(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		var groups Groups
		story := make(map[Element]string)
		var small []int
		for range 4 {
			cut := make(Cut)
			for i := range 60 {
				if random.IntN(3) > 0 {
					cut[element(i)] = random.IntN(2) == 0
				}
			}
			for i := range 60 {
				held, in := cut[element(i)]
				story[element(i)] += fmt.Sprint(held, in, " ")
			}
			groups, small = groups.Refine(cut)
		}
		size := make(map[string]int)
		for e := range groups {
			size[story[e]]++
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
		for e, g := range groups {
			if known, seen := number[story[e]]; seen && known != g {
				t.Fatal("two of one story are in two groups")
			}
			number[story[e]] = g
		}
	}
}

func store(t *testing.T) Store {
	t.Helper()
	id, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "editions")
	return Store{folder, func() (*vault.Estate, error) { return vault.OpenEstate(folder, id.KEMKey()) }}
}

func draft(cut Cut, fails error) Draft {
	return Draft{
		Edition: Edition{Day: "2026-11-27", Table: "patients", Name: "cohort", Dictionary: "abc"}, People: cut, Cells: cut,
		Keep: func(e *vault.Estate, id job.ID) error {
			if fails != nil {
				return fails
			}
			return e.Write(id, "rows", func(w io.Writer) error {
				_, err := io.WriteString(w, "rows")
				return err
			})
		},
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
	if list, err := s.List(); err != nil || list != nil {
		t.Fatalf("after a failure: %v, %v", list, err)
	}
	if made, err := s.Make(draft(people(0, 100), nil)); err != nil || made.Number != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	var few *LackError
	if _, err := s.Make(draft(people(0, 103), nil)); !errors.As(err, &few) || few.Lack != 9 {
		t.Fatal(err)
	}
	if e, err := s.Newest("patients", "abc"); err != nil || e.Number != 1 || e.Lack != 9 {
		t.Fatalf("%+v, %v", e, err)
	}
	if made, err := s.Make(draft(people(0, 140), nil)); err != nil || made.Number != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
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
	estate, err := s.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	id, err := job.ParseID(list[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := estate.Get(id, "rows"); !errors.Is(err, vault.ErrNoKeepsake) {
		t.Errorf("the rows of an erased edition: %v", err)
	}
	// It is erased, and yet nobody is told apart from whom it had.
	if _, err := s.Make(draft(people(0, 141), nil)); !errors.As(err, &few) {
		t.Errorf("one more than an erased edition had: %v", err)
	}
	// Another dictionary of the table: the people are the same.
	other := draft(people(0, 141), nil)
	other.Dictionary, other.Cells = "def", people(1000, 1141)
	if _, err := s.Make(other); !errors.As(err, &few) {
		t.Errorf("one more, by another dictionary: %v", err)
	}
	other.People = people(0, 140)
	if made, err := s.Make(other); err != nil || made.Number != 1 {
		t.Errorf("%+v, %v", made, err)
	}
}

func FuzzDecodeGroups(f *testing.F) {
	g, _ := Groups(nil).Refine(people(0, 12))
	f.Add(g.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := DecodeGroups(b)
		if err == nil && string(g.Encode()) != string(b) {
			t.Errorf("%x is read and not written", b)
		}
	})
}

// BenchmarkRefine is about 10^6 people beside earlier ones.
func BenchmarkRefine(b *testing.B) {
	const n = 1_000_000
	cut := people(0, n)
	g, _ := Groups(nil).Refine(cut)
	for b.Loop() {
		g, _ = g.Refine(cut)
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpeople/s")
}
