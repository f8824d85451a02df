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

// desk is where the people of a party decide on its web page.
type desk struct {
	partyHome
	jobs *job.Reader
	ctx  context.Context // of the daemon

	mu       sync.Mutex
	opinions map[string]*opinion // by job
}

// opinionTime is the time after which the party looks again.
const opinionTime = 10 * time.Minute

// opinion is what the party itself says about a job that awaits approval.
type opinion struct {
	since   time.Time
	done    bool
	leaves  []string
	said    []string
	refused bool
}

func newDesk(ctx context.Context, h partyHome, jobs *job.Reader) *desk {
	return &desk{partyHome: h, jobs: jobs, ctx: ctx, opinions: make(map[string]*opinion)}
}

// Record implements page.Desk.
func (d *desk) Record() string { return d.AuditPath() }

// Releases implements page.Desk.
func (d *desk) Releases() ([]disclosure.Listed, error) { return d.Home.Releases().Awaiting() }

// Review implements page.Desk. The party's own opinion comes later, because the party reads its table for it.
func (d *desk) Review(of string) (page.Review, error) {
	p, err := d.watch.Party()
	if err != nil {
		return page.Review{}, err
	}
	list, err := p.Jobs()
	if err != nil {
		return page.Review{}, err
	}
	i := slices.IndexFunc(list, func(j overview.Job) bool { return j.ID == of && j.State == overview.AwaitsApproval })
	if i < 0 {
		return page.Review{}, fault.BadInputf("no job %s awaits approval here; somebody has decided, or the coordinator has closed it", of)
	}
	file := p.AwaitingFile(of)
	j, err := d.jobs.Parse("proposal", []byte(file))
	if err != nil {
		return page.Review{}, err
	}
	r := page.Review{Job: of, Name: list[i].Name, Since: list[i].Submitted, Submitter: list[i].Submitter, Alone: d.config().Roles.Alone, Facts: d.facts(j, list[i].Submitter), File: file}
	r.Leaves, r.Preview, r.Refused = d.opinion(p, j, of, list)
	return r, nil
}

// facts says what a job asks for.
func (d *desk) facts(j *job.Job, submitter *access.Person) []page.Fact {
	asks := "somebody unknown"
	if submitter != nil {
		asks = submitter.String()
	}
	list := []page.Fact{
		{Label: "Asked by", Value: asks + ", through coordinator " + d.members().Coordinator().Name},
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

// opinion returns what the party says about a job, as far as it is known. said is nil while the party compares.
func (d *desk) opinion(p *party.Party, j *job.Job, of string, awaiting []overview.Job) (leaves, said []string, refused bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.opinions, func(id string, o *opinion) bool {
		return o.done && (time.Since(o.since) > opinionTime || !slices.ContainsFunc(awaiting, func(j overview.Job) bool { return j.ID == id && j.State == overview.AwaitsApproval }))
	})
	if o := d.opinions[of]; o != nil {
		return o.leaves, o.said, o.refused
	}
	o := &opinion{since: time.Now()}
	d.opinions[of] = o
	go func() {
		found, err := p.Check(d.ctx, j)
		d.mu.Lock()
		defer d.mu.Unlock()
		o.done = true
		o.enter(found, err)
	}()
	return nil, nil, false
}

// enter stores an opinion in sentences.
func (o *opinion) enter(found party.Opinion, err error) {
	err = cmp.Or(err, found.Refusal)
	var held *disclosure.HeldError
	for _, kind := range found.Leaves {
		o.leaves = append(o.leaves, page.Leaves(kind))
	}
	switch {
	case errors.As(err, &held):
		o.refused, o.said = true, held.Reveals
	case err != nil:
		o.refused, o.said = true, []string{"This party would refuse the job now: " + err.Error() + "."}
	default:
		o.said = []string{"The policy of the table allows the job, and the ledger holds no earlier release that reveals more together with it."}
		for _, one := range found.Undecided {
			if !strings.Contains(one, "approve: each") {
				o.said = append(o.said, "Not known here: "+one+".")
			}
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
