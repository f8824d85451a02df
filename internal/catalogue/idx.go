package catalogue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

// idxName matches the names of IDX files. The labels are in a second file, whose name follows
// MNIST's: train-labels-idx1-ubyte belongs to train-images-idx3-ubyte.
var idxName = regexp.MustCompile(`(?i)([^.]-|\.)idx[0-9]?(-u?byte)?(\.gz)?$`)

const (
	idxImages = "images"
	idxLabels = "labels"
)

func isIDX(path string) bool { return idxName.MatchString(filepath.Base(path)) }

func loadIDX(path string, c Columns) (set *dataset.Set, err error) {
	if strings.Contains(filepath.Base(path), idxLabels) {
		return nil, &Error{path, "holds labels; name the file of the images instead, and Mercer finds the labels next to it", nil}
	}
	withLabels := c.Label != "none"
	if !withLabels {
		c.Label = ""
	}
	if err := checkUnnamed(path, c); err != nil {
		return nil, err
	}
	images, err := regular.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { err = errors.Join(err, images.Close()) }()
	if !withLabels {
		return dataset.ReadIDX(images, nil, dataset.IDXOptions{Name: filepath.ToSlash(path)})
	}
	labels, err := openLabels(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, labels.Close()) }()
	return dataset.ReadIDX(images, labels, dataset.IDXOptions{Name: filepath.ToSlash(path), Labels: filepath.ToSlash(labels.Name())})
}

var idxAxes = regexp.MustCompile(`(?i)idx[0-9]`)

// openLabels opens the file of labels that belongs to a file of images. Each of the two files can
// be compressed.
func openLabels(images string) (*os.File, error) {
	folder, base := filepath.Split(images)
	name := idxAxes.ReplaceAllString(strings.Replace(base, idxImages, idxLabels, 1), "idx1")
	if name == base {
		return nil, &Error{images, `has no "images" in its name to find its labels by; rename it as MNIST's files, or set label to "none"`, nil}
	}
	plain := strings.TrimSuffix(name, ".gz")
	for _, candidate := range []string{name, plain, plain + ".gz"} {
		f, err := regular.Open(filepath.Join(folder, candidate))
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, unreadable(filepath.Join(folder, candidate), err)
		}
	}
	return nil, &Error{images, fmt.Sprintf("has no file of labels next to it; put %s there, or set label to \"none\"", name), fs.ErrNotExist}
}
