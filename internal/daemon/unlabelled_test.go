package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// withGaps writes the table of frozenTable, in which 60 people have no diagnosis and others no
// outcome. One of them has a cell that nobody can read.
func withGaps() string {
	lines := strings.Split(frozenTable(200), "\n")
	for i, line := range lines {
		cells := strings.Split(line, ",")
		switch {
		case i > 20 && i <= 80:
			cells[4] = ""
		case i > 100 && i <= 160:
			cells[5] = ""
		}
		if i == 21 {
			cells[1] = "unreadable"
		}
		lines[i] = strings.Join(cells, ",")
	}
	return strings.Join(lines, "\n")
}

// needing makes the entry's rows need all labels.
func needing(s *Source) { s.Label.Needed = s.Label.Columns }

// Rows without a label are left out by the entry alone: whatever label and columns a job picks, it
// has the same rows, of which the same are held out.
func TestJobsSeeRowsWithLabels(t *testing.T) {
	for _, id := range []string{"", "id"} {
		h, c, d := frozen(t, id)
		entered(t, h, c, needing)
		h.put(t, "patients.csv", withGaps())
		made, err := h.Freeze(context.Background(), all.Reader(), d, "patients")
		if err != nil || made.Unlabelled != 120 || made.Training+made.HeldOut != 79 {
			t.Fatalf("id %q: %+v, %v", id, made, err)
		}
		whole := taken(t, h, c, d, "diagnosis")
		for _, label := range []string{"diagnosis", "outcome", job.NoLabel} {
			for _, columns := range [][]string{nil, {"age"}, {"krea", "visit"}} {
				some := taken(t, h, c, d, label, columns...)
				if !slices.Equal(some.Held, whole.Held) || some.Set.X.Rows() != 79 || !slices.Equal(some.Set.IDs, whole.Set.IDs) || slices.Contains(some.Set.Labels, "") || some.Set.Unlabelled != 120 {
					t.Errorf("id %q, label %s, columns %v: %d rows", id, label, columns, some.Set.X.Rows())
				}
			}
		}
		tried, err := h.Try(context.Background(), all.Reader(), d, "patients")
		if err != nil || tried.Unlabelled != 120 || tried.Left != 1 || tried.Rows != 79 {
			t.Errorf("%+v, %v", tried, err)
		}
	}
}

// A table of numbers has the same rule, frozen or too small for that, and in a file without names.
func TestNumbersNeedLabels(t *testing.T) {
	for n, rows := range map[int]int{200: 195, 20: 18} {
		lines := strings.Split(numbersTable(n), "\n")
		for i := 5; i <= n; i += 50 {
			lines[i] = strings.TrimRight(lines[i], "01")
		}
		lines[6] = strings.TrimRight(lines[6], "01")
		h, c, key := undescribed(t, strings.Join(lines, "\n"))
		if _, err := sees(t, h, c, key, 1); err == nil || !strings.Contains(err.Error(), `write label: {column: "ill", missing: drop-row} in the catalogue`) && n == 20 {
			t.Errorf("%d rows: %v", n, err)
		}
		h, c, key = undescribed(t, strings.Join(lines, "\n"))
		entered(t, h, c, needing)
		table, err := sees(t, h, c, key, 1)
		if err != nil || table.Set.X.Rows() != rows || table.Set.Unlabelled != n-rows || !slices.Equal(table.Set.Columns, []string{"age", "krea"}) {
			t.Fatalf("%d rows: %+v, %v", n, table.Set, err)
		}
		without := job.Data{Source: "patients", Label: job.NoLabel, Test: job.Test{Fraction: 0.25}}
		other, err := h.load(context.Background(), c, without, key, snapshots{h.kept(t), job.ID{2}})
		if err != nil || !slices.Equal(other.Set.IDs, table.Set.IDs) || other.Set.Labels != nil {
			t.Errorf("%d rows: a job without labels: %v", n, err)
		}
	}
	h, c, key := undescribed(t, "id,age\n")
	h.put(t, "x.svm", "1 1:2\n0 1:3\n")
	entered(t, h, c, func(s *Source) {
		*s = Source{Path: "x.svm", Label: Labels{Columns: []string{"label"}, Needed: []string{"label"}}}
	})
	for _, label := range []string{"label", job.NoLabel} {
		data := job.Data{Source: "patients", Label: label, Test: job.Test{Fraction: 0.25}}
		if table, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{3}}); err != nil || table.Set.X.Rows() != 2 || table.Set.X.Cols() != 1 {
			t.Errorf("LIBSVM text, label %s: %v", label, err)
		}
	}
}

// A job leaves out no rows by itself: its key must be the entry's. The refusal depends on no row.
func TestAttackAJobDropsRows(t *testing.T) {
	h, c, d := frozen(t, "id")
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	data := d.Of("north")
	data.Source, data.Label, data.Unlabelled = "patients", "diagnosis", prepare.FillDropRow
	_, err = h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{1}})
	if fault.CodeOf(err) != fault.CodeOf(fault.Offer.Errorf("")) || err == nil || !strings.Contains(err.Error(), `the job leaves out rows without a label, but the catalogue entry of patients does not; remove "missing" from the job's label, or write "label: {column: "diagnosis", missing: drop-row}" in the entry`) {
		t.Errorf("a job drops rows: %v", err)
	}
	entered(t, h, c, needing)
	h.put(t, "patients.csv", withGaps())
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	whole := takenBy(t, h, c, d, 2, "diagnosis")
	same, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{3}})
	if err != nil || !slices.Equal(same.Set.IDs, whole.Set.IDs) {
		t.Errorf("a job that repeats the entry: %v", err)
	}
}

// If the rule changes, jobs are refused until the table is frozen again. Digests of entries without
// the rule stay those of earlier programs.
func TestARuleForLabelsBelongsToTheEdition(t *testing.T) {
	h, c, d := frozen(t, "id")
	data := d.Of("north")
	data.Source, data.Label = "patients", "outcome"
	read := func(number byte) error {
		_, err := h.load(context.Background(), c, data, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{number}})
		return err
	}
	if err := read(1); err != nil {
		t.Fatal(err)
	}
	entered(t, h, c, needing)
	if err := read(2); !errors.Is(err, errOtherReading) {
		t.Errorf("another rule: %v", err)
	}
	entered(t, h, c, func(s *Source) { s.Label.Needed = nil })
	if err := read(3); err != nil {
		t.Errorf("the first rule again: %v", err)
	}
	s := Source{CSV: prepare.CSV{Missing: []string{"NA"}}, Drop: []string{"x"}, Columns: OwnColumns{Theirs: map[string]prepare.Theirs{"a": {As: "b"}}}}
	b, err := json.Marshal(s.mapping())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if got, err := s.mappingDigest(); err != nil || got != hex.EncodeToString(sum[:16]) {
		t.Errorf("the digest of an entry without the rule is %s, %v", got, err)
	}
	digests := make(map[string]bool)
	for _, needed := range [][]string{{"y", "z"}, {"z", "y"}} {
		s.Label.Needed = needed
		digest, err := s.mappingDigest()
		if err != nil {
			t.Fatal(err)
		}
		digests[digest] = true
	}
	if len(digests) != 1 {
		t.Error("the order of the labels changes the digest")
	}
}

// A table that is frozen for a dictionary with fewer labels is read with the same rows.
func TestOtherDictionariesReadRowsWithLabels(t *testing.T) {
	h, c, d := frozen(t, "id")
	entered(t, h, c, needing)
	h.put(t, "patients.csv", withGaps())
	fewer, err := job.ParseDictionary("fewer.yaml", []byte(strings.NewReplacer("name: cohort", "name: fewer", "diagnosis: {}, ", "").Replace(cohort)))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Dictionaries().Approve(fewer, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), fewer, "patients"); err != nil {
		t.Fatal(err)
	}
	rows, err := h.scratch()
	if err != nil {
		t.Fatal(err)
	}
	s := c.Data["patients"]
	s.Path = h.path("patients.csv")
	if err := h.copyRows(context.Background(), s, d, rows); err != nil {
		t.Fatal(err)
	}
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	others, err := h.cellsByOthers(rows, c, s, key, "patients", d)
	if err != nil || len(others) == 0 {
		t.Fatalf("%d other dictionaries, %v", len(others), err)
	}
	if n := len(listOf(t, others[fewer.Hash()])); n != 79 {
		t.Errorf("%d people by the other dictionary", n)
	}
}

// An entry's labels are a name, a list or a map.
func TestLabelsOfAnEntry(t *testing.T) {
	for text, want := range map[string]string{
		"{column: y, missing: drop-row}":         "",
		"{column: [y, z], missing: drop-row}":    "",
		"{column: y, missing: error}":            "",
		"{column: y}":                            "",
		"{missing: drop-row}":                    "\"label\" has no \"column\"; add \"column:\" and the name of the column, or write \"label: none\"",
		"{column: none, missing: drop-row}":      `"label" has no "column"`,
		"{column: y, missing: drop}":             `"missing" is "drop"; write "drop-row" to leave out rows without a label, or "error" to refuse them`,
		"{column: y, gaps: drop-row}":            "gaps",
		"{column: {y: z}, missing: drop-row}":    "\"label\" is neither a name nor a list of names; write the name of a column, a list of names, or \"none\"",
		"{column: [y, none], missing: drop-row}": `"none" is not a column name`,
	} {
		h, _, _ := undescribed(t, "id,y\n")
		h.put(t, "config.yaml", "name: north\ncoordinator: nats://127.0.0.1:4222\ndata:\n  p: {path: a.csv, label: "+text+"}\n")
		c, err := h.Config(all.Reader())
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		case want == "":
			label := c.Data["p"].Label
			if drops := strings.Contains(text, "drop-row"); drops != (label.Needed != nil) || drops && !slices.Equal(label.Needed, label.Columns) {
				t.Errorf("%s: rows need %q", text, label.Needed)
			}
		}
	}
}
