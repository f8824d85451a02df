package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

const componentsFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: components}
spec:
  data: {source: patients, label: none, partition: {parties: [north, south]}, scale: minmax}
  protocol: {name: moments, directions: 8}
  kernel: {name: rbf, gamma: 0.1}
  learner: {name: kpca, n_components: 2}
`

// An edition that is read in blocks has the rows, ids and held-out rows of the same edition in
// memory, and the ledger takes releases of both for one.
func TestEditionsInBlocksEqualEditionsInMemory(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(5000))
	j, err := all.Reader().Parse("job.yaml", []byte(componentsFile))
	if err != nil {
		t.Fatal(err)
	}
	k := snapshots{h.kept(t), job.ID{1}}
	load := func(least int) method.Table {
		table, err := h.stream(context.Background(), c, j.Data, key, k, least)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	inMemory, inBlocks := load(5001), load(5000)
	if inMemory.Set == nil || inMemory.Stream != nil || inBlocks.Set != nil || inBlocks.Stream == nil {
		t.Fatal("the number of rows decides how a table is read")
	}
	set := inMemory.Set
	n, err := inBlocks.Stream.Each(func(before int, block *dataset.Set) error {
		rows := make([]int, block.X.Rows())
		for i := range rows {
			rows[i] = before + i
		}
		want := set.Subset(rows)
		if !slices.Equal(block.IDs, want.IDs) || !slices.Equal(block.Columns, want.Columns) || block.Labels != nil {
			t.Errorf("other ids or columns from row %d on", before)
		}
		for i := range rows {
			if !slices.Equal(block.X.Row(i, nil), want.X.Row(i, nil)) {
				t.Fatalf("row %d is %v, in memory %v", before+i, block.X.Row(i, nil), want.X.Row(i, nil))
			}
			if _, held := slices.BinarySearch(inMemory.Held, before+i); held != inBlocks.HeldBits.Has(before+i) {
				t.Fatalf("row %d is held out: %v", before+i, held)
			}
		}
		return nil
	})
	if err != nil || n != 5000 {
		t.Errorf("%d rows, %v", n, err)
	}
	m, err := method.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	ledger := disclosure.Ledger(filepath.Join(t.TempDir(), "releases"))
	var ids []string
	var people [][]byte
	for _, table := range []method.Table{inMemory, inBlocks} {
		side, err := m.Party(method.Instance{Job: j, Coordinator: "server", Parties: j.Parties(), Limits: method.DefaultLimits()}, "north", table)
		if err != nil {
			t.Fatal(err)
		}
		releases, err := side.All("north")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range slices.Concat(releases...) {
			if r.Kind != method.ReleaseSums {
				continue
			}
			id, err := ledger.Admit(disclosure.Asker{}, r, 0)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		list, err := filepath.Glob(filepath.Join(string(ledger), "*.people"))
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		b, err := os.ReadFile(list[0])
		if err != nil {
			t.Fatal(err)
		}
		if people = append(people, b); len(b) < 5000*16 {
			t.Errorf("the edition's people take %d bytes", len(b))
		}
		if err := os.Remove(list[0]); err != nil {
			t.Fatal(err)
		}
	}
	if len(ids) < 2 || len(slices.Compact(slices.Clone(ids))) != 1 {
		t.Errorf("releases %v", ids)
	}
	if d := cmp.Diff(people[0], people[1]); d != "" {
		t.Error("other people of one edition")
	}
}

// A table in several files is frozen and read like a table in one.
func TestATableInShards(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(300))
	lines := strings.SplitAfter(numbersTable(300), "\n")
	if err := os.Mkdir(h.path("shards"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.put(t, "shards/a.csv", lines[0]+strings.Join(lines[1:101], ""))
	h.put(t, "shards/b.csv", lines[0]+strings.Join(lines[101:], ""))
	whole, err := sees(t, h, c, key, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, c, key := undescribed(t, numbersTable(1))
	s := c.Data["patients"]
	s.Path = filepath.Join(h.folder, "shards", "*.csv")
	c.Data["patients"] = s
	shards, err := sees(t, other, c, key, 1)
	if err != nil {
		t.Fatal(err)
	}
	if shards.Set.X.Rows() != 300 || !slices.Equal(shards.Set.IDs, whole.Set.IDs) || !slices.Equal(shards.Set.Labels, whole.Set.Labels) || shards.Edition.ID == "" {
		t.Errorf("%d rows in shards, edition %q", shards.Set.X.Rows(), shards.Edition.ID)
	}
	if missing := c.MissingFiles(other); len(missing) != 0 {
		t.Error(missing)
	}
}
