package moments

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

const anotherSchema = "the job's schema or views differ from those of an earlier job"

// within is a job whose schema keeps the people of a range of ages.
func within(t testing.TB, ages string, number byte, tables map[string]string) *methodtest.Federation {
	t.Helper()
	return by(t, "moments", number, tables,
		"age: {range: [0, 120]}, krea: {range: [1, 400]}, postcode: {range: [10000, 99999]}, bmi: {range: [10, 60]}, hiv: {type: boolean}",
		"age: {range: ["+ages+"], outside: missing, missing: drop-row}, krea: {range: [1, 400]}, bmi: {range: [10, 60]}",
		"scale: range", "scale: none", "directions: 1024", "directions: 512", "gamma: 0.001", "gamma: 1.0e-10")
}

// The ranges of three jobs are the young, the old, and all ages. No two of their sums differ by few
// people, but the third minus the first two is a sum over one: the coordinator reads that patient.
// A ledger blocks the second job, although it has nobody in common with the first.
func TestAttackThreeSchemasReadOnePatient(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tables := methodtest.Three(550, "person-1,97.0,233.7,48149,31.25,yes,often,a")
	ranges := []string{"0, 49.5", "49.6, 96", "0, 120"}
	read := make([]float64, 3)
	for i, ages := range ranges {
		_, classes := second(t, within(t, ages, byte(i), tables).Until(t, "sums"), len(read))
		for c := range read {
			read[c] += []float64{-1, -1, 1}[i] * classes.AtVec(c)
		}
	}
	for c, want := range []float64{97, 233.7, 31.25} {
		if math.Abs(read[c]-want) > 0.01*want {
			t.Errorf("the coordinator reads %.2f; column %d of the patient is %v", read, c, want)
		}
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, within(t, ranges[0], 1, tables), "sums")
	for i, ages := range ranges[1:] {
		ledgers.Holds(t, "east", within(t, ages, byte(2+i), tables), anotherSchema)
	}
}

// Each hospital declares its number of training rows before the sums. The coordinator then aborts
// four jobs whose ranges are a corner's: it has counted the people in the corner, by two columns. A
// ledger blocks the second job, because the number that the first has declared counts as a release.
func TestAttackDeclaredNumbersCountACorner(t *testing.T) {
	tables := methodtest.Three(900, "person-1,97.0,100,48149,31.25,yes,often,a", "person-2,98.0,100,70000,31.25,no,often,a", "person-3,99.0,100,30000,31.25,no,often,a", "person-4,97.0,100,20000,31.25,no,often,a")
	corner := func(age, postcode string, number byte) *methodtest.Federation {
		return by(t, "moments", number, tables, "age: {range: [0, 120]}", "age: {range: [0, "+age+"], outside: missing, missing: drop-row}",
			"postcode: {range: [10000, 99999]}", "postcode: {range: [10000, "+postcode+"], outside: missing, missing: drop-row}")
	}
	sign, found := []int64{1, -1, -1, 1}, int64(0)
	for i, edge := range [][2]string{{"120", "48149"}, {"96", "48149"}, {"120", "48148"}, {"96", "48148"}} {
		f := corner(edge[0], edge[1], byte(i)).Until(t, "count")
		found += sign[i] * f.Server.State.(*server).counted.list[2]
	}
	if n := trainedOf(t, corner("120", "99999", 5), "east", "person-1"); n != 1 || found != 1 {
		t.Errorf("the coordinator counts %d patients above 96 in 48149; %d train", found, n)
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, corner("120", "48149", 1), "count")
	ledgers.Abort(t, "east")
	ledgers.Holds(t, "east", corner("96", "48149", 2), anotherSchema)
	// Under one schema a number differs by few people as sums do.
	counted := disclosuretest.NewLedgers(t, "east")
	counted.MustPlay(t, corner("120", "48149", 3), "count")
	counted.Abort(t, "east")
	tables["east"] = methodtest.Patients("east", 900)
	counted.Holds(t, "east", corner("120", "48149", 4), "the difference of the two sums is the sum over these")
}

// A fit and a number that a job has released count like its sums, and one approval covers
// everything from the first session to the sums.
func TestOneApprovalOfSums(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	job := func(number byte, east ...string) *methodtest.Federation {
		return by(t, "moments", number, methodtest.Three(240, east...), "scale: range", "scale: standard", "directions: 1024", "directions: 4")
	}
	const patient = "person-1,97.0,233.7,48149,31.25,yes,often,a"
	for _, last := range []string{"preparation", "count"} {
		ledgers := disclosuretest.NewLedgers(t, "east")
		ledgers.MustPlay(t, job(1), last)
		ledgers.Abort(t, "east")
		ledgers.Holds(t, "east", job(2, patient), "1 person is in this job and not in the earlier one")
		ledgers.Approve(t, "east", 1)
		ledgers.MustPlay(t, job(2, patient), "evaluate")
		ledgers.Holds(t, "east", job(3, patient, "person-2,60.0,133.7,68149,21.25,no,often,a"), "1 person is in this job and not in the earlier one")
		ledgers.MustPlay(t, job(4), "sums") // what was out before
	}
}

// Each sum adds directions of its own: jobs of 15 % of the cells each pass while they do not come to all.
// A job that says its directions counts by its own rows at first, and by all once these are declared.
func TestAttackASumTooMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	job := func(number byte, directions string) *methodtest.Federation {
		return by(t, "moments", number, methodtest.Three(240), "directions: 1024, ", directions)
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	for number := byte(1); number <= 6; number++ {
		ledgers.MustPlay(t, job(number, ""), "sums")
	}
	list, err := ledgers["east"].List()
	if err != nil || len(list) != 1 || list[0].Told < .8 || list[0].Told > 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	ledgers.Holds(t, "east", job(7, ""), "% as many numbers as these rows have cells")
	ledgers.MustPlay(t, job(8, "directions: 2, "), "sums") // 7 numbers
}
