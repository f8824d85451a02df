package daemon

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/privacy"
)

var eight = privacy.Guarantee{Epsilon: 8, Delta: 1e-6}

// noiseOf is a job's noise over a table.
func noiseOf(job, table string, epsilon float64, known ...string) method.Release {
	r := productsOf("age", "income")
	g := privacy.Guarantee{Epsilon: epsilon, Delta: 1e-6}
	r.Kind, r.Job, r.Model, r.Table, r.Known = method.ReleaseNoise, job, job, table, known
	r.Rho, r.Epsilon, r.Delta = g.Rho(), epsilon, g.Delta
	return r
}

// reserves has a home reserve the cost of noise, as its party would.
func (h Home) reserves(t *testing.T, r method.Release) (id string, over *disclosure.BudgetError) {
	t.Helper()
	recorded, err := h.recordedNoise()
	if err != nil {
		t.Fatal(err)
	}
	id, err = h.Releases().Reserve(r, eight, recorded)
	if err != nil && !errors.As(err, &over) {
		t.Fatal(err)
	}
	return id, over
}

// spends has a home release noise, and record it.
func (h Home) spends(t *testing.T, r method.Release) string {
	t.Helper()
	id, over := h.reserves(t, r)
	if over != nil {
		t.Fatal(over)
	}
	if err := h.Releases().Release(r.Kind, id); err != nil {
		t.Fatal(err)
	}
	e := audit.Event{Kind: audit.Released, Job: "0123", Table: r.Table, Releases: []audit.Release{{Kind: string(r.Kind), ID: id, Epsilon: r.Epsilon, Delta: r.Delta}}}
	if err := openRecord(t, h).Append(e); err != nil {
		t.Fatal(err)
	}
	return id
}

// configures adds settings to a home's configuration.
func (h Home) configures(t *testing.T, more string) {
	t.Helper()
	f, err := os.OpenFile(h.ConfigPath(), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(more)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A home that was restored from an old backup does not go on until its operator accepts the loss. From then on all its
// budgets count as spent, until the operator states what was. The record has both, in words.
func TestAcceptedLossSpendsTheBudget(t *testing.T) {
	before, key := newHome(t, roster.Party), operatorKey(t)
	if err := openRecord(t, before).Append(audit.Event{Kind: audit.Accepted, Job: "0123", Session: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := openRecord(t, before).Append(audit.Event{Kind: audit.Closed, Job: "0123"}); err != nil {
		t.Fatal(err)
	}
	old := backsUp(t, before, key)
	before.spends(t, noiseOf("first", "patients", 7))
	last, _ := lastHash(t, before)
	h := At(filepath.Join(t.TempDir(), "again"))
	if _, err := h.Restore(old, []age.Identity{key}); err != nil {
		t.Fatal(err)
	}
	record := openRecord(t, h)
	check, err := h.restoredCheck(record)
	if err != nil || check == nil {
		t.Fatal("the home is not marked", err)
	}
	if err := check(last); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "mercer audit accept-loss") {
		t.Errorf("an old backup: %v", err)
	}
	if err := h.AcceptLoss(all.Reader()); err != nil {
		t.Fatal(err)
	}
	e, _ := lastEvent(t, h)
	if e.Kind != audit.LossAccepted || len(e.Releases) != 1 || !strings.Contains(e.Outcome, "all privacy budgets count as spent until mercer budget settle") {
		t.Errorf("the record has %+v", e)
	}
	for _, table := range []string{"patients", "others"} {
		if _, over := h.reserves(t, noiseOf("second", table, .1)); over == nil || !over.Unknown {
			t.Errorf("%s: %v", table, over)
		}
	}
	if err := os.Rename(string(h.Releases()), string(h.Releases())+".old"); err != nil { // the note of the loss is gone
		t.Fatal(err)
	}
	if _, over := h.reserves(t, noiseOf("second", "patients", .1)); over == nil || !over.Unknown {
		t.Errorf("without the note: %v", over)
	}
	if err := h.SettleBudget(all.Reader(), privacy.Guarantee{Epsilon: 800, Delta: 1e-6}); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("settled: %v", err)
	}
	if err := h.SettleBudget(all.Reader(), privacy.Guarantee{Epsilon: 7, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	e, _ = lastEvent(t, h)
	if e.Kind != audit.BudgetSettled || e.By == nil || *e.By.UID != os.Getuid() || len(e.Releases) != 1 || e.Releases[0].Epsilon != 7 || e.Outcome != "unknown jobs have spent epsilon 7 at delta 1e-06 of each table" {
		t.Errorf("the record has %+v", e)
	}
	if _, over := h.reserves(t, noiseOf("second", "patients", 4)); over == nil || over.Unknown || over.Left > 3.5 || over.Left < 3 {
		t.Errorf("settled: %v", over)
	}
	h.spends(t, noiseOf("second", "patients", 1))
	if err := os.RemoveAll(string(h.Releases())); err != nil {
		t.Fatal(err)
	}
	if _, over := h.reserves(t, noiseOf("third", "patients", .1)); over == nil || !over.Unknown {
		t.Errorf("without a ledger: %v", over)
	}
	if err := h.SettleBudget(all.Reader(), privacy.Guarantee{}); err != nil {
		t.Fatal(err)
	}
	h.spends(t, noiseOf("third", "patients", 8))
}

// lastHash returns the hash of the last line of a record.
func lastHash(t *testing.T, h Home) (hash [32]byte, lines int) {
	t.Helper()
	s, err := audit.Verify(h.AuditPath(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(s.Head)
	if err != nil {
		t.Fatal(err)
	}
	copy(hash[:], b)
	return hash, s.Lines
}

// What a backup has as reserved counts as spent after its restoration.
func TestARestoredReservationIsSpent(t *testing.T) {
	before, key := newHome(t, roster.Party), operatorKey(t)
	if _, over := before.reserves(t, noiseOf("first", "patients", 7)); over != nil {
		t.Fatal(over)
	}
	file := backsUp(t, before, key)
	h := At(filepath.Join(t.TempDir(), "again"))
	if _, err := h.Restore(file, []age.Identity{key}); err != nil {
		t.Fatal(err)
	}
	list, err := h.Releases().Noisy()
	if err != nil || len(list) != 1 || list[0].State != disclosure.Released {
		t.Errorf("%+v, %v", list, err)
	}
}

// A table has one account under all its names: by its path, also through a link, and by the dictionaries that were
// approved for it. Tables that the catalogue has no more are listed, too.
func TestBudgets(t *testing.T) {
	h := newHome(t, roster.Party)
	h.configures(t, `
data:
  patients: {path: patients.csv, policy: {protocols: [moments], privacy: {epsilon: 8, delta: 1e-6}}}
  renamed: {path: link.csv, policy: {protocols: [moments], privacy: {epsilon: 4, delta: 1e-6}}}
  others: {path: others.csv, policy: {protocols: [moments]}}
  third: {path: third.csv, policy: {protocols: [moments], privacy: {epsilon: 8, delta: 1e-6}}}
  mapped: {path: mapped.csv, policy: {protocols: [moments], privacy: {epsilon: 8, delta: 1e-6}}}
`)
	if err := errors.Join(os.WriteFile(h.path("patients.csv"), nil, 0o600), os.Symlink("patients.csv", h.path("link.csv"))); err != nil {
		t.Fatal(err)
	}
	c, err := h.Config(all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	h.spends(t, noiseOf("first", "patients", 3, c.knownBy(h, "patients", nil)...))
	h.spends(t, noiseOf("gone", "former", 2, party.ByDictionary("kidney")))
	text := `[{"name": "kidney", "hash": "00", "table": "mapped", "day": "2026-11-01"}]`
	if err := errors.Join(os.MkdirAll(h.Dictionaries().Folder, 0o700), os.WriteFile(filepath.Join(h.Dictionaries().Folder, "approved"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	id, err := h.Releases().Admit(disclosure.Asker{}, productsOf("age", "income"), 0)
	if err == nil {
		err = h.Releases().Release(method.ReleaseProducts, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := h.Budgets(all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range list {
		line := fmt.Sprintf("%s %t %g:", b.Table, b.Listed, b.Budget.Epsilon)
		for _, s := range b.Spendings {
			line += " " + s.Job + " of " + s.Table
		}
		got = append(got, fmt.Sprintf("%s; %d void", line, len(b.Voids)))
	}
	want := []string{"mapped true 8: gone of former; 0 void", "patients true 8: first of patients; 1 void", "renamed true 4: first of patients; 1 void", "third true 8:; 0 void"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if left := list[1].Left(eight); left <= 4 || left >= 8 || list[3].Left(eight) != 8 || list[3].Account.Spent(1e-6) != 0 {
		t.Errorf("%g is left", left)
	}
	if err := os.Remove(filepath.Join(h.Dictionaries().Folder, "approved")); err != nil {
		t.Fatal(err)
	}
	list, err = h.Budgets(all.Reader())
	if i := slices.IndexFunc(list, func(b TableBudget) bool { return b.Table == "former" }); err != nil || i < 0 || list[i].Listed || list[i].Spendings[0].Job != "gone" || list[i].Spendings[0].Day != time.Now().UTC().Format(time.DateOnly) {
		t.Errorf("%+v, %v", list, err)
	}
}

// Spendings are listed in the order of their time, whatever their IDs are, with the job that the audit record has.
func TestOrderOfSpendings(t *testing.T) {
	h := newHome(t, roster.Party)
	var want []string
	for _, name := range []string{"e", "b", "d", "a", "c"} {
		id := h.spends(t, noiseOf(name, "patients", 1))
		want = append(want, name+" 0123 "+id)
	}
	list, err := h.Budgets(all.Reader())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	var got []string
	for _, s := range list[0].Spendings {
		got = append(got, s.Job+" "+list[0].Payers[s.ID].Job+" "+s.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b := TableBudget{Account: disclosure.Account{Spendings: []disclosure.Spending{{Job: "b", Day: "2026-11-02"}, {Job: "a", Day: "2026-11-02"}, {Job: "c", Day: "2026-11-01"}}}}
	if b.order(); b.Spendings[0].Job != "c" || b.Spendings[1].Job != "a" {
		t.Errorf("by day: %v", b.Spendings)
	}
}

// A table is known by the file, database or program that it is read from, whatever is read of it.
func TestWhence(t *testing.T) {
	h := newHome(t, roster.Party)
	h.configures(t, `
data:
  file: {path: patients.csv}
  same: {path: ./x/../patients.csv}
  absolute: {path: /data/patients.csv}
  lite: {sql: {sqlite: patients.db, query_file: a.sql}}
  lite2: {sql: {sqlite: patients.db, query_file: b.sql}}
  server: {sql: {dsn_env: DSN, query_file: a.sql}}
  server2: {sql: {dsn_env: DSN, query_file: b.sql}}
  program: {command: [./extract.sh, "2024"]}
  program2: {command: [./extract.sh, "2025"]}
`)
	c, err := h.Config(all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.EvalSymlinks(h.folder)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"file": "file " + own + "/patients.csv", "same": "file " + own + "/patients.csv", "absolute": "file /data/patients.csv",
		"lite": "file " + own + "/patients.db", "lite2": "file " + own + "/patients.db", "server": "database of DSN", "server2": "database of DSN",
		"program": "program " + own + "/extract.sh", "program2": "program " + own + "/extract.sh", "none": "",
	} {
		if got := c.whence(h, name); got != want {
			t.Errorf("%s is read from %q, want %q", name, got, want)
		}
	}
}
