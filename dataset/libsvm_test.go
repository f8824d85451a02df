package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadLIBSVMRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		options  LIBSVMOptions
		want     string
	}{
		{name: "nothing", in: "", want: "t.svm: there are no rows; give at least one"},
		{name: "only comments", in: "# a\n\n  # b\n", want: "t.svm: there are no rows; give at least one"},
		{name: "no features", in: "1\n-1\n", want: "t.svm: no row has a feature; give the number of columns"},
		{name: "no label", in: "1 1:1\n2:1 3:1\n", want: `t.svm:2: the line starts with the feature "2:1"; put a label before it`},
		{name: "text label", in: "spam 1:1\n", want: `t.svm:1: label "spam" is not a number; write classes as numbers`},
		{name: "label NaN", in: "nan 1:1\n", want: `t.svm:1: label "nan" is not a finite number; write classes as numbers`},
		{name: "two labels", in: "1,3 1:1\n", want: `t.svm:1: label "1,3" is not a single number; keep one label a row, and separate columns by blanks`},
		{name: "index 0", in: "1 0:1\n", want: "t.svm:1: index 0 is not allowed; count the columns from 1"},
		{name: "negative index", in: "1 -1:1\n", want: `t.svm:1: index "-1" is not a whole number from 1; correct it`},
		{name: "index is text", in: "1 a:1\n", want: `t.svm:1: index "a" is not a whole number from 1; correct it`},
		{name: "no index", in: "1 :1\n", want: `t.svm:1: index "" is not a whole number from 1; correct it`},
		{name: "index twice", in: "1 1:1\n\n1 2:1 2:3\n", want: "t.svm:3: index 2 occurs twice; keep one"},
		{name: "descending", in: "1 7:1 2:3\n", want: "t.svm:1: index 2 follows index 7; sort the indices of each row"},
		{name: "descending after a zero", in: "1 7:0 2:3\n", want: "t.svm:1: index 2 follows index 7; sort the indices of each row"},
		{name: "huge index", in: "1 99999999999999999999999:1\n", want: `t.svm:1: index "99999999999999999999999" is above 16777216, the most columns allowed; number the columns without gaps`},
		{name: "beyond the columns", in: "1 1:1 5:1\n", options: LIBSVMOptions{Columns: 4}, want: "t.svm:1: index 5 is above 4, the given number of columns; give a larger number or drop the column"},
		{name: "no pair", in: "1 1:1 7\n", want: `t.svm:1: "7" is not index:value; write each feature as its index, a colon and a number`},
		{name: "no value", in: "1 1: 2:1\n", want: "t.svm:1: index 1 has no value; write index:value without a blank, or drop the index"},
		{name: "value is text", in: "1 1:x\n", want: `t.svm:1: value "x" of index 1 is not a number; correct it or drop the index`},
		{name: "second colon", in: "1 1:2:3\n", want: `t.svm:1: value "2:3" of index 1 is not a number; correct it or drop the index`},
		{name: "infinite value", in: "1 1:inf\n", want: `t.svm:1: value "inf" of index 1 is not a finite number; correct it or drop the index`},
		{name: "too large", in: "1 1:-1e400\n", want: `t.svm:1: value "-1e400" of index 1 is too large for a 64-bit float; correct it or drop the index`},
		{name: "qid", in: "1 qid:3 1:1\n", want: "t.svm:1: qid groups rows for ranking, which is not supported; remove it"},
		{name: "CSV", in: "1,2,3\n", want: `t.svm:1: label "1,2,3" is not a single number; keep one label a row, and separate columns by blanks`},
		{name: "negative columns", in: "1 1:1\n", options: LIBSVMOptions{Columns: -1}, want: "t.svm: the number of columns is set to -1; choose 1 to 16777216, or 0 for as many as the text has"},
		{name: "UTF-16", in: "\xfe\xff\x001", want: "t.svm:1: the text is UTF-16; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)"},
		{name: "binary label", in: "\x02\x01\n", want: `t.svm:1: label "\x02\x01" is not a number; write classes as numbers`},
		{name: "zeros", in: "\x00\x01\n", want: "t.svm:1: the file is not text, since it contains a zero byte; export the table as CSV in UTF-8, or give the file the suffix of its format"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Name = "t.svm"
			_, err := ReadLIBSVM(strings.NewReader(tt.in), tt.options)
			wantSyntaxError(t, err, tt.want)
		})
	}
}

func TestReadLIBSVMIsBounded(t *testing.T) {
	tests := []struct {
		name, in string
		bounds   limits
		want     string
	}{
		{"line", "1 1:1\n1 1:" + strings.Repeat("1", 2000) + "\n", limits{line: 1000, columns: 9, cells: 9}, "t.svm:2: the line is longer than 1000 bytes; split the table"},
		{"columns", "1 10:1\n", limits{line: 99, columns: 9, cells: 9}, `t.svm:1: index "10" is above 9, the most columns allowed; number the columns without gaps`},
		{"entries", "1 1:1 2:1\n1 1:1\n1 1:1\n", limits{line: 99, columns: 9, cells: 3}, "t.svm:3: the table has more than 3 entries; split it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readLIBSVM(bufio.NewReader(strings.NewReader(tt.in)), LIBSVMOptions{Name: "t.svm"}, tt.bounds)
			wantSyntaxError(t, err, tt.want)
		})
	}
}

func TestReadLIBSVMReportsReader(t *testing.T) {
	cause := errors.New("disk on fire")
	_, err := ReadLIBSVM(io.MultiReader(strings.NewReader("1 1:1\n1 "), iotest.ErrReader(cause)), LIBSVMOptions{Name: "t.svm"})
	if !errors.Is(err, cause) {
		t.Errorf("error %v does not wrap the reader's", err)
	}
}

func TestReadLIBSVM(t *testing.T) {
	tests := []struct {
		name, in string
		options  LIBSVMOptions
		want     plain
	}{
		{name: "as LIBSVM writes it", in: "-1 1:0.5 3:1 \n+1 2:-2e-1 \n",
			want: plain{X: [][]float64{{.5, 0, 1}, {0, -.2, 0}}, Labels: []string{"-1", "1"}}},
		{name: "comments, blanks, tabs, CRLF, no last newline", in: "# head\r\n\r\n  1.0\t1:7   2:10 # tail 3:1\r\n2#",
			want: plain{X: [][]float64{{7, 10}, {0, 0}}, Labels: []string{"1", "2"}}},
		{name: "columns given", in: "1 1:1\n", options: LIBSVMOptions{Columns: 3},
			want: plain{X: [][]float64{{1, 0, 0}}, Labels: []string{"1"}}},
		{name: "zeros widen but are not stored", in: "0 1:0 3:0.0\n",
			want: plain{X: [][]float64{{0, 0, 0}}, Labels: []string{"0"}}},
		{name: "regression", in: "0.25 1:1\n1e-3 1:1\n",
			want: plain{X: [][]float64{{1}, {1}}, Labels: []string{"0.25", "0.001"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadLIBSVM(strings.NewReader(tt.in), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plainOf(got)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			for i := range got.X.Rows() {
				got.X.Each(i, func(_ int, v float64) {
					if v == 0 {
						t.Errorf("row %d stores a zero", i)
					}
				})
			}
		})
	}
}

func TestLIBSVMRoundTrip(t *testing.T) {
	x, err := NewCSR(4, []int{0, 2, 2, 3}, []int32{0, 3, 1}, []float64{1.0 / 3, -1e-300, 7})
	if err != nil {
		t.Fatal(err)
	}
	want := &Set{X: x, Labels: []string{"-1", "0.5", "3"}}
	var b bytes.Buffer
	if err := WriteLIBSVM(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLIBSVM(&b, LIBSVMOptions{Columns: 4})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plainOf(want), plainOf(got)); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

func TestWriteLIBSVMRefuses(t *testing.T) {
	x := denseOf([][]float64{{1}, {2}})
	tests := []struct {
		labels []string
		want   string
	}{
		{nil, "dataset: writing LIBSVM text: there are 0 labels but 2 rows; give one label for each row"},
		{[]string{"1", "ham"}, `dataset: writing LIBSVM text: label "ham" of row 2 is not a number; write CSV instead`},
	}
	for _, tt := range tests {
		if err := WriteLIBSVM(io.Discard, &Set{X: x, Labels: tt.labels}); err == nil || err.Error() != tt.want {
			t.Errorf("labels %q: error %v, want %s", tt.labels, err, tt.want)
		}
	}
}

// Index 0 is a column if the options say so, and refused otherwise.
func TestLIBSVMFromZero(t *testing.T) {
	const rows = "1 0:7 2:5\n2 1:3\n"
	set, err := ReadLIBSVM(strings.NewReader(rows), LIBSVMOptions{FromZero: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := DenseOf(set.X).Matrix(); got.Cols != 3 || !slices.Equal(got.Row(0), []float64{7, 0, 5}) || !slices.Equal(got.Row(1), []float64{0, 3, 0}) {
		t.Errorf("read %v", got)
	}
	if _, err := ReadLIBSVM(strings.NewReader(rows), LIBSVMOptions{FromZero: true, Columns: 2}); err == nil {
		t.Error("index 2 is read into two columns")
	}
	if _, err := ReadLIBSVM(strings.NewReader(rows), LIBSVMOptions{}); err == nil {
		t.Error("index 0 is read")
	}
}
