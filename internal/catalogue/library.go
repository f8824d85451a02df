package catalogue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

// Variable is the name of the environment variable that holds the path of the data folder.
const Variable = "MERCER_DATA"

// siblingFolder is the path of the data folder beside a checkout of the project, from the checkout's root.
const siblingFolder = "../shared/data"

// Bundled is the prefix of the names of data sets inside the program. Generated is the prefix of
// the names of sets that the program generates.
const (
	Bundled   = "bundled:"
	Generated = "generated:"
)

// Error explains why a source cannot be used. Its text begins with the name that the user gave, or with
// the path that was found by the name, like the errors of readers and of job files.
type Error struct {
	Source  string
	Problem string // the fault, and what to do about it
	Err     error  // cause, or nil
}

func (e *Error) Error() string { return e.Source + " " + e.Problem }

func (e *Error) Unwrap() error { return e.Err }

// Columns says which columns of a table hold the labels, the ids and the features. If the name of the
// labels or of the ids is empty, the reader chooses the column, or none; see [dataset.CSVOptions].
type Columns struct {
	Label string
	ID    string
	// Uses selects the feature columns, in formats with column names.
	dataset.Uses
	// Width is the number of features; 0: as many as the source shows. A LIBSVM text can omit the
	// last features.
	Width int
	// Gaps allows rows without a label in CSV and parquet files.
	Gaps bool
	// Classes lists the allowed labels in CSV and parquet files; nil: any label.
	Classes []string
}

// Library finds and reads data sources. The zero value has no data folder.
type Library struct{ folder string }

// New returns a library with the given data folder; "" means no data folder.
func New(folder string) Library { return Library{folder: folder} }

// Folder returns the path of the data folder. It is the path that the environment variable holds or, in the
// root of a checkout of the project, the folder beside the checkout. It returns "" if there is neither.
func Folder(env func(string) string) string {
	if f := env(Variable); f != "" {
		return f
	}
	folder := filepath.FromSlash(siblingFolder)
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return folder
	}
	return ""
}

// Load reads a source: bundled:NAME, generated:ROWSxCOLUMNS (see below), the path of a file, or a
// name in the data folder. The name of a folder that holds one table means that table. A folder
// without tables but with images, in a sub-folder for each class, is read as images.
//
// After # a name can select a part: in an archive the array with the features (mnist.npz#x_train),
// in a folder of images the size or the colours of the images (slices#88x104, flowers#rgb,
// flowers#64x64,rgb). bundled:digits#odd has the classes odd and even.
//
// Generated rows have two classes, or the number of classes that a third number gives
// (generated:1000x10x4). With #rbf the labels follow a sum of radial basis functions
// (generated:1000x10#rbf). With #sparse=SHARE the labels follow such a sum, too, and only this share
// of the values in each row is not zero (generated:1000x200#sparse=0.05). With #binary=SHARE the
// values that are not zero are ones.
//
// Names joined by " + " mean one table below the other (a9a/a9a + a9a/a9a.t). So does a pattern of
// names in one folder (shards/*.parquet), whose files are read in the order of their names.
func (l Library) Load(ref string, c Columns) (*dataset.Set, error) {
	if c.Width < 0 {
		return nil, &Error{ref, fmt.Sprintf("cannot have %d features; write a number above 0 for \"features\", or leave it out", c.Width), nil}
	}
	set, err := l.find(ref, c)
	if err == nil && c.Width > 0 && set.X.Cols() != c.Width {
		err = &Error{ref, fmt.Sprintf("has %d features, but \"features\" is %d; correct \"features\", or leave it out", set.X.Cols(), c.Width), nil}
	}
	if err != nil {
		return nil, err
	}
	return set, nil
}

// find reads a source without checking its number of columns.
func (l Library) find(ref string, c Columns) (*dataset.Set, error) {
	if name, ok := strings.CutPrefix(ref, Bundled); ok {
		if whole, odd := strings.CutSuffix(name, oddDigits); odd {
			return loadOdd(whole, c)
		}
		return loadBundled(name, c)
	}
	if size, ok := strings.CutPrefix(ref, Generated); ok {
		return loadGenerated(size, c)
	}
	if refs := strings.Split(ref, stackSeparator); len(refs) > 1 {
		return l.loadStack(refs, c)
	}
	if isPattern(ref) {
		paths, err := l.shards(ref)
		switch {
		case err != nil:
			return nil, err
		case len(paths) > 1:
			return l.loadStack(paths, c)
		}
		ref = paths[0]
	}
	path, part, err := l.locate(ref)
	if err != nil {
		return nil, err
	}
	set, err := load(path, part, c)
	if err != nil {
		return nil, err
	}
	if err := set.Validate(); err != nil {
		return nil, &Error{path, "cannot be used: " + err.Error(), err}
	}
	return set, nil
}

// Missing reports whether a file that ref names does not exist. It knows no bundled or generated sets.
func (l Library) Missing(ref string) bool {
	return slices.ContainsFunc(strings.Split(ref, stackSeparator), func(one string) bool {
		if isPattern(one) {
			_, err := l.shards(one)
			return errors.Is(err, fs.ErrNotExist)
		}
		_, _, err := l.locate(one)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// locate is like Find, but it accepts a name with a suffix after #, and also returns the suffix.
func (l Library) locate(ref string) (path, part string, err error) {
	path, err = l.Find(ref)
	at := strings.LastIndexByte(ref, '#')
	if err == nil || at < 0 {
		return path, "", err
	}
	path, err = l.Find(ref[:at])
	return path, ref[at+1:], err
}

func load(path, part string, c Columns) (*dataset.Set, error) {
	if chosen := c.Features != nil || c.Aside != nil; chosen && !hasSuffix(strings.TrimSuffix(path, ".gz"), ".csv", ".tsv", ".parquet") {
		return nil, &Error{path, "has no column names; leave out the choice of columns, or save the table as .csv or .parquet", nil}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return loadImages(path, part, c)
	}
	if part != "" && !hasSuffix(path, ".npz") {
		return nil, &Error{path, fmt.Sprintf("has no part %q, because only archives (.npz) and folders of images have parts; leave the part out", part), nil}
	}
	if isIDX(path) {
		return loadIDX(path, c)
	}
	return loadFile(path, part, c)
}

// LabelColumn is the name of the labels in sources that do not name them, such as bundled sets, generated
// sets and LIBSVM text.
const LabelColumn = "label"

func loadBundled(name string, c Columns) (*dataset.Set, error) {
	if _, err := bundled.Lookup(name); err != nil {
		return nil, &Error{Bundled + name, "does not exist: " + strings.TrimPrefix(err.Error(), "dataset/bundled: "), err}
	}
	if err := checkUnnamed(Bundled+name, c); err != nil {
		return nil, err
	}
	set, err := bundled.Load(name)
	if err == nil && c.Label == noColumn {
		set = &dataset.Set{Name: set.Name, X: set.X, Columns: set.Columns}
	}
	return set, err
}

// oddDigits is the suffix that selects the digits with the two classes odd and even.
const oddDigits = "#odd"

// loadOdd reads a bundled set whose classes are numbers, and replaces the classes by odd and even.
func loadOdd(name string, c Columns) (*dataset.Set, error) {
	set, err := loadBundled(name, c)
	if err != nil {
		return nil, err
	}
	for i, label := range set.Labels {
		n, err := strconv.Atoi(label)
		if err != nil {
			return nil, &Error{Bundled + name, "has classes that are not numbers, so they are neither odd nor even; leave out #odd", err}
		}
		set.Labels[i] = "even"
		if n%2 != 0 {
			set.Labels[i] = "odd"
		}
	}
	return set, nil
}

// noColumn is the name that selects no column.
const noColumn = "none"

// checkUnnamed returns an error if the caller names columns of a source without column names.
func checkUnnamed(ref string, c Columns) error {
	if c.Label != "" && c.Label != LabelColumn && c.Label != noColumn {
		return missingColumn(ref, c.Label, fmt.Sprintf("its labels are called %q", LabelColumn))
	}
	if c.ID != "" {
		return missingColumn(ref, c.ID, noIDs)
	}
	return nil
}

const noIDs = "it has no row ids, so leave id out"

// missingColumn returns the error that a source lacks a column, with advice.
func missingColumn(ref, column, advice string) *Error {
	problem := fmt.Sprintf("has no column %q; %s", column, advice)
	return &Error{ref, problem, dataset.NoColumn(column, "%s", problem)}
}

func loadFile(path, array string, c Columns) (set *dataset.Set, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	set, err = dataset.Read(filepath.ToSlash(path), f, dataset.Options{
		CSV: dataset.CSVOptions{Label: c.Label, ID: c.ID, Gaps: c.Gaps, Classes: c.Classes, Uses: c.Uses},

		LIBSVM: dataset.LIBSVMOptions{Columns: c.Width},

		NPY: dataset.NPYOptions{Label: c.Label},
		NPZ: dataset.NPZOptions{X: array, Labels: c.Label, IDs: c.ID},

		Parquet: dataset.ParquetOptions{Label: c.Label, ID: c.ID, Gaps: c.Gaps, Classes: c.Classes, Uses: c.Uses},
	})
	if err != nil {
		return nil, err
	}
	if _, sparse := set.X.(*dataset.CSR); sparse {
		if err := checkUnnamed(path, c); err != nil {
			return nil, err
		}
	}
	if c.ID != "" && c.ID != "none" && set.IDs == nil {
		return nil, missingColumn(path, c.ID, noIDs)
	}
	return set, nil
}

// unreadable returns the error that an existing source cannot be read, with advice.
func unreadable(path string, err error) *Error {
	if p := (*fs.PathError)(nil); !errors.As(err, &p) { // the text of err says what is wrong with the path
		return &Error{path, strings.TrimPrefix(err.Error(), path+" "), err}
	}
	advice := "check the disk, or copy it again"
	if errors.Is(err, fs.ErrPermission) {
		advice = "give this user the right to read it"
	}
	return &Error{path, "cannot be read: " + reason(err) + "; " + advice, err}
}

// reason returns the innermost cause of a file error. It leaves out the path, which the caller's
// message already contains.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Find returns the path of the file or the folder of images that ref names.
func (l Library) Find(ref string) (string, error) {
	switch info, err := os.Stat(ref); {
	case err == nil:
		return onlyTable(ref, info)
	case errors.Is(err, fs.ErrPermission):
		return "", unreadable(ref, err)
	}
	if known := notPath(ref); known != nil {
		return "", known
	}
	if l.folder == "" {
		return "", &Error{ref, "is not a file; give a path, bundled:NAME, or set " + Variable + " to your data folder", fs.ErrNotExist}
	}
	if info, err := os.Stat(l.folder); err != nil || !info.IsDir() {
		return "", &Error{l.folder, "is not a folder; set " + Variable + " to your data folder", err}
	}
	if !fs.ValidPath(filepath.ToSlash(ref)) {
		return "", &Error{ref, "is neither a file nor a name in the data folder; give a path, or a name that mercer data list shows", fs.ErrNotExist}
	}
	path := filepath.Join(l.folder, filepath.FromSlash(ref))
	info, err := os.Stat(path)
	if err != nil {
		return "", &Error{ref, fmt.Sprintf("is neither a file nor a name in the data folder %s%s; mercer data list shows the names", l.folder, l.suggest(ref)), err}
	}
	return onlyTable(path, info)
}

// notPath returns the error for a name that cannot be a path, or that is near the name of a file. It returns
// nil for other names.
func notPath(ref string) *Error {
	problem := ""
	switch {
	case ref == "":
		return &Error{`""`, "is no path; give a path, bundled:NAME, or a name that mercer data list shows", fs.ErrNotExist}
	case regular.Tilde(ref) != "":
		problem = "is not a file, since " + regular.Tilde(ref)
	case strings.Contains(ref, "://"):
		problem = "is an address, and no address is read; download the table, and give the path of the file"
	case exists(strings.ReplaceAll(ref, `\`, "/")):
		problem = "is not a file; write / between folders, as in " + strings.ReplaceAll(ref, `\`, "/")
	case beside(ref) != "":
		problem = fmt.Sprintf("is not a file; did you mean %s?", beside(ref))
	default:
		return nil
	}
	return &Error{ref, problem, fs.ErrNotExist}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// beside returns the path of a table in the folder of ref that is probably meant: one of the same name but for
// case and suffix, or one of the same suffix whose name is near. It returns "" if there is none.
func beside(ref string) string {
	folder, base := filepath.Split(ref)
	tables, err := tablesIn(filepath.Clean(folder), 1)
	if err != nil || len(base) > maxNear {
		return ""
	}
	files, stems := make(map[string]string), []string(nil)
	for _, name := range names(tables) {
		if fuzzymatch.Fold(stem(name)) == fuzzymatch.Fold(stem(base)) {
			return folder + name
		}
		if len(name) <= maxNear && strings.TrimPrefix(name, stem(name)) == strings.TrimPrefix(base, stem(base)) {
			files[stem(name)], stems = name, append(stems, stem(name))
		}
	}
	near, ok := fuzzymatch.Nearest(stem(base), stems...)
	if !ok {
		return ""
	}
	return folder + files[near]
}

// stem returns a file's name up to its first dot.
func stem(name string) string {
	before, _, _ := strings.Cut(name, ".")
	return before
}

// maxNear bounds the names of files that are compared with a mistyped one, in bytes.
const maxNear = 100

// onlyTable returns path itself, or the path of the only table in the folder at path.
func onlyTable(path string, info fs.FileInfo) (string, error) {
	if info.Mode().IsRegular() {
		return path, nil
	}
	if !info.IsDir() {
		return "", &Error{path, "is neither a file nor a folder; give the path of a table", nil}
	}
	tables, err := tablesIn(path, 1)
	switch {
	case err != nil:
		return "", unreadable(path, err)
	case len(tables) == 0 && holdsImages(path):
		return path, nil
	case len(tables) == 0:
		return "", &Error{path, "is a folder without a table; give a file (CSV, LIBSVM text, NumPy, parquet, IDX), or a folder with a sub-folder of JPEG or PNG files for each class", nil}
	case len(tables) > 1:
		return "", &Error{path, "is a folder with several tables; name one of " + strings.Join(names(tables), ", "), nil}
	}
	return filepath.Join(path, filepath.FromSlash(tables[0].Name)), nil
}

// holdsImages reports whether a folder contains an image, at any depth, among its first maxFiles entries.
func holdsImages(folder string) bool {
	found, files := false, 0
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		files++
		found = err == nil && !d.IsDir() && isPicture(d.Name())
		if err != nil || found || files > maxFiles {
			return errors.Join(err, fs.SkipAll)
		}
		return nil
	})
	return found && (err == nil || errors.Is(err, fs.SkipAll))
}

// Ratings reads a source of ratings. ref is the path of a file, or a name in the data folder; a folder with
// one table means that table.
func (l Library) Ratings(ref string) (r *dataset.Ratings, err error) {
	path, err := l.Find(ref)
	if err != nil {
		return nil, err
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.ReadRatings(f, dataset.RatingsOptions{Name: filepath.ToSlash(path)})
}

// stackSeparator separates the names of sources whose rows form one table.
const stackSeparator = " + "

// loadStack reads several sources and appends their rows to one table. Sparse text can omit its
// last columns, so every sparse table gets as many columns as the widest table.
func (l Library) loadStack(refs []string, c Columns) (*dataset.Set, error) {
	sets, width := make([]*dataset.Set, len(refs)), 0
	for i, ref := range refs {
		var err error
		if sets[i], err = l.Load(ref, c); err != nil {
			return nil, err
		}
		width = max(width, sets[i].X.Cols())
	}
	for _, s := range sets {
		if sparse, ok := s.X.(*dataset.CSR); ok && sparse.Cols() < width {
			s.X = sparse.Widened(width)
		}
	}
	var set *dataset.Set
	err := arrange(sets)
	if err == nil {
		set, err = dataset.Append(sets...)
	}
	if err == nil {
		err = set.Validate() // two sources can have a row id in common
	}
	if err != nil {
		return nil, &Error{strings.Join(refs, stackSeparator), "cannot be used: " + strings.TrimPrefix(err.Error(), "dataset: "), err}
	}
	return set, nil
}

// arrange sorts the columns of all sets into the order of the first set.
func arrange(sets []*dataset.Set) error {
	for i, s := range sets[1:] {
		var err error
		if sets[i+1], err = s.Arrange(sets[0].Name, sets[0].X.Cols(), sets[0].Columns); err != nil {
			return err
		}
	}
	return nil
}
