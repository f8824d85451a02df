package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset/internal/parquet"
)

// written describes the content of a file of testdata/writers. The script beside the files wrote it.
type written struct {
	Columns []string   // columns that the reader reads
	Skipped []string   // columns that it refuses and skips
	Rows    int        // number of rows
	Cells   [][]string // cells of all rows, if these are few
	SHA256  string     // digest of the lines of all rows, if these are many
}

// writers is the folder of the files and of their script.
var writers = filepath.Join("testdata", "writers")

func writtenFiles(t *testing.T, folder string) map[string]written {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]written
	if err := json.Unmarshal(b, &files); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestParquetOfEveryWriter reads what pyarrow, fastparquet, polars and DuckDB wrote in all
// compressions, page versions and encodings, with up to 70,000 rows.
func TestParquetOfEveryWriter(t *testing.T) {
	files := writtenFiles(t, writers)
	if len(files) < 80 {
		t.Fatalf("only %d files", len(files))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(strings.TrimSuffix(name, ".parquet"), func(t *testing.T) {
			in, err := os.ReadFile(filepath.Join(writers, name))
			if err != nil {
				t.Fatal(err)
			}
			checkWritten(t, in, files[name])
		})
	}
}

func checkWritten(t *testing.T, in []byte, want written) {
	t.Helper()
	rows, err := OpenParquet("t", bytes.NewReader(in), int64(len(in)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var kept []int
	got := written{Skipped: []string{}}
	for j, column := range rows.Columns() {
		if fault := rows.(ColumnSelector).Unreadable(j); fault != nil {
			got.Skipped = append(got.Skipped, column)
			continue
		}
		kept, got.Columns = append(kept, j), append(got.Columns, column)
	}
	if err := rows.(ColumnSelector).Choose(kept); err != nil {
		t.Fatal(err)
	}
	lines := sha256.New()
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]string, len(kept))
		for i, j := range kept {
			cells[i] = row.Fields[j]
		}
		if got.Rows++; want.Cells != nil {
			got.Cells = append(got.Cells, cells)
		}
		if _, err := io.WriteString(lines, strings.Join(cells, "|")+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if want.Cells == nil {
		got.SHA256 = hex.EncodeToString(lines.Sum(nil))
	}
	slices.Sort(got.Skipped)
	slices.Sort(want.Skipped)
	if diff := cmp.Diff(want, got, cmp.Comparer(sameCell)); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// sameCell compares numbers by their values, since programs write them in several ways.
func sameCell(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y && strings.ContainsAny(a+b, ".e")
}

// Decimals in byte arrays of any length are read. Hive and Impala write them.
func TestDecimalsInBytes(t *testing.T) {
	cell, err := newParquetCell(parquet.Column{Kind: parquet.ByteArray, Logical: "DECIMAL", Scale: 2}, false)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]float64{"\x01": .01, "\xff": -.01, "\x04\xd2": 12.34, "\x00\x00\x00\x00\x64": 1, "\x80\x00": -327.68} {
		if got := cell.number([]byte(in)); got != want {
			t.Errorf("%x: %v, want %v", in, got, want)
		}
	}
	for _, in := range []string{"", strings.Repeat("\x00", 33)} {
		if _, err := cell.label([]byte(in)); !errors.Is(err, errNotFinite) {
			t.Errorf("%d bytes: error %v", len(in), err)
		}
	}
}

// A time outside of a day is refused. So is a timestamp of 96 bits outside of four-digit years.
func TestTimesOfDay(t *testing.T) {
	for s, want := range map[int64]string{0: "00:00:00", 86399: "23:59:59", -1: "", 86400: ""} {
		if got, err := timeOfDay(s); got != want || (err == nil) != (want != "") {
			t.Errorf("%d: %q, %v", s, got, err)
		}
	}
	for in, want := range map[string]string{
		"\x00\x00\x00\x00\x00\x00\x00\x00\x8c\x3d\x25\x00": "1970-01-01T00:00:00",
		"\xff\xff\xff\xff\xff\xff\xff\xff\x8c\x3d\x25\x00": "1969-12-31T23:59:59",
		"\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff": "",
	} {
		if got, err := momentOf96([]byte(in)); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%x: %q, %v", in, got, err)
		}
	}
}
