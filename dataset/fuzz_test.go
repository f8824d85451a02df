package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"image"
	"image/color"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// fuzzLimits keep the fuzzer's memory small; the line limit is above readAhead,
// the granularity of the CSV reader's bound.
func fuzzLimits() limits {
	return limits{line: 1 << 17, columns: 1 << 10, cells: 1 << 16, pixels: 1 << 12, page: 1 << 16}
}

func FuzzReadCSV(f *testing.F) {
	for _, in := range []string{
		"1,2,0\n3,4,1\n", "a,b,label\n1,2,x\n", "id,y,x\n1,2,3\n2,2,3\n", "569,30,malignant,benign\n1,2\n",
		"2,2,no,yes\n1,2,0\n3,4,1\n", "\ufeff\"a\"\"\",b\r\n1e9,\"-.5\"", "1,NaN\n", "a;b\n", ",,\n", "\"1\n", "\x1f\x8b", "\xff\xfe", "1,0x1p-2\n",
	} {
		f.Add([]byte(in), "", "", byte(0), byte(0))
		f.Add([]byte(gzipped(f, in)), "0", "last", byte(1), byte(2))
	}
	f.Fuzz(func(t *testing.T, in []byte, label, id string, comma, header byte) {
		o := CSVOptions{Name: "f", Label: label, ID: id, Comma: []rune{0, ',', ';', '\t', ' '}[comma%5], Header: Header(header % 3)}
		b, err := open("f", bytes.NewReader(in))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		set, err := readCSV(b, o, fuzzLimits())
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRead(t, set)
		checkCSVRoundTrip(t, set)
	})
}

func FuzzReadLIBSVM(f *testing.F) {
	for _, in := range []string{
		"-1 1:0.5 3:1 \n+1 2:-2e-1 \n", "# c\r\n1.0\t1:7 # t\n", "1 0:1", "1 2:1 1:1", "1 qid:1 1:1", "1,2 3:4", "1 1:", "nan 1:1", "1 1:0", "\x1f\x8b",
	} {
		f.Add([]byte(in), 0)
		f.Add([]byte(gzipped(f, in)), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, columns int) {
		b, err := open("f", bytes.NewReader(in))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		set, err := readLIBSVM(b, LIBSVMOptions{Name: "f", Columns: columns}, fuzzLimits())
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRead(t, set)
		var out bytes.Buffer
		if err := WriteLIBSVM(&out, set); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLIBSVM(&out, LIBSVMOptions{Columns: set.X.Cols()})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plainOf(set), plainOf(again)); diff != "" {
			t.Fatalf("after a round trip (-first +second):\n%s", diff)
		}
	})
}

// checkRefusal wants one line that names the text and says what to do.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Name != "f" {
		t.Fatalf("error %v is no *SyntaxError with a name", err)
	}
	message := err.Error()
	if strings.ContainsAny(message, "\n\r\x00") || !strings.HasPrefix(message, "f:") || !strings.Contains(message, "; ") {
		t.Fatalf("message %q", message)
	}
}

func checkRead(t *testing.T, set *Set) {
	t.Helper()
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	if c, ok := set.X.(*CSR); ok {
		if _, err := NewCSR(c.cols, c.start, c.index, c.value); err != nil {
			t.Fatal(err)
		}
	}
}

// checkCSVRoundTrip reads back what it writes, except where the header that it
// writes would be ambiguous.
func checkCSVRoundTrip(t *testing.T, set *Set) {
	t.Helper()
	for _, name := range set.Columns {
		if likeLabel(name) || likeID(name) {
			return
		}
	}
	o := CSVOptions{Header: WithHeader}
	if set.Labels == nil {
		o.Label = "none"
	}
	var out bytes.Buffer
	if err := WriteCSV(&out, set); err != nil {
		t.Fatal(err)
	}
	again, err := readCSV(bufio.NewReader(&out), o, defaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if set.Columns == nil {
		again.Columns = nil // WriteCSV invents names
	}
	if diff := cmp.Diff(plainOf(set), plainOf(again)); diff != "" {
		t.Fatalf("after a round trip (-first +second):\n%s", diff)
	}
}

func FuzzReadNPY(f *testing.F) {
	for _, in := range []string{
		npy("<f4", "(1, 2)", "abcdefgh"), npy(">i8", "(1,)", "abcdefgh"), npy("|b1", "(2, 2, 2)", "abcdefgh"), npy("<f4", "(9999999, 9)", "ab"),
		npyWith("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 2), }", "abcdefgh"), "\x93NUMPY\x02\x00\xff\xff\xff\xff",
		npy("<U2", "(1,)", "abcdefgh"), string(testdata(f, "cube.npy")),
	} {
		f.Add([]byte(in), "last")
		f.Add([]byte(gzipped(f, in)), "0")
	}
	f.Fuzz(func(t *testing.T, in []byte, label string) {
		b, err := gunzip("f", bytes.NewReader(in))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		set, err := readNPY(b, NPYOptions{Label: label}, fuzzLimits())
		if err != nil {
			checkRefusal(t, text("f").wrap(0, err))
			return
		}
		checkRead(t, set)
	})
}

func FuzzReadNPZ(f *testing.F) {
	f.Add([]byte(npz(f, "X.npy", npy("<f4", "(1, 2)", "abcdefgh"), "y.npy", npy("<U1", "(1,)", "a\x00\x00\x00"))), "", "", "")
	f.Add([]byte(npzStored(f, npy("|u1", "(2,)", "ab"))), "X", "none", "none")
	f.Add([]byte(npz(f, "a.npy", npy("|S2", "(1,)", "ab"), "b.npy", npy("|b1", "(1,)", "a"))), "b", "a", "none")
	f.Fuzz(func(t *testing.T, in []byte, x, labels, ids string) {
		set, err := readNPZ(bytes.NewReader(in), int64(len(in)), NPZOptions{Name: "f", X: x, Labels: labels, IDs: ids}, fuzzLimits())
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRead(t, set)
	})
}

func FuzzReadIDX(f *testing.F) {
	f.Add([]byte(idxImages), []byte(idxLabels))
	f.Add([]byte(gzipped(f, idxImages)), []byte(gzipped(f, idxLabels)))
	f.Add([]byte("\x00\x00\x0d\x01\x00\x00\x00\x01\x3f\xc0\x00\x00"), []byte("\x00\x00\x0e\x01\x00\x00\x00\x01\x7f\xf0\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		set, err := readIDX(bytes.NewReader(images), bytes.NewReader(labels), IDXOptions{Name: "f", Labels: "f"}, fuzzLimits())
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRead(t, set)
	})
}

func FuzzReadImages(f *testing.F) {
	f.Add([]byte(pngOf(f, greyImage(2, 1, 2, 3, 4))), []byte(jpegOf(f, greyImage(3, 1, 2, 3, 4, 5, 6))), uint8(2), true)
	f.Add([]byte(pngOf(f, image.NewPaletted(image.Rect(0, 0, 3, 3), color.Palette{color.Black, color.White}))), []byte(pngOf(f, image.NewGray16(image.Rect(0, 0, 3, 3)))), uint8(0), false)
	f.Add([]byte(jpegOf(f, image.NewRGBA(image.Rect(0, 0, 9, 3)))), []byte(jpegOf(f, image.NewCMYK(image.Rect(0, 0, 9, 3)))), uint8(0), true)
	f.Add([]byte(hugePNG(f, 1<<20, 1<<20)), []byte("\xff\xd8"), uint8(1), false)
	f.Fuzz(func(t *testing.T, first, second []byte, size uint8, rgb bool) {
		folder := fstest.MapFS{"a/b.png": {Data: first}, "b/c.jpg": {Data: second}}
		o := ImageOptions{Name: "f", Width: int(size % 16), Height: int(size % 16), RGB: rgb}
		set, err := readImages(folder, o, fuzzLimits())
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.HasPrefix(syntax.Name, "f") || !strings.Contains(err.Error(), "; ") {
				t.Fatalf("error %v", err)
			}
			return
		}
		checkRead(t, set)
		for i := range set.X.Rows() {
			for _, v := range set.X.Row(i, nil) {
				if v < 0 || v > 255 {
					t.Fatalf("row %d holds %v", i, v)
				}
			}
		}
	})
}
