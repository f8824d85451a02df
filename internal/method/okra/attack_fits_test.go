package okra

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// The adversary of these tests is the coordinator, which reads the columns of rows that it has
// under two fits (see TestAttackTwoFitsReadTheColumns of moments).

// East's rows are unchanged, and north added 15 people. Before the parties have fitted, nothing at
// east distinguishes the new fit from the earlier one; afterwards its values do, and east sends no
// rows. North's ledger, whose rows take part in the fit, blocks the job before its first session.
func TestAttackAFitThatOthersHaveChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	grown := methodtest.Three(150)
	grown["north"] = methodtest.Patients("north", 165)
	for _, scale := range []string{"standard", "minmax"} {
		text := hospital("scale: standard", "scale: "+scale)
		ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
		ledgers.MustPlay(t, hospitals(t, text, 1, methodtest.Three(150)), "protocol")
		ledgers.Holds(t, "north", hospitals(t, text, 2, grown), anotherFit)
		ledgers.HoldsAt(t, "protocol", "east", hospitals(t, text, 3, grown), anotherFit)
		ledgers.HoldsAt(t, "protocol", "south", hospitals(t, text, 4, grown), anotherFit)
		ledgers.MustPlay(t, hospitals(t, text, 5, methodtest.Three(150)), "protocol") // the first fit is no other one
	}
}

// One approval of a job with a fit is enough from its first session to its rows.
func TestOneApprovalOfAFit(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	more := methodtest.Three(150)
	more["east"] = methodtest.Patients("east", 165)
	ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
	ledgers.MustPlay(t, hospitals(t, hospital(), 1, methodtest.Three(150)), "protocol")
	ledgers.Holds(t, "east", hospitals(t, hospital(), 2, more), anotherFit)
	ledgers.Approve(t, "east", 1)
	if err := ledgers.Play(t, hospitals(t, hospital(), 3, more), "protocol"); err == nil || !strings.HasPrefix(err.Error(), "protocol: north: ") {
		t.Fatalf("error %v; want north to hold its rows, once the fit is known", err)
	}
	ledgers.Approve(t, "north", 1)
	if err := ledgers.Play(t, hospitals(t, hospital(), 4, more), "protocol"); err == nil || !strings.HasPrefix(err.Error(), "protocol: south: ") {
		t.Fatalf("error %v; want south to hold its rows, once the fit is known", err)
	}
	ledgers.Approve(t, "south", 1)
	ledgers.MustPlay(t, hospitals(t, hospital(), 5, more), "protocol")
	for name, l := range ledgers {
		if list, err := l.List(); err != nil || len(list) == 0 {
			t.Errorf("%s: %v, %v", name, list, err)
		} else {
			for _, e := range list {
				if e.State != "released" {
					t.Errorf("%s still has %+v", name, e)
				}
			}
		}
	}
	// The approvals are used up: the first fit is another one now, and a fit on one more patient
	// is.
	ledgers.Holds(t, "east", hospitals(t, hospital(), 6, methodtest.Three(150, patient)), anotherFit)
}

// With another share of held-out rows the fit is over other rows: under two fits a row is read,
// although nobody joined.
func TestAttackAnotherShareOfHeldOutRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, scale := range []string{"standard", "minmax"} {
		ledgers := disclosuretest.NewLedgers(t, "east")
		text := hospital("scale: standard", "scale: "+scale)
		ledgers.MustPlay(t, hospitals(t, text, 1, methodtest.Three(200)), "protocol")
		for i, test := range []string{"{fraction: 0.3}", "{every: 4}"} {
			ledgers.Holds(t, "east", hospitals(t, strings.Replace(text, "{fraction: 0.25}", test, 1), byte(2+i), methodtest.Three(200)), anotherFit)
		}
	}
	ledgers := disclosuretest.NewLedgers(t, "east") // nothing is fitted, and the coordinator knows all products anyway
	unfitted := strings.Replace(fmt.Sprintf(hospitalFile, "age: {range: [0, 120]}, krea: {range: [1, 400]}"), "scale: standard", "scale: range", 1)
	ledgers.MustPlay(t, hospitals(t, unfitted, 1, methodtest.Three(200)), "protocol")
	ledgers.MustPlay(t, hospitals(t, strings.Replace(unfitted, "0.25", "0.3", 1), 2, methodtest.Three(250)), "protocol")
}

// Jobs that hold out each hospital in turn are fitted on the others. A hospital that takes part in
// two of these fits with equal rows holds the second job before anything is fitted.
func TestAttackFitsThatLeaveAPartyOutInTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	without := func(name string, number byte) *methodtest.Federation {
		return hospitals(t, hospital("{fraction: 0.25}", "{party: "+name+"}"), number, methodtest.Three(150))
	}
	for _, own := range []string{"north", "south", "east"} {
		ledgers := disclosuretest.NewLedgers(t, own)
		ledgers.MustPlay(t, without("east", 1), "protocol")
		ledgers.Holds(t, own, without("south", 2), anotherFit)
	}
}

// The strongest adversary is one party, south, that follows the protocol: a fit of all three
// hospitals less one without east is over east's people alone. North's and south's ledgers hold the
// second job, though their own rows are as they were.
func TestAttackFitsAmongOtherParties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	two, three := methodtest.Three(150), methodtest.Three(150)
	delete(two, "east")
	pair := func(number byte) *methodtest.Federation {
		return hospitals(t, hospital("[north, south, east]", "[north, south]"), number, two)
	}
	all := hospitals(t, hospital(), 1, three)
	d := told(t, all.Until(t, "prepared"), "south").less(told(t, pair(2).Until(t, "prepared"), "south"))
	trains, ages := methodtest.StatesOf[*server, *party](all).Parties["east"].Split.Rows(false), 0.0
	for _, i := range trains {
		age, err := strconv.ParseFloat(strings.Split(strings.Split(three["east"], "\n")[1+i], ",")[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		ages += age
	}
	people := d[0]
	d.skip(1)
	if read := 120 * d.place(3); people != int64(len(trains)) || math.Abs(read-ages) > 1e-6 {
		t.Errorf("south reads of east %d people whose ages come to %.2f; they are %d and %.2f", people, read, len(trains), ages)
	}
	for _, own := range []string{"north", "south"} {
		ledgers := disclosuretest.NewLedgers(t, own)
		ledgers.MustPlay(t, hospitals(t, hospital(), 1, three), "protocol")
		ledgers.Holds(t, own, pair(2), anotherFit)
	}
}

// Scaling by the schema's ranges after a scaling that was fitted shows each column's factor.
func TestAttackTwoWaysToScale(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	plain := fmt.Sprintf(hospitalFile, "age: {range: [0, 120]}, krea: {range: [1, 400]}")
	scaled := func(by string, number byte) *methodtest.Federation {
		return hospitals(t, strings.Replace(plain, "scale: standard", "scale: "+by, 1), number, methodtest.Three(150))
	}
	ways := []string{"standard", "minmax", "range", "none"}
	for i, first := range ways {
		ledgers := disclosuretest.NewLedgers(t, "east")
		ledgers.MustPlay(t, scaled(first, 1), "protocol")
		for k, second := range ways {
			if k != i {
				ledgers.Holds(t, "east", scaled(second, 2), "columns are scaled by "+second+", formerly by "+first)
			}
		}
		ledgers.MustPlay(t, scaled(first, 3), "protocol")
	}
}

// The order in which a job lists its parties does not change the fit, unless it changes the leader:
// the leader receives more than the others, so each party could be the leader in turn.
func TestPartiesInAnotherOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const order = "[north, south, east]"
	for _, text := range []string{hospital(), hospital("scale: standard", "scale: minmax"), hospital("scale: standard", "scale: range")} {
		ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
		ledgers.MustPlay(t, hospitals(t, text, 1, methodtest.Three(150)), "protocol")
		ledgers.MustPlay(t, hospitals(t, strings.Replace(text, order, "[north, east, south]", 1), 2, methodtest.Three(150)), "protocol")
		ledgers.Holds(t, "east", hospitals(t, strings.Replace(text, order, "[east, north, south]", 1), 3, methodtest.Three(150)), anotherFit)
	}
	turn := func(f *methodtest.Federation) *methodtest.Federation {
		j := *f.Job
		j.Data.Partition.Parties = []string{"east", "north", "south"}
		c := methodtest.Instance(&j)
		c.ID[1] = 2
		return methodtest.New(t, Protocol(), c, scaledTables())
	}
	ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
	ledgers.MustPlay(t, scaledJob(t, "minmax", 1, scaledTables()), "protocol")
	ledgers.Holds(t, "north", turn(scaledJob(t, "minmax", 1, scaledTables())), anotherFit)
}

// A table under another name in the catalogue holds the same people by their ids.
func TestAttackARenamedTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, hospitals(t, hospital(), 1, methodtest.Three(150)), "protocol")
	renamed := hospital("source: patients", "source: patients-of-today")
	ledgers.Holds(t, "east", hospitals(t, renamed, 2, methodtest.Three(165)), anotherFit)
	ledgers.Holds(t, "east", hospitals(t, strings.Replace(renamed, "[0, 120]", "[0, 130]", 1), 3, methodtest.Three(150)), anotherSchema)
	ledgers.MustPlay(t, hospitals(t, renamed, 4, methodtest.Three(150)), "protocol") // what is out already
}

// rests holds what members keep of a job for the one that continues it, by name.
type rests map[string][]byte

func restsOf(t *testing.T, f *methodtest.Federation) rests {
	t.Helper()
	kept := make(rests)
	of := methodtest.StatesOf[*server, *party](f)
	for name, p := range of.Parties {
		var b bytes.Buffer
		if err := p.writeContinuation(&b); err != nil {
			t.Fatal(err)
		}
		kept[name] = b.Bytes()
	}
	var b bytes.Buffer
	if err := of.Server.writeContinuation(&b); err != nil {
		t.Fatal(err)
	}
	kept[methodtest.Coordinator] = b.Bytes()
	return kept
}

// continuedBy is a job between some parties that continues an earlier one.
func continuedBy(t *testing.T, earlier *methodtest.Federation, kept rests, keys string, number byte, tables map[string]string) *methodtest.Federation {
	t.Helper()
	text := hospital("wire: float64", fmt.Sprintf("wire: float64, continuable: true, continues: %v%s", earlier.ID, keys))
	f := hospitals(t, text, number, tables)
	of := methodtest.StatesOf[*server, *party](f)
	for name, p := range of.Parties {
		if err := p.resumeFrom(kept[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := of.Server.resumeFrom(kept[methodtest.Coordinator]); err != nil {
		t.Fatal(err)
	}
	return f
}

// Jobs that continue keep the fit, so more rows and newcomers pass repeatedly. A newcomer that
// trains in a new job would have its rows under a second fit: its ledger blocks that, although it
// did not take part in the fit that it received. Afterwards the chain continues.
func TestAttackANewFitBesideAKeptOne(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
	two, both := methodtest.Three(150), hospital("[north, south, east]", "[north, south]", "wire: float64", "wire: float64, continuable: true")
	delete(two, "east")
	first := hospitals(t, both, 1, two)
	ledgers.MustPlay(t, first, "evaluate")

	more := methodtest.Three(150)
	more["north"] = methodtest.Patients("north", 165)
	second := continuedBy(t, first, restsOf(t, first), ", late: [east]", 2, more)
	ledgers.MustPlay(t, second, "evaluate")

	for i, tables := range []map[string]string{more, methodtest.Three(150, patient)} {
		ledgers.Holds(t, "east", hospitals(t, hospital(), byte(3+i), tables), anotherFit)
	}
	ledgers.Holds(t, "north", hospitals(t, hospital(), 5, more), anotherFit) // its 15 rows travelled by the kept fit
	ledgers.Holds(t, "south", hospitals(t, hospital(), 6, more), anotherFit) // a fit among three

	more["east"] = methodtest.Patients("east", 150, patient)
	third := continuedBy(t, second, restsOf(t, second), "", 7, more)
	ledgers.MustPlay(t, third, "evaluate")
	ledgers.Holds(t, "east", hospitals(t, hospital(), 8, more), anotherFit)
	ledgers.MustPlay(t, continuedBy(t, third, restsOf(t, third), "", 9, more), "evaluate")

	// A changed row is held by the ledger, too, though the rest of the earlier job refuses it
	// first.
	more["east"] = strings.Replace(more["east"], "person-7,38.0", "person-7,39.0", 1)
	changed := hospitals(t, hospital("wire: float64", fmt.Sprintf("wire: float64, continuable: true, continues: %v", third.ID)), 10, more)
	if err := methodtest.StatesOf[*server, *party](changed).Parties["east"].resumeFrom(restsOf(t, third)["east"]); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("a changed row: %v", err)
	}
	// Rows of another number format are no continuation.
	narrow := hospitals(t, hospital("wire: float64", fmt.Sprintf("wire: float32, continuable: true, continues: %v", third.ID)), 11, more)
	err := methodtest.StatesOf[*server, *party](narrow).Parties["north"].resumeFrom(restsOf(t, third)["north"])
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "copy the earlier job's settings") {
		t.Errorf("other settings: %v", err)
	}
}
