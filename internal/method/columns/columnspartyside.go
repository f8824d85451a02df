package columns

import (
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/psi"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Party is the state of a party with columns during a job. A method's own party embeds it.
type Party struct {
	method.Instance
	Self     string
	Table    *dataset.Set // the party's table before the alignment
	Set      *dataset.Set // the common rows: first the training rows, then the held-out rows; nil before the alignment
	Rows     linalg.Rows  // the rows of Set, scaled if the job demands it
	Scaling  scale.Scaling
	Prepared *prepare.Preparation // the fitted preparation of a table with a schema; nil without a schema
	Declared Declared

	kept    bool              // the party reuses the alignment of an earlier job
	read    *dataset.Set      // the common rows before their preparation
	order   []string          // the ids of the common rows in the common order, before some rows are held out
	train   int               // the number of common rows that are for training
	key     [32]byte          // a secret that all parties share and the coordinator does not know
	edition string            // the id of the table's edition; "" if the table is not frozen
	label   string            // the name of the label column, if the catalogue states it
	chosen  *dataset.SplitKey // replaces key in the choice of held-out rows; nil in a deployment
	rule    string            // the rule by which the party makes its ids; "" for unchanged cells
	own     Declaration
}

// Of checks a party's table and returns the party for a job. Errors describe faults of the data and
// how to correct them. They may quote the data, and belong in the party's own log only.
func Of(c method.Instance, self string, t method.Table) (*Party, error) {
	set, err := tableOf(c.Job, self, t.Set)
	if err != nil {
		return nil, err
	}
	p := &Party{Instance: c, Self: self, Table: set, edition: t.Edition.ID, label: t.Label, rule: t.IDRule, chosen: t.Together}
	if err := c.Limits.CheckRows(c.Job.Protocol.Name(), set.X.Rows()); err != nil {
		return nil, err
	}
	if c.Job.Data.Partition.AlignedBy != (job.ID{}) {
		return p, p.takeKept(t.Alignment)
	}
	return p, nil
}

// align selects the rows that all parties have, in the common order. Then it holds out rows, and
// prepares and scales the columns. Each column belongs to one party, so the party needs no message
// for the scaling.
func (p *Party) align(order []int, key [32]byte) error {
	if err := p.Limits.CheckRows(p.Job.Protocol.Name(), len(order)); err != nil {
		return err
	}
	splitKey := key
	if p.chosen != nil {
		splitKey = *p.chosen
		order = byKey(p.Table.IDs, order, splitKey)
	}
	train, test, err := heldOut(p.Job, len(order), splitKey)
	if err != nil {
		return fault.BadInput(err)
	}
	rows := make([]int, 0, len(order))
	for _, i := range slices.Concat(train, test) {
		rows = append(rows, order[i])
	}
	p.order = linalg.At(p.Table.IDs, order)
	p.train, p.key, p.Set = len(train), key, p.Table.Subset(rows)
	p.read = p.Set
	if err := p.prepare(); err != nil {
		return fault.Columns.Of(err)
	}
	return nil
}

// setDeclaration sets the party's declaration, which commits to the common rows under the shared
// key. Function declare adds the fields of the method.
func (p *Party) setDeclaration(declare func(*Declaration) error) error {
	own := commit(p.Set, p.key)
	err := declare(&own)
	p.own = own
	return err
}

// commit returns a declaration that holds the number of rows and a commitment to their order.
func commit(set *dataset.Set, key [32]byte) Declaration {
	return Declaration{Rows: len(set.IDs), alignment: psi.Align(key, idBytes(set.IDs), dataset.Complement(len(set.IDs), nil))}
}

// Training returns the scaled common rows that are not held out.
func (p *Party) Training() linalg.Rows { return linalg.Pick(p.Rows, dataset.Complement(p.train, nil)) }

// Width returns the number of the party's columns. After the alignment it counts the prepared columns.
func (p *Party) Width() int {
	if p.Set != nil {
		return p.Set.X.Cols()
	}
	return p.Table.X.Cols()
}

// Releases lists what the party releases about the common rows. It returns none before the
// alignment.
func (p *Party) Releases(kind method.ReleaseKind) ([]method.Release, error) {
	if p.Set == nil {
		return nil, nil
	}
	r := p.Instance.Release(kind, p.Self, p.label, p.read)
	if p.Prepared != nil || p.Scaling.Offset != nil {
		r.Fit = method.Fit{By: method.NewFit, Values: p.encodedFit()}
	}
	return []method.Release{r}, nil
}

// encodedFit encodes the fitted preparation and the scaling of the party's own columns.
func (p *Party) encodedFit() []byte {
	var w wire.Writer
	if p.Prepared != nil {
		w.Bytes32(p.Prepared.Encode())
	}
	w.Float64s(p.Scaling.Offset)
	w.Float64s(p.Scaling.Factor)
	return w.Bytes()
}

// Aligned returns the ids of the common rows, training rows before held-out rows. It returns nil before
// the alignment.
func (p *Party) Aligned() []string {
	if p.Set == nil {
		return nil
	}
	return p.Set.IDs
}

// Judge evaluates decisions on held-out rows whose labels this party has. rows holds the indices of
// these held-out rows in p.Set. training holds the indices in p.Set of the training rows whose labels
// the party has. Matrix u has one row for each output and one column for each entry of rows. If rows is
// empty, Judge returns nil.
func (p *Party) Judge(o *learner.Outputs, u linalg.Matrix[float64], rows, training []int) (*method.Judged, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	w, err := o.Judge(p.Job, u, linalg.At(p.Set.Labels, rows), linalg.At(p.Set.Labels, training))
	if err != nil {
		return nil, err
	}
	decided := method.NewOutcome(w.Fitted)
	decided.Held = linalg.At(p.Set.IDs, rows)
	return &method.Judged{Outcome: decided, Result: &method.Result{
		Job: p.Job.Name, Metrics: w.Metrics, Figures: w.Assessment, Grid: []learner.Cell{}, Training: len(training), HeldOut: len(rows),
	}}, nil
}

// Server is the state of the coordinator during a job between parties with columns, or during a
// query to its model. A method's own server embeds it.
type Server struct {
	method.Instance
	Declared Declared
}

// Prepared returns the total number of columns that the parties have after preparation. It returns
// nil for tables without a schema.
func (s *Server) Prepared() (*learner.Prepared, error) {
	if !s.Job.Data.Prepares() {
		return nil, nil
	}
	if _, err := s.Declared.Rows(); err != nil {
		return nil, err
	}
	all := &learner.Prepared{}
	for _, d := range s.Declared.List {
		all.Columns += d.Columns.Columns
	}
	return all, nil
}

// Notices returns a sentence for the party's own operator if some ids are not in the usual Unicode form
// (NFC). Such ids do not match the same ids in the usual form. It returns none before the alignment.
func (p *Party) Notices() []string {
	if p.order == nil {
		return nil
	}
	composed := 0
	for _, id := range p.Table.IDs {
		if !norm.NFC.IsNormalString(id) {
			composed++
		}
	}
	if composed == 0 {
		return nil
	}
	return []string{fmt.Sprintf(`%d of %d ids change under nfc, so that ids of other parties in the usual Unicode form do not match them; agree on "id: {columns: [...], normalize: [nfc]}" in each catalogue, and submit the job again`, composed, len(p.Table.IDs))}
}
