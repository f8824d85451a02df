package okra

import (
	"errors"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// Preparation selects how rows are prepared after the parties of a job have changed.
type Preparation string

// The preparations. They are the same if nothing is fitted on rows.
const (
	Keep  Preparation = "keep"  // as the first session did: only new rows travel
	Refit Preparation = "refit" // anew: all rows travel, under a new seed
)

// plan returns a first session of some parties, the session of the remaining parties, and a fresh
// session of these for comparison.
func (c *Changes) plan(of method.Instance) ([]step, error) {
	first, last := c.first(of), c.last(of)
	plan, err := upload(first)
	if err != nil {
		return nil, err
	}
	next, err := c.next(last)
	if err != nil {
		return nil, err
	}
	plan = append(plan, next...)
	plan = append(plan, learning(of.Job)...)
	if c.refits(of.Job) { // which is a fresh session
		return plan, nil
	}
	s, err := rowsSession(last)
	return append(plan, step{
		Name: "fresh", Session: s, Follow: goesOn, Announce: (*server).base0, Party: (*party).repeater, Releases: (*party).release,
		Server: collecting(fresh, func(s *server, in protocol.Setup, p okra.Params) (*okra.Server, error) {
			return okra.NewContinuingServer(in, p, s.base.Emptied(), okra.Limits{})
		}),
		Ended: counted(fresh),
	}, step{Name: "relearn", Compute: (*server).relearn}), err
}

// next returns the session of the remaining parties.
func (c *Changes) next(last method.Instance) ([]step, error) {
	before, err := rows.StepsAgain(last)
	if err != nil {
		return nil, err
	}
	refits := c.refits(last.Job)
	list := common(before, changed, fresh) // the fresh session needs these too
	for i := range list {
		list[i].Name += "-again"
		list[i] = list[i].Before((*party).grow)
	}
	s, err := rowsSession(last)
	if refits {
		list[0] = list[0].Before(func(p *party) error { p.Unfit(); return nil })
		return append(list, uploading("protocol-again", s, anew, (*party).release).Before((*party).grow)), err
	}
	if len(c.Late) == 0 {
		return []step{joining(s)}, err
	}
	return []step{list[0], joining(s)}, err // newcomers find the order of the columns
}

// joining is the step in which newcomers send their rows, and the other parties their new rows.
func joining(s *method.Session) step {
	return step{
		Name: "continue", Session: s, Follow: goesOn, Announce: (*server).base0, Party: (*party).continuer, Releases: (*party).newRows,
		Server: collecting(changed, func(s *server, in protocol.Setup, p okra.Params) (*okra.Server, error) {
			return okra.NewContinuingServer(in, p, s.base, okra.Limits{})
		}),
		Ended: counted(changed),
	}.Before((*party).grow)
}

// goesOn makes a session continue the one that the coordinator names. Parties that took part in
// that session know its name.
func goesOn(s method.Session, _ rows.Total, announced []byte) (*method.Session, error) {
	if len(announced) != len(protocol.SessionID{}) {
		return nil, errors.New("okra: the coordinator does not name the session to continue")
	}
	s.Parent = protocol.SessionID(announced)
	return &s, nil
}

// Changes are the keys of a job whose parties change after a first session, and of a job that
// continues another.
type Changes struct {
	Late, Withdrawn []string
	Added           []job.PartyShare // of its rows, which a party gets after the first session
	Preparation     Preparation
	Continuable     bool   // a later job may continue this one
	Earlier         job.ID // the job that this one continues; zero for none
}

// any reports whether the parties change within the job.
func (c *Changes) any() bool { return !c.continues() && len(c.Late)+len(c.Withdrawn)+len(c.Added) > 0 }

func (c *Changes) continues() bool { return c.Earlier != job.ID{} }

// outlives reports whether a later job can use the job's encoded rows, or the job uses secrets of
// an earlier one.
func (c *Changes) outlives() bool { return c.Continuable || c.continues() }

// continuing returns the keys of a job that continues an earlier one; nil for other jobs.
func continuing(j *job.Job) *Changes {
	if k, has := j.Protocol.Values.(*Keys); has && k.continues() {
		return &k.Changes
	}
	return nil
}

// lasting reports whether a later job may continue this one.
func lasting(j *job.Job) bool {
	k, has := j.Protocol.Values.(*Keys)
	return has && k.Continuable
}

// goOn plans a job that continues an earlier one.
func goOn(c method.Instance) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	s, err := rowsSession(c)
	return append([]step{common(before, first)[0], joining(s)}, learning(c.Job)...), err
}

// later returns how many of a party's n rows it sends after the first session, from the end of its
// table. With two rows or more, at least one is on each side.
func (c *Changes) later(party string, n int) int {
	for _, s := range c.Added {
		if s.Party == party {
			return min(max(int(math.Round(s.Share*float64(n))), 1), n-1)
		}
	}
	return 0
}

// Leaving lists the parties whose rows do not enter the model.
func (c *Changes) Leaving() []string { return c.Withdrawn }

// changesOf returns the changes of a job; nil if there are none.
func changesOf(j *job.Job) *Changes {
	if k, has := j.Protocol.Values.(*Keys); has && k.any() {
		return &k.Changes
	}
	return nil
}

// refits reports whether all rows are sent again because the preparation is fitted again.
func (c *Changes) refits(j *job.Job) bool { return c.Preparation == Refit && j.Data.Fits() }

// ReceivesPreparation implements [rows.Telling]: newcomers receive the values that the other parties have fitted.
func (c *Changes) ReceivesPreparation(j *job.Job, party string) bool {
	return c.any() && !c.refits(j) && slices.Contains(c.Late, party)
}

// first and last return the job restricted to the parties of its first and of its last session.
func (c *Changes) first(of method.Instance) method.Instance {
	of.Parties = without(of.Parties, c.Late)
	return of
}

func (c *Changes) last(of method.Instance) method.Instance {
	of.Parties = without(of.Parties, c.Withdrawn)
	return of
}

// undeployable refuses a job that simulates changing parties.
func undeployable(j *job.Job) string {
	if changesOf(j) != nil {
		return "late, withdrawn and added alone play in one process how parties and rows change; between parties write continues: and the id of an ended job"
	}
	return ""
}
