package catalogue

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
)

func TestLoadGenerated(t *testing.T) {
	for label, labels := range map[string]int{"": 6, LabelColumn: 6, noColumn: 0} {
		for _, ref := range []string{"generated:6x3", "generated:6x3x4"} {
			set, err := New("").Load(ref, Columns{Label: label})
			if err != nil {
				t.Fatal(err)
			}
			if set.X.Rows() != 6 || set.X.Cols() != 3 || len(set.Labels) != labels || set.IDs != nil || set.Name != ref {
				t.Errorf("label %q: %q has %d x %d cells, %d labels", label, set.Name, set.X.Rows(), set.X.Cols(), len(set.Labels))
			}
		}
	}
	for ref, classes := range map[string][]string{"generated:60x3": {"0", "1"}, "generated:60x3x3": {"0", "1", "2"}, "generated:60x3x4": {"0", "1", "2", "3"}} {
		set, err := New("").Load(ref, Columns{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := dataset.Classes(set.Labels); !slices.Equal(got, classes) {
			t.Errorf("%s has the classes %v, want %v", ref, got, classes)
		}
	}
	for ref, want := range map[string]string{
		"generated:":             "generated: has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:3":            "generated:3 has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:3x4x":         "generated:3x4x has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:3x4x5x6":      "generated:3x4x5x6 has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:3x4x1":        "generated:3x4x1 cannot be generated: the table has 1 classes; choose 2 to 1024",
		"generated:3x4x2#rbf":    "generated:3x4x2#rbf always has two classes with a part after #; leave out the third number",
		"generated:3x4#":         "generated:3x4# has an unknown part after #; write #rbf, #sparse=0.05 for rows of which 5 % is not zero, or #binary=0.05 for the same with ones",
		"generated:3x4#sparse=":  "generated:3x4#sparse= has an unknown part after #; write #rbf, #sparse=0.05 for rows of which 5 % is not zero, or #binary=0.05 for the same with ones",
		"generated:3x4#sparse=2": "generated:3x4#sparse=2 cannot be generated: the density is 2; choose a share above 0 and up to 1",
		"generated:3x4#binary=1": "generated:3x4#binary=1 cannot be generated: this density fills every column, so all rows would be equal; choose a lower density or more columns",
		"generated:0x4":          "generated:0x4 cannot be generated: the table has 0 rows and 4 columns; choose at least one of each, and at most 16777216 columns",
	} {
		_, err := New("").Load(ref, Columns{})
		var problem *Error
		if !errors.As(err, &problem) || err.Error() != want {
			t.Errorf("%s: error %v", ref, err)
		}
	}
	if _, err := New("").Load("generated:3x4", Columns{ID: "id"}); err == nil {
		t.Error("ids were found where there are none")
	}
}

func TestLoadGeneratedForms(t *testing.T) {
	for ref, classes := range map[string]int{"generated:60x3x4": 4, "generated:60x3#rbf": 2, "generated:60x30#sparse=0.1": 2, "generated:60x30#binary=0.1": 2} {
		set, err := New("").Load(ref, Columns{Label: LabelColumn})
		if err != nil {
			t.Fatal(err)
		}
		found, _ := dataset.Classes(set.Labels)
		_, thin := set.X.(*dataset.CSR)
		if len(found) != classes || set.X.Rows() != 60 || set.Name != ref || thin != (strings.Contains(ref, "sparse") || strings.Contains(ref, "binary")) {
			t.Errorf("%s: %d classes, %d rows, sparse %v, name %s", ref, len(found), set.X.Rows(), thin, set.Name)
		}
	}
}
