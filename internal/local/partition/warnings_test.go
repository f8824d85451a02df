package partition

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// Rows with one id at two parties, and held-out rows that equal training rows, are counted over all
// parties; every second row is held out. Rows that differ in one cell are not equal, and -0 is 0.
func TestTwice(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: twice}
spec:
  data: {sources: {north: n.csv, south: s.csv}, label: y, id: id, test: {every: 2}}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`
	const north = "id,x,z,y\np1,1,0,a\np2,2,0,b\np3,3,0,a\np4,4,0,b\n"
	for name, tt := range map[string]struct {
		south string
		want  []string
	}{
		"two ids":       {"id,x,z,y\np2,5,0,a\np6,6,0,b\np4,7,0,a\np8,8,0,b\n", []string{"north and south have 2 row ids in common: ", "1 column with one value in all training rows: z"}},
		"equal rows":    {"id,x,z,y\np5,2,-0,a\np6,6,0,b\np7,3,0,a\np8,4,1,b\n", []string{"1 of 4 held-out rows equal a training row in every feature, and the 4 training rows are 3 different ones: ", "1 column with one value in all training rows: z"}},
		"one class":     {"id,x,z,y\np5,5,1,b\np6,6,2,b\np7,7,3,b\np8,8,4,b\n", []string{"all rows of south are of class \"b\"", "only north has rows of class \"a\""}},
		"a third class": {"id,x,z,y\np5,5,1,a\np6,6,2,b\np7,7,3,c\np8,8,4,b\n", []string{"only south has rows of class \"c\""}},
		"nothing twice": {"id,x,z,y\np5,5,0,a\np6,6,0,b\np7,7,0,a\np8,8,0,b\n", []string{"1 column with one value in all training rows: z"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, file)
			shares, err := Shares(j, func(s job.Source, _ job.Data) (*dataset.Set, error) {
				text := map[string]string{"n.csv": north, "s.csv": tt.south}[s.File]
				return dataset.ReadCSV(strings.NewReader(text), dataset.CSVOptions{Name: s.File})
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Warnings(j, shares)
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("%q, %v; want %q", got, err, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
			splits, err := Splits(j, shares)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(rowDigests(splits[0], true)) + len(rowDigests(splits[1], true)); n != 4 {
				t.Errorf("%d held-out rows", n)
			}
		})
	}
}

// A class with fewer training rows than folds is missing in some of them. Columns that differ by
// rounding are constant.
func TestFewForFoldsAndRounding(t *testing.T) {
	j := jobtest.Parse(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: few}
spec:
  data: {sources: {north: n.csv, south: n.csv}, label: y, test: none, folds: 3}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`)
	shares, err := Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		return dataset.ReadCSV(strings.NewReader("x,ref,y\n1,97.262,a\n2,97.26200000000001,a\n3,97.262,b\n"), dataset.CSVOptions{Name: "n.csv"})
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Warnings(j, shares)
	want := []string{"1 column with one value in all training rows: ref", `class "b" has 2 training rows, fewer than the 3 folds, so that some folds have none`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// A column far from zero beside its spread is refused where nothing scales it.
func TestSharesCheckTheSpread(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: stamps}
spec:
  data: {sources: {north: n.csv, south: n.csv}, label: y, test: {every: 2}, scale: %s}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`
	load := func(job.Source, job.Data) (*dataset.Set, error) {
		return dataset.ReadCSV(strings.NewReader("at,y\n1700000001,a\n1700000002,b\n1700000003,a\n1700000004,b\n"), dataset.CSVOptions{Name: "n.csv"})
	}
	for scale, refused := range map[string]bool{"none": true, "standard": false} {
		_, err := Shares(jobtest.Parse(t, strings.Replace(file, "%s", scale, 1)), load)
		if refused != (err != nil && strings.Contains(err.Error(), `column "at" has the mean 1.7e+09`)) {
			t.Errorf("scale %s: error %v", scale, err)
		}
	}
}
