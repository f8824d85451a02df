package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// roster returns the roster in force.
func (c *Coordinator) roster() *roster.Roster { return cmp.Or(c.current.Load(), c.Config.Roster) }

// inRoster returns those of the parties that are still in the roster.
func (c *Coordinator) inRoster(parties []string) []string {
	now := c.roster().Parties()
	return slices.DeleteFunc(slices.Clone(parties), func(name string) bool { return !slices.Contains(now, name) })
}

// notInRoster returns those of the parties that are no longer in the roster.
func (c *Coordinator) notInRoster(parties []string) []string {
	now := c.roster().Parties()
	return slices.DeleteFunc(slices.Clone(parties), func(name string) bool { return slices.Contains(now, name) })
}

// ChangeRoster puts another roster of the same federation in force. Jobs whose parties stay as they are
// continue. It aborts the other jobs that are queued or running. A question that waits for a removed party fails at
// its time limits.
func (c *Coordinator) ChangeRoster(next *roster.Roster) error {
	changes := roster.Compare(c.roster(), next)
	c.current.Store(next)
	c.router.SetRoster(next)
	c.attendance.SetMembers(absent(next, overview.Now()))
	var errs error
	for _, j := range c.List() {
		touched := roster.Touched(changes, j.Spec.Parties())
		if len(touched) == 0 || j.State != overview.Queued && j.State != overview.Running {
			continue
		}
		err := c.abortBecause(j.ID, "a job was aborted, because the roster has changed", lost(touched))
		if fault.CodeOf(err) != fault.CodeBadInput { // else the job has ended meanwhile
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// lost says why a job cannot continue after a change of the roster.
func lost(parties []string) string {
	return fmt.Sprintf("aborted because the new roster does not have %s, or has other keys", strings.Join(parties, ", "))
}
