package sealed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// The adversary of these tests is the coordinator, which writes the jobs, with one hospital, which gets the models. They
// are the attacks that moments and okra have withstood since homes say which rows take part.

const hospitalFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: hospitals}
spec:
  data:
    source: patients
    label: label
    partition: {parties: [north, south, east]}
    schema: {age: {range: [0, 120]}, krea: {range: [1, 400]}, postcode: {range: [10000, 99999]}, bmi: {range: [10, 60]}, hiv: {type: boolean}}
    scale: range
    test: {fraction: 0.25}
  protocol: {name: sealed, features: 16, classes: [a, b]}
  kernel: {name: rbf, gamma: 0.001}
  learner: {name: ridge-classifier}
`

const (
	anotherSchema = "the job's schema or views differ from those of an earlier job"
	thePatient    = "person-1,97.0,233.7,48149,31.25,yes,often,a"
)

// hospitals makes every member of a job ready, with other settings: pairs of old and new text.
func hospitals(t testing.TB, number byte, tables map[string]string, settings ...string) *methodtest.Federation {
	t.Helper()
	return methodtest.Hospitals(t, Protocol(), strings.NewReplacer(settings...).Replace(hospitalFile), number, tables)
}

// summing is a job of protocol moments over the same tables.
func summing(t testing.TB, number byte, tables map[string]string) *methodtest.Federation {
	t.Helper()
	text := strings.Replace(hospitalFile, "sealed, features: 16", "moments, directions: 16", 1)
	return methodtest.Hospitals(t, moments.Protocol(), text, number, tables)
}

// Jobs whose schemas are filters would train on the young, on the old, and on all: the third model against the first two
// tells about the only one between. A ledger holds the second schema, although nobody is in both.
func TestAttackSchemasThatFilter(t *testing.T) {
	tables := methodtest.Three(650, thePatient)
	within := func(ages string, number byte) *methodtest.Federation {
		return hospitals(t, number, tables, "age: {range: [0, 120]}", "age: {range: ["+ages+"], outside: missing, missing: drop-row}")
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, within("0, 49.5", 1), "sealed")
	for i, ages := range []string{"49.6, 96", "0, 120"} {
		ledgers.Holds(t, "east", within(ages, byte(2+i)), anotherSchema)
	}
}

// Each hospital declares its number of training rows before it shares anything. The coordinator breaks four jobs off
// after that and has counted the people in a corner of one hospital's table. A ledger holds the second job: the number
// that the first has declared counts as its model.
func TestAttackDeclaredNumbersCountACorner(t *testing.T) {
	tables := methodtest.Three(900, thePatient, "person-2,98.0,100,70000,31.25,no,often,a", "person-3,99.0,100,30000,31.25,no,often,a", "person-4,97.0,100,20000,31.25,no,often,a")
	corner := func(age, postcode string, number byte) *methodtest.Federation {
		return hospitals(t, number, tables, "age: {range: [0, 120]}", "age: {range: [0, "+age+"], outside: missing, missing: drop-row}",
			"postcode: {range: [10000, 99999]}", "postcode: {range: [10000, "+postcode+"], outside: missing, missing: drop-row}")
	}
	found := 0
	for i, edge := range [][2]string{{"120", "48149"}, {"96", "48149"}, {"120", "48148"}, {"96", "48148"}} {
		f := corner(edge[0], edge[1], byte(i)).Until(t, "count")
		found += []int{1, -1, -1, 1}[i] * f.Server.State.(*server).declared.list[2].rows
	}
	if found != 1 {
		t.Errorf("the coordinator counts %d patients above 96 in 48149, and there is 1", found)
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, corner("120", "48149", 1), "count")
	ledgers.Abort(t, "east")
	ledgers.Holds(t, "east", corner("96", "48149", 2), anotherSchema)
	tables["east"] = methodtest.Patients("east", 900) // under one schema a number differs by few people as models do
	ledgers.Holds(t, "east", corner("120", "48149", 3), "the two models together tell about these")
}

// A fit, a number and the directions that a job has told count as its model, whenever it was broken off. One approval
// covers everything from the first session on.
func TestOneApprovalOfAModel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	job := func(number byte, east ...string) *methodtest.Federation {
		return hospitals(t, number, methodtest.Three(240, east...), "scale: range", "scale: standard")
	}
	for _, last := range []string{"preparation", "count", "draw"} {
		ledgers := disclosuretest.NewLedgers(t, "east")
		ledgers.MustPlay(t, job(1), last)
		ledgers.Abort(t, "east")
		ledgers.Holds(t, "east", job(2, thePatient), "1 person is in this job and not in the earlier one")
		ledgers.Approve(t, "east", 1)
		ledgers.MustPlay(t, job(2, thePatient), "evaluate")
		ledgers.Holds(t, "east", job(3, thePatient, "person-2,60.0,133.7,68149,21.25,no,often,a"), "1 person is in this job and not in the earlier one")
	}
}

// The sums of a moments job over all patients but one, which the coordinator has, and the model of all leave that
// patient's equations. A ledger holds the second of the two, in either order.
func TestAttackAModelBesideSums(t *testing.T) {
	fewer, more := methodtest.Three(240), methodtest.Three(240, thePatient)
	const one = "the model and the sums together tell about these few alone"
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, summing(t, 1, fewer), "count")
	ledgers.Holds(t, "east", hospitals(t, 2, more), one)
	ledgers.MustPlay(t, hospitals(t, 3, fewer), "count")
	ledgers.Holds(t, "east", summing(t, 4, more), one)
}

// The row of the only patient with a value enters no sum as it is: the pieces are those of the same patient without the
// value. Of ten patients with the value all enter.
func TestRareValuesEnterNoSum(t *testing.T) {
	shared := func(hiv string, n int) *sealed.Sums {
		tables := methodtest.Three(240)
		tables["east"] = strings.ReplaceAll(tables["east"], ",yes,", ",no,")
		for i := range n {
			tables["east"] += fmt.Sprintf("person-%d,97.0,233.7,48149,31.25,%s,often,a\n", 1+i, hiv)
		}
		p := methodtest.StatesOf[*server, *party](hospitals(t, 1, tables).Until(t, "draw")).Parties["east"]
		if p.Split.Test[240] {
			t.Fatal("the first of the patients in question is held out")
		}
		problem, err := p.public().problem(p.Job)
		if err != nil {
			t.Fatal(err)
		}
		own, err := p.sums(problem)
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	same := func(n int) bool {
		one, other := shared("yes", n), shared("no", n)
		return slices.Equal(one.Outer, other.Outer) && slices.Equal(one.Cross, other.Cross)
	}
	if !same(1) || !same(9) {
		t.Error("a value of fewer than ten patients changes the sums")
	}
	if same(40) {
		t.Error("a value of ten patients and more does not change the sums")
	}
}

// The home holds rows out by its own key: two jobs that differ in all that a job may say train on the same rows, and no
// deployed job may say which.
func TestHeldOutRowsAreTheHomesOwn(t *testing.T) {
	tables := methodtest.Three(240)
	held := func(f *methodtest.Federation) []bool {
		return methodtest.StatesOf[*server, *party](f).Parties["east"].Split.Test
	}
	one := held(hospitals(t, 1, tables))
	if !slices.Equal(one, held(hospitals(t, 2, tables, "features: 16", "features: 4", "gamma: 0.001", "gamma: 1", "spec:\n", "spec:\n  seed: 9\n", "ridge-classifier}", "ridge-classifier, alpha: 1}"))) {
		t.Error("two jobs hold out other rows of the same table")
	}
	if n := len(one); n != 240 || !slices.Contains(one, true) {
		t.Errorf("%d rows, none of them held out", n)
	}
	j := read(t, strings.Replace(hospitalFile, "{fraction: 0.25}", "{every: 4}", 1))
	if j.Deployable() == nil || j.Data.LeavesRows() == nil {
		t.Error("a deployed job says which rows are held out")
	}
}
