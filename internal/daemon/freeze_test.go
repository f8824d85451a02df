package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/linalg"
)

// inMemory computes what a freeze finds out with the whole table in memory: a second way to compare with.
type inMemory struct {
	rows, heldOut int
	standing      edition.Cut
	cells         edition.Cells
	later         []edition.Cut
	people        []edition.Person
}

func freezeInMemory(t *testing.T, h Home, c *Config, s Source, d *job.Dictionary, key dataset.SplitKey) (m inMemory, held []int) {
	t.Helper()
	rows, err := h.scratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.copyStaying(context.Background(), s, d, "patients", rows); err != nil {
		t.Fatal(err)
	}
	set, labels, merged, err := h.readAll(c, s, d, "patients", rows)
	if err != nil {
		t.Fatal(err)
	}
	if held, err = h.holdsOut(c, s, d, "patients", rows, set, key); err != nil {
		t.Fatal(err)
	}
	m = inMemory{rows: set.X.Rows(), heldOut: len(held)}
	out, elements := marked(set.X.Rows(), held), elementsInMemory(key, set, labels)
	standing := make(map[edition.Element]edition.Part)
	for i, e := range slices.Backward(elements) {
		standing[e] = edition.Part{Held: out[i]}
	}
	m.standing = edition.Ascending(standing)
	if knownBy(set) != nil {
		_, m.cells = cutAndCells(maps.Values(peopleIn(key, set, labels, held)))
	}
	for _, from := range s.CutDates {
		bound, err := dataset.ParseBound(from)
		if err != nil {
			t.Fatal(err)
		}
		late, err := bound.From(set.Cut)
		if err != nil {
			t.Fatal(err)
		}
		cut := make(map[edition.Element]edition.Part)
		for i, is := range marked(len(elements), late) {
			part, seen := cut[elements[i]]
			cut[elements[i]] = edition.Part{Held: is || part.Held, Changed: part.Changed || seen && is != part.Held}
		}
		m.later = append(m.later, edition.Ascending(cut))
	}
	m.people = allPeople(key, set, elementsInMemory(key, set, merged), merged, held)
	return m, held
}

// elementsInMemory returns a digest of each row's person or, in a table without people, of the row's cells.
func elementsInMemory(key dataset.SplitKey, set *dataset.Set, labels [][]string) []edition.Element {
	list := make([]edition.Element, set.X.Rows())
	if known := knownBy(set); known != nil {
		for i, name := range known {
			list[i] = digest(key, []byte(name))
		}
		return list
	}
	seen := make(map[edition.Element]uint64)
	for i, row := range newDigester(key).cells(set.X.(*prepare.Frame), labels) {
		seen[row]++
		list[i] = digest(key, binary.LittleEndian.AppendUint64(row[:], seen[row]))
	}
	return list
}

func listOf[V any](t *testing.T, s edition.Stream[V]) (list []edition.Known[V]) {
	t.Helper()
	for k, err := range s {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, k)
	}
	return list
}

func everybody(t *testing.T, people iter.Seq2[*edition.Person, error]) (list []edition.Person) {
	t.Helper()
	for p, err := range people {
		if err != nil {
			t.Fatal(err)
		}
		own := *p
		own.Columns, own.Labels = slices.Clone(p.Columns), [][]uint64{}
		for _, classes := range p.Labels {
			own.Labels = append(own.Labels, slices.Clone(classes))
		}
		list = append(list, own)
	}
	return list
}

// randomTable draws rows of few different cells, so that many are equal, of people with several rows.
func randomTable(r *rand.Rand, n int) string {
	lines := []string{"id,ward,age,krea,visit,diagnosis,outcome,times,pulse"}
	for i := range n {
		krea := fmt.Sprint(r.IntN(3))
		if r.IntN(20) == 0 {
			krea = ""
		}
		lines = append(lines, fmt.Sprintf("p%d,w%d,%d,%s,%d,%s,%s,%d,%d", i, r.IntN(n/3), 40+r.IntN(3), krea, r.IntN(4), []string{"a", "b", "c"}[r.IntN(3)], []string{"x", "y"}[r.IntN(2)], r.IntN(3), r.IntN(900)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// freezeInBlocks returns what a freeze finds out, and the people whom it has sorted on the disk.
func freezeInBlocks(t *testing.T, h Home, c *Config, s Source, d *job.Dictionary, key dataset.SplitKey) (m inMemory, people *frozenPeople) {
	t.Helper()
	space, err := h.scratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.copyStaying(context.Background(), s, d, "patients", space); err != nil {
		t.Fatal(err)
	}
	f, err := h.freezing(c, s, d, "patients", key, space)
	if err != nil {
		t.Fatal(err)
	}
	if people, err = f.people(space); err != nil {
		t.Fatal(err)
	}
	draft := people.draft(edition.Edition{})
	m = inMemory{rows: people.rows, heldOut: draft.HeldOut, standing: listOf(t, draft.Rows), people: everybody(t, draft.People)}
	if draft.Cells != nil {
		m.cells = listOf(t, draft.Cells)
	}
	for _, cut := range draft.Later {
		m.later = append(m.later, listOf(t, cut))
	}
	return m, people
}

// A table that is frozen in blocks, sorted on the disk, has the people, the held-out rows and the
// digests of the same table in memory.
func TestFreezingInBlocksEqualsFreezingInMemory(t *testing.T) {
	merging := strings.Replace(cohort, "labels: {diagnosis: {}, outcome: {}}", "labels: {diagnosis: {merged: {ill: [a, b], well: [c]}}, outcome: {}}", 1)
	for name, tt := range map[string]struct {
		dictionary string
		edit       func(*Source)
	}{
		"rows":                 {cohort, func(*Source) {}},
		"rows, classes merged": {merging, func(*Source) {}},
		"rows, with a cut":     {cohort, func(s *Source) { s.Cut, s.CutDates = "times", []string{"1", "2"} }},
		"ids":                  {cohort, func(s *Source) { s.ID.Columns = []string{"id"} }},
		"groups":               {merging, func(s *Source) { s.Group = "ward" }},
		"groups, with a cut":   {cohort, func(s *Source) { s.Group, s.Cut, s.CutDates = "ward", "visit", []string{"2"} }},
		"groups and ids":       {cohort, func(s *Source) { s.Group, s.ID.Columns = "ward", []string{"id"} }},
		"one label":            {cohort, func(s *Source) { s.Label.Columns = []string{"outcome"} }},
		"no label":             {cohort, func(s *Source) { s.Label = Labels{} }},
		"numbers": {"", func(s *Source) {
			s.Keep = []string{"age", "visit", "times"}
			s.Label = Labels{Columns: []string{"visit"}}
		}},
		"numbers, two labels": {"", func(s *Source) {
			s.Keep = []string{"age", "visit", "times"}
			s.Label.Columns = []string{"visit", "times"}
		}},
		"weights": {cohort + "  weights: {times: {range: [0, 9]}}\n", func(s *Source) { s.Weight = "times" }},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, _ := frozen(t, "")
			entered(t, h, c, tt.edit)
			d := job.OfNumbers()
			if tt.dictionary != "" {
				var err error
				if d, err = job.ParseDictionary("cohort.yaml", []byte(tt.dictionary)); err != nil {
					t.Fatal(err)
				}
			}
			r := rand.New(rand.NewPCG(uint64(len(name)), 1))
			h.put(t, "patients.csv", randomTable(r, 5000))
			s, err := c.source(h, "patients")
			if err != nil {
				t.Fatal(err)
			}
			key := dataset.SplitKey{1}
			want, held := freezeInMemory(t, h, c, s, d, key)
			got, people := freezeInBlocks(t, h, c, s, d, key)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(inMemory{})); diff != "" {
				t.Error(diff[:min(len(diff), 4000)])
			}
			for i, is := range marked(want.rows, held) {
				if people.held.Has(i) != is {
					t.Fatalf("row %d is held out: %v", i, !is)
				}
			}
			if want.heldOut < 200 || len(want.standing) < 1000 {
				t.Errorf("%d of %d people are held out: the test tries too little", want.heldOut, len(want.standing))
			}
		})
	}
}

// Of two rows with one id, the freeze names the lines, as a reader of the whole table does.
func TestFreezingFindsRepeatedIDs(t *testing.T) {
	h, c, d := frozen(t, "id")
	lines := strings.Split(strings.TrimSpace(randomTable(rand.New(rand.NewPCG(1, 2)), 5000)), "\n")
	for i := range lines {
		lines[i] = strings.Replace(lines[i], ",,", ",1,", 1)
	}
	for _, at := range []int{4900, 3000} {
		lines[at] = strings.Replace(lines[at], fmt.Sprintf("p%d,", at-1), "p7,", 1)
	}
	h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
	for _, group := range []string{"", "ward"} {
		entered(t, h, c, func(s *Source) { s.Group = group })
		if err := os.RemoveAll(h.editions()); err != nil { // a home that has frozen nothing
			t.Fatal(err)
		}
		s, err := c.source(h, "patients")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := h.scratch()
		if err != nil {
			t.Fatal(err)
		}
		if err := h.copyRows(context.Background(), s, d, rows); err != nil {
			t.Fatal(err)
		}
		_, _, _, want := h.readAll(c, s, d, "patients", rows)
		_, err = h.Freeze(context.Background(), all.Reader(), d, "patients")
		if err == nil || want == nil || err.Error() != want.Error() || !strings.Contains(err.Error(), "the id is also in line") {
			t.Errorf("group %q: %v, a reader of the whole table: %v", group, err, want)
		}
	}
}

// A freeze leaves no files besides the edition's, neither after it nor after an error.
func TestFreezingLeavesNoScratch(t *testing.T) {
	h, _, d := frozen(t, "id")
	h.put(t, "patients.csv", frozenTable(203)) // too few have come
	var few *edition.LackError
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); !errors.As(err, &few) {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(h.editions(), ".new*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// blocksOf is a reading of a number of blocks of three rows.
type blocksOf struct{ left int }

func (b *blocksOf) Next() (*dataset.Set, error) {
	if b.left == 0 {
		return nil, io.EOF
	}
	b.left--
	return &dataset.Set{X: dataset.NewDense(linalg.New[float64](3, 1)), Labels: []string{"a", "b", "a"}}, nil
}

func (*blocksOf) Close() error { return nil }

// A reading that ends before the others is an error, and no end of the table.
func TestAShortReadingEndsNoTable(t *testing.T) {
	of := func(n int) readingOf {
		return readingOf{stream: func() (method.StreamReader, error) { return &blocksOf{n}, nil }}
	}
	for _, n := range [][2]int{{2, 1}, {1, 2}} {
		f := &freezing{table: "patients", labels: 2, readings: []readingOf{of(n[0]), of(n[1])}}
		if rows, _, err := f.each(func(*frozenBlock) error { return nil }); err == nil {
			t.Errorf("%v blocks: %d rows", n, rows)
		}
	}
	f := &freezing{table: "patients", labels: 2, readings: []readingOf{of(2), of(2)}}
	if rows, _, err := f.each(func(*frozenBlock) error { return nil }); err != nil || rows != 6 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
