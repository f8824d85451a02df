package columns

import (
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/broadcast"
)

// As says where a binding holds its holder of columns and its coordinator, what its parties tell
// each other, and whether it can work with that.
type As[P, S any] struct {
	Party   func(*P) *Party
	Server  func(*S) *Server
	Declare func(*P, *Declaration) error
	Usable  func(Declared) error
	Lets    func(*P) ([]method.Release, error) // what the binding lets out of the common rows, of which a declaration tells
}

// AsNew is As of a question about new rows.
type AsNew[P, S any] struct {
	Helper  func(*P) *Helper
	Server  func(*S) *Server
	Declare func(*P, *Declaration) error
	Usable  func(Declared) error
}

// told is a [Guest] of functions.
type told struct {
	declare func(*Declaration) error
	usable  func(Declared) error
}

func (t told) Declare(d *Declaration) error { return t.declare(d) }
func (t told) Usable(d Declared) error      { return t.usable(d) }

// StepsAs is Steps for a typed binding.
func StepsAs[P, S any](c method.Case, as As[P, S]) ([]method.StepOf[P, S, Declared], error) {
	a := trained(c.Job)
	guest := func(of *P) told {
		return told{func(d *Declaration) error { return as.Declare(of, d) }, as.Usable}
	}
	return begin(c, "train", a, as.Server, as.Usable, sides[P]{
		align: func(of *P, in method.Setup) (*method.Run, error) {
			p := as.Party(of)
			return a.by(p.rule).party(in, p.Table.IDs, func(order []int, key [32]byte) error { return p.align(order, key, guest(of)) })
		},
		declare: func(of *P, in method.Setup) (*method.Run, error) {
			p := as.Party(of)
			return sums.Declarer(in, p.own.encode(), func(all [][]byte) error { return p.Declared.take(p.Parties, all, guest(of)) })
		},
		ids: func(of *P) ([]method.Release, error) {
			p := as.Party(of)
			if p.Job.Data.Partition.Aligned {
				return nil, nil
			}
			return []method.Release{p.Case.Release(method.ReleaseIDs, p.Self, p.label, p.Table)}, nil
		},
		declared: as.Lets,
	})
}

// StepsOfNewAs is StepsAs of a question.
func StepsOfNewAs[P, S any](q method.Question, as AsNew[P, S]) ([]method.StepOf[P, S, Declared], error) {
	a := byIDs(q.Job)
	guest := func(of *P) told {
		return told{func(d *Declaration) error { return as.Declare(of, d) }, as.Usable}
	}
	return begin(q.Case, "predict", a, as.Server, as.Usable, sides[P]{
		align: func(of *P, in method.Setup) (*method.Run, error) {
			h := as.Helper(of)
			return a.party(in, h.table.IDs, func(order []int, key [32]byte) error { return h.align(order, key, guest(of)) })
		},
		declare: func(of *P, in method.Setup) (*method.Run, error) {
			h := as.Helper(of)
			return sums.Declarer(in, h.own.encode(), func(all [][]byte) error { return h.Declared.take(h.Job.Parties(), all, guest(of)) })
		},
		ids: func(of *P) ([]method.Release, error) {
			h := as.Helper(of)
			if h.Self == h.Asker { // its operator has just chosen them
				return nil, nil
			}
			return []method.Release{h.release(method.ReleaseIDs, h.table)}, nil
		},
		declared: method.LetsOutNothing[P],
	})
}

// sides are a party's part of the first steps.
type sides[P any] struct {
	align, declare func(*P, method.Setup) (*method.Run, error)
	ids, declared  func(*P) ([]method.Release, error)
}

func begin[P, S any](c method.Case, purpose string, a alignment, server func(*S) *Server, usable func(Declared) error, p sides[P]) ([]method.StepOf[P, S, Declared], error) {
	plan, err := steps(c, purpose, a)
	if err != nil {
		return nil, err
	}
	align := method.StepOf[P, S, Declared]{Name: plan[0].Name, Session: plan[0].Session, Party: p.align, Releases: p.ids}
	if align.Session.Has(c.Coordinator) {
		align.Server = func(_ *S, in method.Setup) (*method.Run, error) { return a.server(in) }
	}
	return []method.StepOf[P, S, Declared]{align, {
		Name: plan[1].Name, Session: plan[1].Session, Party: p.declare, Releases: p.declared,
		Server: func(of *S, in method.Setup) (*method.Run, error) {
			s := server(of)
			return sums.Listener(in, func(all [][]byte) error { return s.Declared.take(s.Parties, all, told{usable: usable}) })
		},
	}}, nil
}

// LabelStepAs is LabelStep for a typed binding.
func LabelStepAs[P, S any](c method.Case, party func(*P) *Party, server func(*S) *Learner) method.StepOf[P, S, Declared] {
	return method.StepOf[P, S, Declared]{
		Name: "labels", Session: &method.Session{
			Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "labels", Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
		},
		Follow: method.From(func(d Declared) ([]byte, error) {
			if _, err := d.Rows(); err != nil {
				return nil, err
			}
			return broadcast.Encode(d.List[0].Labels), nil
		}),
		Party: func(of *P, in method.Setup) (*method.Run, error) {
			return sums.Sender(in, EncodeLabels(party(of).Set.Labels))
		},
		Server:   func(of *S, in method.Setup) (*method.Run, error) { return sums.Receiver(in, server(of).TakeLabels) },
		Releases: method.LetsOutNothing[P], // that a ledger counts: labels have no kind of release
	}
}
