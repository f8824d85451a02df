package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func pngOf(t testing.TB, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jpegOf(t testing.TB, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// greyImage is w pixels wide.
func greyImage(w int, pix ...uint8) *image.Gray {
	return &image.Gray{Pix: pix, Stride: w, Rect: image.Rect(0, 0, w, len(pix)/w)}
}

func colourImage(w int, pix ...color.NRGBA) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, len(pix)/w))
	for i, c := range pix {
		m.SetNRGBA(i%w, i/w, c)
	}
	return m
}

func TestReadImages(t *testing.T) {
	red, green := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}
	a, b := pngOf(t, greyImage(2, 1, 2, 3, 4)), pngOf(t, greyImage(2, 5, 6, 7, 8))
	colour := pngOf(t, colourImage(2, red, green, color.NRGBA{9, 8, 7, 255}, color.NRGBA{255, 255, 255, 0}))
	deep := image.NewGray16(image.Rect(0, 0, 2, 1))
	deep.SetGray16(0, 0, color.Gray16{Y: 65535})
	deep.SetGray16(1, 0, color.Gray16{Y: 257*3 + 1})
	tests := []struct {
		name string
		in   fstest.MapFS
		o    ImageOptions
		want plain
	}{
		{"order by path, other files passed over", fstest.MapFS{
			"dog/1.PNG": file(b), "cat/2.png": file(a), "cat/10.png": file(b), "cat/.hidden.png": file("x"), ".git/x/1.png": file("x"), "README": file("x"), "cat/notes.txt": file("x"),
		}, ImageOptions{}, plain{X: [][]float64{{5, 6, 7, 8}, {1, 2, 3, 4}, {5, 6, 7, 8}}, Labels: []string{"cat", "cat", "dog"}}},
		{"classes in two parts, ids", fstest.MapFS{"test/01/a.png": file(a), "train/1/a.png": file(b), "train/2/a.png": file(a)}, ImageOptions{ID: "path"},
			plain{X: [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}, {1, 2, 3, 4}}, Labels: []string{"1", "1", "2"}, IDs: []string{"test/01/a.png", "train/1/a.png", "train/2/a.png"}}},
		{"no classes", fstest.MapFS{"a.png": file(a), "more/b.png": file(b)}, ImageOptions{Label: "none"}, plain{X: [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}}}},
		{"colour as luma", fstest.MapFS{"c/a.png": file(colour)}, ImageOptions{}, plain{X: [][]float64{{76, 150, 8, 0}}, Labels: []string{"c"}}},
		{"colour", fstest.MapFS{"c/a.png": file(colour)}, ImageOptions{RGB: true}, plain{X: [][]float64{{255, 0, 0, 0, 255, 0, 9, 8, 7, 0, 0, 0}}, Labels: []string{"c"}}},
		{"grey as colour", fstest.MapFS{"c/a.png": file(a)}, ImageOptions{RGB: true}, plain{X: [][]float64{{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}}, Labels: []string{"c"}}},
		{"16 bits", fstest.MapFS{"c/a.png": file(pngOf(t, deep))}, ImageOptions{}, plain{X: [][]float64{{255, float64(float32(257*3+1) / 257)}}, Labels: []string{"c"}}},
		{"resized to the mean", fstest.MapFS{"c/a.png": file(pngOf(t, greyImage(2, 1, 2, 3, 6))), "c/b.png": file(pngOf(t, greyImage(1, 9)))}, ImageOptions{Width: 1, Height: 1}, plain{X: [][]float64{{3}, {9}}, Labels: []string{"c", "c"}}},
		{"enlarged", fstest.MapFS{"c/b.png": file(pngOf(t, greyImage(1, 9)))}, ImageOptions{Width: 2, Height: 1, RGB: true}, plain{X: [][]float64{{9, 9, 9, 9, 9, 9}}, Labels: []string{"c"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ReadImages(tt.in, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plainOf(s)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if err := s.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReadJPEG compares grey and colour JPEG with what was encoded, within what
// the format loses.
func TestReadJPEG(t *testing.T) {
	grey, colour := image.NewGray(image.Rect(0, 0, 19, 11)), image.NewNRGBA(image.Rect(0, 0, 19, 11))
	for i := range grey.Pix {
		x, y := i%19, i/19
		grey.Pix[i] = uint8(10*x + 5*y)
		colour.SetNRGBA(x, y, color.NRGBA{uint8(10 * x), uint8(200 - 9*x), uint8(20 * y), 255})
	}
	s, err := ReadImages(fstest.MapFS{"c/a.jpg": file(jpegOf(t, grey)), "c/b.jpeg": file(jpegOf(t, colour))}, ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadImages(fstest.MapFS{"c/b.jpeg": file(jpegOf(t, colour))}, ImageOptions{RGB: true})
	if err != nil {
		t.Fatal(err)
	}
	row, second, third := s.X.Row(0, nil), s.X.Row(1, nil), c.X.Row(0, nil)
	for i, v := range grey.Pix {
		luma := color.GrayModel.Convert(colour.At(i%19, i/19)).(color.Gray).Y
		if math.Abs(row[i]-float64(v)) > 4 || math.Abs(second[i]-float64(luma)) > 4 {
			t.Fatalf("pixel %d: %v and %v, want about %d and %d", i, row[i], second[i], v, luma)
		}
		for k := range 3 { // JPEG halves the resolution of colours
			if want := colour.Pix[4*i+k]; math.Abs(third[3*i+k]-float64(want)) > 30 {
				t.Fatalf("colour %d of pixel %d: %v, want about %d", k, i, third[3*i+k], want)
			}
		}
	}
}

// TestReadImagesOnAnyCores has more images than a wave, so that waves, blocks and
// rows must not be mixed up.
func TestReadImagesOnAnyCores(t *testing.T) {
	in := fstest.MapFS{}
	for i := range wave + 2*grain + 1 {
		in[fmt.Sprintf("c/%04d.png", i)] = file(pngOf(t, greyImage(2, uint8(i), uint8(i>>8))))
	}
	s, err := ReadImages(in, ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range in {
		var n int
		if _, err := fmt.Sscanf(i, "c/%d.png", &n); err != nil {
			t.Fatal(err)
		}
		if row := s.X.Row(n, nil); row[0]+256*row[1] != float64(n) {
			t.Errorf("row %d holds %v", n, row)
		}
	}
	in["c/0100.png"], in["c/0007.png"] = file("x"), file("x")
	_, err = ReadImages(in, ImageOptions{Name: "f"})
	wantSyntaxError(t, err, "f/c/0007.png: the file is neither JPEG nor PNG; replace or remove it")
}

// hugePNG has a header of w x h pixels and nothing else.
func hugePNG(t testing.TB, w, h uint32) string {
	t.Helper()
	b := []byte(pngOf(t, greyImage(1, 0)))
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29])) // of IHDR
	return string(b)
}

func TestReadImagesRefuses(t *testing.T) {
	small := pngOf(t, greyImage(2, 1, 2, 3, 4))
	var g bytes.Buffer
	if err := gif.Encode(&g, greyImage(1, 0), nil); err != nil {
		t.Fatal(err)
	}
	tooDeep := strings.Repeat("a/", maxImageFolder) + "b/c.png"
	tests := []struct {
		name string
		in   fstest.MapFS
		o    ImageOptions
		want string
	}{
		{"empty", fstest.MapFS{}, ImageOptions{}, "f: there are no images; give a sub-folder of JPEG or PNG files for each class"},
		{"no images", fstest.MapFS{"a/b.txt": file("x")}, ImageOptions{}, "f: there are no images; give a sub-folder of JPEG or PNG files for each class"},
		{"no class", fstest.MapFS{"a.png": file(small)}, ImageOptions{}, "f/a.png: the image is not in a class folder; put it in a sub-folder named after its class, or set label to \"none\""},
		{"other kind", fstest.MapFS{"a/b.TIF": file("x")}, ImageOptions{}, "f/a/b.TIF: images of this kind cannot be read; convert the file to PNG or JPEG, or remove it"},
		{"GIF called PNG", fstest.MapFS{"a/b.png": file(g.String())}, ImageOptions{}, "f/a/b.png: the file is neither JPEG nor PNG; replace or remove it"},
		{"empty file", fstest.MapFS{"a/b.jpg": file("")}, ImageOptions{}, "f/a/b.jpg: the file is neither JPEG nor PNG; replace or remove it"},
		{"cut header", fstest.MapFS{"a/b.png": file(small[:20])}, ImageOptions{}, "f/a/b.png: the image cannot be decoded (unexpected EOF); replace or remove the file"},
		{"cut pixels", fstest.MapFS{"a/a.png": file(small), "a/b.png": file(small[:45])}, ImageOptions{}, "f/a/b.png: the image cannot be decoded (png: invalid format: not enough pixel data); replace or remove the file"},
		{"broken JPEG", fstest.MapFS{"a/b.jpg": file("\xff\xd8\xff\xd9")}, ImageOptions{}, "f/a/b.jpg: the image cannot be decoded (invalid JPEG format: missing SOS marker); replace or remove the file"},
		{"checksum", fstest.MapFS{"a/b.png": file(small[:29] + "abcd" + small[33:])}, ImageOptions{}, "f/a/b.png: the image cannot be decoded (png: invalid format: invalid checksum); replace or remove the file"},
		{"other size", fstest.MapFS{"a/b.png": file(small), "b/c.png": file(pngOf(t, greyImage(1, 1, 2)))}, ImageOptions{}, "f/b/c.png: the image has 1 x 2 pixels, but the first image (a/b.png) has 2 x 2; make all images one size, or set width and height"},
		{"huge", fstest.MapFS{"a/b.png": file(hugePNG(t, 1<<16, 1<<16))}, ImageOptions{Width: 1, Height: 1}, "f/a/b.png: the image has 65536 x 65536 pixels, more than the 33554432 allowed; make it smaller"},
		{"claims pixels", fstest.MapFS{"a/b.png": file(hugePNG(t, 1<<12, 1<<12))}, ImageOptions{}, "f/a/b.png: the image cannot be decoded (png: invalid format: not enough pixel data); replace or remove the file"},
		{"width only", fstest.MapFS{"a/b.png": file(small)}, ImageOptions{Width: 3}, "f: the size is set to 3 x 0 pixels; give a width and a height of at least 1, or neither"},
		{"too wide", fstest.MapFS{"a/b.png": file(small)}, ImageOptions{Width: 5000, Height: 5000}, "f: the table has more than 16777216 columns; split it"},
		{"label", fstest.MapFS{"a/b.png": file(small)}, ImageOptions{Label: "y"}, `f: label: no column is called "y"; the labels of images are the names of their folders, so leave label out or set it to "none"`},
		{"id", fstest.MapFS{"a/b.png": file(small)}, ImageOptions{ID: "y"}, `f: id: no column is called "y"; set id to "path" or "none"`},
		{"class called NaN", fstest.MapFS{"nan/b.png": file(small)}, ImageOptions{}, "f/nan/b.png: the folder's name is not a finite number; rename the folder"},
		{"too deep", fstest.MapFS{tooDeep: file(small)}, ImageOptions{}, "f/" + strings.Repeat("a/", maxImageFolder) + "b: the folder is more than 8 levels deep; name a folder nearer to the images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Name = "f"
			_, err := ReadImages(tt.in, tt.o)
			wantSyntaxError(t, err, tt.want)
		})
	}
}

// TestReadMRI reads the real slices, and reports speed and memory. Each row has the class of its image's
// folder; rows of all classes have the image's pixels.
func TestReadMRI(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s, perSecond := readMRI(t)
	if s.X.Rows() != 6400 || s.X.Cols() != 176*208 {
		t.Fatalf("%d x %d", s.X.Rows(), s.X.Cols())
	}
	want := []Class{{"MildDemented", 896}, {"ModerateDemented", 64}, {"NonDemented", 3200}, {"VeryMildDemented", 2240}}
	if diff := cmp.Diff(want, countClasses(s.Labels)); diff != "" {
		t.Error(diff)
	}
	for i, id := range s.IDs {
		if want := filepath.Base(filepath.Dir(id)); s.Labels[i] != want {
			t.Fatalf("row %d, %s, has the class %s", i, id, s.Labels[i])
		}
		if i%100 == 0 {
			comparePixels(t, id, s.X.Row(i, nil))
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%.0f rows/s, %d MB in use, %d MB from the system", perSecond, m.HeapInuse>>20, m.Sys>>20)
}

// comparePixels compares a row with the grey pixels of a slice, line by line.
func comparePixels(t *testing.T, file string, row []float64) {
	t.Helper()
	f, err := mriFolder().Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	img, err := jpeg.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range row {
		if want := color.GrayModel.Convert(img.At(i%176, i/176)).(color.Gray).Y; math.Abs(v-float64(want)) > 1 {
			t.Fatalf("%s: pixel %d is %v, want %d", file, i, v, want)
		}
	}
}

func BenchmarkReadMRI(b *testing.B) {
	for b.Loop() {
		_, perSecond := readMRI(b)
		b.ReportMetric(perSecond, "rows/s")
	}
}

func mriFolder() fs.FS {
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	return os.DirFS(filepath.Join(dir, "alzheimer-mri"))
}

func readMRI(t testing.TB) (*Set, float64) {
	t.Helper()
	folder := mriFolder()
	if _, err := fs.Stat(folder, "."); err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real images (set MERCER_DATA): %v", err)
	}
	start := time.Now()
	s, err := ReadImages(folder, ImageOptions{Name: "alzheimer-mri", ID: "path"})
	if err != nil {
		t.Fatal(err)
	}
	return s, float64(s.X.Rows()) / time.Since(start).Seconds()
}
