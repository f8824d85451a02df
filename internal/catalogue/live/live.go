// Package live reads tables that can differ at the next reading. Such a table is the output of an
// operator's program, or the rows of a query.
//
//	err := live.Copy(ctx, store, source)
//	set, err := live.Table(store, table)
//
// Copy reads the rows once, into a snapshot that a job can read any number of times. Open reads them
// without a snapshot.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/catalogue/program"
	"github.com/mercer-fl/mercer/internal/catalogue/query"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// Source describes the table that a program writes or a query returns.
type Source struct {
	origin.Origin
	Folder  string // base of relative paths, and working folder of the program
	Mapping prepare.Mapping
	IDs     []string // id columns, each under the source's name or the federation's name
}

const (
	defaultTimeout  = 10 * time.Minute
	defaultMaxBytes = 16 << 30
	maxQueryBytes   = 1 << 20
)

// Copy reads all rows of the source into a snapshot, sorted by their ids.
func Copy(ctx context.Context, to snapshot.Store, s Source) (err error) {
	rows, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return snapshot.Write(to, rows, s.sortKey(rows.Columns()))
}

// Table reads a table from a snapshot. It returns errors of the store unchanged.
func Table(from snapshot.Store, t prepare.Table) (set *dataset.Set, err error) {
	rows, err := snapshot.Read(from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return prepare.Read(rows, t)
}

// Open starts the program or runs the query, and returns its rows.
func (s Source) Open(ctx context.Context) (query.Rows, error) {
	folder, err := filepath.Abs(s.Folder)
	if err != nil {
		return nil, err
	}
	s.Folder = folder
	limit, most := cmp.Or(s.Timeout.Duration, defaultTimeout), cmp.Or(int64(s.MaxBytes), defaultMaxBytes)
	if s.SQL != nil {
		return s.ask(ctx, limit, most)
	}
	out, err := program.Command{Args: s.Command, Env: s.Env, Folder: folder, Timeout: limit, MaxBytes: most}.Start(ctx)
	if err != nil {
		return nil, err
	}
	w := programRows{Output: out}
	if w.Records, err = dataset.OpenCSV(s.Name(), out, s.Mapping.Form()); err != nil {
		return nil, errors.Join(w.explain(err), out.Close())
	}
	return w, nil
}

// programRows reads the rows that a program writes to its standard output.
type programRows struct {
	*program.Output
	dataset.Records
}

// Next implements [dataset.Records].
func (w programRows) Next() (dataset.Record, error) {
	row, err := w.Records.Next()
	return row, w.explain(err)
}

// Delimiter implements [dataset.Delimited].
func (w programRows) Delimiter() rune { return w.Records.(dataset.Delimited).Delimiter() }

// explain returns the program's failure if the failure caused err. Otherwise it returns err.
func (w programRows) explain(err error) error {
	if failure := w.Failure(); err != nil && failure != nil {
		return failure
	}
	return err
}

func (s Source) ask(ctx context.Context, limit time.Duration, most int64) (query.Rows, error) {
	text, err := s.queryText()
	if err != nil {
		return nil, err
	}
	q := query.Query{Source: s.SQL.DSNEnv, Text: text, Timeout: limit, MaxBytes: most}
	if s.SQL.SQLite != "" {
		q.SQLite = s.resolve(s.SQL.SQLite)
	} else if q.DSN = os.Getenv(s.SQL.DSNEnv); q.DSN == "" {
		return nil, fmt.Errorf("the environment variable %s is not set; set it to the connection string of the database", s.SQL.DSNEnv)
	}
	rows, err := q.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	if err := checkColumns(rows.Columns()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Name(), err), rows.Close())
	}
	return rows, nil
}

// checkColumns returns an error if a column of a query has no name, or the name of another column.
func checkColumns(names []string) error {
	first := make(map[string]int, len(names))
	for j, name := range names {
		if strings.TrimSpace(name) == "" {
			return fmt.Errorf("column %d (from 1) of the query has no name; name it by AS in the SELECT", j+1)
		}
		if other, taken := first[name]; taken {
			return fmt.Errorf("columns %d and %d (from 1) of the query are both called %s; rename one of these columns by AS in the SELECT", other+1, j+1, dataset.Quote(name))
		}
		first[name] = j
	}
	return nil
}

func (s Source) queryText() (string, error) {
	path := s.resolve(s.SQL.QueryFile)
	if err := regular.Check(path); err != nil { // checked before the rights, which do not matter for a device or a folder
		return "", fmt.Errorf("the query cannot be read: %w", err)
	}
	path, err := trusted.Find(path)
	if err != nil {
		return "", fmt.Errorf("%s is not run, since %w", s.Name(), err)
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxQueryBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if len(b) > maxQueryBytes {
		return "", fmt.Errorf("the query file of %s has more than %d bytes; give a file that holds only the query", s.Name(), maxQueryBytes)
	}
	return string(b), nil
}

// resolve joins a relative path to the source's folder. It returns an absolute path unchanged.
func (s Source) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Folder, path)
}

// sortKey returns the names that the id columns have in the source. Rows are sorted by these
// columns.
func (s Source) sortKey(columns []string) (key []string) {
	for _, name := range s.IDs {
		at := slices.Index(columns, name)
		if at < 0 {
			at = slices.IndexFunc(columns, func(c string) bool { return s.Mapping.Columns[c].As == name })
		}
		if at >= 0 {
			key = append(key, columns[at])
		}
	}
	return key
}
