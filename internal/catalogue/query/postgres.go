package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/mercer-fl/mercer/dataset"
)

// maxMessage bounds a row that a server sends.
const maxMessage = 64 << 20

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

func openPostgres(ctx context.Context, source, dsn, text string) (Rows, error) {
	config, err := settings(source, dsn)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	conn.PgConn().Frontend().SetMaxBodyLen(maxMessage)
	r := &postgresRows{ctx: ctx, conn: conn}
	if err := r.begin(text); err != nil {
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
func (r *postgresRows) begin(text string) error {
	tx, err := r.conn.BeginTx(r.ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	if r.rows, err = tx.Query(r.ctx, text, pgx.QueryExecModeDescribeExec, pgx.QueryResultFormats{pgx.TextFormatCode}); err != nil {
		return err
	}
	for _, f := range r.rows.FieldDescriptions() {
		r.columns, r.truth = append(r.columns, f.Name), append(r.truth, f.DataTypeOID == pgtype.BoolOID)
	}
	r.record.Fields = make([]string, len(r.columns))
	return r.rows.Err()
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
