package bench

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// A client that likes every item likes every pair, and a part of the pairs is the first of
// them.
func TestLikesAreTheTriangle(t *testing.T) {
	all := devicesRun{clients: 1, items: 5, liked: 5, parts: 1}
	var want liking
	for pair := range 15 {
		want = append(want, pair)
	}
	if got := all.likes(0); !slices.Equal(want, got) {
		t.Errorf("pairs %v", got)
	}
	all.parts = 4
	if got := all.likes(0); !slices.Equal(want[:4], got) {
		t.Errorf("a quarter of the pairs %v", got)
	}
	dst := []int64{7, 7, 7, 7}
	liking{1, 3, 6, 8}.Read(0, 3, dst)
	if !slices.Equal([]int64{1, 0, 0, 1}, dst) {
		t.Errorf("entries 3 to 6 are %v", dst)
	}
}

// A tenth vanishes and the sum is checked; a wrong one is an error.
func TestDevicesCheckTheirSum(t *testing.T) {
	c := devicesRun{clients: 30, items: 12, liked: 6, parts: 2}
	h, err := c.hall()
	if err != nil {
		t.Fatal(err)
	}
	if h.check() == nil {
		t.Error("no sum is right")
	}
	if err := h.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(h.server.Survivors()); n != 27 || c.stayed() != 27 {
		t.Errorf("%d clients in the sum, %d are to stay", n, c.stayed())
	}
	h.server.Sums()[0][3]++
	if h.check() == nil {
		t.Error("a wrong sum is right")
	}
	for name, w := range map[string]spending{"clients": h.present, "absent": h.absent, "server": h.serving} {
		if w.fixed.wall <= 0 || w.segments.wall <= 0 || w.sent == 0 || w.received == 0 {
			t.Errorf("%s spend %+v", name, w)
		}
	}
	if h.masks.spent.wall <= 0 {
		t.Error("the server's masks take no time")
	}
}

// The event shows whether a step is about segments.
func TestSegmentsAreToldByTheEvent(t *testing.T) {
	masked := protocol.Received{Message: protocol.Message{Header: protocol.Header{Kind: "MaskedInput"}}}
	for _, e := range []protocol.Event{protocol.Start{}, protocol.Received{}, protocol.Expired{Timer: secagg.TimerServer}} {
		if sendsVector(e) || takesVectors(e) {
			t.Errorf("%T is about segments", e)
		}
	}
	if !sendsVector(protocol.Resumed{}) || takesVectors(protocol.Resumed{}) || !takesVectors(masked) || sendsVector(masked) {
		t.Error("segments are not told")
	}
}
