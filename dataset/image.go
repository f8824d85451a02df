package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"github.com/mercer-fl/mercer/linalg"
)

// ImageOptions holds the settings for reading a folder of images.
type ImageOptions struct {
	Name string // name of the folder, for messages
	// Label is "none" for images without classes. If it is empty, the class of an image is the name
	// of its folder.
	Label string
	// ID is "path" to use the paths of the files as ids. Empty or "none" gives no ids, since file
	// names can name people.
	ID string
	// Width and Height are the size in pixels to which every image is resized, whatever its
	// proportions. If both are 0, images are not resized and must all have one size.
	Width, Height int
	RGB           bool // whether a pixel becomes three columns (red, green, blue) or one
}

// ReadImages reads a set from a folder that has a sub-folder of JPEG and PNG files (.jpg, .jpeg,
// .png) for each class. Classes can be deeper, as in train/cat and test/cat: the class of an image
// is the name of its folder. Rows are in the order of the paths. Hidden files and files that are
// not images are skipped. ReadImages refuses an image of another kind, an image that cannot be decoded, and,
// if it does not resize, an image of another size than the first. Errors are *SyntaxError with the path of
// the image or the folder.
//
// A row holds the image's pixels line by line, as numbers from 0 to 255. A pixel has one column
// with its luma (BT.601), or with RGB three columns: red, green and blue. Grey images of 16 bits
// keep fractions, unless they are resized or read as RGB; other values are integers. Transparent parts are
// blended with black;
// the orientation in EXIF data is ignored. Resizing is bilinear and averages over the source pixels
// of each pixel.
//
// Images are decoded on all cores. Memory: the table takes 4 bytes a cell, as a Dense32; decoding
// takes, on each core, the file and up to 20 bytes a pixel of the largest image, of which
// [MaxPixels] are allowed.
func ReadImages(folder fs.FS, o ImageOptions) (*Set, error) {
	return readImages(folder, o, defaultLimits())
}

func readImages(folder fs.FS, o ImageOptions, bounds limits) (*Set, error) {
	if err := o.check(); err != nil {
		return nil, text(o.Name).wrap(0, err)
	}
	paths, err := imagePaths(folder, o)
	if err != nil {
		return nil, err
	}
	a := &album{folder: folder, paths: paths, o: o, bounds: bounds}
	x, err := a.table()
	if err != nil {
		return nil, err
	}
	s := &Set{Name: o.Name, X: x}
	if o.ID == "path" {
		s.IDs = paths
	}
	if o.Label == "none" {
		return s, nil
	}
	s.Labels, err = a.labels()
	return s, err
}

func (o ImageOptions) check() error {
	switch {
	case o.Label != "" && o.Label != "none":
		return NoColumn(o.Label, "label: no column is called %s; the labels of images are the names of their folders, so leave label out or set it to \"none\"", quote(o.Label))
	case o.ID != "" && o.ID != "none" && o.ID != "path":
		return NoColumn(o.ID, "id: no column is called %s; set id to \"path\" or \"none\"", quote(o.ID))
	case o.Width < 0 || o.Height < 0 || (o.Width == 0) != (o.Height == 0):
		return fmt.Errorf("the size is set to %d x %d pixels; give a width and a height of at least 1, or neither", o.Width, o.Height)
	}
	return nil
}

// These bounds limit the walk through a folder.
const (
	maxImages      = 1 << 20
	maxImageFolder = 8 // largest number of nested sub-folders
)

var (
	errNoImages  = errors.New("there are no images; give a sub-folder of JPEG or PNG files for each class")
	errManyFiles = fmt.Errorf("the folder holds more than %d files and sub-folders; split it", maxImages)
)

// imagePaths returns the sorted paths of the images in a folder.
func imagePaths(folder fs.FS, o ImageOptions) ([]string, error) {
	var paths []string
	files := 0
	err := fs.WalkDir(folder, ".", func(file string, d fs.DirEntry, err error) error {
		t := text(path.Join(o.Name, file))
		if err != nil {
			return t.unreadable(0, err)
		}
		if files++; files > maxImages {
			return text(o.Name).wrap(0, errManyFiles)
		}
		hidden := file != "." && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() {
			return enter(t, file, hidden)
		}
		if hidden {
			return nil
		}
		take, err := isImage(file, o)
		if err != nil {
			return t.wrap(0, err)
		}
		if take {
			paths = append(paths, file)
		}
		return nil
	})
	if err == nil && len(paths) == 0 {
		err = text(o.Name).wrap(0, errNoImages)
	}
	slices.Sort(paths)
	return paths, err
}

func enter(t text, folder string, hidden bool) error {
	if hidden {
		return fs.SkipDir
	}
	if strings.Count(folder, "/") >= maxImageFolder {
		return t.errorf(0, "the folder is more than %d levels deep; name a folder nearer to the images", maxImageFolder)
	}
	return nil
}

// isImage reports by the name whether a file is an image of the set. It refuses a file that a person
// would take for an image of the set but that this package cannot read, and an image outside a class folder
// if labels are read.
func isImage(file string, o ImageOptions) (bool, error) {
	switch strings.ToLower(path.Ext(file)) {
	case ".jpg", ".jpeg", ".png":
	case ".gif", ".bmp", ".tif", ".tiff", ".webp", ".heic", ".avif", ".jp2", ".jxl", ".pgm", ".ppm", ".dcm", ".nii":
		return false, errors.New("images of this kind cannot be read; convert the file to PNG or JPEG, or remove it")
	default:
		return false, nil
	}
	if o.Label != "none" && path.Dir(file) == "." {
		return false, errors.New("the image is not in a class folder; put it in a sub-folder named after its class, or set label to \"none\"")
	}
	return true, nil
}

// album reads the images of a list of paths.
type album struct {
	folder fs.FS
	paths  []string
	o      ImageOptions
	bounds limits
	size   image.Point // size of every image in pixels
}

// These constants divide the images for parallel decoding. Errors are checked after each wave. The
// first error in the order of the paths is thus reported on any number of cores.
const (
	wave  = 256 // images that are decoded before errors are checked
	grain = 4   // images that a core decodes at a time
)

func (a *album) table() (*Dense32, error) {
	if err := a.settleSize(); err != nil {
		return nil, err
	}
	colours := 1
	if a.o.RGB {
		colours = 3
	}
	s, err := shapeOf([]int{len(a.paths), a.size.Y, a.size.X, colours}, a.bounds)
	if err != nil {
		return nil, text(a.o.Name).wrap(0, err)
	}
	m := linalg.New[float32](s.rows, s.cols)
	for lo := 0; lo < s.rows; lo += wave {
		if err := a.fill(m, lo, min(lo+wave, s.rows)); err != nil {
			return nil, err
		}
	}
	return NewDense32(m), nil
}

// settleSize sets the size of all images: the size in the options, or else the size of the first
// image. It decodes that image, so that no header alone makes the table large.
func (a *album) settleSize() error {
	a.size = image.Pt(a.o.Width, a.o.Height)
	if a.size != (image.Point{}) {
		return nil
	}
	var f imageFile
	first, err := f.decode(a, 0)
	if err == nil {
		a.size = first.Bounds().Size()
	}
	return err
}

// fill decodes images lo to hi-1 into rows of m.
func (a *album) fill(m linalg.Matrix[float32], lo, hi int) error {
	problems := make([]error, hi-lo)
	linalg.For(hi-lo, grain, func(from, to int) {
		var f imageFile
		for i := from; i < to; i++ {
			problems[i] = a.row(&f, lo+i, m.Row(lo+i))
		}
	})
	for _, err := range problems {
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *album) row(f *imageFile, i int, dst []float32) error {
	img, err := f.decode(a, i)
	if err != nil {
		return err
	}
	if a.o.RGB {
		writeRGB(dst, resized(img, a.size))
	} else {
		writeGrey(dst, resized(greyOf(img), a.size))
	}
	return nil
}

// greyOf returns the luma of img. Grey images, and JPEG images in YCbCr, which store their luma, are not
// copied.
func greyOf(img image.Image) image.Image {
	switch m := img.(type) {
	case *image.Gray, *image.Gray16:
		return img
	case *image.YCbCr:
		return &image.Gray{Pix: m.Y, Stride: m.YStride, Rect: m.Rect}
	}
	m := rgbaOf(img)
	grey := image.NewGray(image.Rectangle{Max: m.Rect.Size()})
	for at := range grey.Pix {
		p := m.Pix[4*at : 4*at+3]
		// The luma weights of BT.601 are rounded to 16 bits as in image/color. They sum to 2^16.
		grey.Pix[at] = uint8((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
	return grey
}

// resized returns img scaled to the given size, or img itself if it has that size.
func resized(img image.Image, size image.Point) image.Image {
	if img.Bounds().Size() == size {
		return img
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.BiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// writeGrey writes the grey values of an image that greyOf or resized returned.
func writeGrey(dst []float32, img image.Image) {
	width := img.Bounds().Dx()
	for y := 0; len(dst) > 0; y, dst = y+1, dst[width:] {
		switch m := img.(type) {
		case *image.Gray:
			for x, v := range m.Pix[y*m.Stride:][:width] {
				dst[x] = float32(v)
			}
		case *image.Gray16:
			for x := range width {
				p := m.Pix[y*m.Stride+2*x:]
				dst[x] = float32(uint32(p[0])<<8|uint32(p[1])) / 257
			}
		case *image.RGBA:
			for x := range width {
				dst[x] = float32(m.Pix[y*m.Stride+4*x])
			}
		}
	}
}

func writeRGB(dst []float32, img image.Image) {
	m := rgbaOf(img)
	for at := 0; at < len(dst); at += 3 {
		p := m.Pix[at/3*4:]
		dst[at], dst[at+1], dst[at+2] = float32(p[0]), float32(p[1]), float32(p[2])
	}
}

func (a *album) labels() ([]string, error) {
	var l labeller
	labels := make([]string, len(a.paths))
	for i, file := range a.paths {
		var err error
		if labels[i], err = l.canonical(path.Base(path.Dir(file))); err != nil {
			return nil, a.text(i).errorf(0, "the folder's name %w; rename the folder", err)
		}
	}
	return labels, nil
}

func (a *album) text(i int) text { return text(path.Join(a.o.Name, a.paths[i])) }

// maxImageBytes bounds the size of an image file.
const maxImageBytes = 1 << 28

// imageFile is a buffer for the content of a file; it is reused for one file after another.
type imageFile struct{ data bytes.Buffer }

// decode reads image i and checks its size before its pixels are decoded.
func (f *imageFile) decode(a *album, i int) (image.Image, error) {
	if err := f.read(a, i); err != nil {
		return nil, a.text(i).unreadable(0, err)
	}
	img, err := f.pixels(a)
	if err != nil {
		return nil, a.text(i).wrap(0, err)
	}
	return img, nil
}

func (f *imageFile) read(a *album, i int) error {
	r, err := a.folder.Open(a.paths[i])
	if err != nil {
		return err
	}
	f.data.Reset()
	_, err = f.data.ReadFrom(io.LimitReader(r, maxImageBytes+1))
	return errors.Join(err, r.Close())
}

func (f *imageFile) pixels(a *album) (image.Image, error) {
	b := f.data.Bytes()
	config, decode := jpeg.DecodeConfig, jpeg.Decode
	switch {
	case len(b) > maxImageBytes:
		return nil, fmt.Errorf("the file takes more than %d bytes; make the image smaller", maxImageBytes)
	case bytes.HasPrefix(b, []byte("\xff\xd8")):
	case bytes.HasPrefix(b, []byte("\x89PNG")):
		config, decode = png.DecodeConfig, png.Decode
	default:
		return nil, errors.New("the file is neither JPEG nor PNG; replace or remove it")
	}
	c, err := config(bytes.NewReader(b))
	if err != nil {
		return nil, broken(err)
	}
	if err := a.checkSize(image.Pt(c.Width, c.Height)); err != nil {
		return nil, err
	}
	img, err := decode(bytes.NewReader(b))
	if err != nil {
		return nil, broken(err)
	}
	return img, nil
}

func broken(err error) error {
	return fmt.Errorf("the image cannot be decoded (%w); replace or remove the file", err)
}

func (a *album) checkSize(size image.Point) error {
	switch {
	case size.X < 1 || size.Y < 1:
		return errors.New("the image has no pixels; replace or remove the file")
	case size.X > a.bounds.pixels/size.Y:
		return fmt.Errorf("the image has %d x %d pixels, more than the %d allowed; make it smaller", size.X, size.Y, a.bounds.pixels)
	case a.o.Width == 0 && a.size != (image.Point{}) && size != a.size:
		return fmt.Errorf("the image has %d x %d pixels, but the first image (%s) has %d x %d; make all images one size, or set width and height",
			size.X, size.Y, a.paths[0], a.size.X, a.size.Y)
	}
	return nil
}

// rgbaOf returns img as RGBA pixels without gaps between lines.
func rgbaOf(img image.Image) *image.RGBA {
	if m, ok := img.(*image.RGBA); ok && m.Stride == 4*m.Rect.Dx() {
		return m
	}
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
	return out
}
