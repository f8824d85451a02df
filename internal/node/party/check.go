package party

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
)

// Opinion is the answer of a party to a job that nobody has proposed.
type Opinion struct {
	// Refusal is the error with which the party would refuse the job, or nil. It is for the party's
	// own operator, because it may describe the table.
	Refusal error
	// Undecided lists what depends on other parties, in sentences. It is empty for a refused job.
	Undecided []string
}

// Check returns the party's opinion of a job. The job takes the way of a proposal up to the party's
// consent to the first session. Check reads the table, and stores and sends nothing. An error means
// that the party has stopped or ctx has ended.
func (p *Party) Check(ctx context.Context, j *job.Job) (Opinion, error) {
	t := trialOf(p.Config)
	err := p.inRun(ctx, func(context.Context) error {
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
	r, err := p.tryFirst(j)
	if err != nil || r == nil {
		return Opinion{Refusal: err}
	}
	return Opinion{Undecided: p.undecided(r.work)}
}

// tryFirst judges a proposal of the first of the job's sessions that have this party as a member. It
// returns nil if there is none.
func (p *Party) tryFirst(j *job.Job) (*running, error) {
	spec := j.Encode()
	id := sha256.Sum256(spec) // jobs have random ids, so no other job has this one
	prop := &control.Proposal{Job: job.ID(id[:16]), Spec: spec}
	w, err := p.work(prop)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(w.plan, func(st method.Step) bool { return st.Session != nil && st.Session.Has(p.Name) })
	if i < 0 {
		return nil, nil
	}
	prop.Stage, prop.Descriptor = uint16(i), w.plan[i].Session.Descriptor(prop.Job, i, p.Roster.Hash(), 0)
	s, err := protocol.NewSession(prop.Descriptor)
	if err != nil {
		return nil, err
	}
	return p.judge(prop, s)
}

// undecided lists what this party cannot decide about a job that it would accept.
func (p *Party) undecided(w *work) []string {
	var others []string
	for _, name := range w.job.Parties() {
		if name != p.Name {
			others = append(others, name)
		}
	}
	list := []string{fmt.Sprintf("whether %s accept the job, and whether their columns and classes agree with this table's", strings.Join(others, ", "))}
	policy, err := p.Policy(w.table())
	if err != nil {
		return list
	}
	limits := policy.Limits.Values()
	if w.job.Data.Partition.By == job.Columns {
		list = append(list, fmt.Sprintf("how many rows all parties have in common (rows in the limits of the policy: at least %d), and whether their release awaits approval", limits.Rows))
	}
	if p.sums(w) && limits.Share > 0 {
		list = append(list, fmt.Sprintf("which share of all training rows one party has (share in the limits of the policy: %g)", limits.Share))
	}
	if most := limits.Directions; p.sums(w) && most > 0 && w.job.Protocol.Limit("directions") == 0 {
		list = append(list, fmt.Sprintf("how many random features the job has, which follows from all training rows (max_directions in the limits of the policy: %d)", most))
	}
	return list
}

// sums reports whether the job releases sums over the rows of several parties.
func (p *Party) sums(w *work) bool {
	all, err := w.holder().All(p.Name)
	return err == nil && w.job.Data.Partition.By == job.Rows && slices.ContainsFunc(slices.Concat(all...), func(r method.Release) bool { return r.Kind == method.ReleaseSums })
}
