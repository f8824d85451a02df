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

// server is the coordinator, which learns from the Gram matrix.
type server struct {
	method.Case
	rows.Witness
	learner.Work
	upload *okra.Server       // the Gram matrix, labels, encoded rows
	parent protocol.SessionID // of the upload
	facts  method.Facts
	words  map[string]learner.Word // of the parties, about figures over their own rows
	model  *model.Private

	course // of a job whose parties change
}

// Server implements [method.Federated].
func (Method) Server(c method.Case) (method.Server, error) {
	return &server{Case: c, Witness: rows.WitnessOf(c)}, nil
}

// Known implements [method.Member].
func (s *server) Known() method.Known {
	if s.upload == nil {
		return rows.Total(0)
	}
	return rows.Total(len(s.upload.Test()))
}

// Machine implements [method.Member]: it collects encoded rows into a Gram matrix.
func (s *server) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step == rows.StepFolds {
		return s.folds(setup)
	}
	if s.Hears(strings.TrimSuffix(step, again)) {
		return s.Hear(setup)
	}
	params, err := paramsOf(s.Job)
	if err != nil {
		return nil, err
	}
	var m *okra.Server
	switch step {
	case "protocol", "protocol-again":
		m, err = okra.NewServer(setup.Setup, params, okra.Limits{})
	case "continue":
		m, err = okra.NewContinuingServer(setup.Setup, params, s.base, okra.Limits{})
	case "fresh":
		m, err = okra.NewContinuingServer(setup.Setup, params, s.base.Emptied(), okra.Limits{})
	default:
		return nil, unknown(step)
	}
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: bounded(m), Finish: func() error {
		s.finish(step, m, setup.Session.ID())
		return nil
	}}, nil
}

// folds takes the folds of all rows from their parties.
func (s *server) folds(setup method.Setup) (*method.Run, error) {
	var counts []int
	for _, of := range s.upload.Owner() {
		counts = append(counts, of.Hi-of.Lo)
	}
	return rows.FoldListener(setup, s.Case, counts, s.Problem.Test, func(names []string) { s.Problem.Groups = names })
}

// finish takes the result of a session over.
func (s *server) finish(step string, m *okra.Server, id protocol.SessionID) {
	if changesOf(s.Job) != nil && s.changed(step, m) {
		return
	}
	if continuing(s.Job) != nil {
		s.phase(step, func(p *Phase) { p.Rows, p.Products = rowBytes(m), m.Costs().Products })
	}
	s.upload, s.parent, s.Problem = m, id, problemOf(m)
}

// problemOf returns the rows of a session as a learner sees them.
func problemOf(m *okra.Server) learner.Problem {
	return learner.Problem{Gram: m.Gram(), Labels: m.Labels(), Test: m.Test()}
}

// bounded has a machine that holds rows up to a limit say that more are the job's
// fault, and that another protocol has no matrix of all rows.
func bounded(m protocol.Machine) protocol.Machine {
	return method.Translated{Machine: m, Meaning: func(err error) error {
		var limit *okra.LimitError
		if !errors.As(err, &limit) {
			return err
		}
		return fault.BadInputf("%w, or use protocol moments, which makes no such matrix", err)
	}}
}

// Ended implements [method.Observer]: the facts are for the statement of leakage.
func (s *server) Ended(step string, e method.End) {
	s.facts, s.words = s.facts.Join(e.Facts), rows.JoinWords(s.words, e.Words)
	s.note(step, e.Sent)
}

// Compute implements [method.Server]. The model holds encoded rows and therefore never
// leaves the coordinator.
func (s *server) Compute(ctx context.Context, step string, progress method.Reporter) error {
	if step == "relearn" {
		return s.relearn(ctx, progress)
	}
	if step == "evaluate" {
		for _, from := range s.upload.Owner() {
			s.Hold(from.Party, from.Lo, from.Hi, s.words[from.Party])
		}
	}
	err := s.Do(ctx, s.Job, step, progress.Counts)
	if err == nil && step == "learn" {
		s.model, err = modelOf(&s.Work, s.upload)
	}
	return err
}

// modelOf returns the fitted model with its rows.
func modelOf(w *learner.Work, rows *okra.Server) (*model.Private, error) {
	m, err := model.New(w.Choice.Job.Kernel.Spec(), nil, rows.Rows(w.Fitted.Support), w.Fitted.Head)
	if err != nil {
		return nil, err
	}
	return model.NewPrivate(m)
}

// Outcome implements [method.Decider].
func (s *server) Outcome() *method.Outcome { return method.NewOutcome(s.Fitted) }

// WriteModel implements [method.Model].
func (s *server) WriteModel(w io.Writer) error { return model.EncodePrivate(w, s.model) }

// Private implements [method.Model].
func (s *server) Private() bool { return true }

// Result implements [method.Server].
func (s *server) Result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage = s.leakage()
	if c := changesOf(s.Job); c != nil {
		r.Details = &Details{Changes: s.figures(c, s.Job)}
	}
	if c := continuing(s.Job); c != nil {
		r.Details = &Details{Continued: s.continued(c)}
	}
	return r, nil
}

// Keep implements [method.Keeper]: it keeps what questions about the model must fit.
func (s *server) Keep(method.Closing) (method.Keepsake, error) {
	if s.model == nil {
		return keepsake(s.Job, nil), nil
	}
	return keepsake(s.Job, answers{s.parent, s.upload.Tag()}.encode()), nil
}

// course is the coordinator's knowledge of a job whose parties change.
type course struct {
	base  *okra.Base
	fresh *okra.Server
	hash  string // of the model from the fresh session
	costs map[string]Phase
	left  []string // parties of the earlier job that are none of this one
}

// Announce implements [method.Announcer]: sessions go on from the last one.
func (s *server) Announce(step string) ([]byte, error) {
	if step != "continue" && step != "fresh" {
		return nil, nil
	}
	return s.base.Session[:], nil
}

// changed takes a session over, and reports whether it was not the one to learn from.
func (c *course) changed(step string, m *okra.Server) bool {
	c.phase(step, func(p *Phase) { p.Rows, p.Products = rowBytes(m), m.Costs().Products })
	if step == "fresh" {
		c.fresh = m
		return true
	}
	c.base = m.Base()
	return step == "protocol"
}

// note counts the messages of a session, and of the sessions that it needs.
func (c *course) note(step string, sent uint64) {
	switch {
	case slices.Contains([]string{"protocol", "protocol" + again, "continue", "fresh"}, step):
	case strings.HasSuffix(step, again):
		step = "continue"
		c.phase("fresh", func(p *Phase) { p.Sent += sent }) // which needs this session too
	default:
		step = "protocol"
	}
	c.phase(step, func(p *Phase) { p.Sent += sent })
}

func (c *course) phase(step string, change func(*Phase)) {
	if c.costs == nil {
		c.costs = make(map[string]Phase)
	}
	p := c.costs[step]
	change(&p)
	c.costs[step] = p
}

// rowBytes returns the bytes of rows and labels that each party sent.
func rowBytes(m *okra.Server) map[string]int64 {
	all := make(map[string]int64)
	for i, n := range m.Costs().Bytes {
		all[m.Owner()[i].Party] = n
	}
	return all
}

// relearn learns from the fresh session's rows, as the job did from the others.
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

// figures compares the session that the model is from with the fresh one. A refit is one.
func (s *server) figures(c *Changes, j *job.Job) *Figures {
	f := &Figures{Late: c.Late, Withdrawn: c.Withdrawn, Preparation: string(c.Preparation), First: s.costs["protocol"]}
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
		f.Changed = s.costs["protocol"+again]
		f.Changed.Sent += s.costs["continue"].Sent
		f.Fresh = f.Changed
	} else {
		own, err := hashOf(s.model)
		f.Changed, f.Fresh, f.Equal = s.costs["continue"], s.costs["fresh"], err == nil && own == s.hash
	}
	f.BytesShare = float64(f.Changed.Sent) / float64(max(1, f.Fresh.Sent))
	f.ProductsShare = float64(f.Changed.Products) / float64(max(1, f.Fresh.Products))
	return f
}

// continued counts the costs of a job that goes on from an earlier one: its session, and the
// order of the columns.
func (s *server) continued(c *Changes) *Continued {
	f := &Continued{Job: c.Earlier.String(), Late: c.Late, Phase: s.costs["continue"]}
	f.Sent += s.costs["protocol"].Sent
	n := int64(len(s.upload.Test()))
	f.ProductsShare = float64(f.Products) / float64(max(1, n*(n+1)/2))
	return f
}

// Lasts reports whether a later job may continue this one.
func (s *server) Lasts() bool { return lasting(s.Job) }

// WriteRest writes the part of the job that the later one needs.
func (s *server) WriteRest(to io.Writer) error {
	return s.upload.Base().Write(func(part []byte) error {
		_, err := to.Write(part)
		return err
	})
}

// Continues returns the earlier job, if there is one.
func (s *server) Continues() (job.ID, bool) { return earlier(s.Job) }

// Resume takes the rest of the earlier job, whose parties must be those that the job says.
func (s *server) Resume(b []byte) error {
	base, err := okra.DecodeBase(b)
	if err != nil {
		return err
	}
	for _, name := range s.Parties {
		_, known := base.Find(name)
		if late := slices.Contains(continuing(s.Job).Late, name); late == known {
			return fault.BadInputf("okra: late must name the parties without rows in the earlier job, and no others; %s is wrong there", name)
		}
	}
	s.base = base
	return s.leave()
}

// leave finds the parties of the earlier job that have left. Where something was fitted on their
// rows too, the job says that it stays.
func (s *server) leave() error {
	for _, part := range s.base.Parts {
		if !slices.Contains(s.Parties, part.Party) {
			s.left = append(s.left, part.Party)
		}
	}
	if len(s.left) > 0 && s.Job.Data.Fits() && continuing(s.Job).Preparation != Keep {
		return fault.BadInputf("okra: %s left, and the preparation was fitted on its rows too; write preparation: keep, or submit a job that continues none, which fits anew", strings.Join(s.left, " and "))
	}
	return nil
}
