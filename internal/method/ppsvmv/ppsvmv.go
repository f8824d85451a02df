// Package ppsvmv runs jobs of protocol PP-SVMV, in which parties with different columns of the same
// people add up their Gram matrices around a ring. PP-SVMV is a published rival of gram. The
// coordinator learns from the sum. See protocol/psi and protocol/ppsvmv.
package ppsvmv

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// Protocol returns the method that runs protocol PP-SVMV.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "pp-svmv", Keys: func() job.Settings { return new(Keys) }, Traits: job.Traits{Cuts: job.Columns, Learns: learner.RunsOnMatrix, NoStudy: job.PaperOnly},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        func(p *party) method.Facts { return p.facts }, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).Ended,
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(s *server) *method.Outcome { return s.Learner.Outcome() },
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Alignment: func(p *party) []byte { return p.ToKeep() }},
	Prepares: &method.PreparesOf[party, server]{
		Heard: func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
	},
	NoFile: columns.Undownloadable,
})

// Keys holds the settings of protocol pp-svmv in a job file. The only mode is paper. Protocol gram
// takes the place of mode hardened.
type Keys struct {
	job.Moded
	columns.Keys
}

var _ job.Settings = (*Keys)(nil)

// Section declares the keys of protocol pp-svmv in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "A published rival of gram: parties add up their Gram matrices around a ring, where two can read the one between them.",
		Fields: []section.Field{k.ModeKey(), k.IDsKey()}, Finish: k.CheckIDs,
	}
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs}}
}

// check refuses a job that is not in mode paper, has open predictions, or has a learner that does not use the Gram
// matrix.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", `protocol pp-svmv has mode paper only; write "mode: paper", or use protocol gram, which adds up the same matrices and hides each party's own`)
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `protocol pp-svmv cannot predict new rows; remove "prediction: open", or use protocol gram`)
	}
	return learner.OnMatrix(j, in)
}

// step is one step of a PP-SVMV job.
type step = method.StepOf[party, server, columns.Declared]

// steps plans a job. The parties align their rows and add up their Gram matrices around the ring.
// The party with the labels sends them, and the coordinator learns.
func steps(c method.Instance) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: (*party).holder, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(limitedProducts(c.Job)), Lets: (*party).products,
	})
	if err != nil {
		return nil, err
	}
	plan = append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: ppsvmv.Name, Version: ppsvmv.Version, Members: c.AllMembers(), Purpose: "train", Discloses: []string{ppsvmv.TileKind},
		},
		Follow: method.From(func(d columns.Declared) ([]byte, error) { return params(c.Job, d) }),
		Party:  (*party).site, Server: (*server).receiver, Releases: (*party).products,
	})
	if c.Job.Data.Label != job.NoLabel {
		plan = append(plan, columns.LabelStep(c, (*party).holder, (*server).learner))
	}
	return append(plan, columns.LearningSteps[party](c, (*server).learner)...), nil
}

// params returns the encoded parameters of the session that adds up the matrices around the ring.
func params(j *job.Job, d columns.Declared) ([]byte, error) {
	p, err := limitedProducts(j).Params(d)
	if err != nil {
		return nil, err
	}
	params, err := ppsvmv.NewParams(p.Groups(), d.Digest)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return params.Encode(), nil
}

// limitedProducts is like [columns.ProductsOf], but its function refuses too many rows. The limit
// is the number of rows of the largest matrix.
func limitedProducts(j *job.Job) columns.Products {
	return func(holders []gram.Holder, rows int) (gram.Params, error) {
		if words := rows * (rows + 1) / 2; rows > gram.MaxRows {
			return gram.Params{}, fmt.Errorf("ppsvmv: %d rows have a matrix of %d words (%s), and all words pass through every party; bring at most %d rows, or use protocol fdskl", rows, words, humanize.Bytes(8*words), gram.MaxRows)
		}
		return columns.ProductsOf(j)(holders, rows)
	}
}

// usable returns a check that refuses declarations from which no sum can be computed.
func usable(p columns.Products) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := p.Params(d)
		return err
	}
}

// party is the state of a party with columns, which is one site of the ring.
type party struct {
	*columns.Party
	columns.Products
	facts method.Facts // the party's facts for the leakage statement; none before the party has added to the sum
}

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{Party: p, Products: limitedProducts(c.Job)}, nil
}

func (p *party) holder() *columns.Party { return p.Party }

// site builds a party's machine for the session of the ring.
func (p *party) site(setup method.Setup) (*method.Run, error) {
	part, err := p.PartOf(p.Declared, slices.Index(p.Job.Parties(), p.Self), p.Rows)
	if err != nil {
		return nil, err
	}
	if setup.Session.RoleOf(p.Self) == protocol.RoleLeader {
		m, err := ppsvmv.NewLeader(setup.Setup, part)
		return method.RunOf(m, err, p.noteSum)
	}
	m, err := ppsvmv.NewSite(setup.Setup, part)
	return method.RunOf(m, err, p.noteSum)
}

func (p *party) noteSum() error {
	p.facts = method.Facts{Known: true, Grid: method.GridOf(p.Set)}
	return nil
}

func (p *party) declare(d *columns.Declaration) error {
	d.Labels = len(columns.EncodeLabels(p.Set.Labels))
	return columns.DeclareProducts(d, p.Rows)
}

// products lists what the party releases: inner products of the common rows. It returns none before
// the alignment.
func (p *party) products() ([]method.Release, error) { return p.Releases(method.ReleaseProducts) }

// server is the state of the coordinator, which learns from the summed matrix. The coordinator
// receives this matrix from the first party.
type server struct{ columns.Learner }

func (s *server) learner() *columns.Learner { return &s.Learner }

func newServer(c method.Instance) (*server, error) {
	return &server{columns.LearnerOf(c, limitedProducts(c.Job))}, nil
}

// receiver builds the machine with which the coordinator receives the summed matrix.
func (s *server) receiver(setup method.Setup) (*method.Run, error) {
	layout, err := s.Params(s.Declared)
	if err != nil {
		return nil, err
	}
	m, err := ppsvmv.NewServer(setup.Setup)
	return method.RunOf(m, err, func() error { return s.TakeSums(layout, m.Sums()) })
}

func (s *server) writeModel(out io.Writer) error { return s.WriteFunctions(out, "mercer/v1/pp-svmv") }

func (s *server) result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage, r.Exposures = s.leakage(), s.exposures()
	return r, nil
}

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage() map[string][]string {
	lines := map[string][]string{
		"server": {s.ProductsRead(), s.LatticeReads()},
		"party": {
			s.firstLearns(),
			"Every party learns each other party's number of rows and columns, a power of two that bounds its values, and whether they are whole numbers. A party other than the first sees masked words, and learns nothing from them alone.",
		},
		"coalition": {s.neighbours(), "Protocol gram adds up the same matrices without such neighbours."},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of rows."},
	}
	s.LabelLeakage(lines)
	columns.Leakage(lines, s.Job, s.Layout.Training()+s.Layout.HeldOut())
	return lines
}

// exposures returns how much of others' rows each role can reconstruct. The first party has the
// server's matrix, so it reaches as far. With two parties it reaches the other party's own matrix.
func (s *server) exposures() map[string]protocol.Exposure {
	server := protocol.Exposure{Reach: protocol.ReachPart, Why: columns.DistancesKnown}
	if s.ReadsAll() {
		server = protocol.Exposure{Reach: protocol.ReachAll, Why: s.LatticeReads()}
	}
	coalition := protocol.Exposure{Reach: protocol.ReachPart, Why: s.neighbours()}
	if s.ReadsOne() {
		coalition.Reach = protocol.ReachAll
	}
	party := protocol.Exposure{Reach: server.Reach, Why: s.firstLearns()}
	if len(s.Parties) == 2 {
		party.Reach = coalition.Reach
	}
	return map[string]protocol.Exposure{"server": server, "party": party, "coalition": coalition}
}

// firstLearns describes what the first party learns.
func (s *server) firstLearns() string {
	line := fmt.Sprintf("%s learns everything that the server learns about the products, because the sum returns to it.", s.Parties[0])
	if len(s.Parties) == 2 {
		line += fmt.Sprintf(" Without its own part this is the products over the columns of %s.%s", s.Parties[1], s.LatticeReadsOne())
	}
	return line
}

// neighbours names the two parties that can together read another party's matrix. These two are the
// other party's neighbours in the ring.
func (s *server) neighbours() string {
	if len(s.Parties) == 2 {
		return fmt.Sprintf("With two parties, %s alone reads the products over the columns of %s: it subtracts its own from the sum. The server and %[2]s together read those of %[1]s.%[3]s", s.Parties[0], s.Parties[1], s.LatticeReadsOne())
	}
	var list []string
	for i := 1; i < len(s.Parties); i++ {
		list = append(list, fmt.Sprintf("%s and %s read %s", s.Parties[i-1], s.Parties[(i+1)%len(s.Parties)], s.Parties[i]))
	}
	return fmt.Sprintf("The two neighbours of a party in the ring, if they collude, read the products over its columns exactly, unless it is %[2]s: %[1]s. The server together with %[4]s and %[5]s, the neighbours of %[2]s, reads those over the columns of %[2]s.%[3]s",
		strings.Join(list, "; "), s.Parties[0], s.LatticeReadsOne(), s.Parties[1], s.Parties[len(s.Parties)-1])
}
