package prepare

import (
	"slices"
	"testing"
)

// Every choice of a column is in its line.
func TestDescribe(t *testing.T) {
	schema := Schema{
		{Name: "age", Range: [2]float64{0, 120}, Missing: FillMedian, Indicator: true},
		{Name: "dose", Unit: "mg", Range: [2]float64{1, 9}, Outside: OutsideClip, Transform: Log, Missing: FillValue, Value: "2"},
		{Name: "sex", Type: Category, Categories: []string{"F", "M"}, Missing: FillMostFrequent},
		{Name: "ward", Type: Category, Agree: true, Missing: FillCategory},
		{Name: "stage", Type: Category, Categories: []string{"I", "II"}, Ordered: true, Missing: FillDropRow},
		{Name: "smoker", Type: Boolean, True: []string{"yes", "1"}, False: []string{"no"}, Missing: FillMostFrequent},
		{Name: "day", Type: Date, Format: "%d.%m.%Y", As: Days, Since: "2020-01-01"},
		{Name: "born", Type: Date, Format: "%Y", As: Year, Range: [2]float64{1900, 2026}, Outside: OutsideMissing, Missing: FillMean},
	}
	for j := range schema {
		if err := schema[j].Check(); err != nil {
			t.Fatal(err)
		}
	}
	p := &Preparation{schema: schema, columns: []fitted{
		{fill: 57.125}, {fill: 2}, {fill: 1, categories: []string{"F", "M"}}, {categories: []string{"A1", "B2"}},
		{categories: []string{"I", "II"}}, {fill: 0}, {}, {fill: 1960},
	}}
	want := []string{
		"age: number from 0 to 120; others are refused; gaps become 57.125 (median), marked in age_missing",
		"dose: number in mg from 1 to 9; others become the nearer end; gaps become 2; log",
		"sex: one of F, M; other words are refused; gaps become M (most-frequent)",
		"ward: one of A1, B2; other words are a category; gaps are a category",
		"stage: 0, 1, .. for I, II; other words are refused; rows with gaps are left out",
		"smoker: true: yes, 1; false: no; gaps become no (most-frequent)",
		"day: days since 2020-01-01 of a date such as %d.%m.%Y; gaps are refused",
		"born: year of a date such as %Y from 1900 to 2026; others are gaps; gaps become 1960 (mean)",
	}
	if got := p.Describe(); !slices.Equal(got, want) {
		t.Errorf("described as\n%q, want\n%q", got, want)
	}
}
