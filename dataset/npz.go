package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// NPZOptions selects the arrays of an archive that form a set.
type NPZOptions struct {
	Name string // name of the file in messages
	// X names the array of the features. If X is empty, the features are the only array of the
	// archive, or else the first existing array of "X", "x", "data", "images", "features",
	// "X_train" and "x_train".
	X string
	// Labels names the array of the labels, or is "none". If Labels is empty, the labels are the
	// first existing array of: the name of the features' array with "y", or else "Y", in place of a
	// leading "x" or "X" ("y_train" for "x_train"), "y", "Y", "labels", "label", "target" and
	// "targets". If none exists, the set has no labels.
	Labels string
	// IDs names the array of the row ids, or is "none". If IDs is empty, the ids are the array
	// called "ids" or "id". If neither exists, the set has no ids.
	IDs string
}

// ReadNPZ reads a dense set from an archive of arrays that numpy.savez or numpy.savez_compressed
// wrote. The archive has size bytes. The features are read as by [ReadNPY]; labels and ids are
// arrays of one number or string (dtype U or S) a row. Other arrays are ignored. Errors are
// *SyntaxError.
func ReadNPZ(r io.ReaderAt, size int64, o NPZOptions) (*Set, error) {
	return readNPZ(r, size, o, defaultLimits())
}

func readNPZ(r io.ReaderAt, size int64, o NPZOptions, bounds limits) (*Set, error) {
	a, err := openNPZ(r, size, bounds)
	if err != nil {
		return nil, text(o.Name).wrap(0, err)
	}
	set, err := a.set(o)
	if err != nil {
		return nil, text(o.Name).wrap(0, err)
	}
	return set, nil
}

// npzArchive holds the arrays of an archive by name.
type npzArchive struct {
	names  []string
	files  map[string]*zip.File
	bounds limits
}

// maxArrays bounds the number of files in an archive.
const maxArrays = 1 << 14

func openNPZ(r io.ReaderAt, size int64, bounds limits) (*npzArchive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // an insecure path is harmless, since no file is written
		return nil, fmt.Errorf("the file is not a readable archive (%w); copy it again, or save the arrays with numpy.savez", err)
	}
	if len(z.File) > maxArrays {
		return nil, fmt.Errorf("the archive holds %d files, more than the %d allowed; save fewer arrays", len(z.File), maxArrays)
	}
	a := &npzArchive{files: make(map[string]*zip.File), bounds: bounds}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if a.files[name] != nil {
			return nil, fmt.Errorf("two arrays are called %s; rename one", quote(name))
		}
		a.files[name] = f
		a.names = append(a.names, name)
	}
	if len(a.names) == 0 {
		return nil, errors.New("the archive holds no array; save at least one with numpy.savez")
	}
	return a, nil
}

func (a *npzArchive) set(o NPZOptions) (*Set, error) {
	x, err := a.features(o.X)
	if err != nil {
		return nil, err
	}
	labels, err := a.labelOrIDArray("labels", o.Labels, labelNames(x))
	if err != nil {
		return nil, err
	}
	ids, err := a.labelOrIDArray("ids", o.IDs, []string{"ids", "id"})
	if err != nil {
		return nil, err
	}
	if labels == x || ids == x || labels != "" && labels == ids {
		return nil, fmt.Errorf("one array is named for two uses (X %s, labels %s, ids %s); name a different array for each use", quote(x), quote(labels), quote(ids))
	}
	return a.read(o.Name, x, labels, ids)
}

// features returns the name of the array that holds the features.
func (a *npzArchive) features(name string) (string, error) {
	switch {
	case name != "":
		return a.named("X", name)
	case len(a.names) == 1:
		return a.names[0], nil
	}
	for _, likely := range []string{"X", "x", "data", "images", "features", "X_train", "x_train"} {
		if a.files[likely] != nil {
			return likely, nil
		}
	}
	return "", fmt.Errorf("several arrays could hold the features; name one of %s", list(a.names))
}

func (a *npzArchive) named(use, name string) (string, error) {
	if a.files[name] == nil {
		return "", NoColumn(name, "%s: no array is called %s; the arrays are %s", use, quote(name), list(a.names))
	}
	return name, nil
}

// labelOrIDArray returns the name of the array of labels or ids, or "" for none.
func (a *npzArchive) labelOrIDArray(use, name string, likely []string) (string, error) {
	switch {
	case a.files[name] != nil:
		return name, nil
	case name == "none":
		return "", nil
	case name != "":
		return a.named(use, name)
	}
	at := slices.IndexFunc(likely, func(n string) bool { return a.files[n] != nil })
	if at < 0 {
		return "", nil
	}
	return likely[at], nil
}

func labelNames(x string) []string {
	names := []string{"y", "Y", "labels", "label", "target", "targets"}
	if x[:min(len(x), 1)] == "x" || x[:min(len(x), 1)] == "X" {
		names = append([]string{"y" + x[1:], "Y" + x[1:]}, names...)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == x })
}

func (a *npzArchive) read(name, x, labels, ids string) (*Set, error) {
	s := &Set{Name: name}
	err := a.open(x, func(r io.Reader) (err error) {
		s.X, err = readNPYTable(r, a.bounds)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.Labels, err = a.column(labels, s.X.Rows()); err != nil {
		return nil, err
	}
	if s.IDs, err = a.column(ids, s.X.Rows()); err != nil {
		return nil, err
	}
	return s, s.checkIDs()
}

// column reads one string for each row from the named array. The name "" gives nil.
func (a *npzArchive) column(name string, rows int) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	var column []string
	err := a.open(name, func(r io.Reader) (err error) {
		column, err = readNPYLabels(r, rows, a.bounds)
		return err
	})
	return column, err
}

// readNPYLabels reads an array of one string or number for each of the rows, of shape (rows,) or
// (rows, 1).
func readNPYLabels(r io.Reader, rows int, bounds limits) ([]string, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, err
	}
	s, err := shapeOf(h.dims, bounds)
	if err != nil {
		return nil, err
	}
	if s.cols != 1 {
		return nil, fmt.Errorf("the array has %d columns; give one number or text for each row, such as the argmax of one-hot codes", s.cols)
	}
	if s.rows != rows {
		return nil, fmt.Errorf("the array has %d entries, but the table has %d rows; give one entry for each row", s.rows, rows)
	}
	l := labelCells{cell: h.cell, read: h.cell.label(), size: h.cell.width()}
	return l.all(r, s.rows)
}

func (a *npzArchive) open(name string, read func(io.Reader) error) error {
	r, err := a.files[name].Open()
	if err != nil {
		return fmt.Errorf("array %s cannot be opened (%w); save it with numpy.savez", quote(name), err)
	}
	err = read(r)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		return fmt.Errorf("array %s: %w", quote(name), err)
	}
	return nil
}
