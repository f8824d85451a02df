package job

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
)

const cohortFile = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: cohort}
spec:
  columns:
    age: {range: [0, 120], text: years}
    krea: {missing: median, range: [1, 400]}
    sex: {type: category, categories: [F, M]}
  complete: [age]
  labels:
    diagnosis: {classes: [well, ill], merged: {ill: [mild, severe]}}
    outcome: {}
  fraction: 0.3
  leader: south
`

func cohort(t testing.TB) *Dictionary {
	t.Helper()
	d, err := ParseDictionary("cohort.yaml", []byte(cohortFile))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The canonical file reads as the dictionary that it was written from, and every word of the file counts
// for the hash.
func TestDictionaryIsCanonical(t *testing.T) {
	d := cohort(t)
	again, err := ParseDictionary("again", d.Encode())
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Encode())
	}
	if diff := cmp.Diff(d, again); diff != "" || again.Hash() != d.Hash() || !bytes.Equal(again.Encode(), d.Encode()) {
		t.Errorf("(-first +second):\n%s\n%s", diff, d.Encode())
	}
	if d.Columns[0].Missing != prepare.FillDropRow || d.Texts["age"] != "years" {
		t.Errorf("%+v", d)
	}
	for _, change := range [][2]string{
		{"120", "121"}, {"years", "months"}, {"median", "mean"}, {"[F, M]", "[M, F]"}, {"complete: [age]", "complete: [age, sex]"},
		{"[well, ill]", "[well, ill, dead]"}, {"[mild, severe]", "[mild]"}, {"0.3", "0.25"}, {"south", "north"}, {"outcome", "result"}, {"name: cohort", "name: other"},
	} {
		other, err := ParseDictionary("other", []byte(strings.Replace(cohortFile, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if other.Hash() == d.Hash() {
			t.Errorf("%s and %s have one hash", change[0], change[1])
		}
		if n := len(d.Changes(other)); change[0] != "name: cohort" && n != 1 && (change[0] != "outcome" || n != 2) {
			t.Errorf("%s to %s: %q", change[0], change[1], d.Changes(other))
		}
	}
	if list := d.Changes(d); list != nil {
		t.Errorf("no change: %q", list)
	}
}

// classing is a learner of classes without keys.
type classing struct{ keyless }

func (classing) Task() Task { return Task{Labels: "the classes", Classes: true} }

func picking(t testing.TB, more string) *Job { return pickingFor(t, classing{}, more) }

func pickingFor(t testing.TB, learner Learner, more string) *Job {
	t.Helper()
	r := (&Reader{Protocols: []Protocol{keyless{}}, Learners: []Learner{learner}}).Knowing(func(name, hash string) (*Dictionary, error) { return cohort(t), nil })
	j, err := r.Parse("job.yaml", []byte("apiVersion: mercer/v1\nkind: Job\nmetadata: {name: named}\nspec:\n  data:\n    source: people\n    dictionary: cohort\n    partition: {parties: [south, north]}\n"+more+"  protocol: {name: okra}\n  kernel: {name: linear}\n  learner: {name: okra}\n"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Parse("again", j.Encode())
	if err != nil || !bytes.Equal(again.Encode(), j.Encode()) || !bytes.Contains(j.Encode(), []byte("dictionary: "+cohort(t).Reference())) {
		t.Fatalf("%v\n%s", err, j.Encode())
	}
	return j
}

// A job takes label, classes and fraction from the dictionary, and its encoding holds the hash and what it
// picks.
func TestPicks(t *testing.T) {
	d := picking(t, "    columns: [sex, krea]\n    label: diagnosis\n").Data
	if diff := cmp.Diff([]string{"sex", "krea"}, d.Schema.Names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"well", "ill"}, d.Order); diff != "" || d.Test.Fraction != 0.3 || len(d.Classes) != 1 {
		t.Errorf("%s %v %v", diff, d.Test, d.Classes)
	}
	if other := picking(t, "    label: outcome\n").Data; other.Order != nil || len(other.Schema) != 3 {
		t.Errorf("%+v", other)
	}
}

// A row with a gap in a complete column is left out, whether the job picks the column or not: no two jobs
// of one dictionary differ by it.
func TestPicksLeaveOutTheSameRows(t *testing.T) {
	const text = "age,krea,sex,diagnosis\n50,100,F,well\n,110,M,mild\n60,,M,severe\n"
	for more, columns := range map[string]int{"": 3, "    columns: [krea]\n": 1, "    columns: [sex, age]\n": 2} {
		d := picking(t, more+"    label: diagnosis\n").Data
		rows, err := dataset.OpenCSV("people", strings.NewReader(text), dataset.CSVForm{})
		if err != nil {
			t.Fatal(err)
		}
		set, err := prepare.Read(rows, d.Table(Source{}))
		if err != nil {
			t.Fatal(err)
		}
		if set = d.Pick(set); set.X.Rows() != 2 || set.X.Cols() != columns || set.X.(*prepare.Frame).Dropped != 1 {
			t.Errorf("%q: %d rows, %d columns", more, set.X.Rows(), set.X.Cols())
		}
	}
}

// Classes that the dictionary merges are merged for each learner that has the label, needed or not: rows whose labels
// one job tells merged and another as they stand would be told apart.
func TestAttackALearnerSeesUnmergedClasses(t *testing.T) {
	for _, learner := range []Learner{classing{}, keyless{}} {
		j := pickingFor(t, learner, "    label: diagnosis\n")
		set, err := j.Data.Take(&dataset.Set{Labels: []string{"well", "mild", "severe"}})
		if err != nil || !slices.Equal(set.Labels, []string{"well", "ill", "ill"}) {
			t.Errorf("%T: labels %v, %v", learner, set.Labels, err)
		}
	}
}

func FuzzParseDictionary(f *testing.F) {
	f.Add([]byte(cohortFile))
	f.Add([]byte("apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: d}\nspec: {columns: {a.b: {}}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDictionary("d.yaml", b)
		if err != nil {
			return
		}
		again, err := ParseDictionary("again", d.Encode())
		if err != nil || again.Hash() != d.Hash() {
			t.Errorf("%v\n%s", err, d.Encode())
		}
	})
}
