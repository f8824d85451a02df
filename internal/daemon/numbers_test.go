package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/linalg"
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
	c := &Config{Name: "north", Coordinator: "nats://127.0.0.1:4222", Data: map[string]Source{"patients": {Path: "patients.csv", Label: Labels{Columns: []string{"ill"}}}}}
	s := c.Data["patients"]
	s.ID.Columns = []string{"id"}
	c.Data["patients"] = s
	if err := c.save(h.ConfigPath(), roster.Party); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", table)
	key := dataset.SplitKey{1} // holds rows of the smallest tables out, too
	if err := os.WriteFile(h.SplitKeyPath(), key[:], 0o600); err != nil {
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

// The first job over a table of numbers has it frozen, as no command is needed; later ones see that
// edition, whoever comes, until the operator freezes the table again.
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

// So do jobs by columns, which align an edition's rows: whoever comes or leaves is no difference of
// two jobs.
func TestJobsByColumnsSeeEditions(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	data := job.Data{Source: "patients", Label: "ill", Test: job.Test{Fraction: 0.25}, Partition: job.Partition{By: job.Columns}}
	for n, people := range []int{200, 201, 199} {
		h.put(t, "patients.csv", numbersTable(people))
		table, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{byte(n)}})
		if err != nil || table.Edition.Number != 1 || table.Set.X.Rows() != 200 {
			t.Errorf("edition %d, %d rows, %v", table.Edition.Number, table.Set.X.Rows(), err)
		}
	}
}

// If a column is added, jobs continue with the earlier edition, and the operator gets the error.
func TestATableOfOtherColumnsIsNotFrozen(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	if _, err := sees(t, h, c, key, 1); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", regexp.MustCompile(`,([01])\n`).ReplaceAllString(strings.Replace(numbersTable(200), "krea,ill", "krea,bmi,ill", 1), ",20,$1\n"))
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); !errors.Is(err, edition.ErrOtherColumns) {
		t.Errorf("got %v", err)
	}
	if table, err := sees(t, h, c, key, 2); err != nil || !slices.Equal(table.Set.Columns, []string{"age", "krea"}) {
		t.Errorf("%v, %v", table.Set, err)
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

// An edition of numbers that differs by few people from a dictionary's edition is not made: a job
// by each would reveal them.
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

// A table of numbers whose entry says weekly is frozen each week, too; whoever leaves it is out of
// its editions.
func TestATableOfNumbersIsKeptUp(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	if _, err := sees(t, h, c, key, 1); err != nil {
		t.Fatal(err)
	}
	s := c.Data["patients"]
	s.Editions = weekly
	c.Data["patients"] = s
	h.put(t, "patients.csv", numbersTable(400))
	f := freezer{h, func() *Config { return c }, all.Reader(), slog.New(slog.DiscardHandler), make(map[approved.Approval]string)}
	f.freeze(context.Background(), time.Now().UTC().AddDate(0, 0, 8))
	now, err := sees(t, h, c, key, 2)
	if err != nil || now.Edition.Number != 2 || now.Set.X.Rows() != 400 {
		t.Fatalf("edition %d, %v", now.Edition.Number, err)
	}
	if done, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p7"}); err != nil || len(done.Editions) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	left, err := sees(t, h, c, key, 3)
	if err != nil || slices.Contains(left.Set.IDs, "p7") || left.Set.X.Rows() > 390 || left.Edition.Number != 3 {
		t.Errorf("edition %d, %d rows, %v", left.Edition.Number, left.Set.X.Rows(), err)
	}
	for _, id := range linalg.At(left.Set.IDs, left.Held) {
		if !slices.Contains(linalg.At(now.Set.IDs, now.Held), id) {
			t.Errorf("%s is held out since somebody has left", id)
		}
	}
}

// A dictionary that describes a label alone has its table frozen as it stands: columns are numbers,
// and a class or a number that it does not know is the operator's matter.
func TestADictionaryOfLabelsAlone(t *testing.T) {
	for labels, want := range map[string]string{
		`{ill: {classes: ["0", "1"]}}`: "", `{ill: {range: [0, 1]}}`: "",
		`{ill: {classes: ["0", "2"]}}`: `column "ill" holds "1", which is not one of the classes that the job lists ("0", "2")`,
		`{ill: {range: [0, 0.5]}}`:     `label "ill" is 1, outside the dictionary's range of 0 to 0.5`,
	} {
		h, c, key := undescribed(t, numbersTable(200))
		d, err := job.ParseDictionary("labels.yaml", []byte("apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: labels}\nspec: {fraction: 0.4, labels: "+labels+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.Freeze(context.Background(), all.Reader(), d, "patients")
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", labels, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		data := job.Data{Source: "patients", Dictionary: d, Test: job.Test{Fraction: 0.4}}
		data.DescribeLabel(d.Labels[0])
		seen, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{1}})
		if err != nil || seen.Edition.Number != 1 || !slices.Equal(seen.Set.Columns, []string{"age", "krea"}) || len(seen.Held) < 50 {
			t.Errorf("edition %d of %v, %d held out, %v", seen.Edition.Number, seen.Set.Columns, len(seen.Held), err)
		}
	}
}

// A label that some rows lack is a matter of the jobs that take it. What no file names is frozen by
// no command.
func TestWhatIsNotFrozenAsNumbers(t *testing.T) {
	h, c, key := undescribed(t, strings.NewReplacer("ill\n", "ill,later\n", ",0\n", ",0,\n", ",1\n", ",1,2\n").Replace(numbersTable(200)))
	entered(t, h, c, func(e *Source) { e.Label = Labels{Columns: []string{"ill", "later"}} })
	if seen, err := sees(t, h, c, key, 1); err != nil || seen.Edition.Number != 1 {
		t.Errorf("a table of which another label has gaps: edition %d, %v", seen.Edition.Number, err)
	}
	entered(t, h, c, func(e *Source) { e.Path, e.Command = "", []string{"./extract.sh"} })
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); err == nil || !strings.Contains(err.Error(), "can be frozen only for an approved dictionary") {
		t.Errorf("a table that a program gives: %v", err)
	}
}

// A deployed job holds out the rows that a simulated one does, where the table has no ids: by their
// cells, with the only label.
func TestNumbersAreHeldOutAsInSimulate(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	s := c.Data["patients"]
	s.ID = job.OwnID{}
	s.Drop = []string{"id"}
	entered(t, h, c, func(e *Source) { *e = s })
	seen, err := sees(t, h, c, key, 1)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, 2)
	if seen.Set.X.Row(1, row); row[0] != 27 || row[1] != 0.125 {
		t.Errorf("the second row is %v, and of the file 27, 0.125", row)
	}
	_, held, err := key.Split(seen.Set, 0.25)
	if err != nil || !slices.Equal(held, seen.Held) || len(held) < 30 {
		t.Errorf("the edition holds %v out, and the same rows by themselves %v, %v", seen.Held, held, err)
	}
}
