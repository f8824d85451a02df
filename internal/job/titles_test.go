package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Titles are part of the dictionary, and a dictionary without them has the hash that it had.
func TestTitlesOfADictionary(t *testing.T) {
	d := cohort(t)
	if d.Hash() != "1397a9d4d485ccf33a43f6d144f57eb757d78939a0b18e31cb2ab858b3ef0ecb" {
		t.Errorf("the hash of a dictionary without titles is %s", d.Hash())
	}
	titled, err := ParseDictionary("titled", []byte(strings.Replace(cohortFile, "outcome: {}", "outcome: {titles: {1.0: died, 0: survived}}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseDictionary("again", titled.Encode())
	if err != nil || again.Hash() != titled.Hash() || titled.Hash() == d.Hash() {
		t.Errorf("hashes %s and %s, %v", titled.Hash(), again.Hash(), err)
	}
	if diff := cmp.Diff(titled, again); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	var data Data
	data.DescribeLabel(titled.Labels[1])
	if data.Titles.Of("1") != "died" || data.Titles.Of("0") != "survived" || data.Titles.Of("2") != "2" || (Titles)(nil).Of("x") != "x" {
		t.Errorf("%v", data.Titles)
	}
	if list := d.Changes(titled); len(list) != 2 || !strings.Contains(list[1], "label outcome: titles is new") {
		t.Errorf("%q", list)
	}
}

// Beside a dictionary, a job's label has no classes and titles of its own.
func TestLabelBesideADictionary(t *testing.T) {
	d := Data{Label: "y", Dictionary: cohort(t), Order: []string{"a", "b"}, Titles: Titles{"a": "A"}, Unlabelled: "drop-row"}
	if n := (labelOf{&d}).Encode(); len(n.Content) != 4 || d.Order == nil || d.Titles == nil {
		t.Errorf("beside a dictionary: %d nodes", len(n.Content))
	}
}
