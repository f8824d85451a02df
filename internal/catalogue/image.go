package catalogue

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// loadImages reads a folder of images; part gives their size and colours.
func loadImages(path, part string, c Columns) (*dataset.Set, error) {
	o := dataset.ImageOptions{Name: filepath.ToSlash(path), Label: c.Label, ID: c.ID}
	if c.Label == LabelColumn {
		o.Label = ""
	}
	if err := addPart(&o, part); err != nil {
		return nil, &Error{path, err.Error(), nil}
	}
	return dataset.ReadImages(os.DirFS(path), o)
}

var sizePart = regexp.MustCompile(`^([1-9][0-9]{0,6})x([1-9][0-9]{0,6})$`)

func addPart(o *dataset.ImageOptions, part string) error {
	if part == "" {
		return nil
	}
	for _, p := range strings.Split(part, ",") {
		size := sizePart.FindStringSubmatch(p)
		switch {
		case p == "rgb" && !o.RGB:
			o.RGB = true
		case size != nil && o.Width == 0:
			var errW, errH error
			o.Width, errW = strconv.Atoi(size[1])
			o.Height, errH = strconv.Atoi(size[2])
			if err := errors.Join(errW, errH); err != nil {
				return err
			}
		default:
			return fmt.Errorf("is a folder of images, which %q does not describe; write #WIDTHxHEIGHT, #rgb or #WIDTHxHEIGHT,rgb", part)
		}
	}
	return nil
}

func isPicture(name string) bool {
	return hasSuffix(name, ".jpg", ".jpeg", ".png") && !strings.HasPrefix(name, ".")
}

func hasSuffix(name string, suffixes ...string) bool {
	return slices.Contains(suffixes, strings.ToLower(filepath.Ext(name)))
}

// isClass looks at a few entries of a folder: in a class, more than half of them are images,
// while other folders may hold a plot. A folder that cannot be read is not a class; it could
// not be loaded either.
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

// countClass adds a class to the folder of images of that name. The folder that
// is listed itself is no entry of the list.
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

// holdsImages looks for a first image in a folder, at any depth.
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
