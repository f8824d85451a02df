package catalogue

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

// Blocks reads the rows of CSV and parquet files in blocks, one file after the other. It implements
// [dataset.Blocks].
type Blocks struct {
	paths   []string // files that are not open yet
	columns Columns
	rows    int
	open    *os.File
	from    dataset.Blocks // blocks of the open file; nil between two files
	first   *dataset.Set   // name and columns of the first file, without rows; nil before the first block
}

var _ dataset.Blocks = (*Blocks)(nil)

// Blocks returns the rows of a source in blocks of at most the given number of rows. The source is a
// CSV or parquet file, several of them joined by " + " ([Library.Load]), or a pattern of files in one
// folder (shards/*.parquet), which are read in the order of their names. Each file must have the
// columns of the first one, in any order. Values, and errors within a file, are those of
// [dataset.OpenBlocks].
func (l Library) Blocks(ref string, c Columns, rows int) (*Blocks, error) {
	b := &Blocks{columns: c, rows: rows}
	for _, one := range strings.Split(ref, stackSeparator) {
		paths, err := l.shards(one)
		if err != nil {
			return nil, err
		}
		b.paths = append(b.paths, paths...)
	}
	return b, nil
}

// isPattern reports whether a name is a pattern of file names, and not the name of a file.
func isPattern(ref string) bool {
	if !strings.ContainsAny(filepath.Base(ref), "*?[") {
		return false
	}
	_, err := os.Stat(ref)
	return err != nil
}

// shards returns the paths of the files that a name or a pattern means.
func (l Library) shards(ref string) ([]string, error) {
	if !isPattern(ref) {
		path, err := l.Find(ref)
		return []string{path}, err
	}
	folder, pattern := filepath.Split(ref)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, &Error{ref, "matches no file, since there is no folder " + folder + "; correct the folder", os.ErrNotExist}
	}
	if err != nil {
		return nil, unreadable(ref, err)
	}
	var paths []string
	for _, e := range entries { // in the order of their names
		match, err := filepath.Match(pattern, e.Name())
		if err != nil {
			return nil, &Error{ref, "is not a pattern of file names: " + err.Error() + "; write for example shards/*.parquet", err}
		}
		if match && !e.IsDir() {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	if paths == nil {
		return nil, &Error{ref, "matches no file; correct the folder or the pattern", os.ErrNotExist}
	}
	slices.Sort(paths)
	return paths, nil
}

// Next implements [dataset.Blocks].
func (b *Blocks) Next() (*dataset.Set, error) {
	for {
		if b.from == nil {
			if len(b.paths) == 0 {
				return nil, io.EOF
			}
			if err := b.openNext(); err != nil {
				return nil, err
			}
		}
		set, err := b.from.Next()
		if errors.Is(err, io.EOF) {
			if err := b.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		return b.arranged(set)
	}
}

// openNext opens the next file.
func (b *Blocks) openNext() (err error) {
	path := b.paths[0]
	if b.open, err = regular.Open(path); err != nil {
		return unreadable(path, err)
	}
	c := b.columns
	b.from, err = dataset.OpenBlocks(filepath.ToSlash(path), b.open, dataset.Options{
		CSV:     dataset.CSVOptions{Label: c.Label, ID: c.ID, Gaps: c.Gaps, Classes: c.Classes, Uses: c.Uses},
		Parquet: dataset.ParquetOptions{Label: c.Label, ID: c.ID, Gaps: c.Gaps, Classes: c.Classes, Uses: c.Uses},
	}, b.rows)
	b.paths = b.paths[1:]
	if err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

// arranged returns a block with its columns in the order of the first file.
func (b *Blocks) arranged(set *dataset.Set) (*dataset.Set, error) {
	if b.first == nil {
		b.first = &dataset.Set{Name: set.Name, X: set.X.Subset(nil), Columns: set.Columns, Labels: set.Labels[:0], IDs: set.IDs[:0]}
	}
	if (set.Labels == nil) != (b.first.Labels == nil) || (set.IDs == nil) != (b.first.IDs == nil) {
		return nil, &Error{set.Name, fmt.Sprintf("cannot be read after %s: only one of them has labels, or ids; name the columns of both", b.first.Name), nil}
	}
	if b.columns.Width > 0 && set.X.Cols() != b.columns.Width {
		return nil, &Error{set.Name, fmt.Sprintf("has %d features, but \"features\" is %d; correct \"features\", or leave it out", set.X.Cols(), b.columns.Width), nil}
	}
	own, err := set.Arrange(b.first.Name, b.first.X.Cols(), b.first.Columns)
	if err != nil {
		return nil, &Error{set.Name, "cannot be used: " + err.Error(), err}
	}
	return own, nil
}

// Close closes the open file.
func (b *Blocks) Close() error {
	open := b.open
	b.open, b.from = nil, nil
	if open == nil {
		return nil
	}
	return open.Close()
}
