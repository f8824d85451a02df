package catalogue

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
)

// LoadTable reads a source whose cells have a meaning: by the schema of a job, or by what its
// owner says of the file. Text is read as CSV. In other formats cells are numbers, and columns
// without names are called x0, x1, ...
func (l Library) LoadTable(ref string, t prepare.Table) (*dataset.Set, error) {
	path, err := l.Find(ref)
	if err != nil || !isText(path) {
		return l.loadNumbers(ref, t)
	}
	t.Name = filepath.ToSlash(path)
	return readTable(path, t)
}

// readTable reads a CSV text.
func readTable(path string, t prepare.Table) (set *dataset.Set, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	form := t.Mapping.Form()
	if form.Delimiter == 0 && hasSuffix(strings.TrimSuffix(path, ".gz"), ".tsv") {
		form.Delimiter = '\t'
	}
	records, err := dataset.OpenCSV(t.Name, f, form)
	if err != nil {
		return nil, err
	}
	return prepare.Read(records, t)
}

// isText reports whether a file is read as CSV: by its ending, or since it is no LIBSVM text.
func isText(path string) bool {
	plain := strings.TrimSuffix(path, ".gz")
	if hasSuffix(plain, ".csv", ".tsv") {
		return true
	}
	if hasSuffix(plain, ".svm", ".libsvm", ".txt", ".npy", ".npz", ".parquet") || isIDX(path) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false // the reader says why
	}
	defer func() { _ = f.Close() }() // nothing was written
	return !dataset.LooksLikeLIBSVM(bufio.NewReader(f))
}

// loadNumbers reads a source of numbers as if they were written as text.
func (l Library) loadNumbers(ref string, t prepare.Table) (*dataset.Set, error) {
	id := ""
	if len(t.ID.Columns) == 1 {
		id = t.ID.Columns[0]
	}
	set, err := l.Load(ref, Columns{Label: orNone(t.Label), ID: id})
	if err != nil {
		return nil, err
	}
	t.Name = set.Name
	return prepare.Read(dataset.RecordsOf(set, t.Label, id), t)
}

func orNone(label string) string {
	if label == "" {
		return noColumn
	}
	return label
}
