package okra

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// The coordinator alone follows every protocol and requests learner cca, with one column as the
// first view: the products within that view are the column, up to one sign for all rows. One job
// reveals one column of every party, so a policy has to allow views. A ledger blocks a job with
// another view, and an approval covers one view.
func TestAttackViewsOfOneColumn(t *testing.T) {
	tables := methodtest.Three(150)
	plain := strings.Replace(fmt.Sprintf(hospitalFile, "age: {range: [0, 120]}, krea: {range: [1, 400]}, postcode: {range: [10000, 99999]}, bmi: {range: [10, 60]}"), "scale: standard", "scale: range", 1)
	views := func(column string, number byte) *methodtest.Federation {
		return hospitals(t, strings.NewReplacer("    label: label\n", "    label: none\n", "{name: svc}", "{name: cca, view: ["+column+"], n_components: 1}").Replace(plain), number, tables)
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	first := views("age", 1)
	ledgers.MustPlay(t, first, "protocol")
	of := methodtest.StatesOf[*server, *party](first)
	s, east := of.Server, of.Parties["east"]
	truth, right, rows := strings.Split(strings.TrimSpace(tables["east"]), "\n")[1:], 0, 0
	for i, k := s.upload.Owner()[2].Lo, 0; i < s.upload.Owner()[2].Hi; k++ {
		if east.Split.Test[k] {
			i++
			continue
		}
		age, err := strconv.ParseFloat(strings.Split(truth[k], ",")[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if rows++; math.Abs(120*math.Sqrt(s.Problem.Gram.Row(i)[i])-age) < 1e-3 {
			right++
		}
		i += 2 // the row in two views
	}
	if rows < 50 || right != rows {
		t.Errorf("the coordinator reads the age of %d of %d training rows, want the attack to work where views are allowed", right, rows)
	}
	const another = "schema or views differ"
	ledgers.Holds(t, "east", views("krea", 2), another)
	ledgers.Approve(t, "east", 1)
	ledgers.MustPlay(t, views("krea", 3), "protocol")
	ledgers.Holds(t, "east", views("bmi", 4), another)
}
