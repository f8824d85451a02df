package prepare

import (
	"math"
	"strings"
	"testing"
)

// Columns that are prepared by public constants alone pass, and others say what to write.
func TestCheckPublic(t *testing.T) {
	public := Schema{
		{Name: "age", Range: [2]float64{0, 120}, Outside: OutsideClip, Missing: FillValue, Value: "40"},
		{Name: "krea", Range: [2]float64{1, 400}, Outside: OutsideMissing, Missing: FillValue, Value: "90", Transform: Log, Indicator: true},
		{Name: "sex", Type: Category, Categories: []string{"F", "M"}, Unknown: UnknownIgnore, Missing: FillCategory},
		{Name: "hiv", Type: Boolean, Missing: FillValue, Value: "no"},
		{Name: "admitted", Type: Date, Format: "%Y-%m-%d", As: Month, Missing: FillValue, Value: "2020-01-01"},
	}
	for i := range public {
		if err := public[i].Check(); err != nil {
			t.Fatal(public[i].Name, err)
		}
	}
	if err := public.CheckPublic(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		change func(Schema)
		says   string
	}{
		{func(s Schema) { s[0].Outside = OutsideRefuse }, "column \"age\" refuses numbers outside its range"},
		{func(s Schema) { s[0].Missing = FillError }, "column \"age\" has no value for gaps"},
		{func(s Schema) { s[0].Missing = FillDropRow }, "column \"age\" has no value for gaps"},
		{func(s Schema) { s[0].Missing = FillMean }, "column \"age\" fills gaps with a value that is computed from the rows (mean)"},
		{func(s Schema) { s[1].Missing = FillMedian }, "column \"krea\" fills gaps with a value that is computed from the rows (median)"},
		{func(s Schema) { s[3].Missing = FillMostFrequent }, "column \"hiv\" fills gaps with a value that is computed from the rows (most-frequent)"},
		{func(s Schema) { s[0].Range = [2]float64{} }, "column \"age\" has no range"},
		{func(s Schema) { s[2].Unknown = UnknownError }, "column \"sex\" refuses words"},
		{func(s Schema) { s[2].Agree, s[2].Categories = true, nil }, "column \"sex\" has categories on which the parties agree"},
		{func(s Schema) { s[4].As = Year }, "column \"admitted\" refuses numbers"},
		{func(s Schema) { s[4].As, s[4].Range = Month, [2]float64{3, 9} }, "column \"admitted\" refuses numbers"},
	} {
		other := append(Schema{}, public...)
		c.change(other)
		if err := other.CheckPublic(); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

// No prepared row is longer than the schema says, and one is as long.
func TestLongestRow(t *testing.T) {
	s := Schema{
		{Name: "age", Type: Number, Range: [2]float64{-3, 2}, Outside: OutsideClip, Missing: FillValue, Value: "0", Indicator: true},
		{Name: "sex", Type: Category, Categories: []string{"F", "M"}, Unknown: UnknownOther, Missing: FillCategory},
		{Name: "stage", Type: Category, Categories: []string{"I", "II", "III"}, Ordered: true, Missing: FillValue, Value: "I", Unknown: UnknownIgnore},
	}
	for scaling, want := range map[Scaling]float64{Unscaled: math.Sqrt(9 + 1 + 1 + 4), Ranged: math.Sqrt(1 + 1 + 1 + 1)} {
		if got, err := s.Longest(scaling); err != nil || got != want {
			t.Errorf("%v: %v, %v, want %v", scaling, got, err, want)
		}
	}
}
