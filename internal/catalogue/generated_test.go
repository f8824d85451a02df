package catalogue

import (
	"errors"
	"testing"
)

func TestLoadGenerated(t *testing.T) {
	for label, labels := range map[string]int{"": 6, LabelColumn: 6, noColumn: 0} {
		set, err := New("").Load("generated:6x3", Columns{Label: label})
		if err != nil {
			t.Fatal(err)
		}
		if set.X.Rows() != 6 || set.X.Cols() != 3 || len(set.Labels) != labels || set.IDs != nil || set.Name != "generated:6x3" {
			t.Errorf("label %q: %q has %d x %d cells, %d labels", label, set.Name, set.X.Rows(), set.X.Cols(), len(set.Labels))
		}
	}
	for ref, want := range map[string]string{
		"generated:":     "generated: has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:3":    "generated:3 has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:3x4x": "generated:3x4x has no size; write generated:ROWSxCOLUMNS, such as generated:1000x10",
		"generated:0x4":  "generated:0x4 cannot be generated: a table of 0 rows and 4 columns; choose at least one of each, and at most 16777216 columns",
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
