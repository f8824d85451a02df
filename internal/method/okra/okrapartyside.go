package okra

import (
	"cmp"
	"errors"
	"io"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// party is the state of a party with rows.
type party struct {
	*rows.Party
	labelled bool // the party sends labels with its rows
	total    int  // the number of rows of all parties; 0 until the server has stated this number
	epoch    okra.Seed
	parent   protocol.SessionID // the id of the session that uploaded the rows

	standing okra.EpochState // the state of the epoch after the last session
	added    []int           // the indices of the rows that are new since the earlier job or the first session
	complete *method.Split   // all rows, while setAside withholds the last ones; nil otherwise
}

func newParty(c method.Instance, self string, t method.Table, labelled bool) (*party, error) {
	of := rows.Of
	if fitsNothing(c.Job, self) {
		of = rows.Unfitted
	}
	p, err := of(c, self, t)
	if err != nil {
		return nil, err
	}
	own := &party{Party: p, labelled: labelled}
	p.Lets = own.allRows
	if _, err := own.input(); err != nil {
		return nil, err
	}
	n := p.Split.Set.X.Rows()
	if changes := changesOf(c.Job); changes != nil {
		if err := own.setAside(changes.countLater(self, n)); err != nil {
			return nil, err
		}
	}
	return own, c.Limits.CheckRows(c.Job.Protocol.Name(), n)
}

// fitsNothing reports whether a party fits no preparation in a job, because it receives the
// preparation or has kept it.
func fitsNothing(j *job.Job, party string) bool {
	if changesContinuing(j) != nil {
		return true
	}
	c := changesOf(j)
	return c != nil && c.ReceivesPreparation(j, party)
}

func (p *party) public() rows.Total { return rows.Total(p.total) }

func (p *party) foldMachine(setup method.Setup) (*method.Run, error) { return p.Folder(setup, p.total) }

func (p *party) weightMachine(setup method.Setup) (*method.Run, error) {
	return p.WeightSender(setup, p.total)
}

// setAside sets the last n rows aside until the first session has ended.
func (p *party) setAside(n int) error {
	if n < 1 {
		return nil
	}
	whole := p.Split
	rows := len(whole.Test)
	p.complete, p.added = &whole, linalg.Range(rows-n, rows)
	return p.Bring(method.Split{Set: whole.Set.Subset(linalg.Range(0, rows-n)), Test: whole.Test[:rows-n]})
}

// addSetAside adds the rows that were set aside during the first session. It prepares them in the
// same way as the other rows.
func (p *party) addSetAside() error {
	if p.complete == nil {
		return nil
	}
	whole := *p.complete
	p.complete = nil
	return p.Bring(whole)
}

// input returns all the party's rows in the form that the machine encodes.
func (p *party) input() (okra.Input, error) {
	x, test, err := learner.InViews(p.Job.Learner, p.Rows, p.Split.Set.Columns, p.Split.Test)
	return okra.Input{Rows: x, Labels: p.sentLabels(), Test: test, Grid: p.Grid() == method.AllGrid, Kept: changesOf(p.Job) != nil || isContinuable(p.Job)}, err
}

// sentLabels returns the labels that the party sends with its rows. It returns nil if it sends
// none.
func (p *party) sentLabels() []string {
	if !p.labelled {
		return nil
	}
	return p.Split.Set.Labels
}

// uploader builds the machine that encodes and sends all the party's rows.
func (p *party) uploader(s method.Setup) (*method.Run, error) {
	setup := s.Setup
	params, err := paramsOf(p.Job)
	if err != nil {
		return nil, err
	}
	in, err := p.input()
	if err != nil {
		return nil, err
	}
	if n := len(p.Fitted()); in.Kept && n > okra.MaxPreparation {
		return nil, fault.BadInputf("okra: the preparation takes %d bytes, but at most %d are kept for newcomers and later jobs; use fewer columns or categories, or parties that stay", n, okra.MaxPreparation)
	}
	m, err := okra.NewParty(setup, params, in)
	return method.RunOf(m, err, func() error {
		p.total, p.standing = m.TotalRows(), m.EpochState()
		p.epoch, p.parent = m.EpochSeed(), setup.Session.ID()
		return nil
	})
}

// allRows describes the release of all the party's rows.
func (p *party) allRows() ([]method.Release, error) {
	r := p.Release(method.ReleaseRows)
	if !p.labelled {
		r.Label = ""
	}
	if r.Fit.By != method.NoFit && changesContinuing(p.Job) != nil {
		r.Fit = p.earlierFit()
	}
	return []method.Release{r}, nil
}

// newRows lists the party's releases of rows that the coordinator does not have. A party that helps
// newcomers also releases the preparation that was fitted on its rows.
func (p *party) newRows() ([]method.Release, error) {
	if p.standing.Rows == 0 {
		return p.allRows()
	}
	if p.Job.Data.Fits() && hasNewcomers(p.Job) {
		return method.With((*party).allRows, method.ReleaseFits)(p)
	}
	if len(p.added) == 0 { // the coordinator has all the party's rows
		return nil, nil
	}
	return p.allRows()
}

// hasNewcomers reports whether some parties took no part in the first session or in the earlier
// job.
func hasNewcomers(j *job.Job) bool {
	c := cmp.Or(changesContinuing(j), changesOf(j))
	return c != nil && len(c.Late) > 0
}

// earlierFit describes the fit of the earlier job, which a party has kept or receives.
func (p *party) earlierFit() method.Fit {
	if kept := p.standing.Preparation; kept != nil {
		return method.Fit{By: method.KeptFit, Values: kept, Earlier: changesContinuing(p.Job).Earlier}
	}
	return method.Fit{By: method.ToldFit, Earlier: p.ID}
}

// checkOwnFigures refuses figures over the party's own held-out rows if there are too few of these
// rows.
func (p *party) checkOwnFigures() error { return rows.CheckOwnFigures(p.Limits, p.Job, p.Split) }

// facts returns the party's facts for the leakage statement. It returns none before the server has
// counted the rows.
func (p *party) facts() method.Facts {
	if p.total == 0 {
		return method.Facts{}
	}
	facts := method.Facts{Known: true, Grid: p.Grid()}
	if p.total >= p.Width() {
		facts.Features = uint32(p.Width())
	}
	return facts
}

// retainState returns a retained state with the encoder for later queries.
func (p *party) retainState(c method.Closing) (method.RetainedState, error) {
	if p.total == 0 {
		return method.RetainedState{}, errors.New("okra: a party can retain an encoder for queries only after it has uploaded its rows")
	}
	params, err := paramsOf(p.Job)
	if err != nil {
		return method.RetainedState{}, err
	}
	e := &Kept{
		params, p.epoch, p.parent, p.Scaling, p.Split.Set.Columns, p.Width(),
		learner.OutputOf(p.Job, c.Classes)}
	return retainedOf(p.Job, e.encode()), nil
}

// continuer builds the machine for a session that continues an earlier session. A newcomer sends its rows.
// Other parties confirm their earlier rows and send their new rows.
func (p *party) continuer(s method.Setup) (*method.Run, error) {
	setup := s.Setup
	params, err := paramsOf(p.Job)
	if err != nil {
		return nil, err
	}
	late := p.standing.Session == (protocol.SessionID{})
	m, err := p.continuedMachine(setup, params, late)
	return method.RunOf(m, err, func() error {
		p.total, p.standing = m.TotalRows(), m.EpochState()
		if late && p.Job.Data.Fits() {
			return p.Fit(p.standing.Preparation)
		}
		return nil
	})
}

// continuedMachine builds the machine of a newcomer if late is true, and otherwise the machine of
// an earlier party.
func (p *party) continuedMachine(setup protocol.Setup, params okra.Params, late bool) (*okra.Party, error) {
	if late {
		in, err := p.input()
		if err != nil {
			return nil, err
		}
		in.Rows = p.Raw()
		return okra.NewLateParty(setup, params, in, p.preparer())
	}
	if changesContinuing(p.Job) == nil {
		p.standing.Preparation = p.Fitted()
	}
	in, err := p.newInput()
	if err != nil {
		return nil, err
	}
	return okra.NewContinuingParty(setup, params, p.standing, in)
}

// newInput returns the rows that are new since the earlier job or the first session, prepared like
// the earlier rows.
func (p *party) newInput() (okra.Input, error) {
	if len(p.added) == 0 {
		return okra.Input{}, nil
	}
	x, test, err := learner.InViews(p.Job.Learner, linalg.Pick(p.Rows, p.added), p.Split.Set.Columns, linalg.At(p.Split.Test, p.added))
	return okra.Input{Rows: x, Labels: linalg.At(p.sentLabels(), p.added), Test: test, Grid: p.Grid() == method.AllGrid, Kept: true}, err
}

// preparer returns the function that prepares a newcomer's rows like the other parties' rows. It
// returns nil if the job fits no preparation.
func (p *party) preparer() okra.Prepare {
	if !p.Job.Data.Fits() {
		return nil
	}
	return p.By
}

// repeater builds the machine that sends all rows again under the same seed.
func (p *party) repeater(s method.Setup) (*method.Run, error) {
	setup := s.Setup
	params, err := paramsOf(p.Job)
	if err != nil {
		return nil, err
	}
	in, err := p.input()
	if err != nil {
		return nil, err
	}
	m, err := okra.NewContinuingParty(setup, params, p.standing.Emptied(), in)
	return method.RunOf(m, err, method.Nothing)
}

// isContinuable reports whether a later job can continue this job.
func (p *party) isContinuable() bool { return isContinuable(p.Job) && p.total > 0 }

// writeContinuation writes the state that a later job needs to continue this job.
func (p *party) writeContinuation(to io.Writer) error {
	params, err := paramsOf(p.Job)
	if err != nil {
		return err
	}
	if p.standing.Preparation == nil {
		p.standing.Preparation = p.Fitted()
	}
	_, err = to.Write(continuation{params, p.Job.Data.Scale, p.standing, p.Split.Set.Columns, digestsOf(p.standing.Seed, p.Split)}.encode(p.Job))
	return err
}
