package query

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An error of the database begins with what to do, and ends with the database's words on one line.
func TestErrorsOfADatabase(t *testing.T) {
	folder := t.TempDir()
	ward, text := filepath.Join(folder, "ward.db"), filepath.Join(folder, "ward.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("id,age\n", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ward)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE p (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{SQLite: ward, Text: "SELECT age FROM p"}, "the query cannot be read: correct the SELECT; the database says: no such column: age"},
		{Query{SQLite: text, Text: "SELECT id FROM p"}, "the query cannot be read: the file is not a SQLite database; correct its path; the database says: file is not a database"},
		{Query{SQLite: folder, Text: "SELECT id FROM p"}, "the query cannot be read: " + folder + " is a folder, not a file; give the path of a file"},
		{Query{Source: "DSN", DSN: "postgres://u:secret@127.0.0.1:1/d", Text: "SELECT 1"}, "the query cannot be read: the database cannot be reached; check that it runs, and its address, user and password; the database says: 127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		c.q.Timeout, c.q.MaxBytes = time.Minute, 1<<20
		if _, err := c.q.Open(context.Background()); err == nil || err.Error() != c.want {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
}

func TestWordsOfSQLiteWithoutCodes(t *testing.T) {
	for message, want := range map[string]string{
		"SQL logic error: no such column: age (1)": "no such column: age",
		"database is locked (5) (SQLITE_BUSY)":     "database is locked",
		"file is not a database (26)":              "file is not a database",
	} {
		if got := withoutCode(message); got != want {
			t.Errorf("%s: %q", message, got)
		}
	}
}
