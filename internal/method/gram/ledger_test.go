package gram

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

const describedFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: described}
spec:
  data: {source: patients, label: label, partition: %s, schema: {%s}, scale: none}
  protocol: {name: %s}
  kernel: {name: linear}
  learner: {name: svc}
`

// The adversary is the coordinator, which writes a schema for a job by rows and another for one by
// columns over one table: its holder's ledger compares them by that holder's own columns, and holds
// the second job at its first session, before ids are looked for. One schema of both passes.
func TestAttackAnotherSchemaByColumns(t *testing.T) {
	people := methodtest.Patients("north", 150)
	byColumns := func(number byte, top string) *methodtest.Federation {
		schema := fmt.Sprintf("north.age: {range: [0, %s]}, south.bmi: {range: [10, 60]}", top)
		return methodtest.Hospitals(t, Protocol(), fmt.Sprintf(describedFile, "{by: columns, parties: [south, north]}", schema, "gram"), number, map[string]string{"north": people, "south": people})
	}
	byRows := func(number byte, top string) *methodtest.Federation {
		schema := fmt.Sprintf("age: {range: [0, %s]}", top)
		return methodtest.Hospitals(t, okra.Protocol(), fmt.Sprintf(describedFile, "{parties: [north, south]}", schema, "okra"), number, map[string]string{"north": people, "south": methodtest.Patients("south", 150)})
	}
	const another = "the job's schema or views differ from those of an earlier job"
	rows := disclosuretest.NewLedgers(t, "north")
	rows.MustPlay(t, byRows(1, "120"), "protocol")
	rows.Holds(t, "north", byColumns(2, "96"), another)
	rows.MustPlay(t, byColumns(3, "120"), "protocol")
	columns := disclosuretest.NewLedgers(t, "north")
	columns.MustPlay(t, byColumns(1, "120"), "align")
	columns.Holds(t, "north", byRows(2, "96"), another)
	columns.MustPlay(t, byRows(3, "120"), "protocol")
}
