package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// statusResult describes what a daemon knows about its federation.
type statusResult struct{ overview.Overview }

// Print writes the members, the jobs that have not ended, what waits for whom, and the broker's load.
func (r statusResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s, %s of %s, version %s, runs since %s", r.Name, r.Role, r.Federation, cmp.Or(r.Version, "-"), minute(r.Since))
	p.linef("")
	members := &tableOf{header: []string{"member", "role", "connected", "since", "version"}}
	for _, m := range r.Members {
		members.add(m.Name, string(m.Role), humanize.YesNo(m.Connected), minute(m.Since), cmp.Or(m.Version, "-"))
	}
	p.join(members.print(w))
	p.linef("")
	r.printJobs(p)
	for _, a := range r.Awaiting {
		p.linef("%s since %s%s", a, minute(a.Since), approvalHint(a))
	}
	if b := r.Broker; b != nil {
		p.linef("queues: %s, %s of %s; %s free on their disk", humanize.Count(int(b.Messages), "message"), humanize.Bytes(b.Bytes), humanize.Bytes(b.Limit), humanize.Bytes(b.Free))
	}
	return p.err
}

// printJobs counts the jobs in each state, and lists those that have not ended.
func (r statusResult) printJobs(p *printer) {
	count := make(map[overview.State]int)
	open := &tableOf{header: []string{"job", "name", "begun", "state"}}
	for _, j := range r.Jobs {
		if count[j.State]++; !j.State.Over() {
			open.add(j.ID, cmp.Or(j.Name, "-"), minute(begun(j)), jobResult{Job: admin.Job{Job: j}}.state())
		}
	}
	var counts []string
	for _, s := range overview.States(r.Role) {
		if count[s] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	if len(counts) == 0 {
		p.linef("jobs: none")
		return
	}
	p.linef("jobs: %s", strings.Join(counts, ", "))
	if len(open.rows) > 0 {
		p.join(open.print(p.w))
	}
}

// approvalHint names the command that shows a party's operator what to approve.
func approvalHint(a overview.Awaiting) string {
	switch {
	case a.Release != "":
		return "; see mercer release list"
	case a.Stage == "":
		return "; see mercer job show " + a.Job
	}
	return ""
}

// printStatus prints a status before the lines of events.
func (a *app) printStatus(o overview.Overview) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(o)
	}
	return statusResult{o}.Print(terminal{a.stdout})
}

func (a *app) status() *cobra.Command {
	var follow bool
	cmd := a.clientCommand(&cobra.Command{
		Use:   "status",
		Short: "Show who is connected, which jobs run, and what waits for whom",
		Long: `Show what the daemon of a home knows about its federation. A coordinator shows which
parties are connected and since when, all jobs, for which party a job's stage waits,
and how full the broker's queues are. A party shows whether it is connected to the
coordinator, its own jobs, and the jobs and releases that wait for its operator's
approval.

A version is what the member's program says of itself. With -f the command goes on with
a line for each event, until it is interrupted. With --json and -f the status and each
event are a JSON object on a line of its own.`,
		Example: "  mercer status --home ./c\n  mercer status --home ./north -f",
		Args:    args(),
	}, func(ctx context.Context, c *admin.Client, _ []string) (Result, error) {
		asked := time.Now()
		o, err := c.Overview(ctx)
		if err != nil || !follow {
			return statusResult{o}, err
		}
		if err := a.printStatus(o); err != nil {
			return nil, err
		}
		return a.followEvents(ctx, c, "", asked)
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with a line for each event")
	return cmd
}
