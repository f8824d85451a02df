package baseline

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const columnsFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: columns}
spec:
  data: {source: bundled:wdbc, label: label, partition: {by: columns, parties: [guest, host, third], coverage: 0.9}}
  protocol: {name: gram}
  kernel: {name: linear}
  learner: {name: svc}
`

// A comparison needs exactly the rows of the job.
func TestCompareColumnsOfOtherRows(t *testing.T) {
	j := jobtest.Parse(t, columnsFile)
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return set, nil })
	if err != nil {
		t.Fatal(err)
	}
	err = Compare(t.Context(), nil, j, shares, &method.Outcome{Rows: []string{"1", "570"}}, &method.Result{Training: 1})
	if err == nil || !strings.Contains(err.Error(), "partition: ") || !strings.Contains(err.Error(), " has no row with id ") {
		t.Errorf("error %v", err)
	}
}
