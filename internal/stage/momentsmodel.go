package stage

import (
	"bytes"
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// randomModel is the model of a job of moments: the solution, and what makes the
// features.
func randomModel(j *job.Job, t *taught, sums protocol.SessionID) model.RandomSpec {
	r := model.RandomSpec{Kernel: j.Kernel.Spec(), Seed: sums, Solution: t.solution, Scaled: j.Data.Scale != job.None}
	lessonOf(j).describe(t, &r)
	return r
}

// encodeMoments writes the model as the coordinator knows it: without the
// scaling, which is the parties' own, and without the width of their rows.
func (s *Server) encodeMoments(out io.Writer) error {
	m, err := model.NewRandom(randomModel(s.Job, s.moments.taught, s.moments.session))
	if err != nil {
		return err
	}
	return model.EncodeRandom(out, m)
}

// Keepsake returns what a party keeps of a job that leaves predictions open:
// with protocol okra what encodes later questions, with moments the model; where
// columns are split, its part of the model.
func (p *Party) Keepsake(c method.Closing) ([]byte, error) {
	if p != nil && is[*momentsKeys](p.Job) {
		return p.ownModel()
	}
	if p != nil && vertical(p.Job) {
		o, err := p.newPortion(c.Classes)
		if err != nil {
			return nil, err
		}
		return o.Encode(), nil
	}
	e, err := p.Encoder(c.Classes)
	if err != nil {
		return nil, err
	}
	return e.Encode(), nil
}

// ownModel is the model as a party knows it, with scaling.
func (p *Party) ownModel() ([]byte, error) {
	if p.moments.taught == nil {
		return nil, errors.New("stage: the job has told no solution")
	}
	r := randomModel(p.Job, p.moments.taught, p.moments.session)
	r.Width, r.Columns = p.width(), p.split.Set.Columns
	if len(p.scaling.Offset) > 0 {
		r.Scale = &model.Scale{Offset: p.scaling.Offset, Factor: p.scaling.Factor}
	}
	m, err := model.NewRandom(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := model.EncodeRandom(&b, m); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Local says whether a keepsake answers questions by itself.
func Local(keepsake []byte) bool { return model.IsRandom(keepsake) }

// PredictLocally answers a question about rows from a keepsake that is a model.
func PredictLocally(keepsake []byte, set *dataset.Set) (*Prediction, error) {
	m, err := model.OpenRandom(bytes.NewReader(keepsake))
	if err != nil {
		return nil, err
	}
	if set, err = method.LikeTraining(set, m.Width(), m.Columns()); err != nil {
		return nil, err
	}
	decisions, err := m.Decisions(dataset.DenseOf(set.X).Matrix())
	if err != nil {
		return nil, err
	}
	a := &Prediction{Reading: m.Reading()}
	return a, a.Take(decisions)
}
