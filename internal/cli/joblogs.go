package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// eventsResult lists events.
type eventsResult struct {
	Events []overview.Event `json:"events"`
}

// Print writes one line for each event.
func (r eventsResult) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Events) == 0 {
		p.linef("this daemon keeps no event of the job; its log has what happened")
	}
	for _, e := range r.Events {
		p.linef("%s", eventLine(e))
	}
	return p.err
}

// eventLine describes an event in a line.
func eventLine(e overview.Event) string {
	words := []string{e.Time.Local().Format("2006-01-02 15:04:05"), fmt.Sprintf("%-12s", e.Kind)}
	for _, word := range []string{e.Member, e.Name, e.Job} {
		if word != "" {
			words = append(words, word)
		}
	}
	if e.Stage != "" {
		words = append(words, "stage "+e.Stage)
	}
	if len(e.Parties) > 0 {
		words = append(words, "("+strings.Join(e.Parties, ", ")+")")
	}
	if e.State != "" {
		words = append(words, string(e.State))
	}
	if e.Code != 0 {
		words = append(words, fmt.Sprintf("exit code %d", e.Code))
	}
	if e.Blamed != "" {
		words = append(words, "blamed: "+e.Blamed)
	}
	return strings.TrimRight(strings.Join(words, "  "), " ")
}

// printed is the result of a command that has printed its output line by line.
type printed struct{}

// Print writes nothing.
func (printed) Print(io.Writer) error { return nil }

// errJobClosed ends the following of a job's events when the job is closed.
var errJobClosed = errors.New("the job is closed")

// followEvents prints the events of a job from a time on until the job is closed. If the job is "", it prints
// the events of all jobs and members, without an end. An interruption by the user is no error.
func (a *app) followEvents(ctx context.Context, c *admin.Client, job string, from time.Time) (Result, error) {
	err := c.Follow(ctx, job, func(e overview.Event) error {
		if e.Time.Before(from) {
			return nil
		}
		if err := a.printEvent(e); err != nil {
			return err
		}
		if job != "" && e.Kind == overview.Closed {
			return errJobClosed
		}
		return nil
	})
	if ctx.Err() != nil || errors.Is(err, errJobClosed) {
		return printed{}, nil //nolint:nilerr // the reader has seen all that it wanted
	}
	return nil, err
}

// printEvent prints an event on one line.
func (a *app) printEvent(e overview.Event) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(e)
	}
	return linef(terminal{a.stdout}, "%s", eventLine(e))
}

func (a *app) jobLogs() *cobra.Command {
	var follow bool
	cmd := a.clientCommand(&cobra.Command{
		Use:   "logs ID",
		Short: "Show the events of a job at this member",
		Long: `Show the events of a job, one on each line. A coordinator has the job's submission,
the beginning and the end of each stage, for whom a stage waits, and how the job ended.
A party has the sessions that it accepted, refused and ended. Of a failure or a refusal
there is the exit code; mercer job show and the daemon's log have the reason. With -f
the command goes on until the job is closed. With --json and -f each line is a JSON
object.

The daemon keeps the last 256 events of a job, and 4,096 in all, in its memory. After a
restart it has only new ones. The times in mercer job list stay, and so does the log.`,
		Example: "  mercer job logs 0123456789abcdef0123456789abcdef --home ./c\n  mercer job logs 0123456789abcdef0123456789abcdef --home ./north -f",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		j, err := findJob(ctx, c, args[0])
		if err != nil {
			return nil, err
		}
		if follow && j.ID != "" && !j.State.Over() {
			return a.followEvents(ctx, c, args[0], time.Time{})
		}
		r := eventsResult{[]overview.Event{}}
		err = c.Events(ctx, args[0], func(e overview.Event) error {
			r.Events = append(r.Events, e)
			return nil
		})
		if err == nil && len(r.Events) == 0 && j.ID == "" {
			err = fault.BadInputf("the daemon of this home knows no job %s; mercer job list shows its jobs", args[0])
		}
		return r, err
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the job is closed")
	return cmd
}

// findJob returns a job of a daemon's overview. It returns the zero value if the daemon has no such job, for
// example because the job has ended at this party and left nothing here.
func findJob(ctx context.Context, c *admin.Client, id string) (overview.Job, error) {
	o, err := c.Overview(ctx)
	for _, j := range o.Jobs {
		if j.ID == id {
			return j, err
		}
	}
	return overview.Job{}, err
}
