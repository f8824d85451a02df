package query_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/catalogue/query"
)

// An error of the database begins with what to do, and ends with the database's words on one line.
func TestErrorsOfADatabase(t *testing.T) {
	ward, folder := database(t, "CREATE TABLE p (id TEXT)"), t.TempDir()
	text := filepath.Join(folder, "ward.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("id,age\n", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	cut, empty := filepath.Join(folder, "cut.db"), filepath.Join(folder, "empty.db")
	whole, err := os.ReadFile(ward)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{cut: whole[:len(whole)-1], empty: nil} { // SQLite itself reads both
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		q    query.Query
		want string
	}{
		{query.Query{SQLite: ward, Text: "SELECT age FROM p"}, "the query cannot be read: correct the SELECT; the database says: no such column: age"},
		{query.Query{SQLite: text, Text: "SELECT id FROM p"}, "the query cannot be read: the file is not a SQLite database; correct its path; the database says: file is not a database"},
		{query.Query{SQLite: cut, Text: "SELECT id FROM p"}, fmt.Sprintf("the query cannot be read: %s has %d bytes, but its first page says %d: the file was cut short; restore it", cut, len(whole)-1, len(whole))},
		{query.Query{SQLite: empty, Text: "SELECT id FROM p"}, "the query cannot be read: " + empty + " is empty; correct the path of the SQLite file, or restore the file"},
		{query.Query{SQLite: folder, Text: "SELECT id FROM p"}, "the query cannot be read: " + folder + " is a folder, not a file; give the path of a file"},
		{query.Query{Source: "DSN", DSN: "postgres://u:secret@127.0.0.1:1/d", Text: "SELECT 1"}, "the query cannot be read: the database cannot be reached; check that it runs, and its address, user and password; the database says: 127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		c.q.Timeout, c.q.MaxBytes = time.Minute, 1<<20
		if _, err := c.q.Open(context.Background()); err == nil || err.Error() != c.want {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
}

// While a log beside the database may hold the missing pages, SQLite decides whether the file is whole.
func TestDatabaseWithALog(t *testing.T) {
	ward := database(t, "CREATE TABLE p (id TEXT)")
	whole, err := os.ReadFile(ward)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{ward: whole[:len(whole)-1], ward + "-wal": []byte("log")} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := read(within(query.Query{SQLite: ward, Text: "SELECT id FROM p"})); err != nil && strings.Contains(err.Error(), "cut short") {
		t.Error(err)
	}
}
