package catalogue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

const (
	idxPictures = "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01\x01\x02\x03\x04" // 2 of 2 x 1
	idxClasses  = "\x00\x00\x08\x01\x00\x00\x00\x02\x07\x00"
	npyPrefix   = "\x93NUMPY\x01\x00"
)

// npyBytes is an array of two rows and columns.
func npyBytes() string {
	header := "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}\n"
	return npyPrefix + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header + "\x01\x02\x03\x04"
}

func picture(t *testing.T, w, h int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Set(i%w, i/w, color.RGBA{uint8(i), 100, 200, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kinds is a data folder with files that are no text.
func kinds(t *testing.T) (Library, func(string) string) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	archive, err := os.ReadFile(filepath.Join("..", "..", "dataset", "testdata", "kinds.npz"))
	if err != nil {
		t.Fatal(err)
	}
	people, err := os.ReadFile(filepath.Join("..", "..", "dataset", "testdata", "people.snappy.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	small, other := picture(t, 4, 2), picture(t, 2, 2)
	for name, data := range map[string]string{
		"mnist/train-images-idx3-ubyte.gz": zipped(idxPictures), "mnist/train-labels-idx1-ubyte": idxClasses,
		"mnist/test.images.idx3-ubyte": idxPictures, "alone/x-images-idx3-ubyte": idxPictures, "alone/odd.idx": idxPictures,
		"cut/a-images-idx3-ubyte": idxPictures[:18], "cut/a-labels-idx1-ubyte": idxClasses,
		"arrays/a.npy": npyBytes(), "arrays/kinds.npz": string(archive), "arrays/text.npz": csvText,
		"arrays/a-idx.csv": csvText, "people/people.parquet": string(people),
		"pets/cat/1.png": small, "pets/cat/2.png": small, "pets/dog/1.png": small, "pets/README.md": "pets",
		"scans/train/ill/a.png": small, "scans/test/ill/a.png": small, "scans/test/well/a.png": small,
		"mixed/cat/1.png": small, "mixed/dog/1.png": other, "broken/cat/1.png": "no image", "plots/one/plot.png": small, "plots/one/a.csv": csvText,
		"flat/1.png": small,
	} {
		if err := os.MkdirAll(filepath.Dir(in(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return New(dir), in
}

func TestListKinds(t *testing.T) {
	l, _ := kinds(t)
	entries, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Name    string
		Classes int
	}
	var got []line
	for _, e := range entries[2:] { // after the bundled ones
		got = append(got, line{e.Name, e.Classes})
	}
	want := []line{
		{"alone/odd.idx", 0}, {"alone/x-images-idx3-ubyte", 0}, {"arrays/a-idx.csv", 0}, {"arrays/a.npy", 0}, {"arrays/kinds.npz", 0}, {"arrays/text.npz", 0},
		{"broken", 1}, {"cut/a-images-idx3-ubyte", 0}, {"mixed", 2}, {"mnist/test.images.idx3-ubyte", 0}, {"mnist/train-images-idx3-ubyte.gz", 0},
		{"people/people.parquet", 0}, {"pets", 2}, {"plots/one/a.csv", 0}, {"scans/test", 2}, {"scans/train", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestLoadKinds(t *testing.T) {
	l, in := kinds(t)
	for _, c := range []struct {
		ref        string
		columns    Columns
		rows, cols int
		labels     []string
	}{
		{"mnist/train-images-idx3-ubyte.gz", Columns{Label: LabelColumn}, 2, 2, []string{"7", "0"}},
		{"alone/x-images-idx3-ubyte", Columns{Label: "none"}, 2, 2, nil},
		{"arrays/a.npy", Columns{Label: "last"}, 2, 1, []string{"2", "4"}},
		{"arrays/a-idx.csv", Columns{}, 2, 2, []string{"yes", "no"}},
		{"arrays/kinds.npz#f4F", Columns{Label: "y_bytes", ID: "y_int"}, 2, 3, []string{"a b", "c"}},
		{in("arrays/kinds.npz") + "#boolC", Columns{Label: "none"}, 2, 3, nil},
		{"people", Columns{ID: "id"}, 3, 4, []string{"yes", "no", "yes"}},
		{"pets", Columns{Label: LabelColumn}, 3, 8, []string{"cat", "cat", "dog"}},
		{"pets#rgb", Columns{ID: "path"}, 3, 24, []string{"cat", "cat", "dog"}},
		{"mixed#2x1", Columns{}, 2, 2, []string{"cat", "dog"}},
		{in("mixed") + "#3x1,rgb", Columns{}, 2, 9, []string{"cat", "dog"}},
		{"scans", Columns{}, 3, 8, []string{"ill", "well", "ill"}},
		{"scans/test", Columns{}, 2, 8, []string{"ill", "well"}},
		{"flat", Columns{Label: "none"}, 1, 8, nil},
	} {
		set, err := l.Load(c.ref, c.columns)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		if set.X.Rows() != c.rows || set.X.Cols() != c.cols || (set.IDs != nil) != (c.columns.ID != "") {
			t.Errorf("%s: %d x %d, ids %q", c.ref, set.X.Rows(), set.X.Cols(), set.IDs)
		}
		if diff := cmp.Diff(c.labels, set.Labels); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s", c.ref, diff)
		}
	}
}

// The first number after the name is the width. The picture is 4 x 2; its red grows by 1 from pixel to
// pixel and by 4 from row to row.
func TestSizeOfPicturesIsWidthByHeight(t *testing.T) {
	l, _ := kinds(t)
	for ref, want := range map[string]float64{"flat#2x1,rgb": 2, "flat#1x2,rgb": 4} {
		set, err := l.Load(ref, Columns{Label: "none"})
		if err != nil {
			t.Fatal(err)
		}
		x := dataset.DenseOf(set.X).Matrix().Row(0)
		if len(x) != 6 || x[3]-x[0] != want || x[4] != x[1] || x[5] != x[2] {
			t.Errorf("%s: %v, want two pixels whose red differs by %v", ref, x, want)
		}
	}
}

func TestLoadKindsRefuses(t *testing.T) {
	l, in := kinds(t)
	for _, c := range []struct {
		ref     string
		columns Columns
		want    string
	}{
		{"mnist", Columns{}, in("mnist") + " is a folder with several tables; name one of test.images.idx3-ubyte, train-images-idx3-ubyte.gz"},
		{"mnist/train-labels-idx1-ubyte", Columns{}, in("mnist/train-labels-idx1-ubyte") + " holds labels; name the file of the images instead, and Mercer finds the labels next to it"},
		{"mnist/test.images.idx3-ubyte", Columns{}, in("mnist/test.images.idx3-ubyte") + " has no file of labels next to it; put test.labels.idx1-ubyte there, or set label to \"none\""},
		{"alone/odd.idx", Columns{}, in("alone/odd.idx") + ` has no "images" in its name to find its labels by; rename it as MNIST's files, or set label to "none"`},
		{"alone/odd.idx", Columns{Label: "y"}, in("alone/odd.idx") + ` has no column "y"; its labels are called "label"`},
		{"alone/odd.idx", Columns{Label: "none", ID: "id"}, in("alone/odd.idx") + ` has no column "id"; it has no row ids, so leave id out`},
		{"cut", Columns{}, in("cut/a-images-idx3-ubyte") + ": the data end after 2 of 4 numbers (unexpected EOF); copy the file again"},
		{"arrays/a.npy", Columns{Label: "y"}, in("arrays/a.npy") + `: label: no column is called "y", since the columns of an array have no names; give an index from 0, "last" or "none"`},
		{"arrays/a.npy", Columns{ID: "y"}, in("arrays/a.npy") + ` has no column "y"; it has no row ids, so leave id out`},
		{"arrays/a.npy#x", Columns{}, in("arrays/a.npy") + ` has no part "x", because only archives (.npz) and folders of images have parts; leave the part out`},
		{"arrays/text.npz", Columns{}, in("arrays/text.npz") + ": the file is not a readable archive (zip: not a valid zip file); copy it again, or save the arrays with numpy.savez"},
		{"arrays/kinds.npz#f4C", Columns{Label: "y_object"}, in("arrays/kinds.npz") + `: array "y_object": the array holds Python objects, which only Python can read; save it as numbers, or labels as dtype str`},
		{"mixed", Columns{}, in("mixed") + "/dog/1.png: the image has 2 x 2 pixels, but the first image (cat/1.png) has 4 x 2; make all images one size, or set width and height"},
		{"broken", Columns{}, in("broken") + "/cat/1.png: the file is neither JPEG nor PNG; replace or remove it"},
		{"flat", Columns{}, in("flat") + "/1.png: the image is not in a class folder; put it in a sub-folder named after its class, or set label to \"none\""},
		{"pets", Columns{Label: "animal"}, in("pets") + `: label: no column is called "animal"; the labels of images are the names of their folders, so leave label out or set it to "none"`},
		{"pets", Columns{ID: "name"}, in("pets") + `: id: no column is called "name"; set id to "path" or "none"`},
		{"pets#big", Columns{}, in("pets") + ` is a folder of images, and "big" after its name is not a valid part; write #WIDTHxHEIGHT, #rgb or #WIDTHxHEIGHT,rgb`},
		{"pets#2x2,3x3", Columns{}, in("pets") + ` is a folder of images, and "2x2,3x3" after its name is not a valid part; write #WIDTHxHEIGHT, #rgb or #WIDTHxHEIGHT,rgb`},
		{"pets#0x2", Columns{}, in("pets") + ` is a folder of images, and "0x2" after its name is not a valid part; write #WIDTHxHEIGHT, #rgb or #WIDTHxHEIGHT,rgb`},
		{"pets#9999999x9999999", Columns{}, in("pets") + `: the table has more than 16777216 columns; split it`},
	} {
		t.Run(c.ref, func(t *testing.T) {
			_, err := l.Load(c.ref, c.columns)
			if err == nil {
				t.Fatal("it was loaded")
			}
			if diff := cmp.Diff(filepath.ToSlash(c.want), err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			var missing *Error
			var syntax *dataset.SyntaxError
			if !errors.As(err, &missing) && !errors.As(err, &syntax) {
				t.Errorf("%T is neither an *Error nor a *SyntaxError", err)
			}
		})
	}
}
