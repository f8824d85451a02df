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

// Preparation names the way in which rows are prepared after the parties of a job have changed.
type Preparation string

// Keep and Refit give different rows only if the job fits a preparation.
const (
	Keep  Preparation = "keep"  // the parties reuse the preparation of the first session, so they send only new rows
	Refit Preparation = "refit" // the parties fit the preparation again, so they send all rows again, under a new seed
)

// plan returns the steps of a job whose parties change. It has a first session, a session of the remaining
// parties and newcomers and, unless that session already sends all rows again, a fresh session of the same parties
// for comparison.
func (c *Changes) plan(of method.Instance) ([]step, error) {
	first, last := c.firstInstance(of), c.lastInstance(of)
	plan, err := uploadSteps(first)
	if err != nil {
		return nil, err
	}
	next, err := c.nextSteps(last)
	if err != nil {
		return nil, err
	}
	plan = append(plan, next...)
	plan = append(plan, learningSteps(of)...)
	if c.refits(of.Job) { // the last session already sends all rows again, so no comparison follows
		return plan, nil
	}
	s, err := rowsSession(last)
	return append(plan, step{
		Name: "fresh", Session: s, Follow: setParent, Announce: (*server).announceBase, Party: (*party).repeater, Releases: (*party).allRows,
		Server: collecting(fresh, func(s *server, in protocol.Setup, p okra.Params) (*okra.Server, error) {
			return okra.NewContinuingServer(in, p, s.base.Emptied(), okra.Limits{})
		}),
		Ended: countSent(fresh),
	}, step{Name: "relearn", Compute: (*server).relearn}), err
}

// nextSteps returns the steps of the second session, in which the remaining parties and newcomers take part.
func (c *Changes) nextSteps(last method.Instance) ([]step, error) {
	before, err := rows.StepsAgain(last)
	if err != nil {
		return nil, err
	}
	refits := c.refits(last.Job)
	list := okraSteps(before, changed, fresh) // the costs of these steps count for both sessions, because both need the steps
	for i := range list {
		list[i].Name += "-again"
		list[i] = list[i].Before((*party).addSetAside)
	}
	s, err := rowsSession(last)
	if refits {
		list[0] = list[0].Before(func(p *party) error { p.Unfit(); return nil })
		return append(list, uploadStep("protocol-again", s, refitted, (*party).allRows).Before((*party).addSetAside)), err
	}
	if len(c.Late) == 0 {
		return []step{joiningStep(s)}, err
	}
	return []step{list[0], joiningStep(s)}, err // list[0] lets the newcomers agree on the order of the columns
}

// joiningStep returns the step in which newcomers send all their rows, and other parties send their
// new rows.
func joiningStep(s *method.Session) step {
	return step{
		Name: "continue", Session: s, Follow: setParent, Announce: (*server).announceBase, Party: (*party).continuer, Releases: (*party).newRows,
		Server: collecting(changed, func(s *server, in protocol.Setup, p okra.Params) (*okra.Server, error) {
			return okra.NewContinuingServer(in, p, s.base, okra.Limits{})
		}),
		Ended: countSent(changed),
	}.Before((*party).addSetAside)
}

// setParent sets a session's parent to the session that the coordinator announces. Parties that
// took part in the parent session know its id.
func setParent(s method.Session, _ rows.Total, announced []byte) (*method.Session, error) {
	if len(announced) != len(protocol.SessionID{}) {
		return nil, errors.New("okra: the coordinator's announcement does not name the session to continue")
	}
	s.Parent = protocol.SessionID(announced)
	return &s, nil
}

// Changes holds the settings that describe how the parties change, after the first session of a job
// or after an earlier job.
type Changes struct {
	Late, Withdrawn []string
	Added           []job.PartyShare // for each party, the share of its rows that it adds after the first session
	Preparation     Preparation
	Continuable     bool   // a later job can continue this job
	Earlier         job.ID // the job that this job continues; zero for none
}

// changesParties reports whether the parties change within the job.
func (c *Changes) changesParties() bool {
	return !c.continues() && len(c.Late)+len(c.Withdrawn)+len(c.Added) > 0
}

func (c *Changes) continues() bool { return c.Earlier != job.ID{} }

// secretsOutlive reports whether secrets outlive one job. This is so if a later job can use the
// job's encoded rows, or if the job uses secrets of an earlier job.
func (c *Changes) secretsOutlive() bool { return c.Continuable || c.continues() }

// changesContinuing returns the changes in a job that continues an earlier job. It returns nil for
// other jobs.
func changesContinuing(j *job.Job) *Changes {
	if k, has := j.Protocol.Values.(*Keys); has && k.continues() {
		return &k.Changes
	}
	return nil
}

// isContinuable reports whether a later job can continue the job.
func isContinuable(j *job.Job) bool {
	k, has := j.Protocol.Values.(*Keys)
	return has && k.Continuable
}

// continuingSteps returns the steps of a job that continues an earlier job.
func continuingSteps(c method.Instance) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	s, err := rowsSession(c)
	return append([]step{okraSteps(before, first)[0], joiningStep(s)}, learningSteps(c)...), err
}

// countLater returns how many of a party's n rows the party sends after the first session. The
// party sends the last rows of its table later. If the party adds rows and has at least two, it
// sends at least one row in the first session and at least one later.
func (c *Changes) countLater(party string, n int) int {
	for _, s := range c.Added {
		if s.Party == party {
			return min(max(int(math.Round(s.Share*float64(n))), 1), n-1)
		}
	}
	return 0
}

// Leaving lists the parties that withdraw and whose rows do not enter the model.
func (c *Changes) Leaving() []string { return c.Withdrawn }

// changesOf returns the changes of parties within a job. It returns nil if the parties stay the
// same.
func changesOf(j *job.Job) *Changes {
	if k, has := j.Protocol.Values.(*Keys); has && k.changesParties() {
		return &k.Changes
	}
	return nil
}

// refits reports whether all rows are sent again because the job fits its preparation again.
func (c *Changes) refits(j *job.Job) bool { return c.Preparation == Refit && j.Data.Fits() }

// ReceivesPreparation reports whether a party receives the preparation that the other parties have
// fitted; it implements [rows.PreparationReceivers].
func (c *Changes) ReceivesPreparation(j *job.Job, party string) bool {
	return c.changesParties() && !c.refits(j) && slices.Contains(c.Late, party)
}

// firstInstance returns the job with only the parties of its first session. lastInstance returns
// the job with only the parties of its last session.
func (c *Changes) firstInstance(of method.Instance) method.Instance {
	of.Parties = without(of.Parties, c.Late)
	return of
}

func (c *Changes) lastInstance(of method.Instance) method.Instance {
	of.Parties = without(of.Parties, c.Withdrawn)
	return of
}

// undeployable explains why a job that simulates changes of its parties cannot run between parties.
// It returns "" for other jobs.
func undeployable(j *job.Job) string {
	if changesOf(j) != nil {
		return `"late", "withdrawn" and "added" simulate how parties and rows change, and only mercer simulate runs them; between parties write "continues" with the id of an ended job`
	}
	return ""
}
