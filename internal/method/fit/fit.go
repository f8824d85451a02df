// Package fit is the method of jobs of kind Fit. Parties with different rows fit once the
// preparation of their rows under a data dictionary, and learn nothing else. Later jobs of the
// dictionary name this job and reuse its fit. So the parties need not release a second fit, whose
// difference from the first could describe only a few people. See package rows.
package fit

import (
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// Protocol returns the method that fits a dictionary.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, noValues]{
	Name: "fit", Keys: func() job.Settings { return keys{} }, Traits: job.Traits{Fits: true},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public: func(*party) noValues { return noValues{} }, PublicServer: func(*server) noValues { return noValues{} },
	Facts: method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Later: &method.LaterOf[party, server]{
		Continues: func(*job.Job) (job.ID, bool) { return job.ID{}, false },
		Lasts:     func(p *party) bool { return p.HasFitted() }, Write: (*party).WriteFit, Resume: func(*party, []byte) error { return errContinues },
		LastsServer: func(*server) bool { return false }, WriteServer: func(*server, io.Writer) error { return nil },
		ResumeServer: func(*server, []byte) error { return errContinues },
	},
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Prepared() },
		Notices: func(p *party) []string { return p.Notices() },
	},
})

var errContinues = errors.New("fit: a job of kind fit cannot continue another job")

// noValues is the type of the method's public values, which are empty.
type noValues = struct{}

// keys is the protocol's section in a job file. It has no settings.
type keys struct{}

var _ job.Settings = (*keys)(nil)

// Section implements [section.Values].
func (keys) Section() *section.Section {
	return &section.Section{Doc: "The parties fit how all prepare the rows of a dictionary."}
}

// Demands implements [job.Settings].
func (keys) Demands() job.Demands { return job.Demands{Mode: job.Hardened} }

// party is a party that holds rows.
type party struct{ *rows.Party }

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	p.Lets = func() ([]method.Release, error) { return []method.Release{p.FitRelease()}, nil }
	return &party{p}, c.Limits.CheckRows(c.Job.Protocol.Name(), p.Split.Set.X.Rows())
}

// server is the coordinator, which does not take part in the fit.
type server struct {
	rows.Witness
	of method.Instance
}

func newServer(c method.Instance) (*server, error) { return &server{rows.WitnessOf(c), c}, nil }

func (s *server) result() (*method.Result, error) {
	r := &method.Result{Job: s.of.Job.Name, Leakage: make(map[string][]string)}
	rows.Leakage(s.of, r.Leakage, 0)
	return r, nil
}

func steps(c method.Instance) ([]method.StepOf[party, server, noValues], error) {
	list, err := rows.Steps(c)
	return method.Lift(func(p *party) *rows.Party { return p.Party }, func(s *server) *rows.Witness { return &s.Witness }, func(noValues) noValues { return noValues{} }, list), err
}
