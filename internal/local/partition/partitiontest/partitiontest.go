// Package partitiontest provides tables for tests of a process that has the rows of several
// parties.
package partitiontest

import (
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
)

// WDBC returns n consecutive rows of the WDBC data set. The first of them has the index start.
func WDBC(t testing.TB, start, n int) *dataset.Set {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = start + i
	}
	return set.Subset(rows)
}

// Library returns a loader that finds data sets by file name.
func Library(sets map[string]*dataset.Set) func(job.Source, job.Data) (*dataset.Set, error) {
	return func(s job.Source, _ job.Data) (*dataset.Set, error) {
		if set, ok := sets[s.File]; ok {
			return set, nil
		}
		return nil, errors.New("no such source")
	}
}

// OnlyOf keeps the rows of one class.
func OnlyOf(set *dataset.Set, class string) *dataset.Set {
	var rows []int
	for i, label := range set.Labels {
		if label == class {
			rows = append(rows, i)
		}
	}
	return set.Subset(rows)
}
