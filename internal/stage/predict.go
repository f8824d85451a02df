package stage

import (
	"errors"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Encoder is what a party keeps of a job that leaves predictions open. It is
// secret: with it and the coordinator's model, rows of every party can be
// decoded.
type Encoder struct {
	Params  okra.Params
	Epoch   okra.Seed
	Parent  protocol.SessionID // the training session
	Scaling scale.Scaling      // empty: none
	Columns []string           // names, or nil
	Width   int                // number of features
	Reading model.Reading
}

// Encoder returns what later questions need.
func (p *Party) Encoder(classes []string) (*Encoder, error) {
	if p == nil || p.total == 0 {
		return nil, errors.New("stage: the job has no upload to ask questions about")
	}
	params, err := okraParams(p.Job)
	if err != nil {
		return nil, err
	}
	return &Encoder{
		params, p.epoch, p.parent, p.scaling, p.split.Set.Columns, p.width(),
		model.Reading{Kind: model.Kind(p.Job.Learner.Name), Classes: classes}}, nil
}

// Encode returns the canonical encoding.
func (e *Encoder) Encode() []byte {
	var w wire.Writer
	w.Bytes32(e.Params.Encode())
	w.Fixed(e.Epoch[:])
	w.Fixed(e.Parent[:])
	w.Uint32(uint32(e.Width))
	w.Bool(len(e.Scaling.Offset) > 0)
	w.Float64s(e.Scaling.Offset)
	w.Float64s(e.Scaling.Factor)
	w.Strings(e.Columns)
	w.String(string(e.Reading.Kind))
	w.Strings(e.Reading.Classes)
	return w.Bytes()
}

// DecodeEncoder decodes what Encode wrote.
func DecodeEncoder(b []byte) (*Encoder, error) {
	r := wire.NewReader(b)
	params := r.Bytes32(1 << 10)
	e := &Encoder{}
	r.Fixed(e.Epoch[:])
	r.Fixed(e.Parent[:])
	e.Width = r.Count(okra.MaxFeatures, 0)
	if r.Bool() {
		e.Scaling = readScaling(r, e.Width)
	}
	e.Columns = r.Strings(okra.MaxFeatures, method.MaxLabelBytes)
	e.Reading = model.Reading{Kind: model.Kind(r.String(method.MaxLabelBytes)), Classes: r.Strings(method.MaxClasses, method.MaxLabelBytes)}
	if err := r.Close("stage: encoder"); err != nil {
		return nil, err
	}
	var err error
	e.Params, err = okra.DecodeParams(params)
	return e, err
}

// Ask describes a session that predicts the rows of a table, which stay with
// their owner. The prediction is filled in when the session has ended well.
func (e *Encoder) Ask(c Cast, tag [16]byte, set *dataset.Set) (*Session, *Prediction, error) {
	set, err := method.LikeTraining(set, e.Width, e.Columns)
	if err != nil {
		return nil, nil, err
	}
	rows := dataset.RowsOf(set.X)
	if len(e.Scaling.Offset) > 0 {
		rows = e.Scaling.Rows(rows)
	}
	answer := &Prediction{Reading: e.Reading}
	s := predictSession(e.Params, e.Parent, c, tag)
	s.party = func(_ *Party, setup Setup) (*Run, error) {
		m, err := okra.NewPredictParty(setup.Setup, e.Params, e.Epoch, rows)
		if err != nil {
			return nil, err
		}
		return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return answer.Take(m.Decisions()) }}, nil
	}
	return s, answer, nil
}

func predictSession(params okra.Params, parent protocol.SessionID, c Cast, tag [16]byte) *Session {
	return &Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: c.withServer(),
		Purpose: "predict", Parent: parent, Salt: tag[:],
	}
}

// Answers is what the coordinator keeps beside a model, to answer questions.
type Answers struct {
	Parent protocol.SessionID
	Tag    okra.Tag // by which encodings under the same seed are known
}

// KeptAnswers returns what the coordinator keeps to answer questions; nil where it
// cannot answer any.
func (s *Server) KeptAnswers() ([]byte, error) {
	switch {
	case vertical(s.Job):
		return s.keptBasis()
	case s.Private():
		return s.Answers().Encode(), nil
	}
	return nil, nil
}

// Answers returns what questions about the trained model must fit.
func (s *Server) Answers() Answers { return Answers{s.parent, s.upload.Tag()} }

// Encode returns the canonical encoding.
func (a Answers) Encode() []byte {
	var w wire.Writer
	w.Fixed(a.Parent[:])
	w.Fixed(a.Tag[:])
	return w.Bytes()
}

// DecodeAnswers decodes what Encode wrote.
func DecodeAnswers(b []byte) (Answers, error) {
	r := wire.NewReader(b)
	var a Answers
	r.Fixed(a.Parent[:])
	r.Fixed(a.Tag[:])
	return a, r.Close("stage: answers")
}

// Answer describes the coordinator's side of a prediction.
func (a Answers) Answer(j *job.Job, m *model.Private, c Cast, tag [16]byte) (*Session, error) {
	params, err := okraParams(j)
	if err != nil {
		return nil, err
	}
	s := predictSession(params, a.Parent, c, tag)
	s.server = func(_ *Server, setup Setup) (*Run, error) {
		machine, err := okra.NewPredictServer(setup.Setup, params, a.Tag, m.Width(), m.Decisions, okra.Limits{})
		if err != nil {
			return nil, err
		}
		return &Run{Machine: machine, Finish: func() error { return nil }}, nil
	}
	return s, nil
}
