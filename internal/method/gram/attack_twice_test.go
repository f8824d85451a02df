package gram

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

const twiceFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: twice}
spec:
  data: {source: patients, label: label, partition: {by: columns, parties: [south, north]}, schema: {south.age: {range: [0, 120]}, south.krea: {range: [1, 400]}, south.bmi: {range: [10, 60]}, north.postcode: {range: [10000, 99999]}, north.hiv: {type: boolean}}, test: {fraction: 0.25}, scale: %s}
  protocol: {name: gram}
  kernel: {name: rbf, gamma: 0.05}
  learner: {name: svc}
`

// The coordinator alone submits one job twice over an unchanged table, and follows the protocol.
// Held-out rows are drawn anew, and so is the scaling: two Gram matrices under two scalings have
// the columns as eigenvectors. The parties' ledgers block the second job before a number over their
// columns is declared; ranges and unscaled numbers reveal nothing new.
func TestAttackOneJobTwiceByColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	people := methodtest.Patients("north", 300)
	tables := map[string]string{"north": people, "south": people}
	play := func(scale string, number byte) *methodtest.Federation {
		return methodtest.Hospitals(t, Protocol(), fmt.Sprintf(twiceFile, scale), number, tables)
	}
	for _, scale := range []string{"range", "none"} {
		ledgers := disclosuretest.NewLedgers(t, "north", "south")
		ledgers.MustPlay(t, play(scale, 1), "protocol")
		ledgers.MustPlay(t, play(scale, 2), "protocol")
	}
	ledgers := disclosuretest.NewLedgers(t, "north", "south")
	ledgers.MustPlay(t, play("standard", 1), "protocol")
	ledgers.HoldsAt(t, "all-gather", "south", play("standard", 2), "prepared or scaled by another fit than in the earlier job")
}
