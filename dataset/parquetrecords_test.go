package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

func openText(in string, asked ...string) (Records, error) {
	return OpenParquet("a.parquet", strings.NewReader(in), int64(len(in)), asked)
}

// rowsOf reads all rows.
func rowsOf(r Records) (rows [][]string, err error) {
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if row.Line != len(rows)+1 {
			return rows, fmt.Errorf("row %d is called %d", len(rows)+1, row.Line)
		}
		rows = append(rows, append([]string{}, row.Fields...))
	}
}

func TestParquetRecordsOfTypes(t *testing.T) {
	type row struct {
		Name   *string    `parquet:"name,optional"`
		Age    *int64     `parquet:"age,optional"`
		Weight *float64   `parquet:"weight,optional"`
		Smoker *bool      `parquet:"smoker,optional"`
		Paid   int64      `parquet:"paid,decimal(2:18)"`
		Born   int32      `parquet:"born,date"`
		Millis time.Time  `parquet:"millis,timestamp(millisecond)"`
		Micros *time.Time `parquet:"micros,optional,timestamp(microsecond)"`
		Nanos  int64      `parquet:"nanos,timestamp(nanosecond)"`
		Short  float32    `parquet:"short"`
		Big    uint64     `parquet:"big"`
	}
	name, age, weight, smoker := " Ann ", int64(41), 70.25, true
	nan, no, empty, at := 0.0, false, "", time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC)
	nan /= nan
	in := parquetOf(t, []row{
		{&name, &age, &weight, &smoker, -1234, 19783, at, &at, -1, 0.5, 1 << 63},
		{},
		{&empty, &age, &nan, &no, 5, -1, time.Date(2024, 3, 1, 9, 30, 0, 0, time.UTC), nil, 1709285400e9, 1, 0},
	})
	records, err := openText(in)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := rowsOf(records)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"Ann", "41", "70.25", "1", "-12.34", "2024-03-01", "1969-12-31T23:59:59", "1969-12-31T23:59:59", "1969-12-31T23:59:59", "0.5", "9223372036854775808"},
		{"", "", "", "", "0", "1970-01-01", rows[1][6], "", "1970-01-01T00:00:00", "0", "0"},
		{"", "41", "", "0", "0.05", "1969-12-31", "2024-03-01T09:30:00", "", "2024-03-01T09:30:00", "1", "0"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Rows equal the ones that parquet-go reads, in every codec, page version and encoding, with nulls
// anywhere. It writes most zeros and empty texts of optional columns as nulls.
func TestParquetRecordsAreWhatAnotherReaderReads(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	type row struct {
		A int64   `parquet:"a,optional,delta"`
		B string  `parquet:"b,optional,dict"`
		C string  `parquet:"c,optional,delta"`
		D float64 `parquet:"d,optional,split"`
		E *bool   `parquet:"e,optional"`
		F int32   `parquet:"f"`
	}
	type read struct {
		A *int64   `parquet:"a,optional"`
		B *string  `parquet:"b,optional"`
		C *string  `parquet:"c,optional"`
		D *float64 `parquet:"d,optional"`
		E *bool    `parquet:"e,optional"`
		F *int32   `parquet:"f,optional"`
	}
	codecs := []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Zstd)}
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows, share := make([]row, rapid.IntRange(1, 400).Draw(t, "rows")), rapid.Float64Range(0, 1).Draw(t, "gaps")
		for i := range rows {
			rows[i].F = int32(i)
			for _, set := range []func(r *row){
				func(r *row) { r.A = int64(i*i + 1) }, func(r *row) { r.B = []string{"x", "yes", "no"}[i%3] }, func(r *row) { r.C = fmt.Sprintf("p%d", i/3) },
				func(r *row) { r.D = float64(i)/4 + 1 }, func(r *row) { e := i%3 == 0; r.E = &e },
			} {
				if random.Float64() >= share {
					set(&rows[i])
				}
			}
		}
		in := parquetOf(t, rows, rapid.SampledFrom(codecs).Draw(t, "codec"), parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			parquet.PageBufferSize(rapid.SampledFrom([]int{256, 1 << 20}).Draw(t, "page")), parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 500).Draw(t, "group")))
		theirs, err := parquet.Read[read](strings.NewReader(in), int64(len(in)))
		if err != nil {
			t.Fatal(err)
		}
		records, err := openText(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rowsOf(records)
		if err != nil || len(got) != len(rows) || len(theirs) != len(rows) {
			t.Fatalf("%d rows, error %v", len(got), err)
		}
		for i, r := range theirs {
			e := ""
			if r.E != nil {
				e = formatNumber(oneIf(*r.E))
			}
			want := []string{shown(r.A), shown(r.B), shown(r.C), shown(r.D), e, fmt.Sprint(i)}
			if !slices.Equal(want, got[i]) {
				t.Fatalf("row %d is %q, another reader's %q", i, got[i], want)
			}
		}
	})
}

// shown writes a value, or nothing where there is none.
func shown[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

// Columns that nobody chooses are not read, whatever is in them.
func TestParquetRecordsOfChosenColumns(t *testing.T) {
	type row struct {
		A  float64
		ID [12]byte
		B  string
	}
	in := parquetOf(t, []row{{A: 1, B: "\xff"}, {A: 2, B: "x"}})
	records, err := openText(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := records.(ColumnSelector).Choose([]int{0, 0}); err != nil {
		t.Fatal(err)
	}
	rows, err := rowsOf(records)
	if diff := cmp.Diff([][]string{{"1", "", ""}, {"2", "", ""}}, rows); diff != "" || err != nil {
		t.Errorf("error %v %s", err, diff)
	}
	const uuid = `column "ID" holds values of type FIXED_LEN_BYTE_ARRAY; write them as numbers, or leave the column out`
	if err := records.(ColumnSelector).Choose([]int{1}); err == nil || err.Error() != uuid {
		t.Error(err)
	}
	records, err = openText(in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = records.Next()
	wantSyntaxError(t, err, "a.parquet: "+uuid)
	if records, err = openText(in); err == nil {
		err = records.(ColumnSelector).Choose([]int{2})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = records.Next()
	wantSyntaxError(t, err, `a.parquet:1: column "B" is not readable text; correct the cell or drop the row`)
}

func TestParquetRecordsRefuse(t *testing.T) {
	type two struct{ A, B float64 }
	type blank struct {
		A float64 `parquet:"a"`
		B float64 `parquet:" a"`
	}
	type far struct {
		A int32 `parquet:",date"`
	}
	type moment struct {
		A int64 `parquet:",timestamp(millisecond)"`
	}
	whole := parquetOf(t, []two{{1, 2}, {1.5, 2}, {2, 2}})
	for _, tt := range []struct{ name, in, want string }{
		{"text", "a,b\n1,2\n3,4\n", "a.parquet: the file does not end like a parquet file; copy it again, or give it the suffix of its format"},
		{"two of one name", parquetOf(t, []blank{{1, 2}}), `a.parquet: columns 1 and 2 (from 1) are both called "a"; rename one`},
		{"changed", strings.ReplaceAll(whole, "\xf8\x3f", "\xf9\x3f"), `a.parquet:1: column "A" holds a page whose checksum is wrong; copy the file again`},
		{"far day", parquetOf(t, []far{{1 << 30}}), `a.parquet:1: column "A" is a day outside the years 0 to 9999; correct the cell or drop the row`},
		{"far moment", parquetOf(t, []moment{{-1 << 62}}), `a.parquet:1: column "A" is a day outside the years 0 to 9999; correct the cell or drop the row`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records, err := openText(tt.in)
			if err == nil {
				_, err = rowsOf(records)
			}
			wantSyntaxError(t, err, tt.want)
		})
	}
}

// The index that pandas adds is a column where somebody asks for it.
func TestParquetRecordsOfPandas(t *testing.T) {
	in := string(testdata(t, "people.zstd.parquet"))
	for _, tt := range []struct {
		asked string
		want  int
	}{{"", 6}, {pandasIndex, 7}} {
		records, err := openText(in, tt.asked)
		if err != nil || len(records.Columns()) != tt.want {
			t.Errorf("%v, error %v", records.Columns(), err)
		}
	}
}

func FuzzParquetRecords(f *testing.F) {
	one, word := 1.0, "x"
	type row struct {
		A *float64
		B *string
		C time.Time
	}
	f.Add([]byte(parquetOf(f, []row{{&one, nil, time.Time{}}, {nil, &word, time.Unix(1e9, 0)}, {nil, nil, time.Unix(0, 0)}})))
	for _, kind := range []string{"snappy", "delta"} {
		f.Add(testdata(f, "people."+kind+".parquet"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		records, err := openParquet("f", bytes.NewReader(in), int64(len(in)), nil, fuzzLimits())
		for n := 0; err == nil && n < 1<<12; n++ {
			_, err = records.Next()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			checkRefusal(t, err)
		}
	})
}
