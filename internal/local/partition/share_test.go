package partition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition/partitiontest"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {%s, label: label}
  protocol: {name: pooled}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10, tol: 1.0e-8%s}
  compare: [pooled, alone]
`

const (
	shared = "source: all, partition: {parties: [north, south]}"
	apart  = "sources: {north: n, south: s}"
)

func parse(t *testing.T, data, learner string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf(jobFile, data, learner))
}

func TestSharesOfOneSource(t *testing.T) {
	j := parse(t, shared, "")
	shares, err := Shares(j, partitiontest.Library(map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 41)}))
	if err != nil {
		t.Fatal(err)
	}
	if len(shares) != 2 || shares[0].Party != "north" || shares[1].Party != "south" {
		t.Fatalf("%d shares, want north's and south's", len(shares))
	}
	if n := shares[0].Table.Set.X.Rows() + shares[1].Table.Set.X.Rows(); n != 41 {
		t.Errorf("%d rows are shared out, want 41", n)
	}
}

func TestSharesWithATestSource(t *testing.T) {
	j := parse(t, shared+", test: {source: held}", "")
	shares, err := Shares(j, partitiontest.Library(map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 40), "held": partitiontest.WDBC(t, 40, 20)}))
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, s := range shares {
		held += s.Table.HeldOut.X.Rows()
	}
	if held != 20 {
		t.Errorf("%d rows are held out, want 20", held)
	}
}

// The text of a sparse test source may end before the last columns.
func TestSharesWithANarrowSparseTestSource(t *testing.T) {
	sparse := func(cols, rows int) *dataset.Set {
		start, labels := []int{0}, []string{}
		for i := range rows {
			start, labels = append(start, i+1), append(labels, strconv.Itoa(i%2))
		}
		x, err := dataset.NewCSR(cols, start, make([]int32, rows), slices.Repeat([]float64{1}, rows))
		if err != nil {
			t.Fatal(err)
		}
		return &dataset.Set{Name: "sparse", X: x, Labels: labels}
	}
	j := parse(t, shared+", test: {source: held}", "")
	shares, err := Shares(j, partitiontest.Library(map[string]*dataset.Set{"all": sparse(5, 40), "held": sparse(3, 20)}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shares {
		if held := s.Table.HeldOut.X; held.Cols() != 5 || held.Row(0, nil)[0] != 1 {
			t.Errorf("%s holds out rows of %d columns, the first %v", s.Party, held.Cols(), held.Row(0, nil))
		}
	}
	if _, err := Shares(j, partitiontest.Library(map[string]*dataset.Set{"all": sparse(3, 40), "held": sparse(5, 20)})); err == nil {
		t.Error("a test source with more columns is taken")
	}
}

func TestSharesRefuses(t *testing.T) {
	unlabelled := partitiontest.WDBC(t, 0, 20)
	unlabelled.Labels = nil
	narrow := partitiontest.WDBC(t, 0, 20).SelectColumns([]int{0, 1})
	for _, tt := range []struct {
		name, data, want string
		sets             map[string]*dataset.Set
	}{
		{"unknown", shared, "no such source", nil},
		{"no labels", shared, `has no column "label"`, map[string]*dataset.Set{"all": unlabelled}},
		{"widths", apart, "south has 2 features and north has 30; give every party the same columns", map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 20), "s": narrow}},
		{"second unknown", apart, "no such source", map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 20)}},
		{"held-out rows of another width", shared + ", test: {source: held}", "", map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 20), "held": narrow}},
		{"one row each", shared, "", map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 2)}},
	} {
		_, err := Shares(parse(t, tt.data, ""), partitiontest.Library(tt.sets))
		if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want bad input with %q", tt.name, err, tt.want)
		}
	}
}
