package fdskl

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// alignedJob is a job whose parties say that they have the same rows.
func alignedJob(t *testing.T, parties string) *job.Job {
	t.Helper()
	text := `apiVersion: mercer/v1
kind: Job
metadata: {name: aligned}
spec:
  data: {source: own, label: label, partition: {by: columns, parties: [` + parties + `], aligned: true}, scale: standard}
  protocol: {name: fdskl, directions: 128}
  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}
  learner: {name: logistic, lambda: 1e-3}
`
	return read(t, text)
}

// Aligned tables need no intersection; the result has all rows, in an order that differs from
// the tables' order.
func TestAligned(t *testing.T) {
	for _, parties := range []string{"guest, host", "guest, host, third, fourth"} {
		t.Run(parties, func(t *testing.T) {
			j, set := alignedJob(t, parties), columnstest.Numbered(t, "wdbc", 300)
			f := runSteps(t, j, columnstest.Whole(t, j, set))
			if m := f.Server.learned.Metrics; m["accuracy"] < .9 {
				t.Errorf("metrics %v", m)
			}
			common := f.Parties["guest"].Aligned()
			for name, p := range f.Parties {
				if !slices.Equal(p.Aligned(), common) {
					t.Errorf("%s has another order", name)
				}
			}
			if slices.Equal(common, set.IDs) || !slices.Equal(slices.Sorted(slices.Values(common)), slices.Sorted(slices.Values(set.IDs))) {
				t.Errorf("%d of %d rows, in the tables' own order: %v", len(common), len(set.IDs), slices.Equal(common, set.IDs))
			}
		})
	}
}

// Tables that are not aligned, though the job says so, are found out before
// anything is computed from them.
func TestNotAligned(t *testing.T) {
	for name, rows := range map[string]func([]int) []int{
		"another order": func(r []int) []int { r[7], r[8] = r[8], r[7]; return r },
		"a row less":    func(r []int) []int { return r[:len(r)-1] },
	} {
		for _, parties := range []string{"guest, host", "guest, host, third"} {
			t.Run(name+"/"+parties, func(t *testing.T) {
				j, set := alignedJob(t, parties), columnstest.Numbered(t, "wdbc", 100)
				tables := columnstest.Whole(t, j, set)
				tables["host"] = method.Table{Set: tables["host"].Set.Subset(rows(linalg.Range(0, 100)))}
				f := federate(t, j, tables)
				err := f.Try(t.Context(), 0, func() {})
				if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "columns: the tables of "+parties+" do not have the same ids in the same order") {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

// The statement about an alignment without an intersection names no numbers of common ids.
func TestAlignedLeakage(t *testing.T) {
	j := alignedJob(t, "guest, host, third")
	lines := Leakage(j, 300, fdskl.Exposure{})
	all := strings.Join(slices.Concat(lines["server"], lines["party"], lines["coalition"], lines["broker"]), " ")
	for _, want := range []string{"have its 300 ids", "which parties have the same ids in the same order"} {
		if !strings.Contains(all, want) {
			t.Errorf("the leakage does not say %q: %s", want, all)
		}
	}
	if strings.Contains(all, "in common") {
		t.Errorf("the leakage speaks of an intersection: %s", all)
	}
}
