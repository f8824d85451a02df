package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue/program"
	"github.com/mercer-fl/mercer/internal/catalogue/query"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// SQL is a query of an entry, in a file of the home: of the PostgreSQL that an environment
// variable of the daemon names, or of a file of SQLite.
type SQL struct {
	DSNEnv    string `yaml:"dsn_env,omitempty"`
	SQLite    string `yaml:"sqlite,omitempty"` // relative to the home
	QueryFile string `yaml:"query_file"`       // relative to the home
}

const (
	defaultTimeout  = 10 * time.Minute
	defaultMaxBytes = 16 << 30
	maxQueryBytes   = 1 << 20
)

// changing reports whether the table may be another one at the next reading.
func (s Source) changing() bool { return s.Command != nil || s.SQL != nil }

// snapshots keep the rows of one job.
type snapshots struct {
	estate *vault.Estate
	job    job.ID
}

// Write implements [snapshot.Store].
func (k snapshots) Write(name string, write func(io.Writer) error) error {
	return k.estate.Write(k.job, vault.Item(name), write)
}

// Open implements [snapshot.Store].
func (k snapshots) Open(name string) (io.ReadCloser, error) {
	return k.estate.Open(k.job, vault.Item(name))
}

// Remove implements [snapshot.Store].
func (k snapshots) Remove(name string) error { return k.estate.Remove(k.job, vault.Item(name)) }

// loadChanging reads a table whose source can change: from the job's snapshot, which it makes
// first if there is none.
func (h Home) loadChanging(ctx context.Context, k snapshots, s Source, t prepare.Table) (set *dataset.Set, err error) {
	t.Name = s.origin()
	rows, err := snapshot.Read(k)
	if errors.Is(err, vault.ErrNoKeepsake) {
		if err = h.copyRows(ctx, k, s); err == nil {
			rows, err = snapshot.Read(k)
		}
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return prepare.Read(rows, t)
}

// copyRows reads the source to its end, into the job's snapshot.
func (h Home) copyRows(ctx context.Context, k snapshots, s Source) (err error) {
	rows, err := h.openChanging(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return snapshot.Write(k, rows, s.key(rows.Columns()))
}

// openChanging starts a program or asks a query.
func (h Home) openChanging(ctx context.Context, s Source) (query.Rows, error) {
	limit, most := cmp.Or(s.Timeout.Duration, defaultTimeout), cmp.Or(s.MaxBytes, defaultMaxBytes)
	if s.SQL != nil {
		return h.ask(ctx, s.SQL, limit, most)
	}
	home, err := filepath.Abs(string(h))
	if err != nil {
		return nil, err
	}
	out, err := program.Command{Args: s.Command, Folder: home, Timeout: limit, MaxBytes: most}.Start(ctx)
	if err != nil {
		return nil, err
	}
	m := s.mapping()
	records, err := dataset.OpenCSV(s.origin(), out, m.Form())
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return struct {
		dataset.Records
		io.Closer
	}{records, out}, nil
}

func (h Home) ask(ctx context.Context, s *SQL, limit time.Duration, most int64) (query.Rows, error) {
	text, err := h.queryText(s.QueryFile)
	if err != nil {
		return nil, err
	}
	q := query.Query{Source: s.DSNEnv, Text: text, Timeout: limit, MaxBytes: most}
	if s.SQLite != "" {
		q.SQLite, err = filepath.Abs(h.within(s.SQLite))
		if err != nil {
			return nil, err
		}
	} else if q.DSN = os.Getenv(s.DSNEnv); q.DSN == "" {
		return nil, fmt.Errorf("%s is not set; give the daemon the connection string of the database in it", s.DSNEnv)
	}
	rows, err := q.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.QueryFile, err)
	}
	return rows, nil
}

func (h Home) queryText(path string) (string, error) {
	f, err := os.Open(h.within(path))
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxQueryBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if len(b) > maxQueryBytes {
		return "", fmt.Errorf("%s has more than %d bytes; name the file of the query", path, maxQueryBytes)
	}
	return string(b), nil
}

// within returns a path of the catalogue.
func (h Home) within(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return h.path(path)
}

// origin names the source in messages.
func (s Source) origin() string {
	if s.SQL != nil {
		return s.SQL.QueryFile
	}
	return s.Command[0]
}

// key returns the columns of the ids by the source's own names, for rows to be sorted by.
func (s Source) key(columns []string) (key []string) {
	for _, name := range s.ID.Columns {
		at := slices.Index(columns, name)
		if at < 0 {
			at = slices.IndexFunc(columns, func(c string) bool { return s.Columns.Theirs[c].As == name })
		}
		if at >= 0 {
			key = append(key, columns[at])
		}
	}
	return key
}
