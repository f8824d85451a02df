package learner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/learn/metrics"
)

// Every class of an assessment is renamed, and the assessment itself stays as it was.
func TestTitled(t *testing.T) {
	a := &Assessment{
		Classes: []ClassCount{{Class: "classA"}}, Positive: "classA", Confusion: &Confusion{Classes: []string{"classA", "classB"}},
		PerClass: []metrics.ClassFigures{{Class: "classB"}}, ClassIntervals: []ClassIntervals{{Class: "classB"}}, Curves: []ClassCurves{{Class: "classA"}},
		ByParty: []PartyFigures{{Party: "north", PerClass: []metrics.ClassFigures{{Class: "classB"}}}},
	}
	text := func(a *Assessment) string {
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := text(a)
	after := text(a.Titled(func(class string) string { return strings.ToUpper(class) }))
	if want := strings.NewReplacer("classA", "CLASSA", "classB", "CLASSB").Replace(before); after != want || after == before {
		t.Errorf("%s\nbefore: %s", after, before)
	}
	if text(a) != before {
		t.Errorf("the assessment has become %s", text(a))
	}
	if (*Assessment)(nil).Titled(nil) != nil {
		t.Error("no assessment has titles")
	}
}
