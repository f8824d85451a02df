package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	const svm, csv = "1 1:2 2:3\n", "2,3,1\n"
	want := plain{X: [][]float64{{2, 3}}, Labels: []string{"1"}}
	tests := []struct{ name, in string }{
		{"a.csv", csv},
		{"dir.svm/A.CSV", csv},
		{"a.csv.gz", gzipped(t, csv)},
		{"a.csv.gz", csv}, // decompressed on the way, name kept
		{"a.csv", gzipped(t, csv)},
		{"a.csv", gzipped(t, "\ufeff"+csv)},
		{"a.tsv", "2\t3\t1\n"},
		{"a.svm", svm},
		{"a.libsvm.gz", gzipped(t, svm)},
		{"a.txt", svm},
		{"a", svm},
		{"a.t", "# comment\n\n1 # no feature: 2:3\n" + svm},
		{"a.gz", gzipped(t, svm)},
		{"a.data", csv},
		{"", gzipped(t, csv)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(tt.name, strings.NewReader(tt.in), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.X.Rows() == 2 { // the row without features
				got = got.Subset([]int{1})
			}
			if diff := cmp.Diff(want, plainOf(got)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if got.Name != tt.name {
				t.Errorf("name %q", got.Name)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a.csv", "1 1:2\n", "a.csv:1: no column is left for features; give at least one, or set label to \"none\""},
		{"a.svm", "2,3,1\n", `a.svm:1: label "2,3,1" is not a single number; keep one label a row, and separate columns by blanks`},
		{"a.bin", "", "a.bin: there are no rows; give at least one"},
		{"a", "1 qid:1 2:3\n", "a:1: qid groups rows for ranking, which is not supported; remove it"},
		{"a", "PK\x03\x04", "a: the file is a zip archive or a spreadsheet, not text; unpack it or export it as CSV"},
	}
	for _, tt := range tests {
		_, err := Read(tt.name, strings.NewReader(tt.in), Options{})
		wantSyntaxError(t, err, tt.want)
	}
}

func TestReadCutGzip(t *testing.T) {
	whole := gzipped(t, strings.Repeat("1,2,3\n4,5,6\n", 5000))
	for _, name := range []string{"a.csv", "a.svm", "a"} {
		_, err := Read(name, strings.NewReader(whole[:len(whole)-6]), Options{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Name != name {
			t.Errorf("%s: error %v, want a *SyntaxError", name, err)
		}
	}
	_, err := Read("a.csv", strings.NewReader(whole[:len(whole)-6]), Options{})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want an unexpected EOF", err)
	}
}

// shared opens a file of the project's real data, or skips the test.
func shared(t testing.TB, file string) *os.File {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real data (set MERCER_DATA): %v", err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestReadRealData(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	none := Options{CSV: CSVOptions{Label: "none"}}
	tests := []struct {
		file         string
		o            Options
		rows, cols   int
		class        string
		inClass      int
		onGrid, vary int
	}{
		{"a9a/a9a", Options{}, 32561, 123, "1", 7841, 123, 123},
		{"a9a/a9a.t", Options{LIBSVM: LIBSVMOptions{Columns: 123}}, 16281, 123, "1", 3846, 122, 122},
		{"phishing/phishing", Options{}, 11055, 68, "1", 6157, 68, 68},
		{"digits/digits.csv.gz", Options{}, 1797, 64, "0", 178, 61, 61},
		{"breast-cancer/wdbc.csv", Options{}, 569, 30, "0", 212, 19, 30},
		{"breast-cancer/guest.csv", Options{}, 569, 10, "1", 357, 0, 10},
		{"default-credit/guest.csv", Options{}, 30000, 13, "1", 6636, 0, 13},
		{"epsilon-5k/host.csv", none, 5000, 80, "", 0, 0, 80},
		{"twitter-gender/twitter-gender.test.svm", Options{}, 2004, 12113, "1", 896, 7431, 7431},
		{"ml-100k/u.data", Options{CSV: CSVOptions{Comma: '\t'}}, 100000, 3, "881250949", 3, 3, 3},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			s, err := Read(tt.file, shared(t, tt.file), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(); err != nil {
				t.Error(err)
			}
			sum := Summarize(s)
			inClass := 0
			for _, c := range sum.Classes {
				if c.Label == tt.class {
					inClass = c.Rows
				}
			}
			got := []int{sum.Rows, sum.Cols, inClass, sum.OnGrid, sum.Varying}
			if diff := cmp.Diff([]int{tt.rows, tt.cols, tt.inClass, tt.onGrid, tt.vary}, got); diff != "" {
				t.Errorf("rows, columns, rows of class %s, grid columns, varying columns (-want +got):\n%s", tt.class, diff)
			}
		})
	}
}

func BenchmarkReadLIBSVM(b *testing.B) {
	benchmarkRead(b, readAll(b, shared(b, "a9a/a9a")), "a9a.svm")
}

func BenchmarkReadCSV(b *testing.B) {
	benchmarkRead(b, readAll(b, shared(b, "default-credit/guest.csv")), "guest.csv")
}

func readAll(b *testing.B, r io.Reader) []byte {
	b.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func benchmarkRead(b *testing.B, data []byte, name string) {
	b.Helper()
	b.SetBytes(int64(len(data))) // reported as MB/s
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(name, bytes.NewReader(data), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
