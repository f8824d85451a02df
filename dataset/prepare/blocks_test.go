package prepare

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Blocks have the values and the refusals of the whole table.
func TestBlocksEqualTheWholeTable(t *testing.T) {
	var many strings.Builder
	many.WriteString("id;a;b;y\n")
	for i := range 500 {
		fmt.Fprintf(&many, "p%d;%d,5;-9;%d\n", i, i, i%2)
	}
	mapping := Mapping{CSV: CSV{Delimiter: ";", Decimal: ","}, Columns: map[string]Theirs{"a": {As: "alpha", Times: 2}}, Drop: []string{"b"}}
	for name, c := range map[string]struct {
		text  string
		table Table
	}{
		"plain":      {"a,b,y\n1,2,x\n3,4,z\n", Table{Label: "y"}},
		"mapping":    {many.String(), Table{Label: "y", ID: IDRule{Columns: []string{"id"}}, Mapping: mapping}},
		"cut":        {"a,b,y\n1,2,x\n3,4,z\n", Table{Label: "y", Cut: "b"}},
		"group":      {"a,b,y\n1,2,x\n3,4,z\n", Table{Label: "y", Group: "b"}},
		"unlabelled": {"a,b,y\n1,2,\n3,4,z\n,,\n", Table{Label: "y", Labelled: []string{"y"}}},
		"all left":   {"a,b,y\n1,2,\n", Table{Label: "y", Labelled: []string{"y"}}},
		"gap":        {"a,b,y\n1,2,x\n3,,z\n", Table{Label: "y"}},
		"word":       {"a,b,y\n1,2,x\n3,w,z\n", Table{Label: "y"}},
		"no label":   {"a,b,y\n1,2,x\n3,4,\n", Table{Label: "y"}},
		"no column":  {"a,b\n1,2\n", Table{Label: "y"}},
		"no rows":    {"a,b,y\n", Table{Label: "y"}},
		"empty id":   {"id,a,y\np,2,x\n,4,z\n", Table{Label: "y", ID: IDRule{Columns: []string{"id"}}}},
	} {
		want, wantErr := readText(c.text, c.table)
		for _, rows := range []int{1, 3, 2048} {
			got, err := readBlocks(t, c.text, c.table, rows)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s in blocks of %d: %v, the whole table: %v", name, rows, err, wantErr)
			}
			if err != nil || wantErr != nil {
				continue
			}
			x, y := linalg.New[float64](want.X.Rows(), want.X.Cols()), linalg.New[float64](got.X.Rows(), got.X.Cols())
			linalg.Gather(x, dataset.RowsOf(want.X), 0)
			linalg.Gather(y, dataset.RowsOf(got.X), 0)
			if d := cmp.Diff([]any{x, want.Labels, want.IDs, want.Columns, want.Groups, want.Cut, want.Lines, want.Unlabelled}, []any{y, got.Labels, got.IDs, got.Columns, got.Groups, got.Cut, got.Lines, got.Unlabelled}); d != "" {
				t.Errorf("%s in blocks of %d: %s", name, rows, d)
			}
		}
	}
	if _, err := OpenBlocks(nil, Table{Schema: Numbers([]string{"a"})}, 0); err == nil {
		t.Error("blocks without rows")
	}
}

// Blocks of a table with a schema have the cells of the whole table, words of agreed categories
// included, and the same rows are left out.
func TestTypedBlocksEqualTheWholeTable(t *testing.T) {
	var text strings.Builder
	text.WriteString("age,ward,krea,w,y\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%d,ward%d,%s,%d,%d\n", i, i*i%17, []string{"1", "", "2"}[i%3], i%4, i%2)
	}
	table := Table{Label: "y", Weight: "w", Schema: Schema{{Name: "age"}, {Name: "ward", Type: Category, Agree: true}, {Name: "krea", Missing: FillDropRow}}}
	want, err := readText(text.String(), table)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{1, 7, 2048} {
		got, err := readBlocks(t, text.String(), table, rows)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]any{want.Labels, want.Weights, want.Lines}, []any{got.Labels, got.Weights, got.Lines}); d != "" {
			t.Errorf("blocks of %d: %s", rows, d)
		}
		x, y := want.X.(*Frame), got.X.(*Frame)
		for i := range x.Rows() {
			for j := range x.Cols() {
				if a, b := x.AppendCell(nil, i, j), y.AppendCell(nil, i, j); string(a) != string(b) {
					t.Fatalf("blocks of %d: row %d, column %d is %q, in the whole table %q", rows, i, j, b, a)
				}
			}
		}
	}
}

// readBlocks reads a CSV text in blocks, and puts them together.
func readBlocks(t *testing.T, in string, table Table, rows int) (*dataset.Set, error) {
	t.Helper()
	table.Name = "t.csv"
	records, err := dataset.OpenCSV("t.csv", strings.NewReader(in), table.Mapping.Form())
	if err != nil {
		return nil, err
	}
	b, err := OpenBlocks(records, table, rows)
	if err != nil {
		return nil, err
	}
	var all []*dataset.Set
	var lines []int
	for {
		s, err := b.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if s.X.Rows() > rows {
			t.Errorf("a block of %d rows, of %d at most", s.X.Rows(), rows)
		}
		all, lines = append(all, s), append(lines, s.Lines...)
	}
	whole, err := dataset.Append(all...)
	if err != nil {
		t.Fatal(err)
	}
	whole.Lines, whole.Unlabelled = slices.Clone(lines), b.Unlabelled()
	return whole, nil
}
