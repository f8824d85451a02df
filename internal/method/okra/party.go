package okra

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// party is a holder of rows.
type party struct {
	*rows.Party
	total  int // rows of all parties, once the server has said so
	epoch  okra.Seed
	parent protocol.SessionID // of the upload

	standing okra.Standing // after the last session
	added    []int         // rows that have come since the earlier job
	grown    *method.Split // with the rows that come after the first session; nil for none, or once they are there
}

// Party implements [method.Federated].
func (Method) Party(c method.Case, self string, t method.Table) (method.Party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	own := &party{Party: p}
	if _, err := own.input(); err != nil {
		return nil, err
	}
	n := p.Split.Set.X.Rows()
	if changes := changesOf(c.Job); changes != nil {
		own.wait(changes.later(self, n))
	}
	return own, c.Limits.Floors.CheckRows(c.Job.Protocol.Name(), n)
}

// Known implements [method.Member].
func (p *party) Known() method.Known { return rows.Total(p.total) }

// Machine implements [method.Member].
func (p *party) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step == "continue" || strings.HasSuffix(step, again) {
		if err := p.grow(); err != nil {
			return nil, err
		}
	}
	switch step {
	case "protocol", "protocol-again":
		return p.uploader(setup.Setup)
	case "continue":
		return p.continuer(setup.Setup)
	case "fresh":
		return p.repeater(setup.Setup)
	case rows.StepFolds:
		return p.Folder(setup, p.total)
	case "scale-again":
		p.Unscale()
	}
	return p.Party.Machine(strings.TrimSuffix(step, again), setup)
}

// wait puts the last n rows aside until the first session is over.
func (p *party) wait(n int) {
	if n < 1 {
		return
	}
	whole := p.Split
	rows := len(whole.Test)
	p.grown, p.added = &whole, linalg.Range(rows-n, rows)
	p.Split = method.Split{Set: whole.Set.Subset(linalg.Range(0, rows-n)), Test: whole.Test[:rows-n]}
	p.Rows = dataset.RowsOf(p.Split.Set.X)
}

// grow brings the rows that were put aside. They are not scaled yet, nor are the others any
// more; the step that sends them does it.
func (p *party) grow() error {
	if p.grown == nil {
		return nil
	}
	set, err := p.grown.Set.Arrange("the table of the first session", p.Width(), p.Split.Set.Columns)
	if err != nil {
		return err
	}
	p.Split, p.grown = method.Split{Set: set, Test: p.grown.Test}, nil
	p.Rows = dataset.RowsOf(set.X)
	return nil
}

// input returns all the party's rows.
func (p *party) input() (okra.Input, error) {
	x, test, err := learner.InViews(p.Job.Learner, p.Rows, p.Split.Set.Columns, p.Split.Test)
	return okra.Input{Rows: x, Labels: p.Split.Set.Labels, Test: test, Grid: p.Grid == method.AllGrid, Kept: changesOf(p.Job) != nil || lasting(p.Job)}, err
}

// uploader encodes the party's rows and sends them.
func (p *party) uploader(setup protocol.Setup) (*method.Run, error) {
	params, err := paramsOf(p.Job)
	if err != nil {
		return nil, err
	}
	in, err := p.input()
	if err != nil {
		return nil, err
	}
	m, err := okra.NewParty(setup, params, in)
	return method.RunOf(m, err, func() error {
		p.total, p.standing = m.TotalRows(), m.Standing()
		p.epoch, p.parent = m.EpochSeed(), setup.Session.ID()
		return nil
	})
}

// Disclose implements [method.Discloser].
func (p *party) Disclose(step string) (method.Release, bool) {
	switch {
	case step == "continue" && p.standing.Rows > 0 && len(p.added) == 0: // its rows lie there
		return method.Release{}, false
	case !slices.Contains([]string{"protocol", "protocol-again", "continue", "fresh"}, step):
		return method.Release{}, false
	}
	return p.Release(method.ReleaseRows), true
}

// OwnFigures reports whether the party's held-out rows are too few for figures over them alone.
func (p *party) OwnFigures() error { return rows.CheckOwnFigures(p.Limits.Floors, p.Job, p.Split) }

// Facts implements [method.Grainer]. There are none before the server has counted the
// rows.
func (p *party) Facts() method.Facts {
	if p.total == 0 {
		return method.Facts{}
	}
	facts := method.Facts{Known: true, Grid: p.Grid}
	if p.total >= p.Width() {
		facts.Features = uint32(p.Width())
	}
	return facts
}

// Keep implements [method.Keeper]: it keeps the encoder.
func (p *party) Keep(c method.Closing) (method.Keepsake, error) {
	if p.total == 0 {
		return method.Keepsake{}, errors.New("okra: the job has no upload to ask questions about")
	}
	params, err := paramsOf(p.Job)
	if err != nil {
		return method.Keepsake{}, err
	}
	e := &Kept{
		params, p.epoch, p.parent, p.Scaling, p.Split.Set.Columns, p.Width(),
		learner.ReadingOf(p.Job, c.Classes)}
	return keepsake(p.Job, e.encode()), nil
}

// continuer sends the rows of a newcomer, and confirms everybody else's old rows.
func (p *party) continuer(setup protocol.Setup) (*method.Run, error) {
	params, err := paramsOf(p.Job)
	if err != nil {
		return nil, err
	}
	in, err := p.input()
	if err != nil {
		return nil, err
	}
	var m *okra.Party
	if p.standing.Session == (protocol.SessionID{}) {
		m, err = okra.NewLateParty(setup, params, in, p.prepare())
	} else {
		if continuing(p.Job) == nil {
			p.standing.Preparation = encodeScaling(p.Scaling)
		}
		var in okra.Input
		if in, err = p.news(); err == nil {
			m, err = okra.NewContinuingParty(setup, params, p.standing, in)
		}
	}
	return method.RunOf(m, err, func() error {
		if p.standing.Session == (protocol.SessionID{}) && p.Job.Data.Scale != job.None {
			if p.Scaling, err = decodeScaling(m.Standing().Preparation, p.Width()); err != nil {
				return err
			}
			p.Rows = p.Scaling.Rows(p.Rows)
		} else if len(p.added) > 0 && p.Job.Data.Scale != job.None && continuing(p.Job) == nil {
			p.Rows = p.Scaling.Rows(p.Rows) // a fresh session sends all
		}
		p.total, p.standing = m.TotalRows(), m.Standing()
		return nil
	})
}

// news returns the rows that have come since the earlier job, scaled as the others were.
func (p *party) news() (okra.Input, error) {
	if len(p.added) == 0 {
		return okra.Input{}, nil
	}
	x, test := linalg.Pick(p.Rows, p.added), linalg.At(p.Split.Test, p.added)
	if p.Job.Data.Scale != job.None {
		s, err := decodeScaling(p.standing.Preparation, p.Width())
		if err != nil {
			return okra.Input{}, err
		}
		x = s.Rows(x)
	}
	x, test, err := learner.InViews(p.Job.Learner, x, p.Split.Set.Columns, test)
	return okra.Input{Rows: x, Labels: linalg.At(p.Split.Set.Labels, p.added), Test: test, Grid: p.Grid == method.AllGrid, Kept: true}, err
}

// prepare scales a newcomer's rows as the others'; nil where the job scales none.
func (p *party) prepare() okra.Prepare {
	if p.Job.Data.Scale == job.None {
		return nil
	}
	return func(b []byte) (linalg.Rows, error) {
		s, err := decodeScaling(b, p.Width())
		if err != nil {
			return nil, err
		}
		return s.Rows(p.Rows), nil
	}
}

// repeater sends all rows again under the same seed.
func (p *party) repeater(setup protocol.Setup) (*method.Run, error) {
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

// encodeScaling returns nothing for no scaling.
func encodeScaling(s scale.Scaling) []byte {
	var w wire.Writer
	w.Float64s(s.Offset)
	w.Float64s(s.Factor)
	return w.Bytes()
}

func decodeScaling(b []byte, columns int) (s scale.Scaling, err error) {
	rest, err := s.Cut(b, columns)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("okra: the scaling of %d columns has %d bytes too many", columns, len(rest))
	}
	return s, err
}

// Lasts reports whether a later job may continue this one.
func (p *party) Lasts() bool { return lasting(p.Job) && p.total > 0 }

// WriteRest writes the part of the job that the later one needs.
func (p *party) WriteRest(to io.Writer) error {
	params, err := paramsOf(p.Job)
	if err != nil {
		return err
	}
	if p.standing.Preparation == nil {
		p.standing.Preparation = encodeScaling(p.Scaling)
	}
	_, err = to.Write(rest{params, p.Job.Data.Scale, p.standing, p.Split.Set.Columns, marks(p.standing.Seed, p.Split)}.encode(p.Job))
	return err
}

// Continues returns the earlier job, if there is one.
func (p *party) Continues() (job.ID, bool) { return earlier(p.Job) }
