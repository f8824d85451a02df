package disclosure

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// modelOf is the release of a model of the first n rows: its numbers for each hundred cells.
func modelOf(set *dataset.Set, n int, job string, percent int64, peers ...string) method.Release {
	r := of(method.ReleaseModels, set.Subset(linalg.Range(0, n)))
	r.Model, r.Numbers, r.Cells = job, percent, 100
	if peers != nil {
		r.Peers = peers
	}
	return r
}

// Two models of rows that differ by few people tell about these people, whatever columns and parties they have.
func TestModelsThatDifferByFewPeople(t *testing.T) {
	both := table(200, "age", "income")
	age := both.SelectColumns([]int{0})
	age.IDs = both.IDs
	for name, second := range map[string]method.Release{
		"alike":         modelOf(both, 109, "b", 1),
		"other columns": modelOf(age, 109, "b", 1),
		"other parties": modelOf(both, 109, "b", 1, "x", "y"),
		"fewer":         modelOf(both, 91, "b", 1),
	} {
		l := Ledger(t.TempDir())
		letOut(t, l, modelOf(both, 100, "a", 1))
		said := "9 people are in this job and not in the earlier one, 0 in the earlier one alone: the two models together tell about these 9 alone"
		if name == "fewer" {
			said = "0 people are in this job and not in the earlier one, 9 in the earlier one alone: the two models together tell about these 9 alone"
		}
		mustHold(t, l, second, said)
	}
	l := Ledger(t.TempDir())
	letOut(t, l, modelOf(both, 100, "a", 1))
	letOut(t, l, modelOf(both, 110, "b", 1))
	letOut(t, l, modelOf(age, 110, "c", 1, "x", "y"))
}

// Nine people of one class are few, among twelve who came.
func TestModelsThatDifferByFewOfAClass(t *testing.T) {
	set := *table(200, "age", "income")
	for i := range 200 {
		set.Labels = append(set.Labels, map[bool]string{true: "ill", false: "well"}[i%2 == 0 || i >= 100 && i < 103])
	}
	labelled := func(n int, job string) method.Release {
		r := modelOf(&set, n, job, 1)
		r.Label, r.Classes = "ill", true
		return r
	}
	l := Ledger(t.TempDir())
	letOut(t, l, labelled(100, "a"))
	mustHold(t, l, labelled(112, "b"), "5 people are of one class and in only one of the two jobs: the two models together tell about these 5 alone")
	letOut(t, l, labelled(140, "c"))
}

// A row with other values is a person who left and one who came.
func TestModelsOfAChangedRow(t *testing.T) {
	set := table(200, "age", "income")
	changed := dataset.DenseOf(set.X).Matrix()
	other := linalg.New[float64](changed.Rows, changed.Cols)
	copy(other.Data, changed.Data)
	other.Data[0]++
	late := *set
	late.X = dataset.NewDense(other)
	l := Ledger(t.TempDir())
	letOut(t, l, modelOf(set, 200, "a", 1))
	mustHold(t, l, modelOf(&late, 200, "b", 1), "the difference of the two models reveals what changed")
	mustHold(t, l, modelOf(&late, 200, "c", 1, "x", "y"), "the difference of the two models reveals what changed")
}

// The same rows are in three models, or attempts at one, whoever the keepers are.
func TestTheFourthModel(t *testing.T) {
	set := table(200, "age", "income")
	l := Ledger(t.TempDir())
	for i := range maxModels {
		letOut(t, l, modelOf(set, 200, fmt.Sprint("job ", i), 1))
	}
	letOut(t, l, modelOf(set, 200, "job 0", 1)) // the same job, in a later step
	mustHold(t, l, modelOf(set, 200, "another", 1, "x", "y"), "some of the rows have been in 3 models, or attempts at one, and each further model reveals more about single rows")
}

// Models of the same rows together have no more numbers than a quarter of the cells.
func TestModelsWithTooManyNumbers(t *testing.T) {
	set := table(200, "age", "income")
	l := Ledger(t.TempDir())
	letOut(t, l, modelOf(set, 200, "a", 20))
	mustHold(t, l, modelOf(set, 200, "b", 6), "with this job, the models over some of the rows have 26 % as many numbers as these rows have cells, and 20 % without it")
	letOut(t, l, modelOf(set, 200, "c", 5))
}

// Weights in the directions of the columns tell by which rotation rows were encoded.
func TestModelsBesideEncodedRows(t *testing.T) {
	set := table(200, "age", "income")
	const said = "200 people would be both in a model and among encoded rows"
	l := Ledger(t.TempDir())
	letOut(t, l, of(method.ReleaseRows, set))
	mustHold(t, l, modelOf(set, 200, "a", 1), said)
	l = Ledger(t.TempDir())
	letOut(t, l, modelOf(set, 200, "a", 1))
	mustHold(t, l, of(method.ReleaseRows, set), said)
}
