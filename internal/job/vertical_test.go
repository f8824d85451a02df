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

func TestBadVerticalJobs(t *testing.T) {
	for _, c := range []struct{ name, text, old, bad, want string }{
		{"gram by rows", vertical, "by: columns", "by: rows", "job.yaml:5: protocol gram and this partition do not go together; gram and fdskl take partition: {by: columns}, and others do not"},
		{"okra by columns", vertical, "gram", "okra", "job.yaml:5: protocol okra and this partition do not go together; gram and fdskl take partition: {by: columns}, and others do not"},
		{"gram without a partition", sourced, ", partition: {by: columns}", "", "job.yaml:5: protocol gram and this partition do not go together; gram and fdskl take partition: {by: columns}, and others do not"},
		{"columns of nobody", vertical, ", parties: [guest, host]", "", "job.yaml:5: partition has no parties; add parties: [guest, host], the first of which holds the labels"},
		{"coverage of rows", vertical, "by: columns", "by: rows, coverage: 0.9", "job.yaml:5: coverage is of a partition by columns; remove it"},
		{"columns of a stranger", vertical, "by: columns", "by: columns, columns: {shop: [a]}", "job.yaml:5: partition names columns of \"shop\", who is no party of the job"},
		{"no columns", vertical, "by: columns", "by: columns, columns: {host: []}", "job.yaml:5: the list of columns of host is empty; name one at least, or leave the party out for all"},
		{"columns twice", vertical, "by: columns", "by: columns, columns: {host: [a, a]}", "job.yaml:5: the list of columns of host names \"a\" twice; keep one"},
		{"labels as columns", vertical, "by: columns", "by: columns, columns: {guest: [label]}", "job.yaml:5: partition names \"label\" among the columns of guest; it holds the labels"},
		{"ids as columns", sourced, "by: columns", "by: columns, columns: {host: [x, id]}", "job.yaml:5: partition names \"id\" among the columns of host; it holds the ids"},
		{"columns in a list", vertical, "by: columns", "by: columns, columns: [a]", "job.yaml:5: columns is a list; write a map such as {guest: [age, income]}"},
		{"columns of rows", vertical, "by: columns", "by: rows, columns: {guest: [a]}", "job.yaml:5: columns are named in a partition by columns; add by: columns, or remove them"},
		{"too much coverage", vertical, "by: columns", "by: columns, coverage: 1.5", "job.yaml:5: coverage is 1.5; write a share of the rows above 0 and up to 1, such as 0.9"},
		{"no coverage", vertical, "by: columns", "by: columns, coverage: 0", "job.yaml:5: coverage is 0; write a share of the rows above 0 and up to 1, such as 0.9"},
		{"aligned rows", vertical, "by: columns", "by: rows, aligned: true", "job.yaml:5: aligned is of a partition by columns; remove it"},
		{"aligned part", vertical, "by: columns", "by: columns, aligned: true, coverage: 0.9", "job.yaml:5: coverage gives parties different rows, and aligned says that they have the same; remove one"},
		{"skewed columns", vertical, "by: columns", "by: columns, skew: 1", "job.yaml:5: skew is of a partition by rows; remove it"},
		{"dropout of columns", vertical, "by: columns", "by: columns, dropout: 0.1", "job.yaml:5: dropout is of devices; remove it"},
		{"sources without ids", sourced, "id: id, ", "", "job.yaml:5: rows of several sources belong together by their ids; add id: and the name of their column"},
		{"sources with parties", sourced, "{by: columns}", "{by: columns, parties: [guest, host]}", "job.yaml:5: sources already names the parties; write partition: {by: columns}"},
		{"paper", vertical, "gram", "gram, mode: paper", "job.yaml:6: protocol gram has no mode paper; remove it"},
		{"no ids", vertical, "gram", "gram, max_ids: 0", "job.yaml:6: max_ids is 0; write how many rows a party may bring, from 1 to 4194304"},
		{"many ids", vertical, "gram", "gram, max_ids: 4194305", "job.yaml:6: max_ids is 4194305; write how many rows a party may bring, from 1 to 4194304"},
		{"ids of rows", strings.Replace(vertical, "by: columns", "by: rows", 1), "gram", "okra, max_ids: 5", "job.yaml:6: protocol okra has no max_ids; remove it"},
		{"encoder", vertical, "gram", "gram, encoder: haar", "job.yaml:6: protocol gram has no encoder; remove it"},
		{"test source", vertical, "label: label", "label: label, test: {source: other}", "job.yaml:5: held-out rows of a source of their own are not in this version of protocol gram; use test: {fraction: 0.25} or {every: 10}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(c.text, c.old, c.bad, 1)
			if text == c.text {
				t.Fatal("nothing is wrong with this job")
			}
			if _, err := reader().Parse("job.yaml", []byte(text)); err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
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
