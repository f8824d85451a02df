package dataset

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// parquetOf writes rows with parquet-go, which this package otherwise does
// without.
func parquetOf[T any](t interface {
	Helper()
	Fatal(...any)
}, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func readParquetText(in string, o ParquetOptions) (*Set, error) {
	return ReadParquet(strings.NewReader(in), int64(len(in)), o)
}

// TestReadParquetOfPyarrow reads what testdata/tables.py wrote.
func TestReadParquetOfPyarrow(t *testing.T) {
	want := plain{
		X:      [][]float64{{30, 1.5, 1, 12.34}, {41, -2.5, 0, -0.05}, {200, 0.25, 1, 7}},
		Labels: []string{"yes", "no", "yes"}, IDs: []string{"p1", "p2", "p3"}, Columns: []string{"age", "income", "member", "paid"},
	}
	for _, kind := range []string{"snappy", "gzip", "zstd", "delta"} {
		name := "people." + kind + ".parquet"
		s, err := Read(name, bytes.NewReader(testdata(t, name)), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, plainOf(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	in := string(testdata(t, "people.zstd.parquet"))
	s, err := readParquetText(in, ParquetOptions{Label: "member", ID: pandasIndex})
	wantSyntaxError(t, err, `input: column "id" holds text (STRING), but features must be numbers; code the text as numbers, or leave the column out`)
	if s != nil {
		t.Error("a set beside an error")
	}
}

func TestReadParquetKinds(t *testing.T) {
	type row struct {
		A int32
		B uint32
		C int64
		D uint64
		E float32
		F bool
		G int64 `parquet:",decimal(2:18)"`
		H uint8
		Y int64
	}
	in := parquetOf(t, []row{{-1, 1 << 31, -5, 1 << 63, 0.5, true, -1234, 255, 1<<62 + 1}, {Y: -3}})
	s, err := readParquetText(in, ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := plain{
		X:      [][]float64{{-1, 1 << 31, -5, 1 << 63, 0.5, 1, -12.34, 255}, make([]float64, 8)},
		Labels: []string{"4611686018427387905", "-3"}, Columns: []string{"A", "B", "C", "D", "E", "F", "G", "H"},
	}
	if diff := cmp.Diff(want, plainOf(s)); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	if _, ok := s.X.(*Dense); !ok {
		t.Errorf("a %T", s.X)
	}
	type floats struct {
		E float32
		F bool
		H int8
		Y float64
	}
	if s, err = readParquetText(parquetOf(t, []floats{{0.1, true, -3, 1.5}, {0.2, false, 4, 2}}), ParquetOptions{ID: "Y", Label: "F"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.X.(*Dense32); !ok || s.X.Row(0, nil)[0] != float64(float32(0.1)) || s.X.Row(0, nil)[1] != -3 {
		t.Errorf("a %T of %v", s.X, s.X.Row(0, nil))
	}
	if diff := cmp.Diff([][]string{{"1", "0"}, {"1.5", "2"}}, [][]string{s.Labels, s.IDs}); diff != "" {
		t.Errorf("labels and ids (-want +got):\n%s", diff)
	}
}

// TestReadParquetIsWhatWasWritten writes the same table by parquet-go in every
// codec, page version and encoding.
func TestReadParquetIsWhatWasWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	type row struct {
		ID   string  `parquet:"id,delta"`
		Name string  `parquet:"name,dict"`
		A    int64   `parquet:"a,delta"`
		B    int32   `parquet:"b,delta"`
		C    float64 `parquet:"c,dict"`
		D    float64 `parquet:"d,split"`
		E    float64 `parquet:"e"`
		F    bool    `parquet:"f"`
		G    *int32  `parquet:"g,optional"`
		H    bool    `parquet:"h"`
	}
	codecs := []parquet.WriterOption{
		parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Gzip), parquet.Compression(&parquet.Zstd),
		parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Lz4Raw),
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 600).Draw(t, "rows")
		rows, want := make([]row, n), plain{Columns: []string{"a", "b", "c", "d", "e", "f", "g", "h"}}
		number := rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.SampledFrom([]float64{0, 1, math.MaxFloat64, math.SmallestNonzeroFloat64}))
		for i := range rows {
			r := row{
				fmt.Sprintf("p%0*d", i%7, i), rapid.SampledFrom([]string{"x", "yes", "no such name"}).Draw(t, "name"),
				rapid.Int64Range(-1<<52, 1<<52).Draw(t, "a"), rapid.Int32().Draw(t, "b"),
				float64(rapid.IntRange(0, 9).Draw(t, "c")), number.Draw(t, "d"), number.Draw(t, "e"),
				rapid.Bool().Draw(t, "f"), new(int32), i%100 < 50,
			}
			*r.G = rapid.Int32().Draw(t, "g")
			rows[i] = r
			want.X = append(want.X, []float64{float64(r.A), float64(r.B), r.C, r.D, r.E, oneIf(r.F), float64(*r.G), oneIf(r.H)})
			want.Labels, want.IDs = append(want.Labels, r.Name), append(want.IDs, r.ID)
		}
		in := parquetOf(t, rows, rapid.SampledFrom(codecs).Draw(t, "codec"),
			parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")), parquet.PageBufferSize(rapid.SampledFrom([]int{256, 1 << 20}).Draw(t, "page")),
			parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 700).Draw(t, "group")))
		s, err := readParquetText(in, ParquetOptions{Label: "name"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plainOf(s)); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

// Columns that nobody uses are skipped, whatever they hold.
func TestReadParquetSkipsColumns(t *testing.T) {
	type row struct {
		A struct{ B, C float64 }
		L []float64
		X float64
		U [16]byte `parquet:",uuid"`
		Y float64
	}
	in := parquetOf(t, []row{{L: []float64{1, 2, 3}, X: 4, U: [16]byte{1, 15: 255}, Y: 5}, {X: 6, Y: 7}}, parquet.MaxRowsPerRowGroup(1))
	s, err := readParquetText(in, ParquetOptions{ID: "U", Uses: Uses{Features: []string{"X"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := plain{X: [][]float64{{4}, {6}}, Labels: []string{"5", "7"}, IDs: []string{"01000000-0000-0000-0000-0000000000ff", "00000000-0000-0000-0000-000000000000"}, Columns: []string{"X"}}
	if diff := cmp.Diff(want, plainOf(s)); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestReadParquetRefuses(t *testing.T) {
	type two struct{ A, Y float64 }
	type nested struct {
		A struct{ B float64 }
		Y float64
	}
	type lists struct {
		A []float64
		Y float64
	}
	type null struct{ A, Y *float64 }
	type words struct{ A, Y string }
	type dates struct {
		A time.Time
		Y float64
	}
	type uuids struct {
		A float64
		Y [16]byte `parquet:",uuid"`
	}
	one := 1.0
	whole := parquetOf(t, []two{{1, 2}})
	// 1.5 stands among the values only, 1 and 2 also as the smallest and largest.
	changed := strings.ReplaceAll(parquetOf(t, []two{{1, 2}, {1.5, 2}, {2, 2}}), "\xf8\x3f", "\xf9\x3f")
	tests := []struct {
		name, in string
		o        ParquetOptions
		want     string
	}{
		{"empty", "", ParquetOptions{}, "the file does not end like a parquet file; copy it again, or give it the suffix of its format"},
		{"text", "A,Y\n1,2\n3,4\n", ParquetOptions{}, "the file does not end like a parquet file; copy it again, or give it the suffix of its format"},
		{"cut", whole[:len(whole)-1], ParquetOptions{}, "the file does not end like a parquet file; copy it again, or give it the suffix of its format"},
		{"encrypted", whole[:len(whole)-1] + "E", ParquetOptions{}, "the file is encrypted; write it without encryption"},
		{"footer longer than the file", "PAR1aaaa\xff\xff\xff\xffPAR1", ParquetOptions{}, "the footer cannot be decoded; write the file again"},
		{"footer of nothing", "PAR1aaaa\x04\x00\x00\x00PAR1", ParquetOptions{}, "the footer cannot be decoded; write the file again"},
		{"footer that lists 2^31 elements", "PAR1\x29\xfc\xff\xff\xff\xff\x07\x00\x08\x00\x00\x00PAR1", ParquetOptions{}, "the footer cannot be decoded; write the file again"},
		{"changed", changed, ParquetOptions{}, `column "A" holds a page whose checksum is wrong; copy the file again`},
		{"no rows", parquetOf[two](t, nil), ParquetOptions{}, "there are no rows; give at least one"},
		{"nested", parquetOf(t, []nested{{}}), ParquetOptions{}, `column "A" is nested; write each of its fields as a column`},
		{"lists", parquetOf(t, []lists{{}}), ParquetOptions{}, `column "A" holds lists; write each entry as a column`},
		{"null", parquetOf(t, []null{{&one, &one}, {nil, &one}}), ParquetOptions{}, `column "A" is null in row 2; fill the cell or drop the row`},
		{"null in the second group", parquetOf(t, []null{{&one, &one}, {&one, &one}, {&one, &one}, {nil, &one}}, parquet.MaxRowsPerRowGroup(2)), ParquetOptions{}, `column "A" is null in row 4; fill the cell or drop the row`},
		{"null label", parquetOf(t, []null{{&one, nil}}), ParquetOptions{}, `column "Y" is null in row 1; fill the cell or drop the row`},
		{"NaN", parquetOf(t, []two{{1, 1}, {math.NaN(), 1}}), ParquetOptions{}, `column "A" is not a finite number in row 2; correct the cell or drop the row`},
		{"strings", parquetOf(t, []words{{"a", "b"}}), ParquetOptions{}, `column "A" holds text (STRING), but features must be numbers; code the text as numbers, or leave the column out`},
		{"empty label", parquetOf(t, []struct {
			A float64
			Y string
		}{{}}), ParquetOptions{}, `column "Y" is empty in row 1; correct the cell or drop the row`},
		{"long id", parquetOf(t, []struct {
			A float64
			Y string
		}{{0, strings.Repeat("a", 5000)}}), ParquetOptions{ID: "Y", Label: "none"}, `column "Y" holds a text of 5000 bytes, more than the 4096 allowed in row 1; correct the cell or drop the row`},
		{"no feature", parquetOf(t, []words{{"a", ""}}), ParquetOptions{Label: "Y", ID: "A"}, `no column is left for features; give at least one, or set label to "none"`},
		{"dates", parquetOf(t, []dates{{}}), ParquetOptions{}, `column "A" holds values of type TIMESTAMP; write them as numbers, or leave the column out`},
		{"dates as label", parquetOf(t, []dates{{}}), ParquetOptions{Label: "A"}, `column "A" holds values of type TIMESTAMP; write them as numbers, or leave the column out`},
		{"uuids", parquetOf(t, []uuids{{}}), ParquetOptions{Label: "none"}, `column "Y" holds values of type UUID; write them as numbers, or leave the column out`},
		{"unknown label", whole, ParquetOptions{Label: "z"}, `label: no column is called "z"; the columns are "A", "Y"`},
		{"unknown id", whole, ParquetOptions{ID: "z"}, `id: no column is called "z"; the columns are "A", "Y"`},
		{"equal ids", parquetOf(t, []two{{1, 2}, {3, 2}}), ParquetOptions{ID: "Y", Label: "none"}, `rows 1 and 2 have the same id "2"; keep one of them`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Name = "a.parquet"
			_, err := readParquetText(tt.in, tt.o)
			wantSyntaxError(t, err, "a.parquet: "+tt.want)
		})
	}
}

// TestReadParquetCutAnywhere reads every beginning of a file.
func TestReadParquetCutAnywhere(t *testing.T) {
	whole := testdata(t, "people.snappy.parquet")
	for n := range whole {
		_, err := readParquetText(string(whole[:n]), ParquetOptions{Name: "f"})
		if err == nil {
			t.Fatalf("%d of %d bytes read", n, len(whole))
		}
		checkRefusal(t, err)
	}
}

func FuzzReadParquet(f *testing.F) {
	for _, kind := range []string{"snappy", "gzip", "zstd", "delta"} {
		f.Add(testdata(f, "people."+kind+".parquet"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		set, err := readParquet(bytes.NewReader(in), int64(len(in)), ParquetOptions{Name: "f"}, fuzzLimits())
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRead(t, set)
	})
}

// A column of text that nobody uses stands in nobody's way.
func TestReadParquetUses(t *testing.T) {
	in := string(testdata(t, "people.zstd.parquet"))
	s, err := readParquetText(in, ParquetOptions{Label: "member", ID: "none", Uses: Uses{Aside: []string{"id"}, Features: []string{"paid", "age", "id"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"age", "paid"}, s.Columns); diff != "" {
		t.Error(diff)
	}
	_, err = readParquetText(in, ParquetOptions{Label: "member", ID: "none", Uses: Uses{Features: []string{"pay"}}})
	wantSyntaxError(t, err, `input: columns: no column is called "pay"; the columns are "id", "age", "income", "member", "paid", "label"`)
}
