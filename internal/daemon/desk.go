package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/page"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// desk carries out what the people of a party decide on its web page.
type desk struct {
	partyHome
	jobs *job.Reader
	ctx  context.Context // ends when the daemon stops

	mu       sync.Mutex
	opinions map[string]*opinion // by the ID of a job
	busy     bool                // an opinion is being formed
}

// The party forms its opinion of a job anew after opinionTime. It does so after failureTime already if something other
// than the policy or the ledger was the reason against the job, for example a database that does not answer.
const (
	opinionTime = 10 * time.Minute
	failureTime = 20 * time.Second
)

// opinion holds the party's judgement of a job that awaits approval.
type opinion struct {
	page.Opinion
	until time.Time // when the party forms the opinion anew; zero while it forms the opinion
}

func newDesk(ctx context.Context, h partyHome, jobs *job.Reader) *desk {
	return &desk{partyHome: h, jobs: jobs, ctx: ctx, opinions: make(map[string]*opinion)}
}

// Releases implements page.Desk.
func (d *desk) Releases() ([]disclosure.Listed, error) { return d.Home.Releases().Awaiting() }

// awaiting is a job that awaits approval.
type awaiting struct {
	overview.Job
	party *party.Party
	file  string
	spec  *job.Job
}

// awaiting finds a job that awaits approval.
func (d *desk) awaiting(of string) (awaiting, error) {
	p, err := d.watch.Party()
	if err != nil {
		return awaiting{}, err
	}
	list, err := p.Jobs()
	if err != nil {
		return awaiting{}, err
	}
	i := slices.IndexFunc(list, func(j overview.Job) bool { return j.ID == of && j.State == overview.AwaitsApproval })
	if i < 0 {
		return awaiting{}, fault.BadInputf("no job %s awaits approval here; somebody has decided, or the coordinator has closed it", of)
	}
	a := awaiting{Job: list[i], party: p, file: p.AwaitingFile(of)}
	a.spec, err = d.jobs.Parse("proposal", []byte(a.file))
	return a, err
}

// Review implements page.Desk.
func (d *desk) Review(of string) (page.Review, error) {
	a, err := d.awaiting(of)
	if err != nil {
		return page.Review{}, err
	}
	return page.Review{Job: of, Name: a.Name, Since: a.Submitted, Submitter: a.Submitter, Facts: d.facts(a.spec, a.Submitter), File: a.file}, nil
}

// facts returns the lines that describe a job on the page.
func (d *desk) facts(j *job.Job, submitter *access.Person) []page.Fact {
	asks := "somebody unknown"
	if submitter != nil {
		asks = submitter.String()
	}
	list := []page.Fact{
		{Label: "Asked by", Value: asks + ", through " + d.members().Coordinator().Title()},
		{Label: "Parties", Value: strings.Join(j.Parties(), ", ")},
		{Label: "Predicted", Value: cmp.Or(j.Data.Label, "the label that the catalogue names")},
		{Label: "Protocol", Value: j.Protocol.Text()},
		{Label: "Kernel", Value: j.Kernel.String()},
		{Label: "Learner", Value: j.Learner.Text()},
		{Label: "Table of this home", Value: j.Data.Own(d.config().Name).Source},
		{Label: "Columns", Value: cmp.Or(humanize.Names(j.Data.Schema.Names(), mostListed), "all that the catalogue offers")},
	}
	if dictionary := j.Data.Dictionary; dictionary != nil && dictionary.Name != "" {
		list = append(list, page.Fact{Label: "Dictionary", Value: fmt.Sprintf("%s (%.12s)", dictionary.Name, dictionary.Hash())})
	}
	return append(list, page.Fact{Label: "Predictions afterwards", Value: map[job.Prediction]string{
		job.Closed: "none: the secrets are destroyed with the result", job.Open: "yes: this home keeps keys or files, and can ask about new rows",
	}[j.Prediction]})
}

// Opinion implements page.Desk. The party forms one opinion at a time.
func (d *desk) Opinion(of string) (page.Opinion, error) {
	a, err := d.awaiting(of)
	if err != nil {
		return page.Opinion{}, err
	}
	return d.opinion(of, func() (party.Opinion, error) { return a.party.Check(d.ctx, a.spec) }), nil
}

// opinion returns the opinion of a job if it is known, and a zero opinion otherwise. If it is not known, opinion starts
// form in the background, unless an opinion is already being formed there.
func (d *desk) opinion(of string, form func() (party.Opinion, error)) page.Opinion {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.opinions, func(_ string, o *opinion) bool { return o.Known && time.Now().After(o.until) })
	if o := d.opinions[of]; o != nil {
		return o.Opinion
	}
	if !d.busy {
		o := &opinion{}
		d.opinions[of], d.busy = o, true
		go func() {
			found, err := form()
			d.mu.Lock()
			defer d.mu.Unlock()
			d.busy = false
			o.enter(found, err)
		}()
	}
	return page.Opinion{}
}

// enter stores an opinion in sentences.
func (o *opinion) enter(found party.Opinion, err error) {
	err = cmp.Or(err, found.Refusal)
	var held *disclosure.HeldError
	o.Known, o.until = true, time.Now().Add(opinionTime)
	for _, kind := range found.Leaves {
		o.Leaves = append(o.Leaves, page.Leaves(kind))
	}
	switch {
	case errors.As(err, &held):
		o.Refused, o.Said = true, held.Reveals
	case err != nil:
		o.Refused, o.Said = true, []string{"This party would refuse the job now: " + err.Error() + "."}
		if fault.CodeOf(err) != fault.CodePolicy {
			o.until = time.Now().Add(failureTime)
		}
	default:
		o.Said = []string{"The policy of the table allows the job, and the ledger holds no earlier release that reveals more together with it."}
		for _, one := range found.Undecided {
			o.Said = append(o.Said, "Not known here: "+one+".")
		}
	}
}

// Approve implements page.Desk.
func (d *desk) Approve(ctx context.Context, of string, by access.Person) error {
	return d.decide(of, func(p *party.Party, id job.ID) error { return p.Approve(ctx, id, by) })
}

// Reject implements page.Desk.
func (d *desk) Reject(ctx context.Context, of string, by access.Person, reason string) error {
	return d.decide(of, func(p *party.Party, id job.ID) error { return p.Reject(ctx, id, by, reason) })
}

func (d *desk) decide(of string, f func(p *party.Party, id job.ID) error) error {
	id, err := job.ParseID(of)
	if err != nil {
		return fault.BadInput(err)
	}
	p, err := d.watch.Party()
	if err != nil {
		return err
	}
	return f(p, id)
}

// Alone implements page.Desk.
func (d *desk) Alone() bool { return d.config().Roles.Alone }

// ApproveRelease implements page.Desk.
func (d *desk) ApproveRelease(release string, by access.Person) error {
	return d.approveRelease(d.audit, release, by, d.Alone())
}

// RefuseRelease implements page.Desk.
func (d *desk) RefuseRelease(release string, by access.Person, reason string) error {
	return d.refuseRelease(d.audit, release, by, reason)
}
