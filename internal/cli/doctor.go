package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// status is the outcome of a check.
type status string

const (
	statusOK   status = "ok"
	statusWarn status = "warn" // works, but not as well as it could
	statusFail status = "fail" // something will not work
)

// check is one thing that the doctor looked at.
type check struct {
	Name   string `json:"name"`
	Status status `json:"status"`
	Found  string `json:"found"`
	Advice string `json:"advice"` // what to do; empty when all is well
}

func good(name, found string, args ...any) check {
	return check{Name: name, Status: statusOK, Found: fmt.Sprintf(found, args...)}
}

func warn(name, advice, found string, args ...any) check {
	return check{Name: name, Status: statusWarn, Advice: advice, Found: fmt.Sprintf(found, args...)}
}

func bad(name, advice, found string, args ...any) check {
	return check{Name: name, Status: statusFail, Advice: advice, Found: fmt.Sprintf(found, args...)}
}

// doctorResult is the list of checks.
type doctorResult struct {
	Checks []check `json:"checks"`
}

func (a *app) doctor() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine can run a party or a coordinator",
		Long: `Check processor, memory, disk, clock, identity, network and data, and say what
to do about what is not well. The exit code is 1 when a check fails; warnings
are no failure.`,
		Example: "  mercer doctor\n  mercer doctor --home /var/lib/mercer --json",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			r := doctorResult{Checks: a.examine(ctx, home)}
			return r, r.err()
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

func (a *app) examine(ctx context.Context, home string) []check {
	return []check{
		checkProcessor(),
		checkCores(),
		checkMemory(),
		checkDisk(home),
		checkIdentity(home),
		a.checkCatalogue(home),
		checkClock(),
		checkLoopback(ctx),
		a.checkData(),
	}
}

// err is an error that carries the whole list, when a check failed.
func (r doctorResult) err() error {
	var failed []string
	for _, c := range r.Checks {
		if c.Status == statusFail {
			failed = append(failed, c.Name)
		}
	}
	if failed == nil {
		return nil
	}
	return &Error{
		Code: codeFailed, Exit: Failed, Result: r,
		Err:  errors.New("not well: " + strings.Join(failed, ", ")),
		Hint: "do what the advice says and run mercer doctor again",
	}
}

// Print writes a table, and the advice below it.
func (r doctorResult) Print(w io.Writer) error {
	t := &tableOf{header: []string{"check", "status", "found"}}
	for _, c := range r.Checks {
		t.add(c.Name, string(c.Status), c.Found)
	}
	p := &printer{w: w}
	p.join(t.print(w))
	for _, c := range r.Checks {
		if c.Advice != "" {
			p.linef("\n%s", paragraph(c.Name+": "+c.Advice))
		}
	}
	return p.err
}
