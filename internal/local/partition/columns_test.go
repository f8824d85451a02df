package partition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
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

func parseColumns(t *testing.T, old, replacement string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.Replace(columnsFile, old, replacement, 1))
}

// Every party gets other columns of nine tenths of the rows, in its own order; ids identify
// the rows.
func TestShareColumns(t *testing.T) {
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	shares, err := Shares(parseColumns(t, "", ""), func(job.Source, job.Data) (*dataset.Set, error) { return set, nil })
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for i, s := range shares {
		own := s.Table.Set
		columns = append(columns, own.Columns...)
		if (own.Labels != nil) != (i == 0) || own.X.Rows() != 512 || own.X.Cols() != 10 {
			t.Errorf("%s has %d x %d values and %d labels", s.Party, own.X.Rows(), own.X.Cols(), len(own.Labels))
		}
		if i > 0 && slices.Equal(own.IDs, shares[0].Table.Set.IDs) {
			t.Errorf("%s has the rows of the first in the same order", s.Party)
		}
		if got, want := own.X.Row(7, make([]float64, 10)), set.X.Row(indexOf(own.IDs[7]), make([]float64, 30))[10*i:][:10]; !slices.Equal(got, want) {
			t.Errorf("%s: row %s is %v, want %v", s.Party, own.IDs[7], got, want)
		}
	}
	if !slices.Equal(columns, set.Columns) {
		t.Errorf("columns %v", columns)
	}
}

// indexOf returns the row of an id, which counts from 1.
func indexOf(id string) int {
	n := 0
	for _, c := range id {
		n = 10*n + int(c-'0')
	}
	return n - 1
}

// Columns go to the parties that the job names, in the job's order.
func TestColumnsByName(t *testing.T) {
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	bare := set
	set = bare.Subset(everyRow(bare))
	for i := range set.X.Cols() {
		set.Columns = append(set.Columns, fmt.Sprint("column_", 10+i))
	}
	names := set.Columns
	job3 := func(guest, host string) *job.Job {
		return parseColumns(t, "parties: [guest, host, third]", fmt.Sprintf("parties: [guest, host], columns: {guest: [%s], host: [%s]}", guest, host))
	}
	load := func(job.Source, job.Data) (*dataset.Set, error) { return set, nil }
	shares, err := Shares(job3(names[4]+", "+names[1], names[0]), load)
	if err != nil {
		t.Fatal(err)
	}
	if got := shares[0].Table.Set.Columns; !slices.Equal(got, []string{names[4], names[1]}) || !slices.Equal(shares[1].Table.Set.Columns, names[:1]) {
		t.Errorf("guest has %v, host %v", got, shares[1].Table.Set.Columns)
	}
	for want, shared := range map[string]func() ([]Share, error){
		`has no column "colum_10", which the job names for party host in its partition; did you mean "column_10"?`: func() ([]Share, error) { return Shares(job3(names[1], "colum_10"), load) },
		`to guest and to host; a column must have one holder`:                                                      func() ([]Share, error) { return Shares(job3(names[1], names[1]), load) },
		"and none for third": func() ([]Share, error) {
			return Shares(parseColumns(t, "coverage", "columns: {guest: [a], host: [b]}, coverage"), load)
		},
		"has no column names": func() ([]Share, error) {
			return Shares(job3("a", "b"), func(job.Source, job.Data) (*dataset.Set, error) { return bare, nil })
		},
	} {
		if _, err := shared(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func everyRow(set *dataset.Set) []int { return dataset.Complement(set.X.Rows(), nil) }

// With a source each, only the first party's has labels to read.
func TestColumnSources(t *testing.T) {
	j := parseColumns(t, "source: bundled:wdbc, label: label, partition: {by: columns, parties: [guest, host, third], coverage: 0.9}",
		"sources: {guest: a.csv, host: b.csv}, id: id, label: y, partition: {by: columns}")
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	numbered := *set
	for i := range set.X.Rows() {
		numbered.IDs = append(numbered.IDs, string(rune('A'+i)))
	}
	asked := make(map[string]string)
	shares, err := Shares(j, func(s job.Source, d job.Data) (*dataset.Set, error) {
		asked[s.File] = d.Label
		return &numbered, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(shares) != 2 || asked["a.csv"] != "y" || asked["b.csv"] != job.NoLabel {
		t.Errorf("%d shares, labels asked for: %v", len(shares), asked)
	}
	if _, err := Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return set, nil }); err == nil || !strings.Contains(err.Error(), "guest: ") || !strings.Contains(err.Error(), "no ids") {
		t.Errorf("error %v", err)
	}
}

func TestNumbers(t *testing.T) {
	got := ordinals(1001)
	for i, s := range got {
		if s != strconv.Itoa(i+1) {
			t.Fatalf("number %d is %q", i+1, s)
		}
	}
	if len(got) != 1001 || len(ordinals(0)) != 0 {
		t.Errorf("%d numbers", len(got))
	}
}
