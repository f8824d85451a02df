// Package query reads the rows of one SELECT as text: of PostgreSQL, and of a file of SQLite.
//
//	rows, err := query.Query{DSN: os.Getenv("HOSPITAL_DSN"), Text: "SELECT ...", Timeout: time.Minute, MaxBytes: 1 << 30}.Open(ctx)
//
// Nothing is written: PostgreSQL runs the query in a transaction that may only read, and the file
// of SQLite is opened for reading. Rows are read as the server gives them, one at a time.
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
	"time"

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
	ctx, stop := context.WithTimeout(ctx, q.Timeout)
	l := &limited{query: q, ctx: ctx, stop: stop, left: q.MaxBytes}
	var err error
	if q.SQLite != "" {
		l.rows, err = openSQLite(ctx, q.SQLite, q.Text)
	} else {
		l.rows, err = openPostgres(ctx, q.Source, q.DSN, q.Text)
	}
	if err == nil && len(l.rows.Columns()) == 0 {
		err = errors.Join(noColumns(l.rows), l.rows.Close())
	}
	if err != nil {
		stop()
		return nil, l.why(err)
	}
	return l, nil
}

// noColumns explains a query without columns: the server has refused the query, or it was no SELECT.
func noColumns(r Rows) error {
	if _, err := r.Next(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return errors.New("it gives no columns; write one SELECT")
}

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
	return fmt.Errorf("the query cannot be read: %w", err)
}

// Close implements [io.Closer].
func (l *limited) Close() error {
	defer l.stop()
	return l.rows.Close()
}
