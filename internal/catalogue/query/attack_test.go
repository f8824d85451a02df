package query_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/catalogue/query"
)

// A strong role's COPY and DO ran programs on the server before they were refused. Now nothing runs
// that does not describe columns, and a strong role is refused whatever it asks.
func TestAttackProgramsOfTheServer(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	out := t.TempDir()
	if err := os.Chmod(out, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir := out; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil { // the server is another user
			t.Fatal(err)
		}
	}
	file := filepath.Join(out, "made")
	s, weak := writer(t, values+`CREATE FUNCTION makes() RETURNS int LANGUAGE plpgsql AS $$BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat >`+file+`'''; RETURN 1; END$$;
CREATE PROCEDURE gives(INOUT x int) LANGUAGE plpgsql AS $$BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat >`+file+`'''; END$$`)
	if err := s.Exec("CREATE ROLE runs LOGIN; GRANT pg_execute_server_program TO runs; CREATE ROLE hidden NOINHERIT LOGIN; GRANT runs TO hidden"); err != nil {
		t.Fatal(err)
	}
	if err := s.Exec("SELECT makes()"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatalf("the function makes no file, so this test shows nothing: %v", err)
	}
	ask := func(user, text, want string) {
		t.Helper()
		q := weak
		q.DSN, q.Text = s.DSN(user), text
		if _, got, err := read(within(q)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s gives %q, %v; want %s", user, text, got, err, want)
		}
		if err := os.Remove(file); err == nil {
			t.Errorf("%s: %s was carried out", user, text)
		}
	}
	for _, text := range []string{
		"COPY (SELECT 1) TO '" + file + "'", "COPY (SELECT 1) TO PROGRAM 'touch " + file + "'", "SELECT makes()", "SELECT 1 AS x",
		"DO $$BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch " + file + "'''; END$$", "CALL gives(1)", "SELECT lo_export(lo_from_bytea(0, 'x'), '" + file + "')",
	} {
		ask("owner", text, "the role of X can run programs or use files of the server, because it belongs to owner, pg_execute_server_program, ")
		ask("hidden", text, "the role of X can run programs or use files of the server, because it belongs to pg_execute_server_program; connect as a role that can only SELECT")
	}
	for text, want := range map[string]string{
		"COPY (SELECT 1) TO PROGRAM 'touch " + file + "'": "the query returns no columns; write one SELECT",
		"COPY v TO STDOUT": "the query returns no columns; write one SELECT",
		"DO $$BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch " + file + "'''; END$$": "the query returns no columns; write one SELECT",
		"SELECT id INTO w FROM v": "the query returns no columns; write one SELECT",
		"LISTEN x":                "the query returns no columns; write one SELECT",
		"":                        "the query returns no columns; write one SELECT",
		"CALL gives(1)":           `the query is not a SELECT that only reads; write one SELECT (syntax error at or near "CALL")`,
		"EXPLAIN ANALYZE INSERT INTO v(id) VALUES (3)":                           `the query is not a SELECT that only reads; write one SELECT (syntax error at or near "EXPLAIN")`,
		"INSERT INTO v(id) VALUES (3) RETURNING id":                              `the query is not a SELECT that only reads; write one SELECT (syntax error at or near "INSERT")`,
		"WITH x AS (INSERT INTO v(id) VALUES (3) RETURNING id) SELECT id FROM x": "the query is not a SELECT that only reads; write one SELECT (DECLARE CURSOR must not contain data-modifying statements in WITH)",
		"SHOW ALL":                    `the query is not a SELECT that only reads; write one SELECT (syntax error at or near "SHOW")`,
		"SELECT id FROM v FOR UPDATE": "cannot execute SELECT FOR UPDATE in a read-only transaction",
		"SELECT makes()":              "COPY to or from an external program",
		"SELECT lo_export(lo_from_bytea(0, 'x'), '" + file + "')":                             "permission denied for function lo_export",
		"SELECT set_config('transaction_read_only', 'off', false), lo_create(0)":              "must be set before any query",
		"SELECT 1 AS x; SELECT 2 AS x":                                                        "cannot insert multiple commands into a prepared statement",
		"SELECT 1 AS x; COMMIT":                                                               "cannot insert multiple commands into a prepared statement",
		"SELECT 1 AS x\x00; SELECT 2 AS x":                                                    "the query contains a zero byte",
		"SELECT repeat('x', 3000000) AS x":                                                    "a row or a cell of the query is too long",
		"SELECT 1 AS x UNION ALL SELECT count(*) FROM generate_series(1, 3000000000000) AS n": "the query did not finish within 1s; raise \"timeout\", or select fewer rows",
	} {
		q := weak
		q.Text, q.Timeout, q.MaxBytes = text, time.Second, 1000
		began := time.Now()
		if _, got, err := read(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %.60q, %v; want %s", text, got, err, want)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("%s took %v", text, took)
		}
		if err := os.Remove(file); err == nil {
			t.Errorf("%s was carried out", text)
		}
	}
	idle(t, weak)
}

// idle waits until the server computes nothing for a role any more.
func idle(t *testing.T, q query.Query) {
	t.Helper()
	q.Text = "SELECT count(*) AS n FROM pg_stat_activity WHERE usename = 'writer' AND state = 'active' AND pid <> pg_backend_pid()"
	var last string
	for range 50 {
		_, got, err := read(within(q))
		if err != nil {
			t.Fatal(err)
		}
		if last = got[0][0]; last == "0" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s queries go on after their timeout", last)
}

// What no client can see: a function with its owner's rights does what its owner can. The weakest
// role is enough to call it.
func TestAttackFunctionOfAStrongOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	out := t.TempDir()
	for dir := out; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(out, "made")
	s, q := writer(t, `CREATE FUNCTION makes() RETURNS int SECURITY DEFINER LANGUAGE plpgsql AS $$BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat >`+file+`'''; RETURN 1; END$$`)
	q.Text = "SELECT makes() AS x"
	if _, got, err := read(within(q)); err != nil || got[0][0] != "1" {
		t.Fatalf("got %q, %v", got, err)
	}
	if err := os.Remove(file); err != nil {
		t.Errorf("it is said to run: %v", err)
	}
	if err := s.Exec("REVOKE EXECUTE ON FUNCTION makes FROM PUBLIC"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(within(q)); err == nil || !strings.Contains(err.Error(), "permission denied for function makes") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran without the right")
	}
}

// A file of SQLite takes one statement, bounded cells, and no longer than it may.
func TestAttackSQLite(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const endless = "WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r"
	path := database(t, values)
	late := "the query did not finish within 1s; raise \"timeout\", or select fewer rows"
	for text, want := range map[string]string{
		"SELECT 1 AS x; SELECT 2 AS x":                           "the query contains a second statement; write one SELECT",
		"SELECT ';' AS x; SELECT 2 AS x":                         "the query contains a second statement; write one SELECT",
		"SELECT 1 AS \"a;\"/* ; */; -- ;\n/* ; */ SELECT 2 AS x": "the query contains a second statement; write one SELECT",
		"SELECT 1 AS [;]; DROP TABLE v":                          "the query contains a second statement; write one SELECT",
		"SELECT 1 AS x\x00; DROP TABLE v":                        "the query contains a zero byte",
		"SELECT 1 AS x; /* SELECT 2":                             "",
		"PRAGMA query_only":                                      "not authorized",
		"PRAGMA query_only = 0":                                  "not authorized",
		"PRAGMA journal_mode = WAL":                              "not authorized",
		"SELECT * FROM pragma_query_only":                        "not authorized",
		"ATTACH 'x.db' AS x":                                     "not authorized",
		"INSERT INTO v(id) VALUES (9) RETURNING id":              "not authorized",
		"CREATE TEMP TABLE q(a)":                                 "not authorized",
		"BEGIN":                                                  "not authorized",
		"VACUUM INTO 'y.db'":                                     "the query returns no columns; write one SELECT",
		"-- nothing":                                             "the query returns no columns; write one SELECT",
		"SELECT writefile('z', 'x') AS x":                        "no such function: writefile",
		"SELECT load_extension('x') AS x":                        "not authorized",
		"SELECT zeroblob(900000000) AS x":                        "a row or a cell of the query is too long; raise max_bytes (a row can have at most 64 MiB), or select fewer columns",
		"SELECT hex(randomblob(100000000)) AS x":                 "a row or a cell of the query is too long",
		"SELECT 1 AS x UNION ALL SELECT length(randomblob(1e8))": "a row or a cell of the query is too long",
		endless: late,
		"SELECT 1 AS x UNION ALL SELECT * FROM (" + endless + ")": late,
	} {
		q := query.Query{SQLite: path, Text: text, Timeout: time.Second, MaxBytes: 1000}
		began := time.Now()
		_, got, err := read(q)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s gives %.60q, %v; want %s", text, got, err, want)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s took %v", text, took)
		}
	}
	for _, file := range []string{"x.db", "y.db", "z"} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s was made", file)
		}
	}
}

// Many columns share what one row may have.
func TestAttackManyLongCells(t *testing.T) {
	var list []string
	for i := range 64 {
		list = append(list, fmt.Sprintf("zeroblob(2000000) AS c%d", i))
	}
	q := within(query.Query{SQLite: database(t, values), Text: "SELECT " + strings.Join(list, ", ")})
	if _, got, err := read(q); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%d rows, %v", len(got), err)
	}
	q.Text = "SELECT zeroblob(2000000) AS c"
	if _, got, err := read(q); err != nil || len(got[0][0]) != 2000000 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// Comments and semicolons in texts are no statements.
func TestOneStatementWithComments(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	_, postgres := writer(t, values)
	for _, q := range []query.Query{{SQLite: database(t, values)}, postgres} {
		for _, text := range []string{
			"SELECT ';' AS x", "SELECT ';' AS x;", "/* a; b */ SELECT ';' AS x -- c; d", "SELECT ';' AS x; -- the end; SELECT 2\n /* SELECT 3; */ ",
			"WITH w AS (SELECT ';' AS x) SELECT x FROM w", "VALUES (';')", "SELECT ';' AS \"a;b\"", "SELECT 'it''s;' AS x",
		} {
			q.Text = text
			if _, got, err := read(within(q)); err != nil || len(got) != 1 || !strings.HasSuffix(got[0][0], ";") {
				t.Errorf("%s: %q, %v", text, got, err)
			}
		}
	}
}
