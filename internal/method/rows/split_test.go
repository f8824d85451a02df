package rows_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/linalg"
)

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: small
    label: label
    partition: {parties: [north, south]}
    scale: %s
    test: %s
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

func parse(t testing.TB, scale, test string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf(jobFile, scale, test))
}

// set has n rows of two features and labels a, b, a, b, ...
func set(n int) *dataset.Set {
	m := linalg.New[float64](n, 2)
	labels := make([]string, n)
	for i := range labels {
		m.Row(i)[0], m.Row(i)[1] = float64(i), float64(i)+0.25*float64(i%3)
		labels[i] = string(rune('a' + i%2))
	}
	return &dataset.Set{Name: "small.csv", X: dataset.NewDense(m), Labels: labels}
}

func TestSplit(t *testing.T) {
	count := func(test []bool) (rows []int) {
		for i, held := range test {
			if held {
				rows = append(rows, i)
			}
		}
		return rows
	}
	s, err := rows.Split(parse(t, "none", "{every: 3}"), "north", method.Table{Set: set(9)})
	if err != nil || cmp.Diff([]int{2, 5, 8}, count(s.Test)) != "" {
		t.Errorf("every 3: %v, %v", count(s.Test), err)
	}
	s, err = rows.Split(parse(t, "none", "{source: other}"), "north", method.Table{Set: set(4), HeldOut: set(3)})
	if err != nil || cmp.Diff([]int{4, 5, 6}, count(s.Test)) != "" || s.Set.X.Rows() != 7 {
		t.Errorf("a source of its own: %v, %v", count(s.Test), err)
	}
	train, apart := set(4), set(3)
	train.Lines, apart.Lines = []int{2, 3, 4, 5}, []int{2, 4, 5}
	if s, err = rows.Split(parse(t, "none", "{source: other}"), "north", method.Table{Set: train, HeldOut: apart}); err != nil || !slices.Equal(s.Set.Lines, []int{2, 3, 4, 5, 2, 4, 5}) {
		t.Errorf("lines of a source of its own: %v, %v", s.Set.Lines, err)
	}
	half := method.Table{Set: set(40), Key: dataset.SplitKey{1}}
	s, err = rows.Split(parse(t, "none", "{fraction: 0.5}"), "north", half)
	held := count(s.Test)
	if err != nil || len(held) < 10 || len(held) > 30 {
		t.Fatalf("half of 40 rows: %v, %v", held, err)
	}
}

// The party's key decides which rows a job holds out: with another seed, learner or label a
// job holds out the same rows.
func TestHeldOutWhateverTheJobSays(t *testing.T) {
	table := method.Table{Set: set(40), Key: dataset.SplitKey{1}}
	j := parse(t, "none", "{fraction: 0.25}")
	want, err := rows.Split(j, "north", table)
	if err != nil {
		t.Fatal(err)
	}
	other := parse(t, "minmax", "{fraction: 0.25}")
	other.Seed, other.Data.Label, other.Learner = 77, job.NoLabel, jobtest.Learner(t, "kmeans")
	if err := all.Reader().Validate(other); err != nil {
		t.Fatal(err)
	}
	if got, err := rows.Split(other, "north", table); err != nil || !slices.Equal(got.Test, want.Test) {
		t.Errorf("another job holds out %v, %v; the first one %v", got.Test, err, want.Test)
	}
	table.Key = dataset.SplitKey{2}
	if got, err := rows.Split(j, "north", table); err != nil || slices.Equal(got.Test, want.Test) {
		t.Errorf("another party holds out the same: %v", err)
	}
}

func TestSplitRefuses(t *testing.T) {
	unlabelled := set(4)
	unlabelled.Labels = nil
	wide := &dataset.Set{Name: "wide.csv", X: dataset.NewDense(linalg.New[float64](2, 3)), Labels: []string{"a", "b"}}
	for _, tt := range []struct {
		name, test string
		table      method.Table
		want       string
	}{
		{"no rows", "{every: 3}", method.Table{Set: set(0)}, "small.csv has no rows"},
		{"no labels", "{every: 3}", method.Table{Set: unlabelled}, `has no column "label" to take the labels from`},
		{"no key", "{fraction: 0.25}", method.Table{Set: set(40)}, "the table has no split key"},
		{"held-out rows of another width", "{source: other}", method.Table{Set: set(4), HeldOut: wide}, "3"},
	} {
		if _, err := rows.Split(parse(t, "none", tt.test), "north", tt.table); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Words are refused as labels if numbers are needed, and unneeded labels are dropped.
func TestSplitOfOtherLearners(t *testing.T) {
	numbers, words := set(20), set(20)
	for i := range numbers.Labels {
		numbers.Labels[i] = strconv.Itoa(i)
	}
	j := parse(t, "none", "{fraction: 0.25}")
	j.Learner = jobtest.Learner(t, "ridge")
	if err := all.Reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	key := dataset.SplitKey{1}
	s, err := rows.Split(j, "north", method.Table{Set: numbers, Key: key})
	if err != nil || len(s.Set.Labels) != 20 || !slices.Contains(s.Test, true) {
		t.Fatalf("%v, %v", s, err)
	}
	if _, err := rows.Split(j, "north", method.Table{Set: words, Key: key}); err == nil || !strings.Contains(err.Error(), `small.csv: row 1, label "a" is not a number`) {
		t.Errorf("words for numbers: %v", err)
	}
	j.Learner, j.Data.Label = jobtest.Learner(t, "kmeans"), job.NoLabel
	if err := all.Reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	if s, err := rows.Split(j, "north", method.Table{Set: words, Key: key}); err != nil || s.Set.Labels != nil || words.Labels == nil {
		t.Errorf("labels %v, %v; want none, and the table as it was", s.Set.Labels, err)
	}
}

func TestSplitWithFoldsOnly(t *testing.T) {
	s, err := rows.Split(jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, "none", ""), "test: ", "folds: 3", 1)), "north", method.Table{Set: set(9)})
	if err != nil || len(s.Test) != 9 || slices.Contains(s.Test, true) {
		t.Errorf("%v, %v; want no row held out", s.Test, err)
	}
}

// An edition fixes the held-out rows of every job. A job that holds out other rows by policy, or
// none, does not depend on it.
func TestSplitOfAnEdition(t *testing.T) {
	table := method.Table{Set: set(9), Key: dataset.SplitKey{1}, Held: []int{2, 7}}
	s, err := rows.Split(parse(t, "none", "{fraction: 0.25}"), "north", table)
	if err != nil || !slices.Equal(s.Rows(true), []int{2, 7}) {
		t.Errorf("%v, %v", s.Rows(true), err)
	}
	table.Held = []int{}
	if s, err = rows.Split(parse(t, "none", "{fraction: 0.25}"), "north", table); err != nil || len(s.Rows(true)) != 0 {
		t.Errorf("an edition of which nothing is held out: %v, %v", s.Rows(true), err)
	}
	if s, err = rows.Split(parse(t, "none", "{party: north}"), "north", table); err != nil || len(s.Rows(true)) != 9 {
		t.Errorf("%v, %v", s.Rows(true), err)
	}
}
