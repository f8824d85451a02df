package job_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
)

// A job's map of the label is written as it was read. Defaults and what a dictionary says are not
// written.
func TestLabelIsCanonical(t *testing.T) {
	read := func(text string) *job.Job {
		t.Helper()
		j, err := reader().Parse("job.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	for label, want := range map[string]string{
		"y":                                   "label: y\n",
		"{column: y}":                         "label: y\n",
		"{column: y, missing: error}":         "label: y\n",
		"{column: y, missing: drop-row}":      "label:\n      column: y\n      missing: drop-row\n",
		"{column: y, titles: {b: Bad, 1: A}}": "label:\n      column: y\n      titles:\n        \"1\": A\n        b: Bad\n",
	} {
		j := read(strings.Replace(minimal, "label: label", "label: "+label, 1))
		text := j.Encode()
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is written as\n%s", label, text)
		}
		if again := read(string(text)); !bytes.Equal(again.Encode(), text) || again.Data.Unlabelled != j.Data.Unlabelled {
			t.Errorf("%s is read as %s", text, again.Encode())
		}
		drops := strings.Contains(label, "drop-row")
		if table := j.Data.Table(job.Source{}); (table.Labelled != nil) != drops || drops && (j.Data.Unlabelled != prepare.FillDropRow || table.Labelled[0] != "y") {
			t.Errorf("%s: rows need %q", label, table.Labelled)
		}
	}
}
