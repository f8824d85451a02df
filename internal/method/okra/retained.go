package okra

import (
	"bytes"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// retained returns a retained state of a job's method with the given body.
func retained(j *job.Job, body []byte) method.RetainedState {
	return method.RetainedState{Method: j.Protocol.Name(), Version: 1, Body: body}
}

// left reports whether an earlier program wrote a body.
func left(body []byte) bool {
	_, noParty := DecodeKept(body)
	_, noServer := decodeAnswers(body)
	return noParty == nil || noServer == nil
}

// openParty opens a party's retained state.
func openParty(k method.RetainedState, _ *job.Reader) (method.Erasable, error) {
	if k.Version == restVersion || k.Version == unmarkedVersion {
		return silent{}, nil
	}
	e, err := DecodeKept(k.Body)
	return method.Opened(answering(&inquirer{encoder: e})), err
}

// openServer opens the coordinator's retained state.
func openServer(_ method.Instance, k method.RetainedState, file func() ([]byte, error)) (method.Erasable, error) {
	a, err := decodeAnswers(k.Body)
	if err != nil {
		return nil, err
	}
	body, err := file()
	if err != nil {
		return nil, err
	}
	m, err := model.OpenPrivate(bytes.NewReader(body))
	return method.Opened(answering(&inquirer{answers: a, model: m})), err
}

// Kept encodes new rows like the rows of a job with open predictions. It is secret: with it and the
// coordinator's model, the rows of every party can be decoded.
type Kept struct {
	Params  okra.Params
	Epoch   okra.Seed
	Parent  protocol.SessionID // the training session
	Scaling scale.Scaling      // empty: none
	Columns []string           // names, or nil
	Width   int                // number of features
	Output  model.Output
}

// encode returns the canonical encoding.
func (e *Kept) encode() []byte {
	var w wire.Writer
	w.Bytes32(e.Params.Encode())
	w.Fixed(e.Epoch[:])
	w.Fixed(e.Parent[:])
	w.Uint32(uint32(e.Width))
	w.Bool(len(e.Scaling.Offset) > 0)
	w.Float64s(e.Scaling.Offset)
	w.Float64s(e.Scaling.Factor)
	w.Strings(e.Columns)
	w.String(string(e.Output.Kind))
	w.Strings(e.Output.Classes)
	return w.Bytes()
}

// DecodeKept decodes the output of encode.
func DecodeKept(b []byte) (*Kept, error) {
	r := wire.NewReader(b)
	params := r.Bytes32(1 << 10)
	e := &Kept{}
	r.Fixed(e.Epoch[:])
	r.Fixed(e.Parent[:])
	e.Width = r.Count(okra.MaxFeatures, 0)
	if r.Bool() {
		r.Cut(func(b []byte) ([]byte, error) { return e.Scaling.Cut(b, e.Width) })
	}
	e.Columns = r.Strings(okra.MaxFeatures, method.MaxLabelBytes)
	e.Output = model.Output{Kind: model.Kind(r.String(method.MaxLabelBytes)), Classes: r.Strings(method.MaxClasses, method.MaxLabelBytes)}
	if err := r.Close("okra: encoder"); err != nil {
		return nil, err
	}
	var err error
	e.Params, err = okra.DecodeParams(params)
	return e, err
}

// answers holds the data that the coordinator keeps with a model to answer queries.
type answers struct {
	Parent protocol.SessionID
	Tag    okra.Tag // by which encodings under the same seed are known
}

// encode returns the canonical encoding.
func (a answers) encode() []byte {
	var w wire.Writer
	w.Fixed(a.Parent[:])
	w.Fixed(a.Tag[:])
	return w.Bytes()
}

// decodeAnswers decodes the output of encode.
func decodeAnswers(b []byte) (answers, error) {
	r := wire.NewReader(b)
	var a answers
	r.Fixed(a.Parent[:])
	r.Fixed(a.Tag[:])
	return a, r.Close("okra: answers")
}

// Versions of a party's continuation state.
const (
	unmarkedVersion = 2 // without columns and marks
	restVersion     = 3
)

// continuation holds the state that a party keeps for a job that continues this one. It is secret.
type continuation struct {
	params   okra.Params
	scale    job.Scaling
	standing okra.EpochState
	columns  []string // of the rows as they were encoded, nil where they have no names
	rows     []mark   // that the coordinator keeps of this party
}

// encode returns a whole retained state.
func (r continuation) encode(j *job.Job) []byte {
	var w wire.Writer
	w.Bytes32(r.params.Encode())
	w.String(string(r.scale))
	w.Bytes32(r.standing.Encode())
	w.Strings(r.columns)
	w.Uint32(uint32(len(r.rows)))
	for i := range r.rows {
		w.Fixed(r.rows[i][:])
	}
	return method.RetainedState{Method: j.Protocol.Name(), Version: restVersion, Body: w.Bytes()}.Encode()
}

// decodeContinuation decodes the output of encode.
func decodeContinuation(b []byte) (continuation, error) {
	k, err := method.DecodeRetained(b)
	if err != nil {
		return continuation{}, err
	}
	if k.Version != restVersion && k.Version != unmarkedVersion {
		return continuation{}, fault.BadInputf("okra: the earlier job has kept an encoder for questions, and is not continuable; submit a new job")
	}
	r := wire.NewReader(k.Body)
	params := r.Bytes32(1 << 10)
	scale := r.String(method.MaxLabelBytes)
	standing := r.Bytes32(1 << 20)
	out := continuation{scale: job.Scaling(scale)}
	if k.Version == restVersion {
		out.readMarks(r)
	}
	if err := r.Close("okra: rest"); err != nil {
		return continuation{}, err
	}
	if out.params, err = okra.DecodeParams(params); err == nil {
		out.standing, err = okra.DecodeStanding(standing)
	}
	return out, err
}

// readMarks reads the columns and the marks.
func (r *continuation) readMarks(from *wire.Reader) {
	r.columns = from.Strings(okra.MaxFeatures, method.MaxLabelBytes)
	r.rows = make([]mark, from.Count(maxMarks, len(mark{})))
	for i := range r.rows {
		from.Fixed(r.rows[i][:])
	}
}

// maxMarks limits the rows of a party.
const maxMarks = 1 << 26

// silent is a retained state that answers no queries.
type silent struct{}

// Erase implements [method.Erasable]: nothing was read.
func (silent) Erase() {}

// earlier returns the job that a job continues.
func earlier(j *job.Job) (job.ID, bool) {
	c := continuing(j)
	if c == nil {
		return job.ID{}, false
	}
	return c.Earlier, true
}

// inquirer answers queries in one session of the querying party with the coordinator.
type inquirer struct {
	encoder *Kept   // at the asker
	answers answers // at the coordinator
	model   *model.Private
}

// none is the type of a query's public values.
type none = struct{}

// answering describes the one session of the querying party with the coordinator.
func answering(o *inquirer) method.AnswersOf[inquirer, asker, answerer, none] {
	return method.AnswersOf[inquirer, asker, answerer, none]{
		Kept: o, Erase: (*inquirer).erase, Among: (*inquirer).among, Fits: (*inquirer).fits, Steps: (*inquirer).steps,
		NewParty: (*inquirer).party, NewServer: (*inquirer).server, Public: func(*asker) none { return none{} }, PublicServer: func(*answerer) none { return none{} }, Answer: (*asker).result,
	}
}

func (o *inquirer) erase() {
	if o.encoder != nil {
		clear(o.encoder.Epoch[:])
	}
}

func (o *inquirer) among(q method.Question) []string { return []string{q.Asker} }

func (o *inquirer) fits(_ method.Question, set *dataset.Set) error {
	_, err := o.encoder.rows(set)
	return err
}

func (o *inquirer) steps(q method.Question) ([]method.StepOf[asker, answerer, struct{}], error) {
	params, parent, err := o.trained(q)
	return []method.StepOf[asker, answerer, struct{}]{{Name: "predict", Session: &method.Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: q.AllMembers(),
		Purpose: "predict", Parent: parent, Salt: q.Tag[:],
	}, Party: (*asker).ask, Server: (*answerer).decide, Releases: method.AlsoReleases[asker](method.ReleaseQuestions)}}, err
}

// trained returns the parameters and the session of the upload.
func (o *inquirer) trained(q method.Question) (okra.Params, protocol.SessionID, error) {
	if o.encoder != nil {
		return o.encoder.Params, o.encoder.Parent, nil
	}
	params, err := paramsOf(q.Job)
	return params, o.answers.Parent, err
}

// party returns the querying party. It copies the seed, because the query can be withdrawn, and the
// retained state erased, while its machine is built.
func (o *inquirer) party(_ method.Question, _ string, t method.Table) (*asker, error) {
	rows, err := o.encoder.rows(t.Set)
	return &asker{*o.encoder, rows, &method.Prediction{Output: o.encoder.Output}}, err
}

// rows returns the rows of a table, encoded like the rows of the training.
func (e *Kept) rows(set *dataset.Set) (linalg.Rows, error) {
	set, err := method.LikeTraining(set, e.Width, e.Columns)
	if err != nil {
		return nil, err
	}
	rows := dataset.RowsOf(set.X)
	if len(e.Scaling.Offset) > 0 {
		rows = e.Scaling.Rows(rows)
	}
	return rows, nil
}

// asker is the querying party; it does not send its rows in clear.
type asker struct {
	Kept
	about  linalg.Rows
	answer *method.Prediction
}

func (a *asker) ask(setup method.Setup) (*method.Run, error) {
	m, err := okra.NewPredictParty(setup.Setup, a.Params, a.Epoch, a.about)
	return method.RunOf(m, err, func() error { return a.answer.Take(m.Decisions()) })
}

func (a *asker) result() (*method.Prediction, error) { return a.answer, nil }

func (o *inquirer) server(q method.Question) (*answerer, error) {
	params, _, err := o.trained(q)
	return &answerer{o, params}, err
}

// answerer is the coordinator, which decides with the model.
type answerer struct {
	*inquirer
	params okra.Params
}

func (a *answerer) decide(setup method.Setup) (*method.Run, error) {
	m, err := okra.NewPredictServer(setup.Setup, a.params, a.answers.Tag, a.model.Width(), a.model.Decisions, okra.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, Finish: method.Nothing}, nil
}
