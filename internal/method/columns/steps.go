package columns

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/collective"
)

// As adapts a method's party and coordinator to the first steps of a job. It says where the method
// keeps its party and its coordinator, what its parties declare, and which declarations the method
// accepts.
type As[P, S any] struct {
	Party   func(*P) *Party
	Server  func(*S) *Server
	Declare func(*P, *Declaration) error
	Usable  func(Declared) error
	Lets    func(*P) ([]method.Release, error) // lists what the method releases about the common rows
}

// AsNew adapts a method's members to the first steps of a query about new rows.
type AsNew[P, S any] struct {
	Helper  func(*P) *Helper
	Server  func(*S) *Server
	Declare func(*P, *Declaration) error
	Usable  func(Declared) error
	Lets    func(*P) ([]method.Release, error) // lists the method's releases of the new rows
}

// Steps returns the steps that begin a job: the alignment of the rows, unless the job reuses an earlier
// alignment, and the exchange of declarations. In the alignment the parties agree on the common rows and
// on an order of these rows. The coordinator learns neither the rows nor the order. Then the parties
// declare facts about their data to each other and to the coordinator.
func Steps[P, S any](c method.Instance, as As[P, S]) ([]method.StepOf[P, S, Declared], error) {
	if as.Lets == nil {
		return nil, errors.New("columns: the method must state its releases of the common rows in the field Lets")
	}
	a := trainingAlignment(c.Job)
	return begin(c, "train", a, as.Server, as.Usable, partyFunctions[P]{
		align: func(of *P, in method.Setup) (*method.Run, error) {
			p := as.Party(of)
			return a.withRule(p.rule).partyMachine(in, p.Table.IDs, func(order []int, key [32]byte) error {
				if err := p.align(order, key); err != nil {
					return err
				}
				return p.setDeclaration(func(d *Declaration) error { return as.Declare(of, d) })
			})
		},
		declare: func(of *P, in method.Setup) (*method.Run, error) {
			p := as.Party(of)
			if p.kept { // without an alignment session, the declaration is not set yet
				if err := p.setDeclaration(func(d *Declaration) error { return as.Declare(of, d) }); err != nil {
					return nil, err
				}
			}
			return sums.AllGatherer(in, p.own.encode(), func(all [][]byte) error { return p.Declared.decodeUsable(p.Parties, all, as.Usable) })
		},
		ids: func(of *P) ([]method.Release, error) {
			p := as.Party(of)
			if p.Job.Data.Partition.Aligned {
				return nil, nil
			}
			return []method.Release{p.Instance.Release(method.ReleaseIDs, p.Self, p.label, p.Table)}, nil
		},
		declared: method.With(as.Lets, method.ReleaseCounts),
	})
}

// StepsOfNew returns the steps that begin a query about new rows. Each of the other parties learns which
// of its own rows are queried. The querying party can look up every row of the other parties' tables.
func StepsOfNew[P, S any](q method.Question, as AsNew[P, S]) ([]method.StepOf[P, S, Declared], error) {
	a := byIDs(q.Job)
	return begin(q.Instance, "predict", a, as.Server, as.Usable, partyFunctions[P]{
		align: func(of *P, in method.Setup) (*method.Run, error) {
			h := as.Helper(of)
			return a.partyMachine(in, h.table.IDs, func(order []int, key [32]byte) error {
				return h.align(order, key, func(d *Declaration) error { return as.Declare(of, d) })
			})
		},
		declare: func(of *P, in method.Setup) (*method.Run, error) {
			h := as.Helper(of)
			return sums.AllGatherer(in, h.own.encode(), func(all [][]byte) error { return h.Declared.decodeUsable(h.Job.Parties(), all, as.Usable) })
		},
		ids: func(of *P) ([]method.Release, error) {
			h := as.Helper(of)
			if h.Self == h.Asker { // this party's operator has just chosen the ids, so they need no release
				return nil, nil
			}
			return []method.Release{h.release(method.ReleaseIDs, h.table)}, nil
		},
		declared: method.With(as.Lets, method.ReleaseCounts),
	})
}

// partyFunctions holds a party's functions in the steps of alignment and declaration.
type partyFunctions[P any] struct {
	align, declare func(*P, method.Setup) (*method.Run, error)
	ids, declared  func(*P) ([]method.Release, error)
}

func begin[P, S any](c method.Instance, purpose string, a alignment, server func(*S) *Server, usable func(Declared) error, p partyFunctions[P]) ([]method.StepOf[P, S, Declared], error) {
	plan, err := steps(c, purpose, a)
	if err != nil {
		return nil, err
	}
	declare := method.StepOf[P, S, Declared]{
		Name: plan[1].Name, Session: plan[1].Session, Party: p.declare, Releases: p.declared, Cost: declarationCost,
		Server: func(of *S, in method.Setup) (*method.Run, error) {
			s := server(of)
			return sums.Listener(in, func(all [][]byte) error { return s.Declared.decodeUsable(s.Parties, all, usable) })
		},
	}
	if a.kept {
		return []method.StepOf[P, S, Declared]{declare}, nil
	}
	align := method.StepOf[P, S, Declared]{Name: plan[0].Name, Session: plan[0].Session, Party: p.align, Releases: p.ids, Cost: a.cost}
	if align.Session.Has(c.Coordinator) {
		align.Server = func(_ *S, in method.Setup) (*method.Run, error) { return a.serverMachine(in) }
	}
	return []method.StepOf[P, S, Declared]{align, declare}, nil
}

// LabelStep returns the step in which the first party sends its labels to the coordinator, and to
// no other member.
func LabelStep[P, S any](c method.Instance, party func(*P) *Party, server func(*S) *Learner) method.StepOf[P, S, Declared] {
	return method.StepOf[P, S, Declared]{
		Name: "labels", Session: &method.Session{
			Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Purpose: "labels", Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
		},
		Follow: method.From(func(d Declared) ([]byte, error) {
			if _, err := d.Rows(); err != nil {
				return nil, err
			}
			return collective.EncodeBroadcast(d.List[0].Labels), nil
		}),
		Party: func(of *P, in method.Setup) (*method.Run, error) {
			return sums.Sender(in, EncodeLabels(party(of).Set.Labels))
		},
		Server:   func(of *S, in method.Setup) (*method.Run, error) { return sums.Receiver(in, server(of).TakeLabels) },
		Releases: method.AlsoReleases[P](method.ReleaseLabels),
		Cost:     method.FromSession(collective.BroadcastCost),
	}
}
