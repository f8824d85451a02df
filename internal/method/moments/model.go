package moments

import (
	"bytes"
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// randomModel is the model of a job of moments: the solution, and the origin of the features.
func randomModel(j *job.Job, t *fitted, sums protocol.SessionID) model.RandomSpec {
	r := model.RandomSpec{Kernel: j.Kernel.Spec(), Seed: sums, Solution: t.solution, Scaled: j.Data.Scale != job.None}
	r.Reading = learner.ReadingOf(j, job.As[*Keys](j.Protocol).Classes)
	objectiveOf(j).describe(t, &r)
	return r
}

// writeModel writes a model that lacks preparation and scaling, which are the parties' own, and the width
// of their rows.
func (s *server) writeModel(out io.Writer) error {
	r := randomModel(s.Job, s.fitted, s.session)
	r.Scaled = r.Scaled || s.Job.Data.Prepares()
	m, err := model.NewRandom(r)
	if err != nil {
		return err
	}
	return model.EncodeRandom(out, m)
}

// keep keeps the model with the scaling.
func (p *party) keep(method.Closing) (method.Keepsake, error) {
	if p.fitted == nil {
		return method.Keepsake{}, errors.New("moments: the job has told no solution")
	}
	r := randomModel(p.Job, p.fitted, p.session)
	r.Width, r.Columns = p.Width(), p.Split.Set.Columns
	if len(p.Scaling.Offset) > 0 {
		r.Scale = &model.Scale{Offset: p.Scaling.Offset, Factor: p.Scaling.Factor}
	}
	m, err := model.NewRandom(r)
	if err != nil {
		return method.Keepsake{}, err
	}
	var b bytes.Buffer
	err = model.EncodeRandom(&b, m)
	return method.Keepsake{Method: "moments", Version: 1, Body: b.Bytes()}, err
}

func openParty(k method.Keepsake, _ *job.Reader) (method.Erasable, error) {
	return local(bytes.Clone(k.Body)), nil
}

// local is a model that lies with a party.
type local []byte

// Erase implements [method.Erasable].
func (m local) Erase() { clear(m) }

// Predict implements [method.Local].
func (m local) Predict(set *dataset.Set) (*method.Prediction, error) {
	r, err := model.OpenRandom(bytes.NewReader(m))
	if err != nil {
		return nil, err
	}
	if set, err = method.LikeTraining(set, r.Width(), r.Columns()); err != nil {
		return nil, err
	}
	decisions, err := r.Decisions(dataset.DenseOf(set.X).Matrix())
	if err != nil {
		return nil, err
	}
	a := &method.Prediction{Reading: r.Reading()}
	return a, a.Take(decisions)
}
