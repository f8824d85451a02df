package cli

import (
	"context"
	"errors"
	"os"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/launch"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/say"
	"github.com/mercer-fl/mercer/protocol"
)

// simulateAll has everybody in this process run a job in a folder for its time,
// and leaves its results in out with what the process has used.
func (a *app) simulateAll(ctx context.Context, j *job.Job, out string, run func(dir string, progress func(protocol.Progress)) (*method.Result, error)) (r Result, err error) {
	dir, err := os.MkdirTemp("", "mercer-simulate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	result, err := orAbandon(ctx, func() (*method.Result, error) {
		cpu, _ := daemon.Usage()
		bars := a.progress()
		defer bars.Close()
		result, err := run(dir, func(p protocol.Progress) { bars.Step("", p) })
		if err != nil {
			return nil, err
		}
		result.Refused = launch.Refusals(j, nil, 0)
		used, peak := daemon.Usage()
		result.Timings["cpu_s"], result.PeakRSS, result.Processes = used-cpu, peak, []int{os.Getpid()}
		return result, nil
	})
	if err != nil {
		return nil, err
	}
	return a.finish(j, outcome{Result: result}, out)
}

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
