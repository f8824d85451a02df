package daemon

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
)

// streams is a store in memory.
type streams map[string][]byte

func (s streams) Write(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	s[name] = b.Bytes()
	return err
}

func (s streams) Open(name string) (io.ReadCloser, error) {
	if _, is := s[name]; !is {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(s[name])), nil
}

func (s streams) Remove(name string) error {
	delete(s, name)
	return nil
}

// A parquet file with columns that cannot be read is frozen without them.
func TestEditionLeavesOutNestedColumns(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", "..", "dataset", "testdata", "writers", "pyarrow-zstd-v2.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*job.Dictionary{job.OfNumbers(), {Columns: prepare.Schema{{Name: "last"}}}} {
		store := streams{}
		if err := At(t.TempDir()).copyRows(t.Context(), Source{Path: path}, d, store); err != nil {
			t.Fatal(err)
		}
		rows, err := snapshot.Read(store)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(rows.Columns(), "struct") || !slices.Contains(rows.Columns(), "last") {
			t.Errorf("columns %q", rows.Columns())
		}
		n := 0
		for {
			if _, err := rows.Next(); err != nil {
				break
			}
			n++
		}
		if n != 20 {
			t.Errorf("%d rows", n)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}
