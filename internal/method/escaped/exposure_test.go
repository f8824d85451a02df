package escaped

import (
	"testing"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// TestExposuresFollowTheJob: the coordinator's matrix is okra's. 52 images vary in 51 of 64 pixels, and
// the lattice attack reads them; 51 images vary in as many dimensions, and it reads none.
func TestExposuresFollowTheJob(t *testing.T) {
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]protocol.Reach{51: protocol.ReachPart, 52: protocol.ReachAll, 200: protocol.ReachAll} {
		j := methodtest.Read(t, Protocol(), `apiVersion: mercer/v1
kind: Job
metadata: {name: exposed}
spec:
  data: {source: digits, label: label, partition: {parties: [north, south]}, test: {every: 4}, scale: none}
  protocol: {name: escaped, mode: paper}
  kernel: {name: linear}
  learner: {name: ridge}
`)
		f := methodtest.Join[*server, *party](t, Protocol(), j, map[string]method.Table{
			"north": {Set: set.Subset(linalg.Range(0, 20))}, "south": {Set: set.Subset(linalg.Range(20, n))},
		})
		f.Finish(t)
		if e := f.Result(t).Exposures["server"]; e.Reach != want {
			t.Errorf("%d images: %+v, want %s", n, e, want)
		}
	}
}
