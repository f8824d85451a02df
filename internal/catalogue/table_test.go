package catalogue

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
)

// A parquet file is read with its types: text is a category, and columns that no schema names
// are not read.
func TestLoadTableOfParquet(t *testing.T) {
	schema := prepare.Schema{{Name: "age", Range: [2]float64{0, 120}, Outside: prepare.OutsideMissing, Missing: prepare.FillMean}, {Name: "who", Type: prepare.Category, Categories: []string{"p1", "p2"}, Unknown: prepare.UnknownOther}}
	for i := range schema {
		if err := schema[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	table := prepare.Table{Schema: schema, Label: "label", ID: prepare.IDRule{Columns: []string{"id"}}, Mapping: prepare.Mapping{Columns: map[string]prepare.Theirs{"id": {As: "who"}}}}
	set, err := Library{}.LoadTable("../../dataset/testdata/people.snappy.parquet", table)
	if err != nil {
		t.Fatal(err)
	}
	f := set.X.(*prepare.Frame)
	if f.Rows() != 3 || f.Row(0, nil)[0] != 30 || f.Row(2, nil)[0] == f.Row(2, nil)[0] || f.Row(2, nil)[1] != -1 {
		t.Errorf("%v %v", f.Row(0, nil), f.Row(2, nil))
	}
	if !slices.Equal(set.Labels, []string{"yes", "no", "yes"}) || !slices.Equal(set.IDs, []string{"p1", "p2", "p3"}) {
		t.Errorf("%v %v", set.Labels, set.IDs)
	}
	table.Schema = nil
	table.Mapping.Columns = nil
	if set, err = (Library{}).LoadTable("../../dataset/testdata/people.snappy.parquet", table); err != nil || !slices.Equal(set.Columns, []string{"age", "income", "member", "paid"}) {
		t.Errorf("%v, error %v", set, err)
	}
}

// Columns beside the features are read, too: groups, and the column by which rows are held out.
func TestParquetColumnsBeside(t *testing.T) {
	table := prepare.Table{Features: []string{"age"}, Label: "label", Group: "id", Cut: "income"}
	set, err := Library{}.LoadTable("../../dataset/testdata/people.snappy.parquet", table)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Groups, []string{"p1", "p2", "p3"}) || len(set.Cut) != 3 || slices.Contains(set.Cut, "") {
		t.Errorf("groups %q, bounds %q", set.Groups, set.Cut)
	}
}
