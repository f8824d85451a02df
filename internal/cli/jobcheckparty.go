package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/node/admin"
)

// checkAtParty asks a party whether it would accept a job: the daemon of the home, or the home itself
// if no daemon runs.
func (a *app) checkAtParty(ctx context.Context, home daemon.Home, path string) (Result, error) {
	file, err := regular.Read(path)
	if err != nil {
		return nil, usage("the job file cannot be read: %w", err)
	}
	c := admin.NewClient(home.Socket())
	defer c.Close()
	checked, err := c.Check(ctx, path, file)
	if errors.Is(err, admin.ErrNoDaemon) {
		checked, err = daemon.CheckJob(ctx, home, a.reader, path, file)
	}
	if err != nil {
		return nil, err
	}
	r := opinion{checked}
	if checked.Code == fault.CodeDone {
		return r, nil
	}
	e := errorOfSession(checked.Code, errors.New(checked.Message))
	e.Result, e.Hint = r, r.hint()
	return nil, e
}

// opinion is a party's answer to a job that nobody has proposed.
type opinion struct{ *admin.Checked }

// hint names the file, and the key if its line is known, that refuses the job. It returns "" if no place is known.
func (o opinion) hint() string {
	switch w := o.Where; {
	case w == nil:
		return ""
	case w.Line == 0:
		return "it is decided in " + w.File
	default:
		return fmt.Sprintf("%s:%d decides it, by %s", w.File, w.Line, w.Key)
	}
}

// Print writes the party's decision: accept or refuse. If the party would accept the job, Print lists what depends on
// others; if not, the error of the command has the refusal and its place.
func (o opinion) Print(w io.Writer) error {
	p := &printer{w: w}
	if o.Code != fault.CodeDone {
		p.linef("%s would refuse this job", o.Party)
		return p.err
	}
	p.linef("%s would accept the first session of job %s", o.Party, o.Job)
	for _, what := range o.Undecided {
		p.linef("%s", paragraph("not decided here: "+what))
	}
	for _, what := range o.Notes {
		p.linef("%s", paragraph("note: "+what))
	}
	return p.err
}
