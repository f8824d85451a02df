// Package query reads the rows of one SELECT statement as text, from PostgreSQL or a SQLite file.
//
//	rows, err := query.Query{DSN: os.Getenv("HOSPITAL_DSN"), Text: "SELECT ...", Timeout: time.Minute, MaxBytes: 1 << 30}.Open(ctx)
//
// Text is one SELECT. The database names its columns before it runs, and a statement without columns is
// never run. PostgreSQL runs it in a read-only transaction, by a role that is not a superuser; the
// SQLite file is opened read-only. A function that runs with its owner's rights can still do
// anything that its owner can. Rows are read in the server's order, one at a time.
//
// Cells become text: floating-point numbers in their shortest exact form, other numbers as the database
// writes them, NULL as an empty cell, booleans as true or false, dates and times by ISO 8601 with a blank
// instead of the T, in UTC if they have a zone. A cell of text is unchanged.
package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/mercer-fl/mercer/dataset"
)

// Query describes a query, its database, and its limits. Exactly one of DSN and SQLite must be set.
type Query struct {
	Source   string // name of the DSN in messages, which do not show the DSN itself
	DSN      string // connection string of PostgreSQL
	SQLite   string // path of a SQLite file
	Text     string
	Timeout  time.Duration
	MaxBytes int64 // largest size of all cells together, in bytes
}

// Rows reads the rows of a query. Close ends the query.
type Rows interface {
	dataset.Records
	io.Closer
}

// Open runs the query and returns its rows.
func (q Query) Open(ctx context.Context) (Rows, error) {
	if strings.ContainsRune(q.Text, 0) {
		return nil, errors.New("the query contains a zero byte, and databases ignore the text after it; remove the zero byte")
	}
	ctx, stop := context.WithTimeout(ctx, q.Timeout)
	l := &limitedRows{query: q, ctx: ctx, stop: stop, left: q.MaxBytes}
	var err error
	if q.SQLite != "" {
		l.rows, err = openSQLite(ctx, q)
	} else {
		l.rows, err = openPostgres(ctx, q)
	}
	if err != nil {
		stop()
		return nil, l.explain(err)
	}
	return l, nil
}

// errNoColumns refuses a statement without columns, because it gives no table and could change the database.
var errNoColumns = errors.New("the query returns no columns; write one SELECT")

// maxRow is the largest size of a row that is read from a database, in bytes; a row of more than 64 columns
// from SQLite can be larger, since each of its cells can have leastRow bytes. Query.MaxBytes cannot replace
// this limit, because the cells of a row are counted only after the whole row is read.
const maxRow = 64 << 20

// leastRow is a size in bytes that every row, and in SQLite every cell, is allowed to have, even if the limit
// on all cells is lower.
const leastRow = 1 << 20

// rowLimit returns the largest allowed size of a row in bytes.
func (q Query) rowLimit() int64 { return max(leastRow, min(maxRow, q.MaxBytes)) }

// limitedRows enforces the limits of a query while its rows are read.
type limitedRows struct {
	query Query
	rows  Rows
	ctx   context.Context
	stop  context.CancelFunc
	left  int64
}

// Columns implements [dataset.Records].
func (l *limitedRows) Columns() []string { return l.rows.Columns() }

// Next implements [dataset.Records].
func (l *limitedRows) Next() (dataset.Record, error) {
	row, err := l.rows.Next()
	if err != nil {
		return row, l.explain(err)
	}
	for _, field := range row.Fields {
		l.left -= int64(len(field))
	}
	if l.left < 0 {
		return row, fmt.Errorf("the query returns more than %d bytes; raise max_bytes, or select fewer rows", l.query.MaxBytes)
	}
	return row, nil
}

// explain states in an error which limit was exceeded, if the time limit or a size limit was.
func (l *limitedRows) explain(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return err
	case errors.Is(l.ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the query did not finish within %v; raise \"timeout\", or select fewer rows", l.query.Timeout)
	}
	if tooLong(err) {
		return fmt.Errorf("a row or a cell of the query is too long; raise max_bytes (a row can have at most 64 MiB), or select fewer columns: %w", err)
	}
	return fmt.Errorf("the query cannot be read: %w", inWords(err))
}

// inWords adds advice to an error of the database, and quotes the database.
func inWords(err error) error {
	var postgres *pgconn.PgError
	var absent *pgconn.ConnectError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &absent):
		return &databaseError{"the database cannot be reached; check that it runs, and its address, user and password", lastLine(absent.Error()), err}
	case errors.As(err, &postgres) && postgres.Position > 0:
		return &databaseError{fmt.Sprintf("correct the SELECT at its character %d", postgres.Position), postgres.Message, err}
	case errors.As(err, &postgres):
		return &databaseError{"correct the SELECT, or the rights of its role", postgres.Message, err}
	case errors.As(err, &lite) && lite.Code() != lib.SQLITE_AUTH:
		return &databaseError{adviceOfSQLite(lite.Code()), withoutCode(lite.Error()), err}
	}
	return err
}

// databaseError is an error of a database.
type databaseError struct {
	advice string // what to do
	words  string // the message of the database
	err    error
}

func (e *databaseError) Error() string {
	return fmt.Sprintf("%s; the database says: %s", e.advice, strings.Join(strings.Fields(e.words), " "))
}

func (e *databaseError) Unwrap() error { return e.err }

// adviceOfSQLite returns the advice for a code of SQLite.
func adviceOfSQLite(code int) string {
	switch code & 0xff { // the remaining bits of a code give details
	case lib.SQLITE_NOTADB:
		return "the file is not a SQLite database; correct its path"
	case lib.SQLITE_CORRUPT:
		return "the file is damaged; restore it"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return "another program is writing to the database; wait until it ends"
	case lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return "the file cannot be opened; check its rights and those of its folder"
	case lib.SQLITE_READONLY:
		return "the database has changes in its log that this process must not write; open and close it with its own program"
	case lib.SQLITE_IOERR:
		return "the file cannot be read to its end; check its disk, and restore the file if it was cut short"
	case lib.SQLITE_FULL:
		return "the disk of temporary files is full; free space there, or set SQLITE_TMPDIR to another folder"
	case lib.SQLITE_NOMEM:
		return "the memory is full; select fewer rows at a time"
	case lib.SQLITE_PROTOCOL, lib.SQLITE_SCHEMA:
		return "another program changed the database at the same time; try again"
	}
	return "correct the SELECT"
}

// withoutCode removes the name of the code before a message of SQLite, and the code's number and name
// after the message.
func withoutCode(message string) string {
	message = strings.TrimSuffix(strings.TrimPrefix(message, "SQL logic error: "), " (SQLITE_BUSY)")
	if at := strings.LastIndex(message, " ("); at > 0 {
		message = message[:at]
	}
	return message
}

// lastLine returns the last line of a message that names every attempt on a line of its own.
func lastLine(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// tooLong reports whether the error says that a row or a cell exceeds the limit of the database connection.
func tooLong(err error) bool {
	var message *pgproto3.ExceededMaxBodyLenErr
	var cell *sqlite.Error
	return errors.As(err, &message) || errors.As(err, &cell) && cell.Code() == lib.SQLITE_TOOBIG
}

// Close implements [io.Closer].
func (l *limitedRows) Close() error {
	defer l.stop()
	return l.rows.Close()
}
