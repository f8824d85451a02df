package party

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Opinion is the answer of a party to a job that nobody has proposed.
type Opinion struct {
	// Refusal is the error with which the party would refuse the job, or nil. It is for the party's
	// own operator, because it may describe the table.
	Refusal error
	// Undecided lists what depends on other parties, in sentences. It is empty for a refused job.
	Undecided []string
	// AwaitsApproval says that the party would accept the job only after its operator has approved it.
	AwaitsApproval bool
	// Voids says that the job and other releases of the table leave no guarantee of privacy. It is "" if that is not so.
	Voids string
	// Leaves lists the kinds of what the job would reveal of this party's rows. It is empty for a refused job.
	Leaves []method.ReleaseKind
}

// Check returns the party's opinion of a job. It judges the job like a proposal, up to the party's
// consent to the first session. Check reads the table, and stores and sends nothing. An error means
// that the party has stopped, that it was restored from a backup and still waits for the coordinator's
// answer, or that ctx has ended.
func (p *Party) Check(ctx context.Context, j *job.Job) (Opinion, error) {
	var t *Party
	err := p.inRun(ctx, func(context.Context) error {
		c := p.Config
		c.Roster = p.roster()
		t = trialOf(c)
		t.jobs, t.refusals = maps.Clone(p.jobs), slices.Clone(p.refusals)
		return nil
	})
	if err != nil {
		return Opinion{}, err
	}
	return t.opinion(j), nil
}

// Check returns the opinion of a party whose daemon does not run. Of the configuration it needs the
// settings that decide about a job, and Peek.
func Check(c Config, j *job.Job) Opinion { return trialOf(c).opinion(j) }

// trialOf returns a party that decides like a party with this configuration, and records nothing.
func trialOf(c Config) *Party {
	c.Load = func(_ job.ID, d job.Data) (method.Table, error) { return c.Peek(d) }
	c.Stream, c.Logger = nil, slog.New(slog.DiscardHandler)
	return &Party{Config: c, admits: c.Releases.Preview(), boss: c.Roster.Coordinator().Name}
}

func (p *Party) opinion(j *job.Job) Opinion {
	if j.NeedsFit() {
		return p.opinionWithFit(j)
	}
	return p.opinionOf(j)
}

// opinionWithFit returns the opinion of a job for which the coordinator will name a fit: the fit that
// this party keeps. If it keeps none, the coordinator has one made first, by a job that the party judges,
// too.
func (p *Party) opinionWithFit(j *job.Job) Opinion {
	name := j.Data.Dictionary.Name
	kept, found, err := p.fitFor(j)
	switch {
	case err != nil:
		return Opinion{Refusal: err}
	case found:
		j = j.WithFit(kept)
		o := p.opinionOf(j)
		if o.Refusal == nil {
			o.Undecided = append(o.Undecided, fmt.Sprintf("whether the coordinator uses the fit of dictionary %s that this party keeps, of job %v", name, kept))
		}
		return o
	}
	o := p.opinionOf(j)
	var lacks *fitError
	if !errors.As(o.Refusal, &lacks) {
		return o
	}
	if o = p.opinionOf(p.Reader.FitOf(j)); o.Refusal == nil {
		o.Undecided = append(o.Undecided, fmt.Sprintf("the fit of dictionary %s, which this party does not have: the coordinator has it made first, and this party would accept that job; its answer to the job itself follows from its rows and its ledger then", name))
	}
	return o
}

// fitFor returns the job that has left this party a fit which the given job can use.
func (p *Party) fitFor(j *job.Job) (of job.ID, found bool, err error) {
	list, err := p.Retained.Jobs()
	for _, one := range list {
		kept, err := p.Retained.Get(one.Job)
		switch {
		case errors.Is(err, vault.ErrNoState): // erased meanwhile
		case err != nil:
			return of, false, fault.Kept.Of(err)
		case method.IsFitFor(kept, j):
			return one.Job, true, nil
		}
	}
	return of, false, fault.Kept.Of(err)
}

func (p *Party) opinionOf(j *job.Job) Opinion {
	r, err := p.tryFirst(j)
	if err != nil || r == nil {
		return Opinion{Refusal: err}
	}
	asks, err := p.asksOperator(r.work)
	if err != nil {
		return Opinion{Refusal: err}
	}
	voids, err := p.voids(r.work)
	if err != nil {
		return Opinion{Refusal: fault.Ledger.Of(err)}
	}
	return Opinion{Undecided: p.undecided(r.work), AwaitsApproval: asks, Leaves: p.leaves(r.work), Voids: voids}
}

// tryFirst judges a proposal of the first of the job's sessions that have this party as a member. It
// returns nil if there is none.
func (p *Party) tryFirst(j *job.Job) (*running, error) {
	prop := &control.Proposal{Spec: j.Encode()}
	if _, err := rand.Read(prop.Job[:]); err != nil { // no coordinator can give this id to a job of its own
		return nil, err
	}
	w, err := p.work(prop)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(w.plan, func(st method.Step) bool { return st.Session != nil && st.Session.Has(p.Name) })
	if i < 0 {
		return nil, nil
	}
	among, err := p.among(w.parties())
	if err != nil {
		return nil, err
	}
	prop.Stage, prop.Descriptor = uint16(i), w.plan[i].Session.Descriptor(prop.Job, i, among.Hash(), 0)
	s, err := protocol.NewSession(prop.Descriptor)
	if err != nil {
		return nil, err
	}
	return p.judge(prop, s)
}

// leaves lists the kinds of a job's releases at this party, those of rows first.
func (p *Party) leaves(w *work) (kinds []method.ReleaseKind) {
	all, err := w.holder().All(p.Name)
	if err != nil {
		return nil
	}
	for _, r := range slices.Concat(all...) {
		if !r.Kind.Beside() && !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	return append(kinds, method.Beside(all)...)
}

// undecided lists what this party cannot decide about a job that it would accept.
func (p *Party) undecided(w *work) []string {
	list := []string{fmt.Sprintf("whether the other parties (%s) accept the job, and whether their columns and classes agree with this table's", strings.Join(p.others(w.job.Parties()), ", "))}
	policy, err := p.Policy(w.table())
	if err != nil {
		return list
	}
	limits := policy.Limits.Values()
	if w.job.Data.Partition.By == job.Columns {
		list = append(list, fmt.Sprintf("how many rows all parties have in common (\"rows\" in the limits of the policy: at least %d), and whether their release awaits approval", limits.Rows))
	}
	if p.sums(w) && limits.Share > 0 {
		list = append(list, fmt.Sprintf("which share of all training rows one party has (\"share\" in the limits of the policy: at most %g with %d parties)", limits.LargestShare(len(w.job.Parties())), len(w.job.Parties())))
	}
	if most := limits.Directions; p.sums(w) && most > 0 && w.job.Protocol.Limit("directions") == 0 {
		list = append(list, fmt.Sprintf("how many random features the job has, which follows from all training rows (max_directions in the limits of the policy: %d)", most))
	}
	return list
}

// sums reports whether the job releases sums, or what follows from sums, over the rows of several parties.
func (p *Party) sums(w *work) bool {
	all, err := w.holder().All(p.Name)
	return err == nil && w.job.Data.Partition.By == job.Rows && slices.ContainsFunc(slices.Concat(all...), func(r method.Release) bool { return r.Kind.Summed() })
}
