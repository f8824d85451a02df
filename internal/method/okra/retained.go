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

// retainedOf returns the given body as a retained state of the job's method.
func retainedOf(j *job.Job, body []byte) method.RetainedState {
	return method.RetainedState{Method: j.Protocol.Name(), Version: 1, Body: body}
}

// writtenForOkra reports whether an earlier version of the program wrote the body of a retained
// state for okra.
func writtenForOkra(body []byte) bool {
	_, noParty := DecodeKept(body)
	_, noServer := decodeAnswers(body)
	return noParty == nil || noServer == nil
}

// openParty decodes a party's retained state, so that the party can query the model.
func openParty(k method.RetainedState, _ *job.Reader) (method.Erasable, error) {
	if k.Version == continuationVersion || k.Version == versionWithoutDigests {
		return silent{}, nil
	}
	e, err := DecodeKept(k.Body)
	return method.Opened(querySession(&inquirer{encoder: e})), err
}

// openServer decodes the coordinator's retained state and model, so that the coordinator can answer
// queries.
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
	return method.Opened(querySession(&inquirer{answers: a, model: m})), err
}

// Kept holds the encoder with which a party encodes the rows of its queries to a model. It is
// secret: with it, the rows in the coordinator's model can be decoded, whichever party sent them.
type Kept struct {
	Params  okra.Params
	Epoch   okra.Seed
	Parent  protocol.SessionID // the id of the training session
	Scaling scale.Scaling      // the scaling of the columns; empty if the job has none
	Columns []string           // the names of the columns, or nil
	Width   int                // the number of columns
	Output  model.Output
}

// encode returns the canonical encoding of the encoder.
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

// DecodeKept decodes an encoder that encode wrote.
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

// answerFacts holds the facts that the coordinator keeps with a model to answer queries.
type answerFacts struct {
	Parent protocol.SessionID
	Tag    okra.Tag // an identifier of the seed under which rows are encoded
}

// encode returns the canonical encoding of the facts.
func (a answerFacts) encode() []byte {
	var w wire.Writer
	w.Fixed(a.Parent[:])
	w.Fixed(a.Tag[:])
	return w.Bytes()
}

// decodeAnswers decodes facts that encode wrote.
func decodeAnswers(b []byte) (answerFacts, error) {
	r := wire.NewReader(b)
	var a answerFacts
	r.Fixed(a.Parent[:])
	r.Fixed(a.Tag[:])
	return a, r.Close("okra: answers")
}

// Versions of the state that a party keeps so that a later job can continue the job.
const (
	versionWithoutDigests = 2 // the version without column names and digests of rows
	continuationVersion   = 3
)

// continuation holds the state that a party keeps so that a later job can continue the job. It is secret.
type continuation struct {
	params   okra.Params
	scale    job.Scaling
	standing okra.EpochState
	columns  []string    // the names of the encoded rows' columns; nil if the columns have no names
	rows     []rowDigest // the digests of this party's rows that the coordinator keeps
}

// encode returns the encoding of a retained state that holds the continuation.
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
	return method.RetainedState{Method: j.Protocol.Name(), Version: continuationVersion, Body: w.Bytes()}.Encode()
}

// decodeContinuation decodes a retained state that encode wrote.
func decodeContinuation(b []byte) (continuation, error) {
	k, err := method.DecodeRetained(b)
	if err != nil {
		return continuation{}, err
	}
	if k.Version != continuationVersion && k.Version != versionWithoutDigests {
		return continuation{}, fault.BadInputf("okra: the earlier job was not continuable, and kept only an encoder for queries; submit a new job")
	}
	r := wire.NewReader(k.Body)
	params := r.Bytes32(1 << 10)
	scale := r.String(method.MaxLabelBytes)
	standing := r.Bytes32(1 << 20)
	out := continuation{scale: job.Scaling(scale)}
	if k.Version == continuationVersion {
		out.readDigests(r)
	}
	if err := r.Close("okra: state of an earlier job"); err != nil {
		return continuation{}, err
	}
	if out.params, err = okra.DecodeParams(params); err == nil {
		out.standing, err = okra.DecodeStanding(standing)
	}
	return out, err
}

// readDigests decodes the column names and the digests of rows.
func (r *continuation) readDigests(from *wire.Reader) {
	r.columns = from.Strings(okra.MaxFeatures, method.MaxLabelBytes)
	r.rows = make([]rowDigest, from.Count(maxDigests, len(rowDigest{})))
	for i := range r.rows {
		from.Fixed(r.rows[i][:])
	}
}

// maxDigests is the largest number of rows whose digests a party keeps.
const maxDigests = 1 << 26

// silent is a retained state that answers no queries.
type silent struct{}

// Erase does nothing, because no secret was decoded; it implements [method.Erasable].
func (silent) Erase() {}

// earlierJob returns the id of the job that the given job continues.
func earlierJob(j *job.Job) (job.ID, bool) {
	c := changesContinuing(j)
	if c == nil {
		return job.ID{}, false
	}
	return c.Earlier, true
}

// inquirer answers queries in one session between the querying party and the coordinator.
type inquirer struct {
	encoder *Kept       // the encoder; nil at the coordinator
	answers answerFacts // the facts for answers; empty at the querying party
	model   *model.Private
}

// noValues is the empty type of a query's public values.
type noValues = struct{}

// querySession describes how a query runs in one session between the querying party and the
// coordinator.
func querySession(o *inquirer) method.AnswersOf[inquirer, asker, answerer, noValues] {
	return method.AnswersOf[inquirer, asker, answerer, noValues]{
		Kept: o, Erase: (*inquirer).erase, Among: (*inquirer).among, Fits: (*inquirer).fits, Steps: (*inquirer).steps,
		NewParty: (*inquirer).newAsker, NewServer: (*inquirer).server, Public: func(*asker) noValues { return noValues{} }, PublicServer: func(*answerer) noValues { return noValues{} }, Answer: (*asker).result,
	}
}

func (o *inquirer) erase() {
	if o.encoder != nil {
		clear(o.encoder.Epoch[:])
	}
}

func (o *inquirer) among(q method.Question) []string { return []string{q.Asker} }

func (o *inquirer) fits(_ method.Question, set *dataset.Set) error {
	_, err := o.encoder.scaledRows(set)
	return err
}

func (o *inquirer) steps(q method.Question) ([]method.StepOf[asker, answerer, struct{}], error) {
	params, parent, err := o.trainedSession(q)
	return []method.StepOf[asker, answerer, struct{}]{{Name: "predict", Session: &method.Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: q.AllMembers(),
		Purpose: "predict", Parent: parent, Salt: q.Tag[:],
	}, Party: (*asker).ask, Server: (*answerer).decide, Releases: method.AlsoReleases[asker](method.ReleaseQuestions)}}, err
}

// trainedSession returns the protocol's parameters and the id of the session that uploaded the
// rows.
func (o *inquirer) trainedSession(q method.Question) (okra.Params, protocol.SessionID, error) {
	if o.encoder != nil {
		return o.encoder.Params, o.encoder.Parent, nil
	}
	params, err := paramsOf(q.Job)
	return params, o.answers.Parent, err
}

// newAsker returns the state of the querying party. It copies the seed, because the query can be
// withdrawn, and the retained state erased, while the party's machine is built.
func (o *inquirer) newAsker(_ method.Question, _ string, t method.Table) (*asker, error) {
	rows, err := o.encoder.scaledRows(t.Set)
	return &asker{*o.encoder, rows, &method.Prediction{Output: o.encoder.Output}}, err
}

// scaledRows returns the rows of a table, scaled like the training rows. It refuses a table with
// other columns.
func (e *Kept) scaledRows(set *dataset.Set) (linalg.Rows, error) {
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

// asker is the state of the querying party, which sends its rows only in encoded form.
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
	params, _, err := o.trainedSession(q)
	return &answerer{o, params}, err
}

// answerer is the state of the coordinator during a query. The coordinator computes the model's
// decisions for the query.
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
