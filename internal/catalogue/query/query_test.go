package query_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/catalogue/query"
	"github.com/mercer-fl/mercer/internal/catalogue/query/querytest"
)

func within(q query.Query) query.Query {
	q.Timeout, q.MaxBytes = time.Minute, 1<<30
	return q
}

func read(q query.Query) (columns []string, list [][]string, err error) {
	r, err := q.Open(context.Background())
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Columns(), list, nil
		}
		if err != nil {
			return r.Columns(), list, err
		}
		list = append(list, slices.Clone(row.Fields))
	}
}

// writer starts a PostgreSQL with tables, to be asked as a role that owns nothing and may change
// them all.
func writer(t *testing.T, tables string) (*querytest.Server, query.Query) {
	t.Helper()
	s := querytest.Postgres(t)
	if err := s.Exec(tables + "; CREATE ROLE writer LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO writer; GRANT ALL ON SCHEMA public TO writer"); err != nil {
		t.Fatal(err)
	}
	return s, query.Query{Source: "X", DSN: s.DSN("writer")}
}

// database makes a file of SQLite.
func database(t *testing.T, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b?c#d%.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23", " ", "%20").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

const values = `CREATE TABLE v (
	id INTEGER, whole BIGINT, real DOUBLE PRECISION, ok BOOLEAN, day DATE, at TIMESTAMP, word TEXT, absent TEXT);
INSERT INTO v VALUES (1, 9223372036854775807, 0.1, TRUE, '2020-02-29', '2020-02-29 13:14:15.123456', 'é"a,b', NULL);
INSERT INTO v VALUES (2, -9223372036854775808, -1.7976931348623157e308, FALSE, '1899-12-31', '1999-12-31 00:00:00', '', NULL);
`

var wanted = [][]string{
	{"1", "9223372036854775807", "0.1", "true", "2020-02-29", "2020-02-29 13:14:15.123456", `é"a,b`, ""},
	{"2", "-9223372036854775808", "-1.7976931348623157e+308", "false", "1899-12-31", "1999-12-31 00:00:00", "", ""},
}

// Both databases give the same words for the same values, and lose nothing.
func TestValuesBecomeText(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	check := func(t *testing.T, q query.Query) {
		q.Text = "SELECT * FROM v ORDER BY id"
		columns, got, err := read(within(q))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"id", "whole", "real", "ok", "day", "at", "word", "absent"}, columns); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("sqlite", func(t *testing.T) { check(t, query.Query{SQLite: database(t, values)}) })
	t.Run("postgres", func(t *testing.T) {
		_, q := writer(t, values)
		check(t, q)
	})
}

// Numbers come back bit by bit.
func TestNumbersComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	numbers := []float64{0.1, 1.0 / 3, math.Pi * 1e-300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 123456789012345680}
	var list []string
	for _, x := range numbers {
		list = append(list, fmt.Sprintf("(CAST('%s' AS DOUBLE PRECISION))", strconv.FormatFloat(x, 'e', 17, 64)))
	}
	check := func(t *testing.T, q query.Query) {
		q.Text = "WITH w(x) AS (VALUES " + strings.Join(list, ", ") + ") SELECT x FROM w"
		_, got, err := read(within(q))
		if err != nil || len(got) != len(numbers) {
			t.Fatalf("%d rows, %v", len(got), err)
		}
		for i, row := range got {
			if x, err := strconv.ParseFloat(row[0], 64); err != nil || x != numbers[i] {
				t.Errorf("%v became %q, %v", numbers[i], row[0], err)
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) { check(t, query.Query{SQLite: database(t, values)}) })
	t.Run("postgres", func(t *testing.T) {
		_, q := writer(t, "")
		check(t, q)
	})
}

// Whatever a query says, it changes nothing.
func TestQueriesOnlyRead(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	_, postgres := writer(t, values)
	for text, want := range map[string]string{
		"DELETE FROM v RETURNING id":                     `the query is not a SELECT that only reads; write one SELECT (syntax error at or near "DELETE")`,
		"SELECT 1; DELETE FROM v":                        "cannot insert multiple commands into a prepared statement",
		"COMMIT; DELETE FROM v; SELECT 1":                "cannot insert multiple commands into a prepared statement",
		"WITH d AS (DELETE FROM v RETURNING id) TABLE d": "the query is not a SELECT that only reads; write one SELECT (DECLARE CURSOR must not contain data-modifying statements in WITH)",
		"COMMIT":                             "the query cannot be read: the query returns no columns; write one SELECT",
		"SET TRANSACTION READ WRITE":         "the query cannot be read: the query returns no columns; write one SELECT",
		"SELECT nextval('absent')":           `relation "absent" does not exist`,
		"SELECT 1/(id-2) FROM v ORDER BY id": "division by zero",
	} {
		postgres.Text = text
		_, _, err := read(within(postgres))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	path := database(t, values)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, text := range []string{
		"DELETE FROM v RETURNING id", "PRAGMA query_only = 0; DELETE FROM v RETURNING id", "INSERT INTO v(id) VALUES (3)",
		"PRAGMA query_only = 0; ATTACH '" + path + "' AS n; DELETE FROM n.v; SELECT 1 AS x",
		"ATTACH '" + other + "' AS n; SELECT 1 AS x", "VACUUM INTO '" + other + "'", "PRAGMA query_only = 0; VACUUM INTO '" + other + "'",
	} {
		if _, _, err := read(within(query.Query{SQLite: path, Text: text})); err == nil {
			t.Errorf("sqlite: %s is fine", text)
		}
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("sqlite: a file was made")
	}
	for _, q := range []query.Query{postgres, {SQLite: path}} {
		q.Text = "SELECT count(*) AS n FROM v"
		if _, got, err := read(within(q)); err != nil || got[0][0] != "2" {
			t.Errorf("%q rows are left, %v", got, err)
		}
	}
}

// A DSN that would let two statements through is refused, and none is shown: it holds a password.
func TestRefusedDSN(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://u:hush@127.0.0.1:1/d?default_query_exec_mode=simple_protocol": "X sets the simple protocol, which accepts several statements at once; leave out default_query_exec_mode",
		"host=127.0.0.1 password=hush default_query_exec_mode=simple_protocol":    "X sets the simple protocol, which accepts several statements at once; leave out default_query_exec_mode",
		"postgres://u:hush@127.0.0.1:port/d":                                      "X does not hold a connection string of PostgreSQL; write postgres://USER@HOST/DATABASE?sslmode=verify-full",
		"postgres://u:hush@127.0.0.1:1/d":                                         "connection refused",
	} {
		_, _, err := read(within(query.Query{Source: "X", DSN: dsn, Text: "SELECT 1"}))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// Time and bytes have limits, and the sentences say which.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r WHERE x %% %d = 0"
	check := func(t *testing.T, q query.Query) {
		slow, long := within(q), within(q)
		slow.Timeout, slow.Text = 300*time.Millisecond, fmt.Sprintf(endless, 2_000_000_000)
		if _, _, err := read(slow); err == nil || !strings.Contains(err.Error(), "the query did not finish within 300ms; raise \"timeout\", or select fewer rows") {
			t.Errorf("time: %v", err)
		}
		long.MaxBytes, long.Text = 1000, "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 100000) SELECT x FROM r"
		if _, _, err := read(long); err == nil || !strings.Contains(err.Error(), "the query returns more than 1000 bytes; raise max_bytes, or select fewer rows") {
			t.Errorf("bytes: %v", err)
		}
	}
	t.Run("sqlite", func(t *testing.T) { check(t, query.Query{SQLite: database(t, values)}) })
	t.Run("postgres", func(t *testing.T) {
		_, q := writer(t, "")
		check(t, q)
	})
}

// A file that is not there is not made.
func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	if _, _, err := read(within(query.Query{SQLite: path, Text: "SELECT 1"})); err == nil || !strings.HasSuffix(err.Error(), "none.db does not exist; correct the path") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was made")
	}
}

// The query of the example for OMOP's tables takes the last value until the first diagnosis, in one
// unit, and gives the same rows of both databases.
func TestCohortOfOMOP(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "omop", "cohort.sql"))
	if err != nil {
		t.Fatal(err)
	}
	const tables = `CREATE TABLE person (person_id INTEGER, gender_concept_id INTEGER, year_of_birth INTEGER);
CREATE TABLE condition_occurrence (condition_occurrence_id INTEGER, person_id INTEGER, condition_concept_id INTEGER, condition_start_date DATE);
CREATE TABLE measurement (measurement_id INTEGER, person_id INTEGER, measurement_concept_id INTEGER, measurement_date DATE, value_as_number NUMERIC, unit_concept_id INTEGER);
INSERT INTO person VALUES (1, 8532, 1950), (2, 8507, 1960), (3, 0, 1970), (4, 8507, 1980);
INSERT INTO condition_occurrence VALUES (1, 1, 201826, '2015-02-03'), (2, 1, 201826, '2012-12-31'), (3, 1, 46271022, '2013-01-01'),
	(4, 2, 201826, '2014-05-06'), (5, 2, 46271022, '2014-05-06'), (6, 3, 201826, '2016-07-08'), (7, 4, 46271022, '2016-07-08');
INSERT INTO measurement VALUES (1, 1, 3016723, '2012-01-01', 80, 8749), (2, 1, 3016723, '2012-12-31', 1.1, 8840), (3, 1, 3016723, '2013-01-01', 999, 8749),
	(4, 1, 3004410, '2011-01-01', 7.5, 8554), (5, 1, 3004410, '2012-01-01', NULL, 8554), (6, 2, 3016723, '2014-01-01', 90.5, 8749),
	(7, 2, 3016723, '2014-01-01', 91.5, 8749), (8, 2, 3016723, '2014-02-01', 5, 1234), (9, 4, 3004410, '2011-01-01', 7.5, 8554);`
	want := [][]string{
		{"1", "62", "F", "97.26200000000001", "7.5", "ill"}, {"2", "54", "M", "91.5", "", "well"}, {"3", "46", "", "", "", "well"},
	}
	check := func(t *testing.T, q query.Query) {
		q.Text = string(text)
		columns, got, err := read(within(q))
		slices.SortFunc(got, slices.Compare)
		if err != nil || !slices.Equal(columns, []string{"person_id", "age", "sex", "creatinine", "hba1c", "kidney"}) {
			t.Errorf("columns %q, %v", columns, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("sqlite", func(t *testing.T) { check(t, query.Query{SQLite: database(t, tables)}) })
	t.Run("postgres", func(t *testing.T) {
		_, q := writer(t, tables)
		check(t, q)
	})
}
