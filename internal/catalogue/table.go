package catalogue

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

// LoadTable reads a source and interprets its cells by a job's schema and the owner's mapping. It
// reads CSV text, and parquet files with their types. In other formats cells are numbers, and
// columns without names are called x0, x1, ...
func (l Library) LoadTable(ref string, t prepare.Table) (set *dataset.Set, err error) {
	rows, found, err := l.Open(ref, t.Mapping, slices.Concat(t.ID.Columns, []string{t.Label}, t.Labelled))
	switch {
	case err != nil:
		return nil, err
	case !found:
		return l.loadNumbers(ref, t)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	t.Name = rows.Name
	return prepare.Read(rows, t)
}

// Rows reads the rows of an open file as text.
type Rows struct {
	Name string // name of the file in messages
	dataset.Records
	io.Closer
}

// Choose implements [dataset.ColumnSelector].
func (r *Rows) Choose(places []int) error {
	if some, can := r.Records.(dataset.ColumnSelector); can {
		return some.Choose(places)
	}
	return nil
}

// Unreadable implements [dataset.ColumnSelector].
func (r *Rows) Unreadable(place int) error {
	if some, can := r.Records.(dataset.ColumnSelector); can {
		return some.Unreadable(place)
	}
	return nil
}

// Open opens a parquet file, or a CSV text in the format of the owner's mapping. The source can be
// several such files, joined by " + " or matched by a pattern ([Library.Blocks]). For other sources,
// isTable is false. Each of the given columns is kept even if it looks like the index column that
// pandas adds.
func (l Library) Open(ref string, own prepare.Mapping, columns []string) (r *Rows, isTable bool, err error) {
	paths := l.textPaths(ref)
	switch len(paths) {
	case 0:
		return nil, false, nil
	case 1:
		r, err = openText(paths[0], own, columns)
	default:
		r, err = openStacked(paths, own, columns)
	}
	return r, true, err
}

// openText opens a parquet file or a CSV text.
func openText(path string, own prepare.Mapping, columns []string) (r *Rows, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	r = &Rows{Name: filepath.ToSlash(path), Closer: f}
	if hasSuffix(path, ".parquet") {
		r.Records, err = openParquet(r.Name, f, columns)
	} else {
		r.Records, err = dataset.OpenCSV(r.Name, f, csvFormat(path, own))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// Heads reports whether the columns of a source have names. They do in a CSV text and in a parquet
// file.
func (l Library) Heads(ref string) bool { return l.textPaths(ref) != nil }

// textPaths returns the paths of the CSV texts and parquet files that a source consists of. It
// returns nil if another file is among them; the reader then explains a missing file.
func (l Library) textPaths(ref string) (paths []string) {
	for _, one := range strings.Split(ref, stackSeparator) {
		some, err := l.shards(one)
		if err != nil {
			return nil
		}
		for _, path := range some {
			if path = l.textPath(path); path == "" {
				return nil
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// textPath returns the path of the CSV text or parquet file that ref names. It returns "" for all
// other sources; the reader then explains a missing file.
func (l Library) textPath(ref string) string {
	if path, err := l.Find(ref); err == nil && (hasSuffix(path, ".parquet") || isText(path)) {
		return path
	}
	return ""
}

func openParquet(name string, f *os.File, asked []string) (dataset.Records, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(name, err)
	}
	return dataset.OpenParquet(name, f, info.Size(), asked)
}

// csvFormat returns the format of a CSV text, according to its file name and the owner's mapping.
func csvFormat(path string, own prepare.Mapping) dataset.CSVForm {
	form := own.Form()
	if form.Delimiter == 0 && hasSuffix(strings.TrimSuffix(path, ".gz"), ".tsv") {
		form.Delimiter = '\t'
	}
	return form
}

// isText reports whether a file is read as CSV. It decides by the suffix, or else by whether the
// file is LIBSVM text.
func isText(path string) bool {
	plain := strings.TrimSuffix(path, ".gz")
	if hasSuffix(plain, ".csv", ".tsv") {
		return true
	}
	if hasSuffix(plain, ".svm", ".libsvm", ".txt", ".npy", ".npz", ".parquet") || isIDX(path) {
		return false
	}
	f, err := regular.Open(path)
	if err != nil {
		return false // the reader will report this error
	}
	defer func() { _ = f.Close() }() // closing a file that was only read cannot lose data
	return !dataset.LooksLikeLIBSVM(bufio.NewReader(f))
}

// loadNumbers reads a source of numbers, and reads its cells again by the schema, as if they were text.
func (l Library) loadNumbers(ref string, t prepare.Table) (*dataset.Set, error) {
	id := ""
	if len(t.ID.Columns) == 1 {
		id = t.ID.Columns[0]
	}
	label := t.Label
	if label == "" && t.Labelled != nil { // the job uses no labels, but its rows have them
		label = t.Labelled[0]
	}
	set, err := l.Load(ref, Columns{Label: orNone(label), ID: id, Gaps: t.Labelled != nil})
	if err != nil {
		return nil, err
	}
	t.Name = set.Name
	return prepare.Read(dataset.RecordsOf(set, label, id), t)
}

func orNone(label string) string {
	if label == "" {
		return noColumn
	}
	return label
}
