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

// refusedText is a text that ReadCSV refuses, as t.csv, with the error want.
type refusedText struct {
	name, in string
	options  CSVOptions
	want     string
}

func (tt refusedText) run(t *testing.T) {
	tt.options.Name = "t.csv"
	_, err := ReadCSV(strings.NewReader(tt.in), tt.options)
	wantSyntaxError(t, err, tt.want)
}

func TestReadCSVRefuses(t *testing.T) {
	for _, tt := range []refusedText{
		{name: "nothing", in: "", want: "t.csv: there are no rows; give at least one"},
		{name: "only blank lines", in: "\n\n", want: "t.csv: there are no rows; give at least one"},
		{name: "header only", in: "a,b,label\n", want: "t.csv: there are no rows; give at least one"},
		{name: "empty cell", in: "1,2,0\n3,,1\n", want: "t.csv:2: column 1 (from 0) is empty; fill the cell or drop the row"},
		{name: "empty cell under a name", in: "age,bmi,label\n1,2,0\n\n3, ,1\n", want: `t.csv:4: column "bmi" is empty; fill the cell or drop the row`},
		{name: "empty label", in: "1,2,0\n3,4,\n", want: "t.csv:2: column 2 (from 0) is empty; fill the cell or drop the row"},
		{name: "NaN", in: "1,NaN,0\n", want: `t.csv:1: column 1 (from 0) holds "NaN", which is not a finite number; fill the cell or drop the row`},
		{name: "infinite", in: "1,2,0\n-Inf,2,0\n", want: `t.csv:2: column 0 (from 0) holds "-Inf", which is not a finite number; fill the cell or drop the row`},
		{name: "NaN label", in: "1,2,nan\n", want: `t.csv:1: column 2 (from 0) holds "nan", which is not a finite number; fill the cell or drop the row`},
		{name: "too large", in: "1,2,0\n1,2e999,0\n", want: `t.csv:2: column 1 (from 0) holds "2e999", which is too large for a 64-bit float; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
		{name: "Latin-1", in: "a,label\n1,nein\n2,m\xf6glich\n", want: `t.csv:3: the line is not UTF-8 text; save the file as UTF-8, or give its encoding, as in "csv: {encoding: windows-1252}"`},
		{name: "text", in: "a,b,label\n1,2,0\n1,red,0\n", want: `t.csv:3: column "b" holds "red", which is not a number; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
		{name: "hexadecimal", in: "1,2,0\n1,0x10p0,0\n", want: `t.csv:2: column 1 (from 0) holds "0x10p0", which is not a number; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
		{name: "two points", in: "1,2,0\n1,1.2.3,0\n", want: `t.csv:2: column 1 (from 0) holds "1.2.3", which is not a number; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
		{name: "decimal comma", in: "a;b;y\n1;2,5;0\n", options: CSVOptions{Comma: ';'}, want: `t.csv:2: column "b" holds "2,5", which is not a number; correct the cell, or write csv: {decimal: ","} in the catalogue`},
		{name: "short row", in: "1,2,0\n3,1\n", want: "t.csv:2: the row has 2 fields, but the first row has 3; add or remove fields"},
		{name: "long row", in: "a,b,label\n1,2,3,4\n", want: "t.csv:2: the row has 4 fields, but the first row has 3; remove a field, or name all columns by \"csv: {headers: [...]}\" (--headers) if the header lacks one"},
		{name: "merge conflict", in: "a,b,label\n<<<<<<< HEAD\n1,2,0\n=======\n1,3,0\n>>>>>>> theirs\n", want: "t.csv:2: the row has 1 field, but the first row has 3; the line marks a merge conflict; keep one version of these rows"},
		{name: "header by another delimiter", in: "a,b,label\n1;2,5;0\n", options: CSVOptions{Comma: ','}, want: "t.csv:2: the row has 2 fields, but the first row has 3; add or remove fields"},
		{name: "header by commas, rows by semicolons", in: "a,b,label\n1;2;0\n", want: `t.csv:2: the row has 1 field, but the first row has 3; the line separates its fields by ";"; write one delimiter in all lines, also in the header`},
		{name: "second header", in: "a,b,label\n1,2,0\na,b,label\n", want: `t.csv:3: column "a" holds "a", which is not a number; remove the line if it repeats the header`},
		{name: "minus after the number", in: "a,b,label\n1,12.50-,0\n", want: `t.csv:2: column "b" holds "12.50-", which is not a number; correct the cell, or write the minus before the number, as in -12.50`},
		{name: "a day that a spreadsheet made", in: "a,b,label\n1,03. Apr,0\n", want: `t.csv:2: column "b" holds "03. Apr", which is not a number; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
		{name: "neither header nor row", in: "1,red,3,0\n1,2,3,0\n", want: `t.csv:1: column 1 (from 0) holds "red" among numbers, so the line is neither a header nor a row; correct the line, or put a line with the names of the columns above it`},
		{name: "only columns without name", in: ",,label\n0,1,2\n", want: "t.csv:1: no column is left for features; give at least one, or set label to \"none\""},
		{name: "name twice", in: "a,b,a,label\n0,1,2,3\n", want: `t.csv:1: columns 1 and 3 (from 1) are both called "a"; rename one, or name all columns by "csv: {headers: [...]}" (--headers)`},
		{name: "unknown label name", in: "a,b,c\n0,1,2\n", options: CSVOptions{Label: "d"}, want: `t.csv:1: label: no column is called "d"; the columns are "a", "b", "c"`},
		{name: "names in single quotes", in: "'a','d'\n0,1\n", options: CSVOptions{Label: "d"}, want: `t.csv:1: label: no column is called "d", since the names are in single quotes; write csv: {quote: "'"} (--quote "'")`},
		{name: "label name without header", in: "0,1,2\n", options: CSVOptions{Label: "d"}, want: `t.csv:1: label: no column is called "d", since the text has no header; give the column's index from 0 or add a header`},
		{name: "label index too large", in: "0,1,2\n", options: CSVOptions{Label: "3"}, want: `t.csv:1: label: there is no column "3"; choose 0 to 2`},
		{name: "two labels", in: "a,y,Label\n0,1,2\n", want: `t.csv:1: label: the names of the columns "y" and "Label" both suggest this use; give the name of one column`},
		{name: "two ids", in: "ID,id,a,y\n0,1,2,3\n", want: `t.csv:1: id: the names of the columns "ID" and "id" both suggest this use; give the name of one column`},
		{name: "unknown id", in: "a,y\n0,1\n", options: CSVOptions{ID: "patient"}, want: `t.csv:1: id: no column is called "patient"; the columns are "a", "y"`},
		{name: "label is id", in: "0,1,2\n", options: CSVOptions{ID: "2"}, want: "t.csv:1: column 2 (from 0) is both label and id; choose a different column for each"},
		{name: "no feature", in: "id,label\n1,2\n", want: "t.csv:1: no column is left for features; give at least one, or set label to \"none\""},
		{name: "same id", in: "id,a,y\n7,1,0\n8,1,0\n7,2,1\n", want: `t.csv:4: id "7" is also in line 2; keep one of the two rows`},
		{name: "empty id", in: "id,a,y\n,1,0\n", want: `t.csv:2: column "id" is empty; fill the cell or drop the row`},
		{name: "open quote", in: "a,b,y\n1,\"2,0\n1,2,0\n", want: "t.csv:2: a quoted field does not end before a delimiter; close it or double the quote inside it"},
		{name: "text after a quote", in: "a,b,y\n1,\"2\"x,0\n", want: "t.csv:2: a quoted field does not end before a delimiter; close it or double the quote inside it"},
		{name: "bare quote", in: "a,b,y\n1,2\"3,0\n", want: "t.csv:2: an unquoted field contains a quote; quote the field and double the quote"},
		{name: "other delimiter", in: "a;b;y\n1;2;0\n", options: CSVOptions{Comma: ','}, want: `t.csv:1: the line has no delimiter ',' but contains ';'; write csv: {delimiter: ";"} (--csv-delimiter)`},
		{name: "impossible delimiter", in: "1,2\n", options: CSVOptions{Comma: '"'}, want: `t.csv: '"' cannot separate fields; choose a comma, semicolon, tab, space, bar or colon`},
		{name: "long cell", in: "1,2,0\n1," + strings.Repeat("é", 30) + ",0\n", want: `t.csv:2: column 1 (from 0) holds "` + strings.Repeat("é", 20) + `"..., which is not a number; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
		{name: "too few rows for the shape", in: "3,2,no,yes\n1,2,0\n1,3,1\n", want: "t.csv:1: the first line gives 3 rows, but the text has 2; restore the file or correct the line"},
		{name: "other classes than the shape", in: "2,2,no,yes\n1,2,0\n1,3,0\n", want: "t.csv:1: the first line gives 2 classes, but the text has 1; restore the file or correct the line"},
	} {
		t.Run(tt.name, tt.run)
	}
}

// Files of other formats are refused by what they are.
func TestReadCSVRefusesOtherFormats(t *testing.T) {
	for _, tt := range []refusedText{
		{name: "UTF-16", in: "\xff\xfea\x00", want: "t.csv:1: the text is UTF-16; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)"},
		{name: "spreadsheet", in: "PK\x03\x04...", want: "t.csv: the file is a zip archive or a spreadsheet, not text; unpack it or export it as CSV"},
		{name: "web page", in: "\n<!DOCTYPE html>\n<html>", want: "t.csv:1: the text is a web page or XML, not a table; download the table anew, or export it as CSV or parquet"},
		{name: "XML", in: "<?xml version=\"1.0\"?>", want: "t.csv:1: the text is a web page or XML, not a table; download the table anew, or export it as CSV or parquet"},
		{name: "old Excel", in: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", want: "t.csv: the file is an Excel file of the old format, not text; export the table as CSV or parquet"},
		{name: "SQLite", in: "SQLite format 3\x00\x10", want: "t.csv: the file is a SQLite database, not text; give sql: {sqlite: FILE, query_file: FILE} in place of the path (--sqlite and --query)"},
		{name: "SAS", in: strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60", want: "t.csv: the file is a SAS file, not text; export the table as CSV or parquet"},
		{name: "SPSS", in: "$FL2@(#) SPSS", want: "t.csv: the file is an SPSS file, not text; export the table as CSV or parquet"},
		{name: "R, compressed", in: gzipped(t, "RDX3\nX\n\x00"), want: "t.csv: the file is a file of R, not text; save the table by write.csv"},
		{name: "PDF", in: "%PDF-1.7\n", want: "t.csv: the file is a PDF document, not text; ask for the table as CSV or parquet"},
		{name: "xz", in: "\xfd7zXZ\x00", want: "t.csv: the file is compressed by xz, not text; unpack it"},
		{name: "NumPy array", in: "\x93NUMPY\x01\x00", want: "t.csv: the file is a NumPy array, not text; rename it to end with .npy"},
		{name: "parquet", in: "PAR1\x15\x04", want: "t.csv: the file is a parquet file, not text; rename it to end with .parquet"},
		{name: "binary", in: "1,2\n3,4\n\x7fELF\x00\x01", want: "t.csv:3: the file is not text, since it contains a zero byte; export the table as CSV in UTF-8, or give the file the suffix of its format"},
		{name: "no gzip after all", in: "\x1f\x8bnot gzip at all", want: "t.csv: reading fails here (gzip: invalid header); copy the file again"},
	} {
		t.Run(tt.name, tt.run)
	}
}

func wantSyntaxError(t *testing.T, err error, want string) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("error %v is no *SyntaxError; want %s", err, want)
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestReadCSVIsBounded(t *testing.T) {
	long := strings.Repeat("1", 3*readAhead)
	tests := []struct {
		name, in string
		bounds   limits
		want     string
	}{
		{"line", "1,2\n1," + long + "\n", limits{line: readAhead, columns: 9, cells: 9}, "t.csv:2: the line is longer than 65536 bytes; close its quotes or split the table"},
		{"quoted lines", "1,2\n1,\"" + strings.Repeat("1\n", 2*readAhead), limits{line: readAhead, columns: 9, cells: 9}, "t.csv:2: the line is longer than 65536 bytes; close its quotes or split the table"},
		{"columns", "1,2,3\n", limits{line: 99, columns: 2, cells: 9}, "t.csv:1: the line has 3 fields, more than the 2 allowed; split the table"},
		{"cells", "1,2,3\n1,2,3\n1,2,3\n", limits{line: 99, columns: 9, cells: 5}, "t.csv:3: the table has more than 5 cells; split it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readCSV(bufio.NewReader(strings.NewReader(tt.in)), CSVOptions{Name: "t.csv"}, tt.bounds)
			wantSyntaxError(t, err, tt.want)
		})
	}
}

func TestReadCSVReportsReader(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, head := range []string{"", "1,2\n"} {
		r := io.MultiReader(strings.NewReader(head), iotest.ErrReader(cause))
		_, err := ReadCSV(r, CSVOptions{})
		if !errors.Is(err, cause) {
			t.Errorf("after %q: error %v does not wrap the reader's", head, err)
		}
	}
	_, err := ReadCSV(io.MultiReader(strings.NewReader("1,2\n"), iotest.ErrReader(cause)), CSVOptions{})
	wantSyntaxError(t, err, "input:2: reading fails here (disk on fire); copy the file again")
}

func TestReadCSV(t *testing.T) {
	tests := []struct {
		name, in string
		options  CSVOptions
		want     plain
	}{
		{name: "bare numbers, label last", in: "1,2,0\n3,4.5,1\n",
			want: plain{X: [][]float64{{1, 2}, {3, 4.5}}, Labels: []string{"0", "1"}}},
		{name: "text label last, no header", in: "5.1,3.5,setosa\n7,3.2,versicolor\n",
			want: plain{X: [][]float64{{5.1, 3.5}, {7, 3.2}}, Labels: []string{"setosa", "versicolor"}}},
		{name: "header with label first", in: "label,a,b\nx,1,2\n",
			want: plain{X: [][]float64{{1, 2}}, Labels: []string{"x"}, Columns: []string{"a", "b"}}},
		{name: "header of numbers with target", in: "0,1,target\n5,6,7\n",
			want: plain{X: [][]float64{{5, 6}}, Labels: []string{"7"}, Columns: []string{"0", "1"}}},
		{name: "header without likely name: last", in: "a,b,sick\n1,2,yes\n",
			want: plain{X: [][]float64{{1, 2}}, Labels: []string{"yes"}, Columns: []string{"a", "b"}}},
		{name: "FATE: id, y", in: "id,y,x0,x1\np7,1,.5,-2e-1\np8,0,+1,2\n",
			want: plain{X: [][]float64{{.5, -.2}, {1, 2}}, Labels: []string{"1", "0"}, IDs: []string{"p7", "p8"}, Columns: []string{"x0", "x1"}}},
		{name: "no label, id by hand", in: "1,2,3\n4,5,6\n", options: CSVOptions{Label: "none", ID: "0"},
			want: plain{X: [][]float64{{2, 3}, {5, 6}}, IDs: []string{"1", "4"}}},
		{name: "id kept as a feature", in: "id,a,y\n1,2,3\n", options: CSVOptions{ID: "none"},
			want: plain{X: [][]float64{{1, 2}}, Labels: []string{"3"}, Columns: []string{"id", "a"}}},
		{name: "label by name and by index", in: "a,b,c\n1,2,3\n", options: CSVOptions{Label: "b", ID: "0"},
			want: plain{X: [][]float64{{3}}, Labels: []string{"2"}, IDs: []string{"1"}, Columns: []string{"c"}}},
		{name: "name before index", in: "a,0,c\n1,2,3\n", options: CSVOptions{Label: "0", Header: WithHeader},
			want: plain{X: [][]float64{{1, 3}}, Labels: []string{"2"}, Columns: []string{"a", "c"}}},
		{name: "header forced", in: "1,2,3\n4,5,6\n", options: CSVOptions{Header: WithHeader},
			want: plain{X: [][]float64{{4, 5}}, Labels: []string{"6"}, Columns: []string{"1", "2"}}},
		{name: "no header forced, last", in: "1,2,y\n", options: CSVOptions{Header: NoHeader, Label: "last"},
			want: plain{X: [][]float64{{1, 2}}, Labels: []string{"y"}}},
		{name: "canonical labels", in: "0,+1\n0,1.0\n0,1e0\n0,-0\n0,-2.50\n0,1e6\n0,grade 1\n0,9007199254740993\n",
			want: plain{X: [][]float64{{0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}}, Labels: []string{"1", "1", "1", "0", "-2.5", "1000000", "grade 1", "9007199254740993"}}},
		{name: "scikit-learn's first line", in: "2,2,no,yes\n1,2,0\n3,4,1\n",
			want: plain{X: [][]float64{{1, 2}, {3, 4}}, Labels: []string{"0", "1"}}},
		{name: "scikit-learn's iris: as many fields as a row", in: "3,4,setosa,versicolor,virginica\n1,2,3,4,0\n1,2,3,4,1\n1,2,3,4,2\n",
			want: plain{X: [][]float64{{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}, Labels: []string{"0", "1", "2"}}},
		{name: "shape line, no label wanted", in: "1,2,no,yes\n1,2,0\n", options: CSVOptions{Label: "none"},
			want: plain{X: [][]float64{{1, 2, 0}}}},
		{name: "quotes, CRLF, blanks, byte order mark, no last newline", in: "\ufeff\"a, or b\",c ,label\r\n\"1\", 2,\"x \"\"y\"\"\"\r\n3,4,z",
			want: plain{X: [][]float64{{1, 2}, {3, 4}}, Labels: []string{`x "y"`, "z"}, Columns: []string{"a, or b", "c"}}},
		{name: "tabs", in: "1\t2\n3\t4\n", options: CSVOptions{Comma: '\t'},
			want: plain{X: [][]float64{{1}, {3}}, Labels: []string{"2", "4"}}},
		{name: "semicolons found", in: "a;label\n1.5;x\n",
			want: plain{X: [][]float64{{1.5}}, Labels: []string{"x"}, Columns: []string{"a"}}},
		{name: "tabs found", in: "\ufeff1\t2\n3\t4\n",
			want: plain{X: [][]float64{{1}, {3}}, Labels: []string{"2", "4"}}},
		{name: "spaces", in: "1 2\n3 4\n", options: CSVOptions{Comma: ' ', Label: "none"},
			want: plain{X: [][]float64{{1, 2}, {3, 4}}}},
		{name: "minus sign U+2212", in: "a,y\n\u22121.5,0\n2,1\n",
			want: plain{X: [][]float64{{-1.5}, {2}}, Labels: []string{"0", "1"}, Columns: []string{"a"}}},
		{name: "one row", in: "1,2\n", want: plain{X: [][]float64{{1}}, Labels: []string{"2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadCSV(strings.NewReader(tt.in), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plainOf(got)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// plain is a set that cmp can compare.
type plain struct {
	X                    [][]float64
	Labels, IDs, Columns []string
}

func plainOf(s *Set) plain {
	return plain{X: cells(s.X), Labels: s.Labels, IDs: s.IDs, Columns: s.Columns}
}

func cells(t Table) [][]float64 {
	rows := make([][]float64, t.Rows())
	for i := range rows {
		rows[i] = t.Row(i, nil)
	}
	return rows
}

func TestCSVRoundTrip(t *testing.T) {
	want := &Set{
		X:       denseOf([][]float64{{1, -0.1, 1e300}, {3, 1.0 / 3, 5e-324}}),
		Labels:  []string{"a, b", "2"},
		IDs:     []string{"p\"1\"", "p2"},
		Columns: []string{"x", "y z", "w"},
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCSV(&b, CSVOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plainOf(want), plainOf(got)); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

func TestWriteCSVRefuses(t *testing.T) {
	set := &Set{X: denseOf([][]float64{{1}}), Labels: []string{"1"}, Columns: []string{"label"}}
	want := `dataset: writing CSV: columns 1 and 2 (from 1) are both called "label"; rename one`
	if err := WriteCSV(io.Discard, set); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	full := errors.New("disk full")
	if err := WriteCSV(badWriter{full}, &Set{X: denseOf([][]float64{{1}})}); !errors.Is(err, full) {
		t.Errorf("error %v, want the writer's", err)
	}
	if err := WriteLIBSVM(badWriter{full}, &Set{X: denseOf([][]float64{{1}}), Labels: []string{"1"}}); !errors.Is(err, full) {
		t.Errorf("error %v, want the writer's", err)
	}
}

type badWriter struct{ err error }

func (w badWriter) Write([]byte) (int, error) { return 0, w.err }

// Columns that are not used are never parsed: they may hold anything.
func TestCSVUses(t *testing.T) {
	const table = "name,age,ill,weight,note\nAnn,40,yes,80,\"a, b\"\nBob,50,no,70,\n"
	for _, tt := range []struct {
		name string
		uses Uses
		want []string
		err  string // "" reads
	}{
		{"some features", Uses{Features: []string{"weight", "age"}}, []string{"age", "weight"}, ""},
		{"some aside", Uses{Aside: []string{"name", "note", "weight"}}, []string{"age"}, ""},
		{"both", Uses{Features: []string{"weight", "age"}, Aside: []string{"age"}}, []string{"weight"}, ""},
		{"by their places", Uses{Features: []string{"1"}}, []string{"age"}, ""},
		{"the label is no feature", Uses{Features: []string{"ill", "age"}}, []string{"age"}, ""},
		{"nothing", Uses{Features: []string{}}, nil, "t:1: no column is left for features; give at least one, or set label to \"none\""},
		{"none such", Uses{Features: []string{"height"}}, nil, `t:1: columns: no column is called "height"; the columns are "name", "age", "ill", "weight", "note"`},
		{"none such aside", Uses{Aside: []string{"height"}}, nil, `t:1: columns: no column is called "height"; the columns are "name", "age", "ill", "weight", "note"`},
		{"no name", Uses{Features: []string{""}}, nil, `t:1: columns: no column is called ""`},
		{"a text among the features", Uses{Aside: []string{"name"}}, nil, `t:2: column "note" holds "a, b", which is not a number; correct the cell, code the column as numbers, or name it as the column of the ids or labels`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := ReadCSV(strings.NewReader(table), CSVOptions{Name: "t", Label: "ill", ID: "none", Uses: tt.uses})
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(set.Columns, tt.want) || set.X.Rows() != 2 || !slices.Equal(set.Labels, []string{"yes", "no"}) {
				t.Errorf("%v with labels %v", set.Columns, set.Labels)
			}
		})
	}
}
