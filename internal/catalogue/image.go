package catalogue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// loadImages reads a folder of images. The argument part is the text after # in the name. It sets
// the size and the colours of the images.
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
			return fmt.Errorf("is a folder of images, and %q after its name is not a valid part; write #WIDTHxHEIGHT, #rgb or #WIDTHxHEIGHT,rgb", part)
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
