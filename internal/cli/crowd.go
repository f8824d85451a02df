package cli

import (
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/say"
)

// sumsTable shows the sums; of many rounds the first and the last, the result has
// all.
func sumsTable(sums []method.CrowdSum) *tableOf {
	if len(sums) > 2 {
		sums = []method.CrowdSum{sums[0], sums[len(sums)-1]}
	}
	t := &tableOf{header: []string{"sum", "clients", "vanished", "of them added", "added", "holders", "threshold", "entries", "vector", "sent by each", "to each"}}
	for _, s := range sums {
		n := uint64(s.Clients)
		t.add(s.Purpose, s.Clients, s.Vanished, s.Added+s.Vanished-s.Clients, s.Added, s.Holders, s.Threshold, s.Entries,
			say.Bytes(int64(s.Vector)), say.Bytes(int64(s.ToServer/n)), say.Bytes(int64(s.FromServer/n)))
	}
	return t
}
