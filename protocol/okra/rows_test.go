package okra

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Wide panels are encoded in many steps, and pieces in order are the whole.
func TestPiecesMakeUpThePanel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		spec Spec
		f, n int
		want int // pieces at least
	}{{encoders[0], 3000, 5, 1}, {encoders[1], 900, 300, 4}, {encoders[3], 100000, 20, 2}} {
		e, x := mustEncoder(t, c.spec, 8, c.f), randomRows("pieces", c.n, c.f)
		want := linalg.New[float64](c.n, e.Width())
		e.Encode(want, x)
		u := newUpload(e, x, 8)
		u.plain, u.panel = linalg.New[float64](c.n, c.f), linalg.New[float64](c.n, e.Width())
		calls := 1
		for !u.encode() {
			calls++
		}
		if calls != e.pieces(c.n) || calls < c.want {
			t.Errorf("%s: %d steps, want %d and at least %d", c.spec.Encoder, calls, e.pieces(c.n), c.want)
		}
		if !slices.Equal(u.panel.Data, want.Data) {
			t.Errorf("%s: a panel encoded in %d pieces differs", c.spec.Encoder, calls)
		}
	}
}
