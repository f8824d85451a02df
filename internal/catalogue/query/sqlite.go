package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/dataset"
)

// sqliteRows reads the rows of a query on a SQLite file.
type sqliteRows struct {
	ctx           context.Context
	stopInterrupt func() // prevents the end of the context from interrupting SQLite
	db            *sql.DB
	conn          *sql.Conn
	rows          *sql.Rows
	types         []*sql.ColumnType
	cells         []any
	into          []any // pointers to the cells of the current row
	record        dataset.Record
	names         []string
}

func openSQLite(ctx context.Context, q Query) (Rows, error) {
	path := q.SQLite
	if err := checkDatabase(path); err != nil {
		return nil, err
	}
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	r := &sqliteRows{ctx: ctx, db: db}
	if err := r.begin(q); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *sqliteRows) begin(q Query) (err error) {
	if r.conn, err = r.db.Conn(r.ctx); err != nil {
		return err
	}
	if err := r.restrict(q); err != nil {
		return err
	}
	if r.rows, err = r.conn.QueryContext(r.ctx, q.Text); err != nil {
		return err
	}
	if r.types, err = r.rows.ColumnTypes(); err != nil {
		return err
	}
	r.cells, r.into = make([]any, len(r.types)), make([]any, len(r.types))
	for i, t := range r.types {
		r.names, r.into[i] = append(r.names, t.Name()), &r.cells[i]
	}
	r.record.Fields = make([]string, len(r.types))
	return nil
}

// Columns implements [dataset.Records].
func (r *sqliteRows) Columns() []string { return r.names }

// Next implements [dataset.Records].
func (r *sqliteRows) Next() (dataset.Record, error) {
	if !r.rows.Next() {
		if err := errors.Join(r.ctx.Err(), r.rows.Err()); err != nil {
			return dataset.Record{}, err
		}
		return dataset.Record{}, io.EOF
	}
	if err := r.rows.Scan(r.into...); err != nil {
		return dataset.Record{}, err
	}
	r.record.Line++
	for i, cell := range r.cells {
		r.record.Fields[i] = cellText(cell, r.types[i].DatabaseTypeName())
	}
	return r.record, nil
}

// cellText formats a cell as text, according to the declared type of its column.
func cellText(cell any, declared string) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		if declared == "BOOLEAN" && (v == 0 || v == 1) {
			return strconv.FormatBool(v == 1)
		}
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return timeText(v, declared)
	}
	return fmt.Sprint(cell)
}

// timeText formats a date or a time in UTC as PostgreSQL does, but without a zone and to the nanosecond.
func timeText(t time.Time, declared string) string {
	t = t.UTC()
	if midnight := t.Equal(t.Truncate(24 * time.Hour)); declared == "DATE" && midnight {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05.999999999")
}

// Close implements [io.Closer].
func (r *sqliteRows) Close() error {
	var err error
	if r.stopInterrupt != nil {
		r.stopInterrupt()
		r.stopInterrupt = nil
	}
	if r.rows != nil {
		err = r.rows.Close()
	}
	if r.conn != nil {
		err = errors.Join(err, r.conn.Close())
	}
	return errors.Join(err, r.db.Close())
}
