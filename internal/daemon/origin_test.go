package daemon

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// kept opens a home's snapshots as the process of one identity does.
func (h Home) kept(t *testing.T) *vault.Artifacts {
	t.Helper()
	id, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := vault.OpenArtifacts(h.path("snapshots"), id.KEMKey())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (h Home) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(h.path(name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// plain lists the files under a folder that hold a text.
func plain(t *testing.T, folder string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				found = append(found, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const extracted = `data:
  patients:
    command: [./extract.sh, patients.csv]
    label: diagnosis
    id: id
    columns: [age, visit]
`

// A job reads a program's rows once. Another process, after a crash, reads the same rows, and
// another job reads the rows of its time.
func TestSourceIsReadOnce(t *testing.T) {
	h, c := home(t, extracted)
	h.put(t, "extract.sh", "#!/bin/sh\necho once >> count\ncat $1\n")
	d := job.Data{Source: "patients", Label: "diagnosis"}
	load := func(id job.ID) *dataset.Set {
		t.Helper()
		table, err := h.load(context.Background(), c, d, dataset.SplitKey{1}, snapshots{h.kept(t), id})
		if err != nil {
			t.Fatal(err)
		}
		return table.Set
	}
	age := func(s *dataset.Set, id string) (v float64) {
		t.Helper()
		for i, one := range s.IDs {
			if one == id {
				row := make([]float64, s.X.Cols())
				s.X.Row(i, row)
				return row[0]
			}
		}
		return -1
	}
	before := load(job.ID{1})
	if strings.Join(before.IDs, " ") != "p1 p2 p3" || age(before, "p2") != 50 || before.Labels[1] != "well" {
		t.Fatalf("read %v, %v", before.IDs, before.Labels)
	}
	rows := strings.SplitAfter(patients, "\n")
	changed := rows[0] + rows[3] + strings.Replace(rows[2], ",50,", ",51,", 1) + rows[1] + "p0,Dan,70,1,123004,ill,no,20\n"
	h.put(t, "patients.csv", changed)
	if again := load(job.ID{1}); strings.Join(again.IDs, " ") != "p1 p2 p3" || age(again, "p2") != 50 {
		t.Errorf("the job reads %v the second time, with age %v", again.IDs, age(again, "p2"))
	}
	if other := load(job.ID{2}); strings.Join(other.IDs, " ") != "p0 p1 p2 p3" || age(other, "p2") != 51 {
		t.Errorf("another job reads %v, with age %v", other.IDs, age(other, "p2"))
	}
	if count, err := os.ReadFile(h.path("count")); err != nil || string(count) != "once\nonce\n" {
		t.Errorf("the program ran %q, %v", count, err)
	}
	if found := plain(t, h.path("snapshots"), "123001", "Ann", "ssn"); found != nil {
		t.Errorf("%v hold cells in clear", found)
	}
	if _, err := h.kept(t).Erase(job.ID{1}); err != nil {
		t.Fatal(err)
	}
	if left, err := h.kept(t).Jobs(); err != nil || len(left) != 1 || left[0].Job != (job.ID{2}) {
		t.Errorf("%v are left, %v", left, err)
	}
}

// A query of a file of SQLite is a source, with columns of other names and gaps.
func TestQueryIsASource(t *testing.T) {
	h, c := home(t, `data:
  patients:
    sql: {sqlite: ward.db, query_file: cohort.sql}
    label: diagnosis
    id: patient
    csv: {missing: ["-9"]}
    columns: {pid: {as: patient}, dx: {as: diagnosis, values: {"1": ill, "0": well}}}
    timeout: 1m
    max_bytes: 1000
`)
	db, err := sql.Open("sqlite", h.path("ward.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("CREATE TABLE p (pid TEXT, age REAL, dx INTEGER); INSERT INTO p VALUES ('b', 40.5, 1), ('a', 50, 0)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	h.put(t, "cohort.sql", "SELECT pid, age, dx FROM p")
	table, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: "diagnosis"}, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{1}})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, table.Set.X.Cols())
	table.Set.X.Row(1, row)
	if s := table.Set; strings.Join(s.IDs, " ") != "a b" || strings.Join(s.Labels, " ") != "well ill" || len(row) != 1 || row[0] != 40.5 {
		t.Errorf("read %v, %v, %v", s.IDs, s.Labels, row)
	}
	h.put(t, "cohort.sql", "SELECT pid, age, dx FROM q")
	_, err = h.load(context.Background(), c, job.Data{Source: "patients", Label: "diagnosis"}, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{2}})
	if err == nil || !strings.HasPrefix(err.Error(), "cohort.sql: the query cannot be read: ") || !strings.Contains(err.Error(), "no such table: q") {
		t.Errorf("got %v", err)
	}
}

// A program that fails leaves no snapshot to read, and the log says why.
func TestFailedSource(t *testing.T) {
	h, c := home(t, extracted)
	for text, want := range map[string]string{
		"head -2 $1; echo the wire is cut >&2; exit 4": `./extract.sh failed: exit status 4; it wrote "the wire is cut" to stderr`,
		"head -2 $1 | sed 's/40/forty/'":               `./extract.sh:2: column "age" holds "forty"`,
		"true":                                         "./extract.sh: there are no rows; give at least one",
	} {
		h.put(t, "extract.sh", "#!/bin/sh\n"+text+"\n")
		k := snapshots{h.kept(t), job.ID{1}}
		_, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: "diagnosis"}, dataset.SplitKey{1}, k)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if _, err := k.artifacts.Erase(k.job); err != nil {
			t.Fatal(err)
		}
	}
}

// Entries that say where the table is twice, or limit a file, are refused.
func TestRefusedOrigins(t *testing.T) {
	for entry, want := range map[string]string{
		"path: a.csv, command: [./x]":                             `the source has more than one of "path", "command" and "sql"; give only one of these keys`,
		"command: [./x], sql: {sqlite: a, query_file: b}":         `the source has more than one of "path", "command" and "sql"; give only one of these keys`,
		"path: a.csv, timeout: 1m":                                `"timeout" and "max_bytes" apply only to "command" and "sql"; remove both keys for a file`,
		"command: [./x], max_bytes: -1":                           `max_bytes is "-1"; write a whole number above 0`,
		"command: [./x], max_bytes: 0":                            `max_bytes is "0"; write a whole number above 0`,
		"command: [./x], features: 3":                             "the columns of this table have names, but the setting \"features\" is for columns without names; remove \"features\"",
		"command: []":                                             `"command" is empty; write "command: [./extract.sh]"`,
		"command: [psql]":                                         `command "psql" is not a path; write ./psql for a file of this folder, or an absolute path`,
		"sql: {query_file: b}":                                    `"sql" requires exactly one database: "dsn_env" (the environment variable with the connection string of PostgreSQL) or "sqlite" (the path of a file)`,
		"sql: {dsn_env: X, sqlite: a, query_file: b}":             `"sql" requires exactly one database: "dsn_env" (the environment variable with the connection string of PostgreSQL) or "sqlite" (the path of a file)`,
		"sql: {dsn_env: X}":                                       `"sql" has no "query_file"; write the SELECT to a file, and add "query_file" with the path of this file`,
		`sql: {dsn_env: X, query_file: b}, csv: {delimiter: ";"}`: `the key "csv" describes a text, but a query returns cells; remove everything in "csv" except the key "missing"`,
		"sql: {dsn: 'postgres://u:hush@h/d', query_file: b}":      "dsn",
	} {
		_, err := config(t, "name: north\ndata: {patients: {"+entry+"}}\n")
		if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", entry, err, want)
		}
	}
	h, c := home(t, "data:\n  patients: {sql: {dsn_env: MERCER_NO_SUCH_DSN, query_file: patients.csv}, label: x}\n")
	_, err := h.load(context.Background(), c, job.Data{Source: "patients"}, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{1}})
	if err == nil || err.Error() != "the environment variable MERCER_NO_SUCH_DSN is not set; set it to the connection string of the database" {
		t.Errorf("got %v", err)
	}
}
