package query

import "testing"

// The words of SQLite lose its codes and names of codes.
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
