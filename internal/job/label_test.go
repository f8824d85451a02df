package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

func TestListedClasses(t *testing.T) {
	d := Data{Order: []string{"well", "ill"}, Classes: []MergedClass{{"ill", []string{"ill", "mild", "severe"}}}}
	if diff := cmp.Diff([]string{"well", "ill", "mild", "severe"}, d.Accepted()); diff != "" {
		t.Error(diff)
	}
	if got := (&Data{}).Accepted(); got != nil {
		t.Errorf("a job without a list accepts %q only", got)
	}
	merged := d.Merge(&dataset.Set{Name: "a.csv", Labels: []string{"mild", "well"}})
	if err := d.CheckClasses(merged); err != nil {
		t.Error(err)
	}
	for label, want := range map[string]string{
		"dead": `a.csv: row 2, the class "dead" is not one of the classes that the job lists ("well", "ill"); correct the cell`,
		"Ill":  `a.csv: row 2, the class "Ill" differs from the job's class "ill" only by case`,
		"":     `a.csv: row 2, the class "" is not one of the classes`,
	} {
		if err := d.CheckClasses(&dataset.Set{Name: "a.csv", Labels: []string{"ill", label}}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", label, err, want)
		}
	}
	d.Spread = true
	if err := d.CheckClasses(&dataset.Set{Labels: []string{"ill", ""}}); err != nil {
		t.Errorf("a row without a label where labels are spread: %v", err)
	}
}
