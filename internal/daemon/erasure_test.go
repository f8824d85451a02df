package daemon

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/linalg"
)

// letOut admits a release, records it as disclosed, and writes the line of the record about it.
func (h Home) letOut(t *testing.T, r method.Release, by job.ID) (id string) {
	t.Helper()
	id, err := h.Releases().Admit(disclosure.Asker{}, r, 0)
	if err == nil {
		err = h.Releases().Release(r.Kind, id)
	}
	record, failed := audit.Open(h.AuditPath())
	if err = errors.Join(err, failed); err == nil {
		err = record.Append(audit.Event{Kind: audit.Released, Job: by.String(), Name: r.Job, Releases: []audit.Release{{Kind: string(r.Kind), ID: id}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// ids of the releases in a list.
func releaseIDs(list []Taken) (ids []string) {
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return ids
}

// unnamed is a table of two columns, read row by row.
func unnamed(ids ...string) *dataset.Set {
	n := 8
	if ids != nil {
		n = len(ids)
	}
	m := linalg.New[float64](n, 2)
	for i := range m.Data {
		m.Data[i] = float64(i + 1)
	}
	return &dataset.Set{Name: "t", Columns: []string{"a", "b"}, IDs: ids, X: dataset.NewDense(m)}
}

// The releases in which a person's rows took part are found, by edition and row by row, whatever the table, with the
// jobs that made them. Of a table without ids nobody can tell.
func TestTrace(t *testing.T) {
	h, c, d := frozen(t, "id")
	table := takenBy(t, h, c, d, 10, job.NoLabel)
	in := h.letOut(t, method.Release{Kind: method.ReleaseRows, Job: "kidney", Peers: []string{"south"}, Table: "patients", Edition: table.Edition, Set: table.Set}, job.ID{1})
	row := h.letOut(t, method.Release{Kind: method.ReleaseIDs, Job: "aligned", Peers: []string{"south"}, Table: "patients", Set: &dataset.Set{IDs: []string{"p17", "p18"}}}, job.ID{2})
	h.letOut(t, method.Release{Kind: method.ReleaseProducts, Job: "others", Table: "patients", Set: unnamed("x1", "x2", "x3")}, job.ID{3})
	unknown := h.letOut(t, method.Release{Kind: method.ReleasePhases, Job: "elsewhere", Table: "gone", Set: unnamed()}, job.ID{4})
	own, err := h.identity()
	if err != nil {
		t.Fatal(err)
	}
	artifacts, err := vault.OpenArtifacts(h.retained(), own.KEMKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{{1}, {3}} {
		if err := artifacts.Put(id, vault.Predictor, []byte("a model")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.Trace(all.Reader(), "p17")
	if err != nil {
		t.Fatal(err)
	}
	if ids := releaseIDs(got.Releases); len(ids) != 2 || !slices.Contains(ids, in) || !slices.Contains(ids, row) {
		t.Errorf("found in %v, want %s and %s", ids, in, row)
	}
	if ids := releaseIDs(got.Unknown); !slices.Equal(ids, []string{unknown}) {
		t.Errorf("undecided %v, want %s", ids, unknown)
	}
	if !slices.Equal(got.Retained, []string{job.ID{1}.String()}) {
		t.Errorf("still kept: %v", got.Retained)
	}
	for _, one := range got.Releases {
		if one.ID == in && (one.Edition != 1 || len(one.Runs) != 1 || one.Runs[0].ID != (job.ID{1}).String() || one.Runs[0].Name != "kidney" || !slices.Equal(one.Peers, []string{"south"})) {
			t.Errorf("%+v", one)
		}
	}
	if got, err := h.Trace(all.Reader(), "p3"); err != nil || len(got.Releases) != 0 { // a gap keeps the row out of the edition
		t.Errorf("%+v, %v", got, err)
	}
	entered(t, h, c, func(s *Source) { s.ID = job.OwnID{} })
	if _, err := h.Trace(all.Reader(), "p17"); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), `has an "id" or a "group"`) {
		t.Errorf("no table knows people: %v", err)
	}
}

// A person is withdrawn from every table that has the person, and the record says so without the name.
func TestWithdrawEverywhere(t *testing.T) {
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	c.Data["visits"] = Source{Path: "visits.csv", ID: c.Data["patients"].ID}
	c.Data["others"] = Source{Path: "others.csv", ID: c.Data["patients"].ID}
	c.Data["numbers"] = Source{Path: "numbers.csv"}
	entered(t, h, c, func(*Source) {})
	h.put(t, "visits.csv", "id,day\np17,1\np18,2\n")
	h.put(t, "others.csv", "id,day\nq1,1\n")
	h.put(t, "numbers.csv", "a,b\n1,2\n")
	done, err := h.WithdrawEverywhere(t.Context(), all.Reader(), "p17")
	if err != nil || len(done) != 2 || done["patients"].People != 1 || done["patients"].Company < 9 || done["visits"].Company != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	if ids, _ := idsOf(t, h, c, d, 11); slices.Contains(ids, "p17") {
		t.Error("jobs still see the person")
	}
	var lines []audit.Event
	if _, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error { lines = append(lines, e); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 || lines[0].Kind != audit.Withdrawn || lines[0].Table != "patients" || lines[0].By == nil || !strings.HasPrefix(lines[0].Outcome, "1 named, ") {
		t.Errorf("%+v", lines)
	}
	for _, e := range lines {
		if strings.Contains(e.Outcome, "p17") {
			t.Error("the record names the person")
		}
	}
	if done, err := h.WithdrawEverywhere(t.Context(), all.Reader(), "nobody"); err != nil || len(done) != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	// What cannot be recorded does not begin.
	h.put(t, "audit", "{}\n")
	if _, err := h.WithdrawEverywhere(t.Context(), all.Reader(), "p18"); err == nil {
		t.Error("withdrawn without a record")
	}
	if ids, _ := idsOf(t, h, c, d, 12); !slices.Contains(ids, "p18") && !slices.Contains(ids, "p19") && !slices.Contains(ids, "p20") {
		t.Error("the withdrawal has begun")
	}
}
