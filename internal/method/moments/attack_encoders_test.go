package moments

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// The ledger treats the release (or approval) of a hardened okra job as equal to one by escaped or
// in okra's mode paper, whose encoders reveal more than the Gram matrix: one ID, a repetition. The
// attack succeeds: docs/ledger.md says so ("What gets past it").
func TestAttackOneIDForAllEncoders(t *testing.T) {
	l := disclosure.Ledger(t.TempDir())
	ids := make(map[string]bool)
	tables := methodtest.Three(300)
	for i, f := range []*methodtest.Federation{
		by(t, "okra", 1, tables), by(t, "escaped", 2, tables), by(t, "flake", 3, tables),
		by(t, "okra", 4, tables, "{name: okra, wire: float64}", "{name: okra, mode: paper}"),
	} {
		list := f.Releases(t, "east", "protocol")
		id, err := l.Admit(disclosure.Asker{}, list[0], 0)
		if err != nil {
			t.Fatal(i, err)
		}
		if err := l.Release(list[0].Kind, id); err != nil {
			t.Fatal(err)
		}
		ids[id] = true
	}
	if len(ids) != 1 {
		t.Errorf("%v", ids)
	}
}
