package catalogue

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

// Entry is a source that can be loaded by its name. Rows and Columns are zero for files and folders, whose
// cells [Library.List] does not read.
type Entry struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Licence string `json:"licence,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Columns int    `json:"columns,omitempty"`
	Classes int    `json:"classes,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"` // size of the file
}

// maxDepth and maxFiles limit the search of a data folder.
const (
	maxDepth = 3
	maxFiles = 100_000
)

// List returns the bundled sets and then the tables and the folders of images in the data folder, each of
// the two sorted by name. For a folder of images it gives the number of classes.
func (l Library) List() ([]Entry, error) {
	var entries []Entry
	for _, name := range bundled.Names() {
		info, err := bundled.Lookup(name)
		if err != nil {
			return nil, &Error{Bundled + name, "is missing", err}
		}
		entries = append(entries, Entry{
			Name: Bundled + name, Title: info.Title, Licence: info.Licence,
			Rows: info.Rows, Columns: info.Cols, Classes: info.Classes,
		})
	}
	if l.folder == "" {
		return entries, nil
	}
	tables, err := tablesIn(l.folder, maxDepth)
	if err != nil {
		return nil, &Error{l.folder, "cannot be read: " + reason(err) + "; set " + Variable + " to a folder that this user can read", err}
	}
	return append(entries, tables...), nil
}

// tablesIn returns the tables of a folder, down to the given depth. It also returns the folders of
// images: those with a sub-folder that is a class (isClass).
func tablesIn(folder string, depth int) ([]Entry, error) {
	var tables []Entry
	files := 0
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil && name != "." && errors.Is(err, fs.ErrPermission) {
			return fs.SkipDir // skip the folder: loading it would fail too
		}
		if files++; err != nil || files > maxFiles {
			return errors.Join(err, tooMany(files))
		}
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && !hidden && isClass(filepath.Join(folder, filepath.FromSlash(name))) {
			tables = countClass(tables, filepath.ToSlash(filepath.Dir(filepath.FromSlash(name))))
			return fs.SkipDir
		}
		if d.IsDir() && (hidden || name != "." && strings.Count(name, "/") >= depth-1) {
			return fs.SkipDir
		}
		if hidden || !d.Type().IsRegular() || !isTable(filepath.Join(folder, filepath.FromSlash(name))) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		tables = append(tables, Entry{Name: name, Bytes: info.Size()})
		return nil
	})
	slices.SortStableFunc(tables, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return tables, err
}

// countClass adds a class to the entry of a folder of images. The listed folder itself is not an
// entry.
func countClass(tables []Entry, folder string) []Entry {
	if folder == "." {
		return tables
	}
	at := slices.IndexFunc(tables, func(e Entry) bool { return e.Name == folder })
	if at < 0 {
		tables = append(tables, Entry{Name: folder, Title: "folder of images"})
		at = len(tables) - 1
	}
	tables[at].Classes++
	return tables
}

// isClass reports whether a folder is a class of images. It looks at a few entries. More than half
// of these entries must be images, because other folders can also hold an image, such as a plot. It
// returns false for an unreadable folder.
func isClass(folder string) bool {
	const few = 32
	f, err := os.Open(folder)
	if err != nil {
		return false
	}
	entries, err := f.ReadDir(few)
	if closed := f.Close(); closed != nil || err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	pictures := 0
	for _, e := range entries {
		if !e.IsDir() && isPicture(e.Name()) {
			pictures++
		}
	}
	return 2*pictures > len(entries)
}

func tooMany(files int) error {
	if files <= maxFiles {
		return nil
	}
	return errors.New("it holds too many files")
}

// isTable reports whether a file is a table. Its name decides, or else its first line.
func isTable(path string) bool {
	switch filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz")) {
	case ".csv", ".tsv", ".svm", ".libsvm", ".npy", ".npz", ".parquet":
		return true
	case ".md", ".html", ".json", ".yaml", ".jpg", ".jpeg", ".png":
		return false
	}
	if isIDX(path) {
		return !strings.Contains(filepath.Base(path), idxLabels)
	}
	f, err := regular.Open(path)
	if err != nil {
		return false // not a table: loading the file would fail too
	}
	table := startsLikeLIBSVM(f)
	return f.Close() == nil && table
}

var libsvmEntry = regexp.MustCompile(`^[0-9]+:[-+.0-9][-+.0-9eE]*$`)

// startsLikeLIBSVM reports whether the first line consists of a label and index:value pairs. It
// reads only little, because folders also hold large files of other kinds.
func startsLikeLIBSVM(r io.Reader) bool {
	const enough = 4 << 10
	b := bufio.NewReaderSize(r, enough)
	if magic, err := b.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return false
		}
		b = bufio.NewReaderSize(z, enough)
	}
	start, err := b.Peek(enough)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	line, _, whole := bytes.Cut(start, []byte("\n"))
	fields := bytes.Fields(line)
	if !whole && len(fields) > 2 {
		fields = fields[:len(fields)-1] // the last field can be incomplete
	}
	if len(fields) < 2 {
		return false
	}
	return !slices.ContainsFunc(fields[1:], func(f []byte) bool { return !libsvmEntry.Match(f) })
}

// suggest returns the end of an error message, with the name in the data folder that is most
// similar to ref. It returns "" if no name is similar, or if the folder cannot be read.
func (l Library) suggest(ref string) string {
	tables, err := tablesIn(l.folder, maxDepth)
	if err != nil {
		return ""
	}
	known := names(tables)
	for _, n := range known {
		if folder, _, ok := strings.Cut(n, "/"); ok {
			known = append(known, folder)
		}
	}
	near, ok := fuzzymatch.Nearest(ref, known...)
	if !ok {
		return ""
	}
	return ` (did you mean "` + near + `"?)`
}

func names(entries []Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name
	}
	return out
}
