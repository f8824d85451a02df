// Package gram runs jobs of protocol gram, in which parties with different columns of the same
// people add up their Gram matrices. The coordinator learns from this sum and sees no party's own
// matrix. See protocol/psi and protocol/gram.
package gram

import (
	"encoding/hex"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Protocol returns the method that runs protocol gram.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "gram", Keys: func() job.Settings { return new(Keys) }, Traits: job.Traits{Cuts: job.Columns, Learns: learner.RunsOnMatrix},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        func(p *party) method.Facts { return p.facts }, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).Ended,
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(s *server) *method.Outcome { return s.Learner.Outcome() },
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Alignment: func(p *party) []byte { return p.ToKeep() }},
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Preparation() },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
		Notices: func(p *party) []string { return p.Notices() },
	},
	Questions: &method.QuestionsOf[party, server]{
		Keep: (*party).keep, KeepServer: (*server).keep, OpenParty: openParty, OpenServer: openServer, Left: isEarlierState,
	},
	NoFile:  columns.Undownloadable,
	Foresee: columns.Foresee,
})

// step is one step of a gram job.
type step = method.StepOf[party, server, columns.Declared]

// steps plans a job. The parties align their rows and add up their Gram matrices, and the party
// with the labels sends them. The coordinator selects settings by folds if the job has any, learns,
// and evaluates. With open predictions it tells the parties which rows are in the model.
func steps(c method.Instance) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: (*party).holder, Server: func(s *server) *columns.Server { return &s.Server }, Declare: (*party).declare, Usable: trainingArithmetic(c.Job).Usable, Lets: (*party).products,
	})
	if err != nil {
		return nil, err
	}
	j := c.Job
	sum := step{Name: "protocol", Party: (*party).sum, Server: (*server).summer, Releases: (*party).products, Cost: sumCost}
	sum.Session, sum.Follow = adding(c, trainingArithmetic(j))
	plan = append(plan, sum)
	if j.Data.Label != job.NoLabel {
		plan = append(plan, columns.LabelStep(c, (*party).holder, (*server).learner))
	}
	plan = append(plan, columns.LearningSteps[party](c, (*server).learner)...)
	if j.Prediction == job.Open {
		told := step{Name: "keep", Party: (*party).hear, Server: (*server).tell, Releases: method.ReleasesNothing[party], Cost: method.FromSession(collective.BroadcastCost)}
		told.Session, told.Follow = sums.Broadcasting(c, func(d columns.Declared) int { return 4 + (trainingRows(j, d)+7)/8 })
		plan = append(plan, step{Name: "keep", Compute: (*server).makeRowless, Cost: method.NoCost}, told)
	}
	return plan, nil
}

// adding returns the session that adds up the Gram matrices. It also returns a function that sets
// the session's parameters, which depend on the declarations.
func adding(c method.Instance, a arithmetic) (*method.Session, func(method.Session, columns.Declared, []byte) (*method.Session, error)) {
	return sums.Summing(c, "protocol", func(d columns.Declared) (sums.Sum, error) {
		p, err := a.Params(d)
		return sums.Sum{Epoch: hex.EncodeToString(d.Digest[:]), Groups: groups(p)}, err
	})
}

// groups returns the groups of entries that the parties sum. All entries have the same bound.
func groups(p gram.Params) []secagg.Group {
	var list []secagg.Group
	for _, entries := range p.Groups() {
		list = append(list, secagg.Group{Entries: entries, Bound: p.Bound(), Signed: true})
	}
	return list
}

// arithmetic describes how Gram matrices are encoded for a secure sum.
type arithmetic struct{ columns.Products }

func trainingArithmetic(j *job.Job) arithmetic { return arithmetic{columns.ProductsOf(j)} }

// Usable refuses declarations from which no sum can be computed.
func (a arithmetic) Usable(d columns.Declared) error {
	p, err := a.Params(d)
	if err != nil {
		return err
	}
	return sums.Check(len(d.List), groups(p))
}

// adder builds the machine that adds the Gram matrix of a party's rows to the sum.
func (a arithmetic) adder(setup method.Setup, d columns.Declared, party int, rows linalg.Rows, added func()) (*method.Run, error) {
	part, err := a.PartOf(d, party, rows)
	if err != nil {
		return nil, err
	}
	return sums.Client(setup, part, added)
}

// trainingRows returns the number of common rows that are not held out.
func trainingRows(j *job.Job, d columns.Declared) int {
	rows, err := d.Rows()
	if err != nil {
		return 0
	}
	train, _, err := columns.Sizes(j, rows)
	if err != nil {
		return 0 // cannot happen, because earlier steps have refused such rows
	}
	return train
}

// Keys holds the settings of protocol gram in a job file. Mode paper does not exist, because the
// published method computes the same sum.
type Keys struct {
	job.Moded
	columns.Keys
}

var _ job.Settings = (*Keys)(nil)

// Section declares the keys of protocol gram in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "Parties that hold different columns of the same people add up their Gram matrices. The coordinator sees the sum only.",
		Fields: []section.Field{k.ModeKey(), k.IDsKey()}, Finish: k.finish,
	}
}

func (k *Keys) finish(in *section.Place) error {
	if k.Mode == job.Paper {
		return in.Refuse("mode", `protocol gram has no mode paper; remove "mode"`)
	}
	return k.CheckIDs(in)
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: learner.OnMatrix, Limits: map[string]int{"max_ids": k.MaxIDs}}
}
