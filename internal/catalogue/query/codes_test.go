package query

import (
	"strings"
	"testing"

	lib "modernc.org/sqlite/lib"
)

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

// The advice about a fault of disk, memory or rights is not about the SELECT. An extended code has the
// advice of its kind.
func TestAdviceOfSQLite(t *testing.T) {
	for code, want := range map[int]string{
		lib.SQLITE_IOERR: "check its disk", lib.SQLITE_IOERR_SHORT_READ: "cut short", lib.SQLITE_IOERR_READ: "check its disk",
		lib.SQLITE_CANTOPEN: "check its rights", lib.SQLITE_PERM: "check its rights", lib.SQLITE_FULL: "SQLITE_TMPDIR",
		lib.SQLITE_NOMEM: "fewer rows", lib.SQLITE_READONLY_RECOVERY: "its own program", lib.SQLITE_PROTOCOL: "try again",
		lib.SQLITE_SCHEMA: "try again", lib.SQLITE_CORRUPT: "damaged", lib.SQLITE_BUSY: "wait", lib.SQLITE_ERROR: "correct the SELECT",
	} {
		if got := adviceOfSQLite(code); !strings.Contains(got, want) {
			t.Errorf("code %d: %s", code, got)
		}
	}
}
