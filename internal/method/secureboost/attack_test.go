package secureboost

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

const encodedFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: encoded}
spec:
  data: {source: own, label: label, partition: {parties: [guest, friend]}, scale: none, test: {every: 4}}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

// The adversary is the coordinator, with the guest's partners by columns: histograms of the guest's
// rows are sums, and together with its encoded rows they reveal the rotation. The guest's ledger
// blocks the second of the two: rows at once, and sums when the common people are known, before any
// sum.
func TestAttackHistogramsBesideEncodedRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	sums := func() *methodtest.Federation {
		j := boosted(t, ", he: none", ", rounds: 1, depth: 1, bins: 4")
		return methodtest.New(t, Protocol(), methodtest.Instance(j), columnstest.Share(t, j, columnstest.Numbered(t, "wdbc", 120)))
	}
	own := columnstest.Share(t, sums().Job, columnstest.Numbered(t, "wdbc", 120))["guest"].Set
	friend := *own.Subset(dataset.Complement(50, nil))
	friend.IDs = nil
	for i := range 50 {
		friend.IDs = append(friend.IDs, fmt.Sprint("friend's ", i))
	}
	rows := func() *methodtest.Federation {
		j := methodtest.Read(t, okra.Protocol(), encodedFile)
		return methodtest.New(t, okra.Protocol(), methodtest.Instance(j), map[string]method.Table{"guest": {Set: own}, "friend": {Set: &friend}})
	}
	const both = "people would be both in sums and among encoded rows"
	first := disclosuretest.NewLedgers(t, "guest")
	first.MustPlay(t, rows(), "protocol")
	first.HoldsAt(t, "all-gather", "guest", sums(), both)
	then := disclosuretest.NewLedgers(t, "guest")
	then.MustPlay(t, sums(), "protocol")
	then.Holds(t, "guest", rows(), both)
}
