package moments

import (
	"reflect"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/linalg"
)

// One job by okra, hardened, the first in three empty ledgers, whose parties fit and send all rows, fit
// again and send all rows again: the coordinator alone would read every column. Its keys added and
// preparation: refit are for simulate, and no party takes part (TestAttackPartiesRunWhatIsForSimulate).
// Their ledgers hold the second fit, too.
func TestAttackOneJobOfSimulateReadsTheColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	job := func() *methodtest.Federation {
		return by(t, "okra", 1, methodtest.Three(165), "scale: range", "scale: standard", "wire: float64", "wire: float64, preparation: refit, added: {north: 0.0909, south: 0.0909, east: 0.0909}")
	}
	f := job()
	f.Until(t, "protocol")
	// What the honest coordinator holds after the first upload; it drops it later, a curious one does not.
	base := reflect.ValueOf(f.Server.State).Elem().FieldByName("base").Elem().FieldByName("gram")
	gram := linalg.New[float64](int(base.FieldByName("Rows").Int()), int(base.FieldByName("Cols").Int()))
	for i := range gram.Rows {
		for k := range gram.Cols {
			gram.Row(i)[k] = base.FieldByName("Data").Index(i*int(base.FieldByName("Stride").Int()) + k).Float()
		}
	}
	first := centred(learner.Problem{Gram: gram}, 150, 150)
	then := centred(problemOf(job().Until(t, "protocol-again")), 150, 165)
	columns, truth := unscaled(t, first, then), cellsOf(t, methodtest.Three(150))
	for c := range hospitalColumns {
		best := 0.0
		for k := range hospitalColumns {
			best = max(best, correlation(truth, c, columns, k))
		}
		if best < .999 {
			t.Errorf("column %d: the coordinator has it with correlation %.6f", c, best)
		}
	}
	ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
	ledgers.HoldsAt(t, "preparation-again", "north", job(), "prepared or scaled by another fit")
}
