package dataset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	idxImages = "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01\x01\x02\x03\xff" // 2 of 2 x 1
	idxLabels = "\x00\x00\x08\x01\x00\x00\x00\x02\x07\x00"
)

func TestReadIDX(t *testing.T) {
	want := plain{X: [][]float64{{1, 2}, {3, 255}}, Labels: []string{"7", "0"}}
	for name, pair := range map[string][2]string{
		"plain":      {idxImages, idxLabels},
		"compressed": {gzipped(t, idxImages), gzipped(t, idxLabels)},
	} {
		s, err := ReadIDX(strings.NewReader(pair[0]), strings.NewReader(pair[1]), IDXOptions{Name: name})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, plainOf(s)); diff != "" || s.Name != name {
			t.Errorf("%s is called %s (-want +got):\n%s", name, s.Name, diff)
		}
		if _, ok := s.X.(*Dense32); !ok {
			t.Errorf("%s: a %T", name, s.X)
		}
	}
	s, err := ReadIDX(strings.NewReader(idxImages), nil, IDXOptions{})
	if err != nil || s.Labels != nil {
		t.Errorf("without labels: %v, %v", s, err)
	}
}

func TestReadIDXKinds(t *testing.T) {
	tests := []struct {
		code, cells string
		want        [][]float64
	}{
		{"\x08", "\x80\x01", [][]float64{{128}, {1}}},
		{"\x09", "\x80\x01", [][]float64{{-128}, {1}}},
		{"\x0b", "\x80\x00\x01\x00", [][]float64{{-32768}, {256}}},
		{"\x0c", "\x80\x00\x00\x00\x00\x01\x00\x00", [][]float64{{-1 << 31}, {1 << 16}}},
		{"\x0d", "\x3f\x80\x00\x00\xbf\x00\x00\x00", [][]float64{{1}, {-0.5}}},
		{"\x0e", "\x3f\xf0\x00\x00\x00\x00\x00\x00\xbf\xe0\x00\x00\x00\x00\x00\x00", [][]float64{{1}, {-0.5}}},
	}
	for _, tt := range tests {
		in := "\x00\x00" + tt.code + "\x01\x00\x00\x00\x02" + tt.cells
		s, err := ReadIDX(strings.NewReader(in), nil, IDXOptions{})
		if err != nil {
			t.Errorf("code %x: %v", tt.code, err)
			continue
		}
		if diff := cmp.Diff(tt.want, cells(s.X)); diff != "" {
			t.Errorf("code %x (-want +got):\n%s", tt.code, diff)
		}
	}
}

func TestReadIDXRefuses(t *testing.T) {
	const notIDX = "the file does not start like an IDX file; give a file such as MNIST's train-images-idx3-ubyte"
	tests := []struct{ name, images, labels, want string }{
		{"empty", "", idxLabels, "x: " + notIDX},
		{"text", "1,2,3\n", idxLabels, "x: " + notIDX},
		{"unknown type", "\x00\x00\x0a\x01\x00\x00\x00\x01a", idxLabels, "x: " + notIDX},
		{"cut header", idxImages[:10], idxLabels, "x: reading fails in the header (unexpected EOF); copy the file again"},
		{"many axes", "\x00\x00\x08\xff", idxLabels, "x: the file has 255 axes, more than the 32 allowed; write it as rows and columns"},
		{"no axis", "\x00\x00\x08\x00", idxLabels, "x: the array is a single number; give an array with a row for each sample"},
		{"no rows", "\x00\x00\x08\x01\x00\x00\x00\x00", idxLabels, "x: there are no rows; give at least one"},
		{"too wide", "\x00\x00\x08\x02\x00\x00\x00\x01\xff\xff\xff\xff", idxLabels, "x: the table has more than 16777216 columns; split it"},
		{"too many cells", "\x00\x00\x08\x02\xff\xff\xff\xff\x00\x01\x00\x00", idxLabels, "x: the table has more than 2147483648 cells; split it"},
		{"cut", idxImages[:len(idxImages)-1], idxLabels, "x: the data end after 3 of 4 numbers (unexpected EOF); copy the file again"},
		{"claims 2 GiB", "\x00\x00\x08\x01\x7f\xff\xff\xffabc", idxLabels, "x: the data end after 3 of 2147483647 numbers (unexpected EOF); copy the file again"},
		{"too long", idxImages + "a", idxLabels, "x: the file has bytes after the last number; write it again"},
		{"NaN", "\x00\x00\x0d\x01\x00\x00\x00\x01\x7f\xc0\x00\x00", idxLabels, "x: row 1, column 1 (from 1) is NaN; fill the cell or drop the row"},
		{"cut labels", idxImages, idxLabels[:9], "y: the data end after 1 of 2 numbers (unexpected EOF); copy the file again"},
		{"images for labels", idxImages, idxImages, `y: the file holds 2 x 2 labels, but there are 2 rows in "x"; give one label for each row`},
		{"too few labels", idxImages, "\x00\x00\x08\x01\x00\x00\x00\x01a", `y: the file holds 1 x 1 labels, but there are 2 rows in "x"; give one label for each row`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadIDX(strings.NewReader(tt.images), strings.NewReader(tt.labels), IDXOptions{Name: "x", Labels: "y"})
			wantSyntaxError(t, err, tt.want)
		})
	}
}

func TestReadMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s, err := ReadIDX(shared(t, "mnist/t10k-images-idx3-ubyte.gz"), shared(t, "mnist/t10k-labels-idx1-ubyte.gz"), IDXOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sum := Summarize(s)
	if sum.Rows != 10000 || sum.Cols != 784 || sum.Min != 0 || sum.Max != 255 || sum.Step != 1 {
		t.Errorf("%+v", sum)
	}
	// The counts that are commonly reported for the test set.
	want := []Class{{"0", 980}, {"1", 1135}, {"2", 1032}, {"3", 1010}, {"4", 982}, {"5", 892}, {"6", 958}, {"7", 1028}, {"8", 974}, {"9", 1009}}
	if diff := cmp.Diff(want, sum.Classes); diff != "" {
		t.Error(diff)
	}
}
