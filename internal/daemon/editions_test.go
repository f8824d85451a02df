package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// frozenTable writes n patients, numbered from one; the table has ids only if the catalogue says
// so.
func frozenTable(n int, change ...string) string {
	lines := []string{"id,age,krea,visit,diagnosis,outcome"}
	for i := range n {
		krea := fmt.Sprint(i * i % 97)
		if i == 3 {
			krea = "" // which is complete
		}
		lines = append(lines, fmt.Sprintf("p%d,%d,%s,%d,%s,%s", i, 20+i*7%60, krea, i%12, []string{"a", "b"}[i%2], []string{"x", "y"}[i/2%2]))
	}
	return strings.NewReplacer(change...).Replace(strings.Join(lines, "\n") + "\n")
}

const cohort = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: cohort}
spec:
  columns: {age: {range: [0, 120]}, krea: {}, visit: {}}
  complete: [krea]
  labels: {diagnosis: {}, outcome: {}}
`

func frozen(t *testing.T, id string) (Home, *Config, *job.Dictionary) {
	t.Helper()
	h := newHome(t, roster.Party)
	c := &Config{Name: "north", Data: map[string]Source{"patients": {Path: "patients.csv", Label: Labels{Columns: []string{"diagnosis", "outcome"}}}}}
	if id != "" {
		s := c.Data["patients"]
		s.ID.Columns = []string{id}
		c.Data["patients"] = s
	}
	c.Coordinator = "nats://127.0.0.1:4222"
	if err := c.save(h.ConfigPath(), roster.Party); err != nil {
		t.Fatal(err)
	}
	d, err := job.ParseDictionary("cohort.yaml", []byte(cohort))
	if err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", frozenTable(200))
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	return h, c, d
}

// entered saves another entry of the catalogue.
func entered(t *testing.T, h Home, c *Config, edit func(*Source)) {
	t.Helper()
	s := c.Data["patients"]
	edit(&s)
	c.Data["patients"] = s
	if err := os.Remove(h.ConfigPath()); err != nil {
		t.Fatal(err)
	}
	if err := c.save(h.ConfigPath(), roster.Party); err != nil {
		t.Fatal(err)
	}
}

// taken loads a table as a job that picks columns and a label sees it.
func taken(t *testing.T, h Home, c *Config, d *job.Dictionary, label string, columns ...string) method.Table {
	t.Helper()
	return takenBy(t, h, c, d, 1, label, columns...)
}

func takenBy(t *testing.T, h Home, c *Config, d *job.Dictionary, number byte, label string, columns ...string) method.Table {
	t.Helper()
	data := d.Of("north")
	data.Source, data.Label = "patients", label
	if columns != nil {
		data.Schema = nil
		for _, name := range columns {
			data.Schema = append(data.Schema, d.Columns[d.Columns.Index(name)])
		}
	}
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	table, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{number}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Jobs see the edition and not the table. Whatever a job picks, it has the same rows, of which the
// same are held out: without ids, too, where a row is known by its cells.
func TestJobsSeeEditions(t *testing.T) {
	for _, id := range []string{"", "id"} {
		h, c, d := frozen(t, id)
		whole := taken(t, h, c, d, "diagnosis")
		if n := whole.Set.X.Rows(); n != 199 || len(whole.Held) < 30 || len(whole.Held) > 70 || (whole.Set.IDs != nil) != (id != "") {
			t.Fatalf("%d rows, %d held out", n, len(whole.Held))
		}
		for _, label := range []string{"diagnosis", "outcome", job.NoLabel} {
			for _, columns := range [][]string{{"age"}, {"visit", "age"}, {"krea"}} {
				some := taken(t, h, c, d, label, columns...)
				if !slices.Equal(some.Held, whole.Held) || some.Set.X.Rows() != 199 || !slices.Equal(some.Set.Columns, columns) {
					t.Errorf("id %q, label %s, columns %v: %d rows, other ones are held out", id, label, columns, some.Set.X.Rows())
				}
			}
		}
		h.put(t, "patients.csv", frozenTable(203))
		if again := taken(t, h, c, d, "diagnosis"); again.Set.X.Rows() != 199 {
			t.Errorf("id %q: a job sees %d rows of the table", id, again.Set.X.Rows())
		}
	}
}

// The twists: few people come, one is changed, one gets another id, and a row is put in front. No
// edition reveals any of these. Many come, and there is one.
func TestEditionsWaitForCompany(t *testing.T) {
	for _, id := range []string{"", "id"} {
		h, c, d := frozen(t, id)
		taken(t, h, c, d, "diagnosis") // a job that runs meanwhile
		for name, text := range map[string]string{
			"3 come":           frozenTable(203),
			"one is changed":   frozenTable(200, "p7,69", "p7,70"),
			"one goes":         strings.Replace(frozenTable(200), "p7,69,49,7,b,y\n", "", 1),
			"a row in front":   strings.Replace(frozenTable(200), "outcome\n", "outcome\np999,99,99,9,a,x\n", 1),
			"another id":       frozenTable(200, "p7,", "q7,"),
			"another label":    frozenTable(200, "p7,69,49,7,b,y", "p7,69,49,7,a,y"),
			"one is completed": frozenTable(200, "p3,41,,", "p3,41,9,"),
		} {
			h.put(t, "patients.csv", text)
			made, err := h.Freeze(context.Background(), all.Reader(), d, "patients")
			var few *edition.LackError
			if name == "another id" && id == "" {
				if err != nil || made.Number != 2 {
					t.Errorf("%s: %+v, %v", name, made, err) // of a table without ids: nothing has changed
				}
				continue
			}
			if !errors.As(err, &few) {
				t.Errorf("id %q: %s: edition %d, %v", id, name, made.Number, err)
			}
		}
		h.put(t, "patients.csv", frozenTable(300))
		if made, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil || made.Training+made.HeldOut != 299 {
			t.Errorf("100 come: %+v, %v", made, err)
		}
		for job, rows := range map[byte]int{1: 199, 2: 299} {
			if n := takenBy(t, h, c, d, job, "diagnosis").Set.X.Rows(); n != rows {
				t.Errorf("job %d sees %d rows, want %d", job, n, rows)
			}
		}
	}
}

// A label that cannot be read is found when the table is frozen, and is no answer to a job.
func TestEditionsHaveAllLabels(t *testing.T) {
	h, _, d := frozen(t, "id")
	for change, says := range map[[2]string]string{
		{"p7,69,49,7,b,y", "p7,69,49,7,b,"}: `column "outcome"`,
		{"p7,69,49,7,b,y", "p7,69,49,7,,y"}: `column "diagnosis"`,
	} {
		h.put(t, "patients.csv", frozenTable(300, change[0], change[1]))
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", change, err)
		}
	}
}

// A home without an edition refuses, and so does one whose key of it is lost.
func TestEditionsThatAreNotThere(t *testing.T) {
	h, c, d := frozen(t, "id")
	data := d.Of("north")
	data.Source = "patients"
	list, err := h.Editions().List()
	if err != nil {
		t.Fatal(err)
	}
	artifacts, err := h.Editions().Sealed()
	if err != nil {
		t.Fatal(err)
	}
	id, err := job.ParseID(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := artifacts.Erase(id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.load(context.Background(), c, data, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{9}}); err == nil || !strings.Contains(err.Error(), "the key of the job's edition of patients is lost or erased") {
		t.Error(err)
	}
	if err := h.Editions().Erase("patients", "cohort", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := h.load(context.Background(), c, data, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{10}}); fault.CodeOf(err) != fault.CodePolicy {
		t.Error(err)
	}
}

// One patient's cell changes while a hundred come and a hundred go: among those who stay it is the
// whole difference.
func TestAttackOneDeviceChanges(t *testing.T) {
	h, _, d := frozen(t, "id")
	freeze := func(text string) error {
		h.put(t, "patients.csv", text)
		_, err := h.Freeze(context.Background(), all.Reader(), d, "patients")
		return err
	}
	if err := freeze(frozenTable(400)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(frozenTable(500)), "\n")
	text := strings.Join(append([]string{lines[0]}, lines[101:]...), "\n") + "\n"
	cells := strings.Split(lines[151], ",")
	cells[2] = "96.5"
	changed := strings.Replace(text, lines[151], strings.Join(cells, ","), 1)
	var few *edition.LackError
	if err := freeze(changed); !errors.As(err, &few) || few.Lack != 9 {
		t.Errorf("one changes: %v", err)
	}
	if err := freeze(text); err != nil {
		t.Errorf("nobody changes: %v", err)
	}
}

// An edited entry of the catalogue, or another split key, would hide who comes: the home does not
// freeze the table by it. Jobs continue with the edition, which holds out the same rows.
func TestAttackAnEntryThatIsEdited(t *testing.T) {
	for name, edit := range map[string]func(*Source){
		"no ids":       func(s *Source) { s.ID = job.OwnID{} },
		"other ids":    func(s *Source) { s.ID.Columns = []string{"id", "visit"} },
		"normalized":   func(s *Source) { s.ID.Normalize = []string{"upper"} },
		"a group":      func(s *Source) { s.Group = "visit" },
		"fewer labels": func(s *Source) { s.Label = Labels{Columns: []string{"diagnosis"}} },
	} {
		h, c, d := frozen(t, "id")
		entered(t, h, c, edit)
		h.put(t, "patients.csv", frozenTable(400))
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); !errors.Is(err, edition.ErrOtherEntry) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h, c, d := frozen(t, "id")
	before := takenBy(t, h, c, d, 1, job.NoLabel)
	if err := h.RenewSplitKey(); err != nil {
		t.Fatal(err)
	}
	if after := takenBy(t, h, c, d, 2, job.NoLabel); !slices.Equal(before.Held, after.Held) || !slices.Equal(before.Set.IDs, after.Set.IDs) {
		t.Error("another split key holds out other rows of an edition")
	}
	h.put(t, "patients.csv", frozenTable(400))
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); !errors.Is(err, edition.ErrOtherEntry) {
		t.Errorf("another split key: %v", err)
	}
}

// bounded lists the bounds by which jobs may hold later patients out.
func bounded(t *testing.T, h Home, c *Config, dates ...string) {
	t.Helper()
	entered(t, h, c, func(s *Source) { s.Cut, s.CutDates = "age", dates })
}

// cutting loads the table as a job that holds rows out from a bound of a column on.
func cutting(t *testing.T, h Home, c *Config, d *job.Dictionary, number byte, column, from string) (method.Table, error) {
	t.Helper()
	data := d.Of("north")
	data.Source, data.Label, data.Test = "patients", job.NoLabel, job.Test{Column: column, From: from}
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	return h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{99, number}})
}

// Jobs hold later rows out by the bounds for which the table was frozen, and by no other.
func TestJobsCutWhereEditionsDo(t *testing.T) {
	h, c, d := frozen(t, "id")
	bounded(t, h, c, "50")
	const refused = "does not list the bound 50 for held-out rows"
	if _, err := cutting(t, h, c, d, 1, "age", "50"); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("before it is frozen so: %v", err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	table, err := cutting(t, h, c, d, 2, "age", "50")
	if err != nil {
		t.Fatal(err)
	}
	if table.Set.Cut == nil || table.Set.X.Rows() < 190 {
		t.Errorf("the job sees %d rows, and %v", table.Set.X.Rows(), table.Set.Cut)
	}
	if _, err := cutting(t, h, c, d, 3, "age", "51"); err == nil || fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("another bound: %v", err)
	}
	entered(t, h, c, func(s *Source) { s.Cut = "visit" }) // another column, with the same bounds
	if _, err := cutting(t, h, c, d, 4, "visit", "50"); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("the bound in another column: %v", err)
	}
}

// A further edition has ten people or none on each side of each bound, in training and held out,
// and with rows on both sides.
func TestFewWhoComeAfterABoundWait(t *testing.T) {
	h, c, d := frozen(t, "id")
	bounded(t, h, c, "50")
	freeze := func(text string) error {
		h.put(t, "patients.csv", text)
		_, err := h.Freeze(context.Background(), all.Reader(), d, "patients")
		return err
	}
	if err := freeze(frozenTable(200)); err != nil {
		t.Fatal(err)
	}
	// 160 come, all but four of them before the bound. A quarter of them is held out, by chance far more than ten.
	lines := strings.Split(strings.TrimSpace(frozenTable(200)), "\n")
	for i := range 160 {
		age := 30
		if i < 4 {
			age = 60
		}
		lines = append(lines, fmt.Sprintf("q%d,%d,7,3,a,x", i, age))
	}
	var few *edition.LackError
	if err := freeze(strings.Join(lines, "\n") + "\n"); !errors.As(err, &few) {
		t.Errorf("four come after the bound: %v", err)
	}
	for i := range lines {
		lines[i] = strings.Replace(lines[i], ",60,7,3,a,x", ",30,7,3,a,x", 1)
	}
	if err := freeze(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Error(err)
	}
}

func TestBoundsThatAreRefused(t *testing.T) {
	for says, s := range map[string]Source{
		"cut_dates: dataset: \"soon\" is neither a number nor a day": {Cut: "age", CutDates: []string{"soon"}},
		"the setting \"cut_dates\" requires the setting \"cut\"":     {CutDates: []string{""}},
	} {
		s.Path, s.Label = "x.csv", Labels{Columns: []string{"y"}}
		if err := s.check(job.Names{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %s", err, says)
		}
	}
}
