package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
)

// maxImageBytes bounds the file of one image.
const maxImageBytes = 1 << 28

// imageFile is the memory in which files are decoded one after the other.
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
	return fmt.Errorf("the image does not decode (%w); replace or remove the file", err)
}

func (a *album) checkSize(size image.Point) error {
	switch {
	case size.X < 1 || size.Y < 1:
		return errors.New("the image has no pixels; replace or remove the file")
	case size.X > a.bounds.pixels/size.Y:
		return fmt.Errorf("the image has %d x %d pixels, more than the %d allowed; make it smaller", size.X, size.Y, a.bounds.pixels)
	case a.o.Width == 0 && a.size != (image.Point{}) && size != a.size:
		return fmt.Errorf("the image has %d x %d pixels, the first one (%s) %d x %d; make them all one size, or ask for a width and a height",
			size.X, size.Y, a.paths[0], a.size.X, a.size.Y)
	}
	return nil
}

// rgbaOf returns img with lines that follow each other without gaps.
func rgbaOf(img image.Image) *image.RGBA {
	if m, ok := img.(*image.RGBA); ok && m.Stride == 4*m.Rect.Dx() {
		return m
	}
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
	return out
}
