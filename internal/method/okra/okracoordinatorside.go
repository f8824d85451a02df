package okra

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// server is the state of the coordinator, which learns from the Gram matrix.
type server struct {
	method.Instance
	rows.Witness
	learner.Work
	upload      *okra.Server       // the machine that received the rows; it holds the Gram matrix, labels and encoded rows
	parent      protocol.SessionID // the id of the session that uploaded the rows
	facts       method.Facts
	permissions map[string]learner.FigurePermission // each party's permission for figures over its own rows
	model       *model.Private

	changeState // state for a job whose parties change, or that continues another
}

func newServer(c method.Instance) (*server, error) {
	return &server{Instance: c, Witness: rows.WitnessOf(c), Work: learner.Work{Workers: c.Workers}}, nil
}

func (s *server) public() rows.Total {
	if s.upload == nil {
		return rows.Total(0)
	}
	return rows.Total(len(s.upload.Test()))
}

// collecting returns a function that builds the coordinator's machine for a session. The machine
// multiplies encoded rows into a Gram matrix.
func collecting(of account, build func(*server, protocol.Setup, okra.Params) (*okra.Server, error)) func(*server, method.Setup) (*method.Run, error) {
	return func(s *server, setup method.Setup) (*method.Run, error) {
		params, err := paramsOf(s.Job)
		if err != nil {
			return nil, err
		}
		m, err := build(s, setup.Setup, params)
		if err != nil {
			return nil, err
		}
		return &method.Run{Machine: rowLimitErrors(m), Finish: func() error {
			s.storeSession(of, m, setup.Session.ID())
			return nil
		}}, nil
	}
}

// foldMachine builds the machine that receives the fold of each row from its party.
func (s *server) foldMachine(setup method.Setup) (*method.Run, error) {
	return rows.FoldListener(setup, s.Instance, s.counts(), s.Problem.Test, func(names []string) { s.Problem.Groups = names })
}

// weightMachine builds the machine that receives the weight of each row from its party.
func (s *server) weightMachine(setup method.Setup) (*method.Run, error) {
	return rows.WeightListener(setup, s.Instance, s.counts(), s.Problem.Test, func(weights []float64) { s.Problem.Weights = weights })
}

// counts returns the number of rows of each party.
func (s *server) counts() (list []int) {
	for _, of := range s.upload.Owner() {
		list = append(list, of.Hi-of.Lo)
	}
	return list
}

// storeSession stores the result of a session that sent rows.
func (s *server) storeSession(of account, m *okra.Server, id protocol.SessionID) {
	if changesOf(s.Job) != nil && s.storeChanged(of, m) {
		return
	}
	if changesContinuing(s.Job) != nil {
		s.phase(of, func(p *Phase) { p.Rows, p.Products = rowBytes(m), m.Costs().Products })
	}
	s.upload, s.parent, s.Problem = m, id, problemOf(m)
}

// problemOf returns the learning problem of the rows that a session sent.
func problemOf(m *okra.Server) learner.Problem {
	return learner.Problem{Gram: m.Gram(), Labels: m.Labels(), Test: m.Test()}
}

// rowLimitErrors rewrites a machine's errors about too many rows. The new error is a fault of the
// job, and recommends a protocol that needs no matrix of all rows.
func rowLimitErrors(m protocol.Machine) protocol.Machine {
	return method.Translated{Machine: m, Meaning: func(err error) error {
		var limit *okra.LimitError
		if !errors.As(err, &limit) {
			return err
		}
		return fault.BadInputf("%w, or use protocol moments, which needs no matrix of all rows", err)
	}}
}

// storeFacts stores the parties' facts for the leakage statement, and their permissions for figures over
// their own rows.
func (s *server) storeFacts(e method.End) {
	s.facts, s.permissions = s.facts.Join(e.Facts), rows.JoinWords(s.permissions, e.Words)
}

// countSent returns a function that adds a step's sent bytes to the given accounts.
func countSent(costs ...account) func(*server, method.End) {
	return func(s *server, e method.End) {
		for _, of := range costs {
			s.phase(of, func(p *Phase) { p.Sent += e.Sent })
		}
	}
}

// evaluate computes the decisions and figures on the held-out rows.
func (s *server) evaluate(ctx context.Context, progress method.Reporter) error {
	for _, from := range s.upload.Owner() {
		s.Hold(from.Party, from.Lo, from.Hi, s.permissions[from.Party])
	}
	return s.Do(ctx, s.Job, "evaluate", progress.Counts)
}

// learn fits the model. The model contains encoded rows, so it never leaves the coordinator.
func (s *server) learn(ctx context.Context, progress method.Reporter) error {
	err := s.Do(ctx, s.Job, "learn", progress.Counts)
	if err == nil {
		s.model, err = modelOf(&s.Work, s.upload)
	}
	return err
}

// modelOf returns the fitted model together with its encoded support rows.
func modelOf(w *learner.Work, rows *okra.Server) (*model.Private, error) {
	m, err := model.New(w.Choice.Job.Kernel.Spec(), nil, rows.Rows(w.Fitted.Support), w.Fitted.Head)
	if err != nil {
		return nil, err
	}
	return model.NewPrivate(m)
}

func (s *server) outcome() *method.Outcome { return method.NewOutcome(s.Fitted) }

func (s *server) writeModel(w io.Writer) error { return model.EncodePrivate(w, s.model) }

func (s *server) result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	facts := s.leakageFacts()
	r.Leakage, r.Exposures = s.leakage(facts), okra.Exposures(facts)
	rows.Expose(s.fitting(), r, partyReads(s.Job)...)
	if c := changesOf(s.Job); c != nil {
		r.Details = &Details{Changes: s.changeFigures(c, s.Job)}
	}
	if c := changesContinuing(s.Job); c != nil {
		r.Details = &Details{Continued: s.continuedCosts(c)}
	}
	return r, nil
}

// retainState returns a retained state with the session and seed tag that queries to the model must
// match.
func (s *server) retainState(method.Closing) (method.RetainedState, error) {
	if s.model == nil {
		return retainedOf(s.Job, nil), nil
	}
	return retainedOf(s.Job, answerFacts{s.parent, s.upload.Tag()}.encode()), nil
}

// changeState holds the coordinator's state that only two kinds of jobs need: jobs whose parties change, and jobs that
// continue an earlier job.
type changeState struct {
	base    *okra.Base
	fresh   *okra.Server
	hash    string // the hash of the model that the coordinator learns from the fresh session
	costs   map[account]Phase
	leavers []string // the earlier job's parties that take no part in this job
}

// account names the session to which the cost of a step belongs.
type account int

const (
	first    account = iota
	changed          // the session after the parties have changed
	refitted         // a session with all rows and a newly fitted preparation
	fresh            // a session with all rows, for comparison
)

// announceBase announces the id of the session that the next session continues.
func (s *server) announceBase() ([]byte, error) { return s.base.Session[:], nil }

// storeChanged stores a session's result in a job whose parties change. It reports whether the job
// does not learn from this session.
func (c *changeState) storeChanged(of account, m *okra.Server) bool {
	c.phase(of, func(p *Phase) { p.Rows, p.Products = rowBytes(m), m.Costs().Products })
	if of == fresh {
		c.fresh = m
		return true
	}
	c.base = m.Base()
	return of == first
}

func (c *changeState) phase(of account, change func(*Phase)) {
	if c.costs == nil {
		c.costs = make(map[account]Phase)
	}
	p := c.costs[of]
	change(&p)
	c.costs[of] = p
}

// rowBytes returns how many bytes of rows and labels each party has sent.
func rowBytes(m *okra.Server) map[string]int64 {
	all := make(map[string]int64)
	for i, n := range m.Costs().Bytes {
		all[m.Owner()[i].Party] = n
	}
	return all
}

// relearn learns again from the rows of the fresh session, to compare the two models.
func (s *server) relearn(ctx context.Context, progress method.Reporter) error {
	w := learner.Work{Problem: problemOf(s.fresh)}
	if err := w.Do(ctx, s.Job, "learn", progress.Counts); err != nil {
		return err
	}
	m, err := modelOf(&w, s.fresh)
	if err == nil {
		s.hash, err = hashOf(m)
	}
	s.fresh = nil
	return err
}

func hashOf(m *model.Private) (string, error) {
	var b bytes.Buffer
	err := model.EncodePrivate(&b, m)
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), err
}

// changeFigures compares two sessions by costs and model: the session after the change and the
// fresh session. A refit is itself a fresh session.
func (s *server) changeFigures(c *Changes, j *job.Job) *Figures {
	f := &Figures{Late: c.Late, Withdrawn: c.Withdrawn, Preparation: string(c.Preparation), First: s.costs[first]}
	for _, a := range c.Added {
		if f.Added == nil {
			f.Added = make(map[string]float64)
		}
		f.Added[a.Party] = a.Share
	}
	if !j.Data.Fits() {
		f.Preparation = "none"
	}
	if f.Equal = c.refits(j); f.Equal {
		f.Changed = s.costs[refitted]
		f.Changed.Sent += s.costs[changed].Sent
		f.Fresh = f.Changed
	} else {
		own, err := hashOf(s.model)
		f.Changed, f.Fresh, f.Equal = s.costs[changed], s.costs[fresh], err == nil && own == s.hash
	}
	f.BytesShare = float64(f.Changed.Sent) / float64(max(1, f.Fresh.Sent))
	f.ProductsShare = float64(f.Changed.Products) / float64(max(1, f.Fresh.Products))
	return f
}

// continuedCosts returns the costs of a job that continues an earlier job. The sent bytes include the
// agreement on the column order.
func (s *server) continuedCosts(c *Changes) *Continued {
	f := &Continued{Job: c.Earlier.String(), Late: c.Late, Phase: s.costs[changed]}
	f.Sent += s.costs[first].Sent
	n := int64(len(s.upload.Test()))
	f.ProductsShare = float64(f.Products) / float64(max(1, n*(n+1)/2))
	return f
}

// isContinuable reports whether a later job can continue this job.
func (s *server) isContinuable() bool { return isContinuable(s.Job) }

// writeContinuation writes the state that a later job needs to continue this job.
func (s *server) writeContinuation(to io.Writer) error {
	return s.upload.Base().Write(func(part []byte) error {
		_, err := to.Write(part)
		return err
	})
}

// resumeFrom restores the state that the coordinator kept when the earlier job ended. It refuses a list of
// late parties that does not match the parties of the earlier job.
func (s *server) resumeFrom(b []byte) error {
	base, err := okra.DecodeBase(b)
	if err != nil {
		return err
	}
	for _, name := range s.Parties {
		_, known := base.Find(name)
		switch late := slices.Contains(changesContinuing(s.Job).Late, name); {
		case late && known:
			return fault.BadInputf(`okra: "late" names %s, which had rows in the earlier job; remove it from "late"`, name)
		case !late && !known:
			return fault.BadInputf(`okra: %s had no rows in the earlier job; add it to "late"`, name)
		}
	}
	s.base = base
	return s.findLeavers()
}

// findLeavers finds the parties of the earlier job that take no part in this job. If the
// preparation was also fitted on the rows of such parties, this job must set "preparation: keep".
func (s *server) findLeavers() error {
	for _, part := range s.base.Parts {
		if !slices.Contains(s.Parties, part.Party) {
			s.leavers = append(s.leavers, part.Party)
		}
	}
	if len(s.leavers) > 0 && s.Job.Data.Fits() && changesContinuing(s.Job).Preparation != Keep {
		return fault.BadInputf(`okra: the earlier job's preparation was also fitted on the rows of %s, which left; write "preparation: keep", or remove "continues" to fit a new preparation`, strings.Join(s.leavers, " and "))
	}
	return nil
}
