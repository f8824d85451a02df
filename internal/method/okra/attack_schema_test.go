package okra

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// filtered is a job without a fit whose schema keeps the rows of a range.
func filtered(low, high int) string {
	return strings.Replace(fmt.Sprintf(hospitalFile, fmt.Sprintf("age: {range: [%d, %d], outside: missing, missing: drop-row}, krea: {range: [1, 400]}, bmi: {range: [10, 60]}", low, high)), "scale: standard", "scale: none", 1)
}

// norms returns the lengths of a party's rows, as the coordinator has them.
func norms(f *methodtest.Federation, holder int) (list []float64) {
	s := methodtest.StatesOf[*server, *party](f).Server
	at := s.upload.Owner()[holder]
	for i := at.Lo; i < at.Hi; i++ {
		list = append(list, s.Problem.Gram.Row(i)[i])
	}
	return list
}

func has(list []float64, v float64) bool {
	return slices.ContainsFunc(list, func(x float64) bool { return math.Abs(x-v) < 1e-6*v })
}

// The strongest adversary is the coordinator alone, which runs every session honestly and writes
// job files: each schema keeps the rows of a range. It recognises a row by its length, the diagonal
// of the Gram matrix, and so reads a column of everybody. A ledger blocks the second schema.
func TestAttackSchemasReadAColumn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tables := methodtest.Three(300)
	low, high := []int(nil), []int(nil)
	all := norms(hospitals(t, filtered(0, 120), 1, tables).Until(t, "protocol"), 2)
	for range all {
		low, high = append(low, 20), append(high, 80)
	}
	const step = 5
	for cut := 20 + step; cut < 80; cut += step {
		above := cut < 50 // the larger side, which is above the limits
		job := filtered(0, cut)
		if above {
			job = filtered(cut, 120)
		}
		kept := norms(hospitals(t, job, 2, tables).Until(t, "protocol"), 2)
		for i, v := range all {
			if has(kept, v) == above {
				low[i] = max(low[i], cut)
			} else {
				high[i] = min(high[i], cut)
			}
		}
	}
	right := 0
	for i, line := range strings.Split(strings.TrimSpace(tables["east"]), "\n")[1:] {
		age, err := strconv.ParseFloat(strings.Split(line, ",")[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if float64(low[i]) <= age && age <= float64(high[i]) && high[i]-low[i] == step {
			right++
		}
	}
	if right < len(all)*99/100 {
		t.Errorf("the coordinator reads the age of %d of %d patients to %d years", right, len(all), step)
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, hospitals(t, filtered(0, 120), 1, tables), "protocol")
	for _, job := range []string{filtered(25, 120), filtered(0, 75), filtered(0, 119)} {
		ledgers.Holds(t, "east", hospitals(t, job, 2, tables), anotherSchema)
	}
}

// The strongest adversary is one party, south, with a coordinator that writes two schemas over
// tables that nobody touches: the ranges of a column that is no feature of interest differ by one
// patient, and the sums of the preparation by that patient's row.
func TestAttackASchemaThatDropsOnePatient(t *testing.T) {
	tables := methodtest.Three(150, "person-7,97.0,133.7,48149,31.25,yes,often,b") // krea is not among the outermost ten
	until := func(top string, number byte) *methodtest.Federation {
		return hospitals(t, hospital("age: {range: [0, 120], missing: mean}", "age: {range: [0, "+top+"], missing: drop-row, outside: missing}", "scale: standard", "scale: none"), number, tables)
	}
	one, two := until("120", 1).Until(t, "prepared"), until("96", 2).Until(t, "prepared")
	d := told(t, one, "south").less(told(t, two, "south"))
	people := d[0]
	d.skip(1) // rows
	bin := d.which(prepare.Bins)
	d.skip(1) // gaps
	postcode := 10000 + 89999*d.place(3)
	d.skip(1)
	hiv := d.which(2)
	d.skip(1)
	smoker := d.which(prepare.MaxUnited)
	if low := 1 + float64(bin)*399/prepare.Bins; people != 1 || math.Abs(133.7-low) > 0.4 || math.Abs(postcode-48149) > 1e-6 || hiv != 1 || smoker != 1 {
		t.Errorf("south reads of %d patients: krea from %.1f, postcode %.1f, hiv %d, smoker %d", people, low, postcode, hiv, smoker)
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, until("120", 1), "prepared") // and no further
	ledgers.Holds(t, "east", until("96", 2), anotherSchema)
}

// The ledger knows a table by its name, so it blocks two schemas over disjoint people. It knows
// people by their ids, so it blocks the same people under another name. Disjoint people under
// another name are two tables to a ledger.
func TestAttackHalvesOfATable(t *testing.T) {
	renamed := func(text string) string {
		return strings.Replace(text, "source: patients", "source: renamed", 1)
	}
	ledgers, tables := disclosuretest.NewLedgers(t, "east"), methodtest.Three(300)
	ledgers.MustPlay(t, hospitals(t, filtered(0, 49), 1, tables), "protocol")
	ledgers.Holds(t, "east", hospitals(t, filtered(51, 120), 2, tables), anotherSchema)
	ledgers.Holds(t, "east", hospitals(t, renamed(filtered(30, 120)), 3, tables), anotherSchema)
	if err := ledgers.Begin(hospitals(t, renamed(filtered(51, 120)), 4, tables)); err != nil {
		t.Errorf("two tables without a common person: %v", err)
	}
}

// A description of the same columns in another order, or with an explicit default, is another
// schema: the ledger compares its text. The operator is asked once more, and nothing more is
// released.
func TestSchemasThatMeanTheSame(t *testing.T) {
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, hospitals(t, hospital(), 1, methodtest.Three(150)), "protocol")
	again := hospital("{type: category, categories: agree, missing: most-frequent}", "{categories: agree, type: category, missing: most-frequent}", "bmi: {range: [10, 60]}", "bmi: {type: number, range: [10, 60]}")
	if err := ledgers.Begin(hospitals(t, again, 2, methodtest.Three(150))); err != nil {
		t.Errorf("a schema written otherwise, in one canonical form: %v", err)
	}
	turned := hospital(", bmi: {range: [10, 60]}", "", "schema: {", "schema: {bmi: {range: [10, 60]}, ")
	ledgers.Holds(t, "east", hospitals(t, turned, 3, methodtest.Three(150)), anotherSchema)
	united := hospital("bmi: {range: [10, 60]}", `bmi: {range: [10, 60], unit: kg/m2}`)
	ledgers.Holds(t, "east", hospitals(t, united, 4, methodtest.Three(150)), anotherSchema)
}
