package query_test

import (
	"context"
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
	for _, c := range []struct {
		q    query.Query
		want string
	}{
		{query.Query{SQLite: ward, Text: "SELECT age FROM p"}, "the query cannot be read: correct the SELECT; the database says: no such column: age"},
		{query.Query{SQLite: text, Text: "SELECT id FROM p"}, "the query cannot be read: the file is not a SQLite database; correct its path; the database says: file is not a database"},
		{query.Query{SQLite: folder, Text: "SELECT id FROM p"}, "the query cannot be read: " + folder + " is a folder, not a file; give the path of a file"},
		{query.Query{Source: "DSN", DSN: "postgres://u:secret@127.0.0.1:1/d", Text: "SELECT 1"}, "the query cannot be read: the database cannot be reached; check that it runs, and its address, user and password; the database says: 127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		c.q.Timeout, c.q.MaxBytes = time.Minute, 1<<20
		if _, err := c.q.Open(context.Background()); err == nil || err.Error() != c.want {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
}
