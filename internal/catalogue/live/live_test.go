package live_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/catalogue/live"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/catalogue/profile"
)

// A user who can change the file of a query decides what is asked.
func TestQueryOfOthers(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "cohort.sql")
	if err := os.WriteFile(file, []byte("SELECT 1 AS x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := live.Source{Origin: origin.Origin{SQL: &origin.SQL{SQLite: "none.db", QueryFile: "cohort.sql"}}, Folder: folder}
	for mode, want := range map[os.FileMode]string{
		0o620: "cohort.sql is not run, since other users can write to this file; use chmod go-w " + file,
		0o600: "none.db does not exist; correct the path",
	} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", mode, err, want)
		}
	}
}

// A query whose columns cannot be told apart is refused before any row is read.
func TestQueryColumns(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE p (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := live.Source{Origin: origin.Origin{SQL: &origin.SQL{SQLite: "a.db", QueryFile: "cohort.sql"}}, Folder: folder}
	for query, want := range map[string]string{
		"SELECT 1 AS age, 2 AS y, 3 AS age": `cohort.sql: columns 1 and 3 (from 1) of the query are both called "age"; rename one of these columns by AS in the SELECT`,
		`SELECT 1 AS age, 2 AS ""`:          "cohort.sql: column 2 (from 1) of the query has no name; name it by AS in the SELECT",
	} {
		if err := os.WriteFile(filepath.Join(folder, "cohort.sql"), []byte(query), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(context.Background()); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
}

// The table of a program is profiled as that of a file: where commas separate fields, a comma before
// three digits separates thousands.
func TestDelimiterOfAProgram(t *testing.T) {
	text := "x,y\n" + strings.Repeat("\"814,162\",1\n\"12,500\",2\n", 20)
	rows, err := live.Source{Origin: origin.Origin{Command: []string{"/bin/echo", text}}, Folder: t.TempDir()}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // read only
	table, err := profile.Read(rows, profile.Asked{})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Problems) == 0 || !strings.HasSuffix(table.Problems[0].Text, "commas between thousands: --thousands ,") {
		t.Errorf("problems %v", table.Problems)
	}
}
