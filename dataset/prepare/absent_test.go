package prepare

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
)

func TestColumnsThatTheTableLacks(t *testing.T) {
	schema := Schema{
		{Name: "age", Type: Number, Missing: FillError, Outside: OutsideRefuse},
		{Name: "creatinine", Type: Number, Missing: FillValue, Value: "80", Outside: OutsideRefuse, Indicator: true},
		{Name: "smoker", Type: Category, Categories: []string{"no", "yes"}, Missing: FillCategory, Unknown: UnknownError},
	}
	read := func(text string, absent bool) (*dataset.Set, error) {
		records, err := dataset.OpenCSV("new.csv", strings.NewReader(text), dataset.CSVForm{})
		if err != nil {
			t.Fatal(err)
		}
		return Read(records, Table{Name: "new.csv", Schema: schema, Absent: absent})
	}
	const text = "age\n50\n60\n"
	var unlike *UnlikeError
	if _, err := read(text, false); !errors.As(err, &unlike) || !unlike.Missing() || unlike.Column != "creatinine" {
		t.Errorf("without leave: %v", err)
	}
	if _, err := read("creatinine,smoker\n90,no\n", true); !errors.As(err, &unlike) || unlike.Column != "age" {
		t.Errorf("without a column that nothing fills: %v", err)
	}
	set, err := read(text, true)
	if err != nil {
		t.Fatal(err)
	}
	f := set.X.(*Frame)
	if !slices.Equal(f.Absent, []string{"creatinine", "smoker"}) {
		t.Errorf("absent are %q", f.Absent)
	}
	plan, err := NewPlan(schema, Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.Fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := made.Apply(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{60, 80, 1, 0, 0, 1}; !slices.Equal(got.Row(1, nil), want) { // age, creatinine and its gap, smoker no, yes, missing
		t.Errorf("prepared as %v, want %v", got.Row(1, nil), want)
	}
}
