package rows

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/scale"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Sizes of message bodies for each column with agreed categories. The sizes are fixed, so they do
// not reveal how many words a party has.
const (
	proposalBytes = 32 << 10
	unionBytes    = 128 << 10
)

// preparing returns the steps in which the parties fit their schema. It returns none if nothing is
// fitted. sum is the name of the sum, which distinguishes two fits of one job.
func preparing(c method.Instance, sum string) ([]Step, error) {
	plan, err := prepare.NewPlan(c.Job.Data.Schema, c.Job.Data.Fitted())
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if !plan.Fits() {
		return nil, nil
	}
	var steps []Step
	if n := len(c.Job.Data.Schema.Agrees()); n > 0 {
		steps = append(steps,
			Step{Name: "categories", Session: among(c, collective.GatherName, collective.GatherVersion, collective.EncodeGather(n*proposalBytes)), Party: (*Party).propose, Releases: releasesFits},
			Step{Name: "categories-broadcast", Session: among(c, collective.BroadcastName, collective.BroadcastVersion, collective.EncodeBroadcast(n*unionBytes)), Party: (*Party).tellUnion, Releases: releasesFits})
	}
	if n := plan.Entries(); n > 0 {
		fit, err := fitting(c, n, sum)
		if err != nil {
			return nil, err
		}
		steps = append(steps,
			Step{Name: "preparation", Session: fit, Party: (*Party).add, Releases: releasesFits},
			Step{Name: "preparation-broadcast", Session: among(c, collective.BroadcastName, collective.BroadcastVersion, collective.EncodeBroadcast(8*n)), Party: (*Party).tellSum, Releases: releasesFits})
	}
	return append(steps, preparedStep(c)), nil
}

// preparedStep returns the step in which all parties state a digest of their preparation.
func preparedStep(c method.Instance) Step {
	return Step{Name: "prepared", Session: &method.Session{
		Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: c.AllMembers(), Purpose: "train",
	}, Party: (*Party).compareDigests, Server: (*Witness).hear, Releases: method.AlsoReleases[Party](method.ReleaseFits)}
}

// among returns a session in which the leader serves the other parties.
func among(c method.Instance, name string, version uint16, params []byte) *method.Session {
	return &method.Session{Protocol: name, Version: version, Params: params, Members: sums.Served(c.Parties[0], c.Parties[1:]), Purpose: "train"}
}

// fitting returns the session that adds up the parties' vectors. With two parties each learns the
// other's numbers from the sum anyway, so the second party sends its own numbers to the leader.
func fitting(c method.Instance, entries int, sum string) (*method.Session, error) {
	if len(c.Parties) == 2 {
		return among(c, collective.GatherName, collective.GatherVersion, collective.EncodeGather(8*entries)), nil
	}
	params, err := sums.Params(len(c.Parties)-1, fmt.Sprintf("%x/%s", c.ID, sum), []secagg.Group{{Entries: entries, Bound: prepare.EntryTop}})
	if err != nil {
		return nil, fault.BadInput(err)
	}
	s := among(c, secagg.Name, secagg.Version, params.Encode())
	s.Purpose = "preparation"
	return s, nil
}

// frame returns the table as the party read it, until it is prepared by values that the job does not fit. Then it
// returns nil, and also for a table without a schema.
func (p *Party) frame() *prepare.Frame {
	f, _ := p.read().X.(*prepare.Frame)
	return f
}

// fitter holds a party's state while the parties fit a preparation.
type fitter struct {
	plan   *prepare.Plan
	first  *prepare.Plan // the plan before the parties agree on categories
	among  []string      // the names of the parties that take part in the fit, the leader first
	agreed [][]string
	sum    []int64 // the sum of all parties' vectors; nil until this party knows the sum
}

// begin applies a preparation that follows from the job file, or plans a preparation that the
// parties fit. In the second case, it calls check with the table.
func (p *Party) begin(check func(*prepare.Frame) error) error {
	f := p.frame()
	if f == nil {
		return nil
	}
	plan, err := prepare.NewPlan(p.Job.Data.Schema, p.Job.Data.Fitted())
	if err != nil {
		return err
	}
	p.fit = fitter{plan: plan, first: plan}
	if plan.Fits() {
		p.raw = p.Split.Set
		return check(f)
	}
	made, err := plan.Fit(nil)
	if err != nil {
		return err
	}
	return p.prepareWith(made)
}

// checkEnough returns an error if the party has too few values for the fit or, in a schema with agreed
// categories, words that cannot be categories. It runs before the first session.
func (p *Party) checkEnough(f *prepare.Frame) error {
	if len(p.Job.Data.Schema.Agrees()) > 0 {
		_, err := p.proposals(f)
		return err
	}
	_, err := p.vector(f)
	return err
}

// vector returns the numbers that the party adds to the sums of the fit. They are zeros if all the
// party's rows are held out.
func (p *Party) vector(f *prepare.Frame) ([]int64, error) {
	if p.Tested() {
		return make([]int64, p.fit.plan.Entries()), nil
	}
	v, err := p.fit.plan.Vector(f, p.Split.Rows(false))
	return v, p.ownFault(err)
}

// ownFault marks an error as a fault of the party's own table, and adds the table's name.
func (p *Party) ownFault(err error) error {
	if err == nil {
		return nil
	}
	return fault.Schema.Of(&unpreparable{p.Split.Set.Name, err})
}

// unpreparable reports a table that cannot be prepared. The error quotes the table.
type unpreparable struct {
	table string
	err   error
}

func (e *unpreparable) Error() string { return e.table + ": " + e.err.Error() }

// prepareWith prepares and scales the party's rows with a complete preparation.
func (p *Party) prepareWith(made *prepare.Preparation) error {
	set, err := made.Prepare(p.read(), p.frame())
	if err != nil {
		return p.ownFault(err)
	}
	p.Split.Set, p.Split.Prepared = set, made
	p.gridded = set
	if made.Offset != nil {
		p.Scaling = scale.Scaling{Offset: made.Offset, Factor: made.Factor}
	}
	p.scaled()
	return nil
}

// Preparation returns the fitted preparation; nil before the fit, and for a numeric table.
func (p *Party) Preparation() *prepare.Preparation { return p.Split.Prepared }

// leads reports whether this party is the leader of the fit.
func (p *Party) leads() bool { return p.Self == p.fit.among[0] }

// setFitParties stores the names of the session's parties, which take part in the fit. The
// coordinator is not one of them.
func (p *Party) setFitParties(s method.Setup) {
	p.fit.among = nil
	for _, m := range s.Session.Members {
		if m.Name != p.Coordinator {
			p.fit.among = append(p.fit.among, m.Name)
		}
	}
}

// tellUnion builds the machine in which the leader sends the agreed categories to the other
// parties. The agreed categories are the union of the categories that the parties have proposed.
func (p *Party) tellUnion(s method.Setup) (*method.Run, error) {
	p.setFitParties(s)
	return p.tell(s, func() ([]byte, error) { return encodeWords(p.fit.agreed, unionBytes*len(p.fit.agreed)) }, p.takeUnion)
}

// tellSum builds the machine in which the leader sends the sum of all vectors to the other parties.
func (p *Party) tellSum(s method.Setup) (*method.Run, error) {
	p.setFitParties(s)
	return p.tell(s, func() ([]byte, error) { return encodeSum(p.fit.sum), nil }, p.takeSum)
}

// tell builds the machine in which the leader sends a message to the other parties. Function
// body returns the message's body, and function take processes this body at a receiver.
func (p *Party) tell(s method.Setup, body func() ([]byte, error), take func([]byte) error) (*method.Run, error) {
	if !p.leads() {
		return sums.Receiver(s, take)
	}
	b, err := body()
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return sums.Sender(s, b)
}

// propose builds the machine in which each party proposes categories to the leader. A party
// proposes the words that enough of its training rows have. The leader unites the proposals.
func (p *Party) propose(s method.Setup) (*method.Run, error) {
	p.setFitParties(s)
	own, err := p.proposals(p.frame())
	if err != nil {
		return nil, err
	}
	if p.leads() {
		m, err := collective.NewGatherServer(s.Setup)
		return method.RunOf(m, err, func() error { return p.unite(own, m.Bodies()) })
	}
	body, err := encodeWords(own, proposalBytes*len(own))
	if err != nil {
		return nil, p.ownFault(err)
	}
	m, err := collective.NewGatherParty(s.Setup, body)
	return method.RunOf(m, err, method.Nothing)
}

func (p *Party) proposals(f *prepare.Frame) ([][]string, error) {
	var own [][]string
	for _, j := range p.Job.Data.Schema.Agrees() {
		words, err := f.Proposal(p.Split.Rows(false), j, prepare.Least)
		if err != nil {
			return nil, p.ownFault(fmt.Errorf("column %s %w", dataset.Quote(p.Job.Data.Schema[j].Name), err))
		}
		own = append(own, words)
	}
	return own, nil
}

// unite forms the sorted union of all parties' words.
func (p *Party) unite(own [][]string, bodies [][]byte) error {
	p.fit.agreed = own
	for i, b := range bodies {
		words, err := decodeWords(b, len(own))
		if err != nil {
			return protocol.Blame(p.fit.among[i+1], protocol.KindMalformed, err)
		}
		for k := range words {
			if len(words[k]) > prepare.MaxAgreed {
				return protocol.Blame(p.fit.among[i+1], protocol.KindMalformed, fmt.Errorf("rows: the party proposes %d categories for one column; at most %d are allowed", len(words[k]), prepare.MaxAgreed))
			}
			p.fit.agreed[k] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.fit.agreed[k], words[k]))))
		}
	}
	return p.agree()
}

// agree extends the plan by the categories on which the parties have agreed.
func (p *Party) agree() error {
	plan, err := p.fit.plan.With(p.fit.agreed)
	if err != nil {
		return p.ownFault(err) // the error quotes words that only parties may know
	}
	p.fit.plan = plan
	return nil
}

func (p *Party) takeUnion(b []byte) error {
	words, err := decodeWords(b, len(p.Job.Data.Schema.Agrees()))
	if err != nil {
		return protocol.Blame(p.fit.among[0], protocol.KindMalformed, err)
	}
	p.fit.agreed = words
	return p.agree()
}

// add builds the machine with which a party adds its vector to the sum.
func (p *Party) add(s method.Setup) (*method.Run, error) {
	p.setFitParties(s)
	own, err := p.vector(p.frame())
	if err != nil {
		return nil, err
	}
	switch {
	case !p.leads() && len(p.fit.among) == 2:
		m, err := collective.NewGatherParty(s.Setup, encodeSum(own))
		return method.RunOf(m, err, method.Nothing)
	case !p.leads():
		return sums.Client(s, secagg.Ints(own), func() {})
	case len(p.fit.among) == 2:
		m, err := collective.NewGatherServer(s.Setup)
		return method.RunOf(m, err, func() error { return p.addOther(own, m.Bodies()[0]) })
	}
	return sums.Server(s, secagg.Limits{}, func(all [][]int64) error { return p.addUp(own, all[0]) })
}

// addOther checks the second party's numbers and adds them to the leader's numbers. Only a fit
// between two parties uses addOther.
func (p *Party) addOther(own []int64, body []byte) error {
	other, err := decodeSum(body, len(own))
	if err == nil && slices.ContainsFunc(other, func(v int64) bool { return v < 0 || v > prepare.EntryTop }) {
		err = errors.New("rows: the party's vector has a number outside the agreed bounds")
	}
	if err == nil {
		err = p.fit.plan.Possible(other)
	}
	if err != nil {
		return protocol.Blame(p.fit.among[1], protocol.KindMalformed, err)
	}
	return p.addUp(own, other)
}

// addUp adds the leader's own numbers to the sum of the others' numbers.
func (p *Party) addUp(own, others []int64) error {
	p.fit.sum = slices.Clone(own)
	for i, v := range others {
		p.fit.sum[i] += v
	}
	return p.fit.plan.Possible(p.fit.sum)
}

func (p *Party) takeSum(b []byte) (err error) {
	p.fit.sum, err = decodeSum(b, p.fit.plan.Entries())
	if err == nil {
		err = p.fit.plan.Possible(p.fit.sum)
	}
	if err != nil {
		return protocol.Blame(p.fit.among[0], protocol.KindMalformed, err)
	}
	return nil
}

// compareDigests builds the machine with which the parties compare digests of their preparations.
func (p *Party) compareDigests(s method.Setup) (*method.Run, error) {
	p.setFitParties(s)
	made, err := p.fittedPreparation()
	if err != nil {
		return nil, p.ownFault(err)
	}
	own := stated(made, p.basis(made), p.key)
	m, err := collective.NewAllGather(s.Setup, own)
	return method.RunOf(m, err, func() error {
		for i, other := range m.Statements() {
			if !bytes.Equal(other, own) {
				return protocol.Blame(p.fit.among[i], protocol.KindInconsistent, errors.New("rows: the blamed party's preparation differs from this party's preparation; the leader sent two different sums, or the programs differ"))
			}
		}
		if p.kept != nil {
			return nil // a kept fit has already prepared the rows
		}
		p.notices = p.fit.plan.Notices(p.fit.sum, p.frame(), p.Split.Rows(false))
		if !p.Tested() {
			p.noticeRare(p.fit.plan.Rare(p.frame(), p.Split.Rows(false)))
		}
		return p.prepareWith(made)
	})
}

// basis returns a digest of the preparation or, if the party has a kept fit, of the whole kept fit. The
// digest must be equal at all parties of the job.
func (p *Party) basis(made *prepare.Preparation) [sha256.Size]byte {
	if p.kept != nil {
		return sha256.Sum256(p.kept) // the kept fit includes the scaling, which no other step compares
	}
	return made.Hash()
}

// fittedPreparation returns the preparation of the kept fit or, without a kept fit, of this job's
// fit.
func (p *Party) fittedPreparation() (*prepare.Preparation, error) {
	if p.kept != nil {
		return p.Split.Prepared, nil
	}
	return p.fit.plan.Fit(p.fit.sum)
}

// Notices returns sentences for the party's own operator. They are about columns that differ strongly from
// the other parties' numbers, words outside or almost like the agreed categories, and values that sums
// replace.
func (p *Party) Notices() []string { return p.notices }

// encodeWords encodes lists of words and pads them with zeros to the given size.
func encodeWords(lists [][]string, size int) ([]byte, error) {
	var w wire.Writer
	for _, words := range lists {
		w.Strings(words)
	}
	if len(w.Bytes()) > size {
		return nil, fmt.Errorf("the categories to send take %d bytes, but their message has room for %d; list the categories in the schema", len(w.Bytes()), size)
	}
	return append(w.Bytes(), make([]byte, size-len(w.Bytes()))...), nil
}

// decodeWords decodes lists of words that encodeWords wrote.
func decodeWords(b []byte, lists int) ([][]string, error) {
	r := wire.NewReader(b)
	all := make([][]string, lists)
	for i := range all {
		all[i] = r.Strings(prepare.MaxUnited, prepare.MaxWord)
		if r.Err() == nil && !ascending(all[i]) {
			r.Fail(errors.New("rows: the message has categories that are empty, equal or not sorted"))
		}
	}
	for _, b := range r.Rest() {
		if b != 0 {
			r.Fail(errors.New("rows: the padding of the categories is not zero"))
		}
	}
	return all, r.Close("rows: categories")
}

// ascending reports whether words are sorted, distinct and not empty.
func ascending(words []string) bool {
	last := ""
	for _, word := range words {
		if word <= last {
			return false
		}
		last = word
	}
	return true
}

func encodeSum(v []int64) []byte {
	var w wire.Writer
	w.Grow(8 * len(v))
	for _, x := range v {
		w.Uint64(uint64(x))
	}
	return w.Bytes()
}

func decodeSum(b []byte, n int) ([]int64, error) {
	r := wire.NewReader(b)
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(r.Uint64())
	}
	return v, r.Close("rows: sum")
}
