package job_test

import (
	. "github.com/mercer-fl/mercer/internal/job"

	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vertical is a job between holders of columns of one table, sourced one
// between tables of their own.
const vertical = `apiVersion: mercer/v1
kind: Job
metadata: {name: vertical}
spec:
  data: {source: bundled:wdbc, label: label, partition: {by: columns, parties: [guest, host]}}
  protocol: {name: gram}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc}
`

var sourced = strings.Replace(vertical, "source: bundled:wdbc, label: label, partition: {by: columns, parties: [guest, host]}",
	"sources: {guest: a.csv, host: b.csv}, id: id, label: y, partition: {by: columns}", 1)

func TestVertical(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(vertical))
	if err != nil {
		t.Fatal(err)
	}
	if j.Protocol.Mode() != Hardened || j.Protocol.Limit("max_ids") != 1<<20 || j.Data.Partition.By != Columns || j.Simulable() != nil || j.Deployable() != nil {
		t.Errorf("%+v", j)
	}
	if j, err = reader().Parse("job.yaml", []byte(sourced)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"guest", "host"}, j.Parties()); d != "" || j.Data.Partition.By != Columns {
		t.Errorf("%+v: %s", j.Data, d)
	}
}

// Parties see a table of their own each, and only the first one's labels are
// asked for.
func TestOwned(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(sourced))
	if err != nil {
		t.Fatal(err)
	}
	j.Data.Partition.Aligned, j.Data.Partition.Columns = true, []OwnColumns{{"host", []string{"x"}}}
	own := j.Owned("people")
	if !own.Data.Partition.Aligned || own.Columns("host") == nil || own.Columns("guest") != nil {
		t.Errorf("%+v", own.Data.Partition)
	}
	if err := reader().Validate(own); err != nil {
		t.Fatal(err)
	}
	if own.Data.Source != "people" || own.Data.Sources != nil || own.Data.Partition.By != Columns {
		t.Errorf("%+v", own.Data)
	}
	if d := cmp.Diff(j.Parties(), own.Parties()); d != "" || !own.Labels("guest") || own.Labels("host") {
		t.Errorf("guest %v, host %v have labels, %s", own.Labels("guest"), own.Labels("host"), d)
	}
	j, err = reader().Parse("job.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if own = j.Owned("people"); own.Data.Partition.By != Rows || !own.Labels("north") || !own.Labels("south") {
		t.Errorf("%+v", own.Data)
	}
}
