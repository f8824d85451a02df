package bundled_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
)

func TestLoad(t *testing.T) {
	want := map[string]dataset.Summary{
		"digits": {Name: "digits", Min: 0, Max: 16, Varying: 61, OnGrid: 61, Step: 1},
		"wdbc":   {Name: "wdbc", Min: 0, Max: 4254, Varying: 30, OnGrid: 19},
	}
	if diff := cmp.Diff([]string{"digits", "wdbc"}, bundled.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, name := range bundled.Names() {
		info, err := bundled.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := bundled.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Validate(); err != nil {
			t.Error(err)
		}
		got := dataset.Summarize(set)
		if got.Rows != info.Rows || got.Cols != info.Cols || len(got.Classes) != info.Classes {
			t.Errorf("%s has %d rows, %d columns, %d classes; Info says %+v", name, got.Rows, got.Cols, len(got.Classes), info)
		}
		got.Rows, got.Cols, got.Classes, got.Sparsity = 0, 0, nil, 0
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLoadIsFresh(t *testing.T) {
	first, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	first.X.(*dataset.Dense).Matrix().Data[0] = -1
	second, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	if got := second.X.Row(0, nil)[0]; got != 17.99 {
		t.Errorf("the first cell is %v, want 17.99", got)
	}
	if second.Labels[0] != "0" || second.Labels[568] != "1" {
		t.Errorf("labels %q and %q, want 0 and 1", second.Labels[0], second.Labels[568])
	}
}

func TestUnknownName(t *testing.T) {
	for name, meant := range map[string]string{
		"digit": `; did you mean "digits"?`, "WDBC": `; did you mean "wdbc"?`, "wdbcs": `; did you mean "wdbc"?`, "breast": "", "": "",
	} {
		_, err := bundled.Load(name)
		want := fmt.Sprintf("dataset/bundled: no data set is called %q%s (there are digits, wdbc)", name, meant)
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestAttribution(t *testing.T) {
	got, err := bundled.Attribution()
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"CC BY 4.0", "Alpaydin", "Kaynak", "1998", "Wolberg", "Mangasarian", "Street", "1995", "Optical Recognition of Handwritten Digits", "Breast Cancer Wisconsin (Diagnostic)"} {
		if !strings.Contains(got, must) {
			t.Errorf("the attribution does not name %q", must)
		}
	}
}
