// Package query reads the rows of one SELECT as text: of PostgreSQL, and of a file of SQLite.
//
//	rows, err := query.Query{DSN: os.Getenv("HOSPITAL_DSN"), Text: "SELECT ...", Timeout: time.Minute, MaxBytes: 1 << 30}.Open(ctx)
//
// Text is one SELECT. It is described before it runs, and a statement without columns is never run.
// PostgreSQL runs it in a transaction that may only read, by a role that is no superuser; the file of
// SQLite is opened for reading. A function that runs with its owner's rights can still do whatever
// its owner can. Rows are read as the server gives them, one at a time.
//
// Cells become text without loss: numbers in their shortest exact form, NULL as an empty cell,
// booleans as true or false, dates and times by ISO 8601 with a blank in place of the T, in UTC where
// they have a zone.
package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/mercer-fl/mercer/dataset"
)

// Query describes a query, where it is asked, and the limits on it. One of DSN and SQLite is given.
type Query struct {
	Source   string // name of the DSN for messages, which do not show the DSN itself
	DSN      string // of PostgreSQL
	SQLite   string // path of a file
	Text     string
	Timeout  time.Duration
	MaxBytes int64 // of all cells together
}

// Rows are the rows of a query. Close ends it.
type Rows interface {
	dataset.Records
	io.Closer
}

// Open asks the query.
func (q Query) Open(ctx context.Context) (Rows, error) {
	if strings.ContainsRune(q.Text, 0) {
		return nil, errors.New("the query holds a zero byte, behind which databases read nothing; remove it")
	}
	ctx, stop := context.WithTimeout(ctx, q.Timeout)
	l := &limited{query: q, ctx: ctx, stop: stop, left: q.MaxBytes}
	var err error
	if q.SQLite != "" {
		l.rows, err = openSQLite(ctx, q)
	} else {
		l.rows, err = openPostgres(ctx, q)
	}
	if err != nil {
		stop()
		return nil, l.why(err)
	}
	return l, nil
}

// errNoColumns reports a statement that gives no rows: it could only change something.
var errNoColumns = errors.New("it gives no columns; write one SELECT")

// maxRow bounds a row that is read from a database before its cells are counted.
const maxRow = 64 << 20

// leastRow is a row that is read whatever the limit on all cells is.
const leastRow = 1 << 20

// rowLimit returns the bytes of a row that a database may give.
func (q Query) rowLimit() int64 { return max(leastRow, min(maxRow, q.MaxBytes)) }

// limited are rows within the limits of their query.
type limited struct {
	query Query
	rows  Rows
	ctx   context.Context
	stop  context.CancelFunc
	left  int64
}

// Columns implements [dataset.Records].
func (l *limited) Columns() []string { return l.rows.Columns() }

// Next implements [dataset.Records].
func (l *limited) Next() (dataset.Record, error) {
	row, err := l.rows.Next()
	if err != nil {
		return row, l.why(err)
	}
	for _, field := range row.Fields {
		l.left -= int64(len(field))
	}
	if l.left < 0 {
		return row, fmt.Errorf("the query gives more than %d bytes; raise max_bytes, or select fewer rows", l.query.MaxBytes)
	}
	return row, nil
}

// why names the limit of time, where that is the reason.
func (l *limited) why(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return err
	case errors.Is(l.ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the query is not done after %v; raise timeout, or select fewer rows", l.query.Timeout)
	}
	if tooLong(err) {
		return fmt.Errorf("a row or a cell of it is too long; raise max_bytes, which counts up to 64 MiB here, or select fewer columns: %w", err)
	}
	return fmt.Errorf("the query cannot be read: %w", err)
}

// tooLong reports whether a database would have given more than the limit on a row.
func tooLong(err error) bool {
	var message *pgproto3.ExceededMaxBodyLenErr
	var cell *sqlite.Error
	return errors.As(err, &message) || errors.As(err, &cell) && cell.Code() == lib.SQLITE_TOOBIG
}

// Close implements [io.Closer].
func (l *limited) Close() error {
	defer l.stop()
	return l.rows.Close()
}
