// Package columnstest has helpers for tests of methods whose parties hold different columns. Only
// tests import it.
package columnstest

import (
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Numbered returns the first n rows of a bundled set, with the row numbers as ids.
func Numbered(t testing.TB, name string, n int) *dataset.Set {
	t.Helper()
	set, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	own := *set.Subset(dataset.Complement(n, nil))
	own.IDs = nil
	for i := range n {
		own.IDs = append(own.IDs, strconv.Itoa(i))
	}
	return &own
}

// Share returns a table for each party of a job, with the party's columns and nine tenths of the
// rows. Each party's table has its own order of rows. The active parties have the labels.
func Share(t testing.TB, j *job.Job, set *dataset.Set) map[string]method.Table {
	t.Helper()
	tables := Whole(t, j, set)
	for i, name := range j.Parties() {
		own := *tables[name].Set
		if !j.Labels(name) {
			own.Labels = nil
		}
		rows, err := dataset.Cover(set.X.Rows(), 0.9, i, 7)
		if err != nil {
			t.Fatal(err)
		}
		tables[name] = method.Table{Set: own.Subset(rows)}
	}
	return tables
}

// Labels returns a map from the id of each row to its label.
func Labels(set *dataset.Set) map[string]string {
	label := make(map[string]string)
	for i, id := range set.IDs {
		label[id] = set.Labels[i]
	}
	return label
}

// Whole returns a table for each party of a job, with the party's columns and all rows of the set.
func Whole(t testing.TB, j *job.Job, set *dataset.Set) map[string]method.Table {
	t.Helper()
	shares, err := dataset.ByColumns(set.X.Cols(), len(j.Parties()))
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[string]method.Table)
	for i, name := range j.Parties() {
		tables[name] = method.Table{Set: set.SelectColumns(shares[i])}
	}
	return tables
}

// Beside joins the columns of several parties into one matrix, in the order of the list.
func Beside(list []linalg.Rows) linalg.Matrix[float64] {
	n, width := 0, 0
	for _, rows := range list {
		var w int
		n, w = rows.Shape()
		width += w
	}
	out, at := linalg.New[float64](n, width), 0
	for _, rows := range list {
		_, w := rows.Shape()
		for i := range n {
			rows.ReadRow(i, out.Row(i)[at:at+w])
		}
		at += w
	}
	return out
}
