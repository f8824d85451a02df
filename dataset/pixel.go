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

// resized returns img itself where it has the size already.
func resized(img image.Image, size image.Point) image.Image {
	if img.Bounds().Size() == size {
		return img
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.BiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// greyOf returns the luma of img: without a copy of grey images, and of JPEG's
// colour images, which store it.
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
		// BT.601 in 16 bits, as image/color rounds it; the weights sum to 2^16.
		grey.Pix[at] = uint8((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
	return grey
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

func writeRGB(dst []float32, img image.Image) {
	m := rgbaOf(img)
	for at := 0; at < len(dst); at += 3 {
		p := m.Pix[at/3*4:]
		dst[at], dst[at+1], dst[at+2] = float32(p[0]), float32(p[1]), float32(p[2])
	}
}

// writeGrey writes an image of greyOf, or what resizing made of one.
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
