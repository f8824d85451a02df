package sealed

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// submitted is one more job over tables.
func submitted(t *testing.T, number byte, j *job.Job, tables map[string]method.Table) *methodtest.Federation {
	t.Helper()
	c := methodtest.Instance(j)
	c.ID, c.Limits = job.ID{0xb, number}, method.DefaultLimits()
	return methodtest.New(t, Protocol(), c, tables)
}

// without leaves the first training rows of a party out.
func without(tables map[string]method.Table, party string, rows int) map[string]method.Table {
	fewer := make(map[string]method.Table)
	for name, table := range tables {
		if name == party {
			n := table.Set.X.Rows()
			left := make([]int, 0, n)
			for i := rows; i < n; i++ {
				left = append(left, i)
			}
			table.Set = table.Set.Subset(left)
		}
		fewer[name] = table
	}
	return fewer
}

// named gives each row an id, so that the ledger knows people in tables of other lengths.
func named(tables map[string]method.Table) map[string]method.Table {
	for name, table := range tables {
		for _, set := range []*[]string{&table.Set.IDs, &table.HeldOut.IDs} {
			n := table.Set.X.Rows()
			if set == &table.HeldOut.IDs {
				n = table.HeldOut.X.Rows()
			}
			for i := range n {
				*set = append(*set, name+string(rune('a'+i%26))+string(rune('A'+i/26))+map[bool]string{true: "held", false: ""}[set == &table.HeldOut.IDs])
			}
		}
	}
	return tables
}

// The adversary submits one job after the other over the same hospitals. A party's ledger lets three models of the same
// rows out, whoever the keepers are, and none of rows that differ by a few people.
func TestAttackManyModels(t *testing.T) {
	keepers := []string{"", ", keepers: [south, east, north]", ", keepers: [north, south, coordinator]", ", keepers: [east, north, coordinator]"}
	tables := named(deal(t, digitsJob(t, "north, south, east", ""), 200))
	ledgers := disclosuretest.NewLedgers(t, "north")
	for i, who := range keepers[:3] {
		ledgers.MustPlay(t, submitted(t, byte(i), digitsJob(t, "north, south, east", ", features: 32"+who), tables), "sealed")
	}
	ledgers.Holds(t, "north", submitted(t, 9, digitsJob(t, "north, south, east", ", features: 32"+keepers[3]), tables), "been in 3 models, or attempts at one")

	ledgers = disclosuretest.NewLedgers(t, "north")
	ledgers.MustPlay(t, submitted(t, 0, digitsJob(t, "north, south, east", ", features: 32"), tables), "sealed")
	ledgers.Holds(t, "north", submitted(t, 1, digitsJob(t, "north, south, east", ", features: 34"), without(tables, "north", 9)), "the two models together tell about these 9 alone")
	ledgers.MustPlay(t, submitted(t, 2, digitsJob(t, "north, south, east", ", features: 34"), without(tables, "south", 1)), "count") // north's rows are the same
}

// A job that fails after it has begun to share has counted: nobody can try again without end.
func TestAFailedJobCounts(t *testing.T) {
	tables := named(deal(t, digitsJob(t, "north, south, east", ""), 200))
	ledgers := disclosuretest.NewLedgers(t, "north")
	for i := range 3 {
		ledgers.MustPlay(t, submitted(t, byte(i), digitsJob(t, "north, south, east", ", features: 32"), tables), "draw") // and no further
	}
	ledgers.Holds(t, "north", submitted(t, 9, digitsJob(t, "north, south, east", ", features: 32"), tables), "been in 3 models")
	ledgers.Approve(t, "north", 1)
	ledgers.MustPlay(t, submitted(t, 9, digitsJob(t, "north, south, east", ", features: 32"), tables), "sealed")
	list, err := ledgers["north"].List()
	if err != nil || len(list) == 0 || list[0].Kind != method.ReleaseModels || list[0].State != disclosure.Released {
		t.Errorf("%+v, %v", list, err)
	}
}
