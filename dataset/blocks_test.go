package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

// wholeOf reads all blocks into one set, and checks the lengths of the blocks.
func wholeOf(t *testing.T, from Blocks, rows int) (*Set, error) {
	t.Helper()
	var parts []*Set
	var lines []int
	for last := rows; ; {
		s, err := from.Next()
		if errors.Is(err, io.EOF) {
			all, err := Append(parts...)
			if err != nil {
				t.Fatal(err)
			}
			all.Lines = lines
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		n := s.X.Rows()
		if n < 1 || n > rows || last < rows {
			t.Errorf("a block of %d rows after one of %d, not %d", n, last, rows)
		}
		last = n
		one := *s // the block's memory is used again, so its parts are copied
		one.X, one.Labels, one.IDs = NewDense(matrixCopy(s.X)), slices.Clone(s.Labels), slices.Clone(s.IDs)
		parts, lines = append(parts, &one), append(lines, s.Lines...)
	}
}

func matrixCopy(x Table) linalg.Matrix[float64] {
	m := linalg.New[float64](x.Rows(), x.Cols())
	linalg.Gather(m, RowsOf(x), 0)
	return m
}

// sameAsRead compares a reading in blocks with a reading of the whole table: values or refusal.
func sameAsRead(t *testing.T, name string, b []byte, o Options) {
	t.Helper()
	want, wantErr := Read(name, bytes.NewReader(b), o)
	for _, rows := range []int{1, 7, BlockRows} {
		blocks, err := OpenBlocks(name, bytes.NewReader(b), o, rows)
		var got *Set
		if err == nil {
			got, err = wholeOf(t, blocks, rows)
		}
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s in blocks of %d rows: %v\nthe reader of whole tables: %v", name, rows, err, wantErr)
			return
		}
		if err != nil {
			continue
		}
		if want.Lines == nil { // ReadParquet gives no lines
			for i, line := range got.Lines {
				if line != i+1 {
					t.Errorf("%s: row %d is called %d", name, i+1, line)
				}
			}
			got.Lines = nil
		}
		if d := cmp.Diff(matrixCopy(want.X), matrixCopy(got.X)); d != "" {
			t.Errorf("%s in blocks of %d rows: %s", name, rows, d)
		}
		if len(want.IDs) == 0 && len(got.IDs) == 0 {
			got.IDs = want.IDs
		}
		got.X = want.X
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b Table) bool { return a == b })); d != "" {
			t.Errorf("%s in blocks of %d rows: %s", name, rows, d)
		}
	}
}

func TestBlocksOfFixturesEqualTheWholeTable(t *testing.T) {
	var read int
	for _, pattern := range []string{"testdata/*.parquet", "testdata/writers/*.parquet"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%v: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(file, "70000") { // TestParquetBlocksOverManyPages reads them
				continue
			}
			// The fixtures have columns of many types: first all, which most readers refuse, then each
			// column that can be read, with each other column as label.
			sameAsRead(t, file, b, Options{})
			names := parquetNames(t, file, b)
			var numbers []string
			for _, name := range names {
				if _, err := ReadParquet(bytes.NewReader(b), int64(len(b)), ParquetOptions{Label: "none", Uses: Uses{Features: []string{name}}}); err == nil {
					numbers = append(numbers, name)
				}
			}
			for _, name := range names {
				others := slices.DeleteFunc(slices.Clone(numbers), func(other string) bool { return other == name })
				sameAsRead(t, file, b, Options{Parquet: ParquetOptions{Label: name, Uses: Uses{Features: others}}})
				read++
			}
		}
	}
	if read < 50 {
		t.Errorf("only %d tables were compared", read)
	}
}

// A block may end within a page, and a page within a block.
func TestParquetBlocksOverManyPages(t *testing.T) {
	const file = "testdata/writers/duckdb-rows-70000.parquet"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range parquetNames(t, file, b) {
		o := Options{Parquet: ParquetOptions{Label: "none", Uses: Uses{Features: []string{name}}}}
		want, err := ReadParquet(bytes.NewReader(b), int64(len(b)), o.Parquet)
		if err != nil {
			continue
		}
		blocks, err := OpenBlocks(file, bytes.NewReader(b), o, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; ; {
			s, err := blocks.Next()
			if errors.Is(err, io.EOF) {
				if at != want.X.Rows() {
					t.Errorf("%s: %d rows of %d", name, at, want.X.Rows())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.X.Rows() {
				if got, want := s.X.Row(i, nil)[0], want.X.Row(at, nil)[0]; got != want {
					t.Fatalf("%s, row %d: %v, want %v", name, at, got, want)
				}
				at++
			}
		}
	}
	t.Error("no column of numbers")
}

func parquetNames(t *testing.T, name string, b []byte) []string {
	t.Helper()
	rows, err := OpenParquet(name, bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows.Columns()
}

func TestBlocksOfTextEqualTheWholeTable(t *testing.T) {
	var many strings.Builder
	many.WriteString("id,a,b,label\n")
	for i := range 5000 {
		fmt.Fprintf(&many, "p%d,%d.5,%g,%d\n", i, i, 1/float64(i+1), i%3)
	}
	for name, text := range map[string]string{
		"many.csv": many.String(), "one.csv": "a,label\n1,2\n", "none.csv": "a,label\n", "empty.csv": "",
		"gap.csv": "a,b,label\n1,2,x\n3,,y\n", "word.csv": "a,b,label\n1,2,x\n3,4,y\n5,six,z\n", "short.csv": "a,b,label\n1,2,x\n3,y\n",
		"infinite.csv": "a,label\n1,x\nInf,y\n", "nolabel.csv": "a,label\n1,x\n2,\n", "noid.csv": "id,a,label\np,1,x\n,2,y\n",
		"bare.csv": "1,2,0\n3,4,1\n5,6,0\n", "shape.csv": "3,2,ill,well\n1,2,0\n3,4,1\n5,6,0\n", "cut.csv": "4,2,ill,well\n1,2,0\n3,4,1\n5,6,0\n",
		"classes.csv": "3,2,ill,well\n1,2,0\n3,4,1\n5,6,2\n", "tabs.tsv": "a\tlabel\n1\tx\n2\ty\n", "semi.csv": "a;b;label\n1;2;x\n3;4;y\n",
		"quoted.csv": "a,label\n\"1\",\"x\ny\"\n2,z\n3,\"z\n", "plain": "a,b,label\n1,2,x\n", "latin.csv": "a,label\n1,\xe9\n",
	} {
		sameAsRead(t, name, []byte(text), Options{})
		sameAsRead(t, name, []byte(text), Options{CSV: CSVOptions{Gaps: true}})
		sameAsRead(t, name, []byte(text), Options{CSV: CSVOptions{Classes: []string{"x", "0", "1"}}})
	}
	text := many.String()
	sameAsRead(t, "many.csv", []byte(strings.Replace(text, "4000.5", "x", 1)), Options{})
}

func TestBlocksRefuseOtherFormats(t *testing.T) {
	for _, name := range []string{"a.svm", "a.libsvm", "a.txt", "a.npy", "a.npz", "a.npy.gz", "rows"} {
		_, err := OpenBlocks(name, strings.NewReader("1 1:2 3:4\n"), Options{}, BlockRows)
		if err == nil || !strings.HasPrefix(err.Error(), name+": a table in this format cannot be read in blocks") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenBlocks("a.csv", strings.NewReader("a,label\n1,2\n"), Options{}, 0); err == nil {
		t.Error("blocks without rows")
	}
}

// Equal ids are the one fault that only the reader of whole tables finds.
func TestBlocksDoNotCompareIDs(t *testing.T) {
	text := "id,a,label\np,1,x\np,2,y\n"
	if _, err := Read("a.csv", strings.NewReader(text), Options{}); err == nil {
		t.Error("the whole table has two equal ids")
	}
	blocks, err := OpenBlocks("a.csv", strings.NewReader(text), Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := wholeOf(t, blocks, 1); err != nil || len(s.IDs) != 2 {
		t.Errorf("%v, %v", s, err)
	}
}

// A wide table comes in blocks of fewer rows, so that a file cannot choose the memory of a block.
func TestWideBlocksHaveFewerRows(t *testing.T) {
	if got := []int{rowsOfBlock(2048, 20), rowsOfBlock(2048, 2048), rowsOfBlock(2048, 1<<20), rowsOfBlock(2048, MaxColumns), rowsOfBlock(5, 0)}; !slices.Equal(got, []int{2048, 2048, 4, 1, 5}) {
		t.Error(got)
	}
}

// Blocks accept what the reader of whole tables accepts, with the same cells, and refuse nothing by
// another kind of error.
func FuzzOpenBlocks(f *testing.F) {
	for _, in := range []string{"a,b,label\n1,2,x\n3,4,y\n", "2,2,no,yes\n1,2,0\n3,4,1\n", "id,a,label\np,1,x\np,2,y\n", "1,NaN\n", "a;b\n"} {
		f.Add([]byte(in), false, byte(1))
	}
	for _, kind := range []string{"snappy", "gzip", "zstd", "delta"} {
		f.Add(testdata(f, "people."+kind+".parquet"), true, byte(2))
	}
	f.Fuzz(func(t *testing.T, in []byte, parquet bool, rows byte) {
		name := "f.csv"
		if parquet {
			name = "f.parquet"
		}
		var cells []float64
		n := 0
		blocks, err := openBlocks(name, bytes.NewReader(in), Options{}, int(rows)+1, fuzzLimits())
		for err == nil {
			var s *Set
			if s, err = blocks.Next(); err == nil {
				m := matrixCopy(s.X)
				cells, n = append(cells, m.Data...), n+m.Rows
			}
		}
		var refusal *SyntaxError
		if !errors.Is(err, io.EOF) && (!errors.As(err, &refusal) || refusal.Name != name) {
			t.Errorf("error %v is no *SyntaxError of the file", err)
		}
		var whole *Set
		var wholeErr error
		if parquet {
			whole, wholeErr = readParquet(bytes.NewReader(in), int64(len(in)), ParquetOptions{Name: name}, fuzzLimits())
		} else if b, err := open(text(name), bytes.NewReader(in)); err == nil {
			whole, wholeErr = readCSV(b, CSVOptions{Name: name}, fuzzLimits())
		} else {
			return
		}
		if wholeErr != nil {
			return
		}
		if !errors.Is(err, io.EOF) || n != whole.X.Rows() || !slices.Equal(cells, matrixCopy(whole.X).Data) {
			t.Errorf("%d rows in blocks, %d in the whole table, %v", n, whole.X.Rows(), err)
		}
	})
}
