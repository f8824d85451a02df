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

// messageHead bounds what a message has beside cells: their lengths, and the words of an error.
const messageHead = 1 << 20

// closeTime limits the farewell to a server.
const closeTime = 5 * time.Second

// postgresRows are rows of PostgreSQL, which writes its numbers and dates as text itself.
type postgresRows struct {
	ctx     context.Context
	conn    *pgx.Conn
	rows    pgx.Rows
	columns []string
	truth   []bool // columns of booleans
	record  dataset.Record
}

func openPostgres(ctx context.Context, q Query) (Rows, error) {
	config, err := settings(q.Source, q.DSN)
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

// settings reads a DSN. The simple protocol would take several statements, of which the first could end the
// transaction that only reads.
func settings(source, dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil { // which may hold the password
		return nil, fmt.Errorf("%s holds no connection string of PostgreSQL; write postgres://USER@HOST/DATABASE?sslmode=verify-full", source)
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return nil, fmt.Errorf("%s asks for the simple protocol, which takes several statements at once; leave out default_query_exec_mode", source)
	}
	for name, value := range map[string]string{
		"default_transaction_read_only": "on", "DateStyle": "ISO, YMD", "TimeZone": "UTC", "IntervalStyle": "iso_8601", "extra_float_digits": "3", "application_name": "mercer",
	} {
		config.RuntimeParams[name] = value
	}
	return config, nil
}

// begin asks the query in a transaction that may only read and sees one state of the database.
func (r *postgresRows) begin(q Query) error {
	tx, err := r.conn.BeginTx(r.ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	if err := errors.Join(r.weak(q.Source), r.describe(q.Text)); err != nil {
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

// strong gives the rights of a role by which a SELECT can run programs, or read and write files.
const strong = `SELECT coalesce(pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname), '') FROM pg_catalog.pg_roles AS r
WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
	AND (r.rolsuper OR r.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))`

// weak refuses a role that may do more than a query needs. A transaction that only reads does not
// keep it from programs and files of the server.
func (r *postgresRows) weak(source string) error {
	var rights string
	if err := r.conn.QueryRow(r.ctx, strong, pgx.QueryExecModeDescribeExec).Scan(&rights); err != nil {
		return err
	}
	if rights != "" {
		return fmt.Errorf("the role of %s may run programs or use files of the server, as %s; connect as a role that may only SELECT", source, rights)
	}
	return nil
}

// describe has the server read the text, and runs nothing. A cursor takes a SELECT only, without
// parts that write.
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
		return fmt.Errorf("it is no SELECT that only reads; write one SELECT (%s)", refused.Message)
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
		r.record.Fields[i] = string(cell) // of a NULL, nothing
		if r.truth[i] {
			r.record.Fields[i] = truth(r.record.Fields[i])
		}
	}
	return r.record, nil
}

// truth spells a boolean out.
func truth(word string) string {
	switch word {
	case "t":
		return "true"
	case "f":
		return "false"
	}
	return word
}

// Close implements [io.Closer]. The transaction ends with the connection.
func (r *postgresRows) Close() error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.ctx), closeTime)
	defer stop()
	if r.rows != nil && r.rows.CommandTag().String() == "" { // not at the end, and there may be much to read
		return r.conn.PgConn().Conn().Close()
	}
	return r.conn.Close(ctx)
}
