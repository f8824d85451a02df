package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// numbersTable writes n patients, of whom nothing is described anywhere.
func numbersTable(n int) string {
	lines := []string{"id,age,krea,ill"}
	for i := range n {
		lines = append(lines, fmt.Sprintf("p%d,%d,%g,%d", i, 20+i*7%60, float64(i*i%97)/8, i%2))
	}
	return strings.Join(lines, "\n") + "\n"
}

// undescribed is a home with a table of numbers.
func undescribed(t *testing.T, table string) (Home, *Config, dataset.SplitKey) {
	t.Helper()
	h := newHome(t, roster.Party)
	c := &Config{Name: "north", Coordinator: "nats://127.0.0.1:4222", Data: map[string]Source{"patients": {Path: "patients.csv", Label: Labels{"ill"}, ID: OwnID{}}}}
	s := c.Data["patients"]
	s.ID.Columns = []string{"id"}
	c.Data["patients"] = s
	if err := c.save(h.ConfigPath(), roster.Party); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", table)
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	return h, c, key
}

// sees loads the table as a job without a dictionary does.
func sees(t *testing.T, h Home, c *Config, key dataset.SplitKey, number byte) (method.Table, error) {
	t.Helper()
	data := job.Data{Source: "patients", Label: "ill", Test: job.Test{Fraction: 0.25}}
	return h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{number}})
}

// The first job over a table of numbers has it frozen, as no command is needed; later ones see that edition, whoever
// comes, until the operator freezes the table again.
func TestJobsWithoutADictionarySeeEditions(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	first, err := sees(t, h, c, key, 1)
	if err != nil {
		t.Fatal(err)
	}
	if first.Edition.Number != 1 || first.Set.X.Rows() != 200 || !slices.Equal(first.Set.Columns, []string{"age", "krea"}) || len(first.Held) < 30 || len(first.Held) > 70 {
		t.Fatalf("edition %d, %d rows of %v, %d held out", first.Edition.Number, first.Set.X.Rows(), first.Set.Columns, len(first.Held))
	}
	h.put(t, "patients.csv", numbersTable(201))
	second, err := sees(t, h, c, key, 2)
	if err != nil || second.Edition.ID != first.Edition.ID || second.Set.X.Rows() != 200 || !slices.Equal(second.Held, first.Held) {
		t.Errorf("edition %d, %d rows, %v", second.Edition.Number, second.Set.X.Rows(), err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); err == nil {
		t.Error("an edition tells one newcomer apart")
	}
	h.put(t, "patients.csv", numbersTable(400))
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); err != nil {
		t.Fatal(err)
	}
	third, err := sees(t, h, c, key, 3)
	if err != nil || third.Edition.Number != 2 || third.Set.X.Rows() != 400 || !slices.Contains(third.Edition.Clear.Rows, first.Edition.ID) || !slices.Contains(third.Edition.Clear.Classes, first.Edition.ID) {
		t.Errorf("edition %+v, %d rows, %v", third.Edition.Clear, third.Set.X.Rows(), err)
	}
}

// A table that is too small to be frozen is seen as it is, and gets an edition once it has grown.
func TestASmallTableOfNumbersIsSeenAsItIs(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(12))
	for n := range byte(2) {
		if small, err := sees(t, h, c, key, n); err != nil || small.Edition.ID != "" || small.Set.X.Rows() != 12 || small.Held != nil {
			t.Errorf("edition %q, %d rows, %v", small.Edition.ID, small.Set.X.Rows(), err)
		}
	}
	h.put(t, "patients.csv", numbersTable(200))
	if grown, err := sees(t, h, c, key, 3); err != nil || grown.Edition.Number != 1 || grown.Set.X.Rows() != 200 {
		t.Errorf("edition %q, %d rows, %v", grown.Edition.ID, grown.Set.X.Rows(), err)
	}
}

// A table that a dictionary's editions tell apart from the one of numbers by few people waits: a job by each would
// tell of them.
func TestAttackADictionaryLeavesOneOut(t *testing.T) {
	h, c, key := undescribed(t, strings.Replace(numbersTable(200), "\np3,41,1.125,", "\np3,41,,", 1))
	d, err := job.ParseDictionary("cohort.yaml", []byte("apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: cohort}\nspec: {columns: {age: {}, krea: {}}, complete: [krea], labels: {ill: {}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", numbersTable(200))
	if _, err := sees(t, h, c, key, 1); fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), "has no edition of the table for dictionary numbers yet") {
		t.Errorf("got %v", err)
	}
}
