package prepare_test

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/linalg"
)

// A table with a gap and a category becomes numbers.
func Example() {
	schema := prepare.Schema{
		{Name: "age", Missing: prepare.FillMedian, Range: [2]float64{0, 120}},
		{Name: "sex", Type: prepare.Category, Categories: []string{"F", "M"}},
	}
	for i := range schema {
		if err := schema[i].Check(); err != nil {
			fmt.Println(err)
			return
		}
	}
	records, err := dataset.OpenCSV("people.csv", strings.NewReader("sex;alter\nF;41\nM;\nF;67\n"), dataset.CSVForm{})
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := prepare.Read(records, prepare.Table{
		Name: "people.csv", Schema: schema,
		Mapping: prepare.Mapping{Columns: map[string]prepare.Theirs{"alter": {As: "age"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	frame := set.X.(*prepare.Frame)
	made, err := prepare.FitAlone(frame, linalg.Range(0, frame.Rows()), prepare.Unscaled)
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := made.Apply(frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(made.Names())
	for i := range table.Rows() {
		fmt.Println(table.Row(i, nil))
	}
	// Output:
	// [age sex_F sex_M]
	// [41 1 0]
	// [54 0 1]
	// [67 1 0]
}
