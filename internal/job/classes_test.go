package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

func TestMergeTwiceIsMergeOnce(t *testing.T) {
	d := Data{Classes: []MergedClass{{"ill", []string{"ill", "mild", "severe"}}, {"well", []string{"none"}}}}
	own := []string{"mild", "severe", "none", "ill", "other"}
	once := d.Merge(&dataset.Set{Labels: own})
	want := []string{"ill", "ill", "well", "ill", "other"}
	if diff := cmp.Diff(want, once.Labels) + cmp.Diff(want, d.Merge(once).Labels); diff != "" {
		t.Error(diff)
	}
	if own[0] != "mild" || (&Data{}).Merge(&dataset.Set{Labels: own}).Labels[0] != "mild" || d.Merge(&dataset.Set{}).Labels != nil {
		t.Error("the table's own labels are not as they were")
	}
}
