package okra

import (
	"bytes"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// A job that continues another sends a newcomer the values that the others have fitted over their
// rows. The others state the release, besides the rows on which they fitted, and their ledgers
// record it.
func TestAttackANewcomerIsToldTheFitWithoutARelease(t *testing.T) {
	ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
	two, both := methodtest.Three(150), hospital("[north, south, east]", "[north, south]", "wire: float64", "wire: float64, continuable: true")
	delete(two, "east")
	first := hospitals(t, both, 1, two)
	ledgers.MustPlay(t, first, "evaluate")
	second := continuedBy(t, first, restsOf(t, first), ", late: [east]", 2, methodtest.Three(150))
	states := methodtest.StatesOf[*server, *party](second)
	for _, name := range []string{"north", "south"} {
		list := second.Releases(t, name, "continue")
		if len(list) != 2 || list[0].Kind != method.ReleaseRows || list[1].Kind != method.ReleaseFits {
			t.Errorf("%s states %+v", name, list)
		}
	}
	ledgers.MustPlay(t, second, "evaluate")
	told, fit := states.Parties["east"].standing.Preparation, states.Parties["north"].Fitted()
	if len(fit) == 0 || !bytes.Equal(told, fit) {
		t.Errorf("east has %d bytes of the others' fit of %d", len(told), len(fit))
	}
}
