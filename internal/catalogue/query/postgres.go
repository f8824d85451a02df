package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/mercer-fl/mercer/dataset"
)

// messageHead is the number of bytes that a server's message is allowed to have in addition to the cells of
// a row. They hold lengths, or the text of an error.
const messageHead = 1 << 20

// closeTime is the longest time for closing a connection.
const closeTime = 5 * time.Second

// postgresRows reads the rows of a PostgreSQL query. The server itself formats numbers and dates as
// text.
type postgresRows struct {
	ctx     context.Context
	conn    *pgx.Conn
	rows    pgx.Rows
	columns []string
	truth   []bool // whether each column has type boolean
	record  dataset.Record
}

func openPostgres(ctx context.Context, q Query) (Rows, error) {
	config, err := parseDSN(q.Source, q.DSN)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	conn.PgConn().Frontend().SetMaxBodyLen(int(q.rowLimit()) + messageHead)
	r := &postgresRows{ctx: ctx, conn: conn}
	if err := r.begin(q); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// parseDSN parses a connection string. It refuses the simple protocol, which accepts several
// statements at once: the first could end the read-only transaction.
func parseDSN(source, dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil { // the original error can contain the password
		return nil, fmt.Errorf("%s does not hold a connection string of PostgreSQL; write postgres://USER@HOST/DATABASE?sslmode=verify-full", source)
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return nil, fmt.Errorf("%s sets the simple protocol, which accepts several statements at once; leave out default_query_exec_mode", source)
	}
	for name, value := range map[string]string{
		"default_transaction_read_only": "on", "DateStyle": "ISO, YMD", "TimeZone": "UTC", "IntervalStyle": "iso_8601", "extra_float_digits": "3", "application_name": "mercer",
	} {
		config.RuntimeParams[name] = value
	}
	return config, nil
}

// begin opens a read-only transaction with a consistent view of the database, and runs the query in
// it.
func (r *postgresRows) begin(q Query) error {
	tx, err := r.conn.BeginTx(r.ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	if err := errors.Join(r.checkRole(q.Source), r.describe(q.Text)); err != nil {
		return err
	}
	if r.rows, err = tx.Query(r.ctx, q.Text, pgx.QueryExecModeDescribeExec, pgx.QueryResultFormats{pgx.TextFormatCode}); err != nil {
		return err
	}
	for _, f := range r.rows.FieldDescriptions() {
		r.columns, r.truth = append(r.columns, f.Name), append(r.truth, f.DataTypeOID == pgtype.BoolOID)
	}
	r.record.Fields = make([]string, len(r.columns))
	return r.rows.Err()
}

// strongRoles is a query that returns the user's roles that could run programs, or read and write
// files.
const strongRoles = `SELECT coalesce(pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname), '') FROM pg_catalog.pg_roles AS r
WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
	AND (r.rolsuper OR r.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))`

// checkRole returns an error if the user has a role with more rights than a query needs. A
// read-only transaction does not protect the programs and files of the server.
func (r *postgresRows) checkRole(source string) error {
	var rights string
	if err := r.conn.QueryRow(r.ctx, strongRoles, pgx.QueryExecModeDescribeExec).Scan(&rights); err != nil {
		return err
	}
	if rights != "" {
		return fmt.Errorf("the role of %s can run programs or use files of the server, because it belongs to %s; connect as a role that can only SELECT", source, rights)
	}
	return nil
}

// describe makes the server parse the query, and a cursor for it, without running the query. A
// cursor accepts only a query that changes no rows (SELECT or VALUES), so describe refuses everything else.
func (r *postgresRows) describe(text string) error {
	about, err := r.conn.PgConn().Prepare(r.ctx, "", text, nil)
	if err != nil {
		return err
	}
	if len(about.Fields) == 0 {
		return errNoColumns
	}
	_, err = r.conn.PgConn().Prepare(r.ctx, "", "DECLARE mercer NO SCROLL CURSOR FOR "+text, nil)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return fmt.Errorf("the query is not a SELECT that only reads; write one SELECT (%s)", refused.Message)
	}
	return err
}

// Columns implements [dataset.Records].
func (r *postgresRows) Columns() []string { return r.columns }

// Next implements [dataset.Records].
func (r *postgresRows) Next() (dataset.Record, error) {
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return dataset.Record{}, err
		}
		return dataset.Record{}, io.EOF
	}
	r.record.Line++
	for i, cell := range r.rows.RawValues() {
		r.record.Fields[i] = string(cell) // NULL becomes an empty field
		if r.truth[i] {
			r.record.Fields[i] = trueOrFalse(r.record.Fields[i])
		}
	}
	return r.record, nil
}

// trueOrFalse converts PostgreSQL's words t and f to true and false.
func trueOrFalse(word string) string {
	switch word {
	case "t":
		return "true"
	case "f":
		return "false"
	}
	return word
}

// Close closes the connection, which also ends the transaction.
func (r *postgresRows) Close() error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.ctx), closeTime)
	defer stop()
	if r.rows != nil && r.rows.CommandTag().String() == "" { // do not read the remaining rows, of which there can be many
		return r.conn.PgConn().Conn().Close()
	}
	return r.conn.Close(ctx)
}
