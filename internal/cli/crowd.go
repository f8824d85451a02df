package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/launch"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/say"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/report"
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
	return a.finish(j, result, out)
}

// crowdText prints what a job among many devices has beside its figures.
func (o outcome) crowdText(w io.Writer, p *printer) {
	c := o.Crowd
	p.linef("\nRatings: %s", c.Source)
	p.linef("%s; %s", crowdScope(c), crowdRatings(o.Result))
	if o.Exact != nil {
		p.linef("all sums are those of the plain lists, entry for entry: %s", say.YesNo(*o.Exact))
	}
	p.linef("")
	p.join(sumsTable(c.Sums).print(w))
	if c.Paper == nil {
		p.linef("kernel between items, to every device: %s", say.Bytes(int64(c.Broadcast)))
	} else {
		p.linef("rows of the kernel asked for: %d by each device in each round", int(c.Paper.Requested)/(c.People*c.Paper.Rounds))
	}
	for i, r := range c.Recommended {
		if i == 0 {
			p.linef("\nWhat the first device recommends to its owner")
		}
		p.linef("  item %-8s  %.4f", r.Item, r.Score)
	}
	if c.Recommendations != "" {
		p.linef("what each device recommends, which real ones keep to themselves: %s", c.Recommendations)
	}
}

// crowdRatings counts the ratings, as far as anybody knows them: parties keep what
// they hold out to themselves.
func crowdRatings(r *method.Result) string {
	counted := say.Count(r.Training, "rating") + " counted"
	if r.HeldOut == 0 {
		return counted
	}
	return fmt.Sprintf("%s, %s held out by %d people", counted, say.Count(r.HeldOut, "rating"), r.Crowd.Judged)
}

// crowdScope says how many people and items there are to learn from.
func crowdScope(c *method.CrowdResult) string {
	if c.Paper != nil {
		return fmt.Sprintf("%d people, %d items; %d rounds", c.People, c.Items, c.Paper.Rounds)
	}
	return fmt.Sprintf("%d people, %d items, %d of them with enough likes (%d)", c.People, c.Items, c.Kept, c.Cut)
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

// describeSum counts a sum's clients: some vanish after their vectors have come,
// and are in it.
func describeSum(s method.CrowdSum) string {
	late := s.Added + s.Vanished - s.Clients
	return fmt.Sprintf("%d of %d clients added; %d vanished, %d of them after their vectors had come; %d holders, threshold %d",
		s.Added, s.Clients, s.Vanished, late, s.Holders, s.Threshold)
}

// crowdSummary is the head of the report.
func crowdSummary(j *job.Job, r *method.Result) []report.Row {
	c := r.Crowd
	rows := []report.Row{
		{Label: "Data", Value: c.Source},
		{Label: "People", Value: fmt.Sprintf("%d, each with a device; %d items", c.People, c.Items)},
		{Label: "Protocol", Value: j.Protocol.Text()},
		{Label: "Counted", Value: crowdScope(c)},
		{Label: "Kernel", Value: j.Kernel.String()},
		{Label: "Learner", Value: j.Learner.String()},
		{Label: "Ratings", Value: crowdRatings(r)},
	}
	if c.Paper == nil {
		for _, s := range c.Sums {
			rows = append(rows, report.Row{Label: s.Purpose, Value: describeSum(s)})
		}
	}
	if r.Exact != nil {
		rows = append(rows, report.Row{Label: "Sums equal the plain ones", Value: say.YesNo(*r.Exact)})
	}
	return rows
}
