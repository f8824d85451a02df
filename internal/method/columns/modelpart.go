package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// ModelPart holds one party's part of a model whose columns belong to several parties. Jobs with
// open predictions make such models. The part is secret, and useless without the other parties'
// parts. All methods share this format; each method leaves the fields of other methods empty.
type ModelPart struct {
	Job     *job.Job
	Basis   Basis
	Width   int           // the number of the party's columns
	Columns []string      // the names of the party's columns, or nil
	Scaling scale.Scaling // the scaling of the party's columns; empty if the job has none
	Output  model.Output  // the form in which the querying party receives the decisions

	// Fields for random features: the seeds of the party's directions and, at the party with the
	// labels, the model's coefficients.
	Directions   Directions
	Coefficients linalg.Matrix[float64] // one row for each output and two columns for each direction
	Mean         float64                // the mean that training subtracted from numeric labels

	// Rows holds the party's scaled columns of the model's rows. Only methods with inner products use
	// this matrix.
	Rows linalg.Matrix[float64]
}

// Directions holds the seeds from which a party draws the random directions of its columns.
type Directions struct {
	Gamma  float64  // the gamma of the kernel, as a number without a unit
	Key    [32]byte // the seed of the entries of the directions
	Common [32]byte // the seed of the directions' scales; all parties share it
	Before int      // if all parties share Key, the number of columns of earlier parties; otherwise 0
}

// Basis holds the facts about a model that every member with a part of the model knows. Query
// sessions are bound to these facts.
type Basis struct {
	Parent  protocol.SessionID // the id of the training session; it identifies the model
	Rows    int                // the number of rows in the model; 0 for random features
	Outputs int                // the number of outputs for a new row; 0 if only the party with the labels knows this number
}

const basisMagic = "mercer/v1/basis"

// Encode encodes the part of the model that the coordinator keeps. The method appends its own
// fields.
func (b Basis) Encode() []byte {
	var w wire.Writer
	w.String(basisMagic)
	b.write(&w)
	return w.Bytes()
}

// DecodeBasis decodes the output of Encode and returns the remaining bytes.
func DecodeBasis(body []byte) (Basis, []byte, error) {
	r := wire.NewReader(body)
	if magic := r.String(32); r.Err() == nil && magic != basisMagic {
		r.Fail(fmt.Errorf("the data begins with %q and is not the basis of a model", magic))
	}
	b, rest := readBasis(r), r.Rest()
	return b, rest, r.Close("columns: basis")
}

func (b Basis) write(w *wire.Writer) {
	w.Fixed(b.Parent[:])
	w.Uint32(uint32(b.Rows))
	w.Uint32(uint32(b.Outputs))
}

func readBasis(r *wire.Reader) Basis {
	var b Basis
	r.Fixed(b.Parent[:])
	b.Rows, b.Outputs = int(r.Uint32()), int(r.Uint32())
	if r.Err() == nil && (b.Rows > gram.MaxRows || b.Outputs > MaxOutputs) {
		r.Fail(fmt.Errorf("the basis has %d rows and %d outputs; one of these numbers is above its limit", b.Rows, b.Outputs))
	}
	return b
}

// Limits for the decoded sizes of a model part.
const (
	MaxOutputs  = 1 << 24
	maxFeatures = 1 << 21
)

// modelPartMagic names the version of the format. A model part contains the job file in the form
// that the training program wrote. Later programs can write another form, but still read this form.
const modelPartMagic = "mercer/v1/portion"

// ModelPart returns the model part that the party keeps after the job. The method fills in its own
// fields. parent is the id of the session that made the model, and zero before this session has
// ended.
func (p *Party) ModelPart(parent protocol.SessionID, c method.Closing) (*ModelPart, error) {
	if p.Set == nil || parent == (protocol.SessionID{}) {
		return nil, errors.New("columns: the job has made no model, so the party has no part to keep")
	}
	return &ModelPart{
		Job: p.Job, Basis: Basis{Parent: parent}, Width: p.Width(), Columns: p.Set.Columns, Scaling: p.Scaling,
		Output: learner.OutputOf(p.Job, c.Classes),
	}, nil
}

// RetainedState encodes the model part and returns it as a retained state of the job's method.
func (o *ModelPart) RetainedState() method.RetainedState { return RetainedState(o.Job, o.Encode()) }

// RetainedState returns the given body as a retained state of the job's method.
func RetainedState(j *job.Job, body []byte) method.RetainedState {
	return method.RetainedState{Method: j.Protocol.Name(), Version: 1, Body: body}
}

// Encode returns the canonical encoding of the model part.
func (o *ModelPart) Encode() []byte {
	var w wire.Writer
	w.String(modelPartMagic)
	w.Bytes32(o.Job.Encode())
	o.Basis.write(&w)
	w.Uint32(uint32(o.Width))
	w.Strings(o.Columns)
	w.Bool(len(o.Scaling.Offset) > 0)
	w.Float64s(o.Scaling.Offset)
	w.Float64s(o.Scaling.Factor)
	w.Strings(o.Output.Classes)
	w.Float64(o.Directions.Gamma)
	w.Fixed(o.Directions.Key[:])
	w.Fixed(o.Directions.Common[:])
	w.Uint32(uint32(o.Directions.Before))
	w.Float64(o.Mean)
	writeMatrix(&w, o.Coefficients)
	writeMatrix(&w, o.Rows)
	return w.Bytes()
}

// RetainedRows returns the number of rows in the model of a retained state. ok is false if the
// retained state is not a model part.
func RetainedRows(retained []byte) (rows int, ok bool) {
	o, _, err := readModelPart(retained)
	if err != nil {
		return 0, false
	}
	o.Erase()
	return o.Basis.Rows, true
}

// readModelPart decodes a model part and returns its job file separately.
func readModelPart(b []byte) (o *ModelPart, file []byte, err error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != modelPartMagic {
		r.Fail(fmt.Errorf("the data begins with %q and is not a model part", magic))
	}
	file = r.Bytes32(1 << 20)
	o = &ModelPart{Basis: readBasis(r), Width: r.Count(gram.MaxColumns, 0), Columns: r.Strings(gram.MaxColumns, method.MaxLabelBytes)}
	if r.Bool() {
		r.Cut(func(b []byte) ([]byte, error) { return o.Scaling.Cut(b, o.Width) })
	}
	o.Output.Classes = r.Strings(method.MaxClasses, method.MaxLabelBytes)
	o.Directions.Gamma = r.Float64()
	r.Fixed(o.Directions.Key[:])
	r.Fixed(o.Directions.Common[:])
	o.Directions.Before = int(r.Uint32())
	o.Mean = r.Float64()
	o.Coefficients = readMatrix(r, method.MaxClasses, maxFeatures)
	o.Rows = readMatrix(r, gram.MaxRows, gram.MaxColumns)
	return o, file, r.Close("columns: model part")
}

// DecodeModelPart decodes a model part, parses its job file and checks it.
func DecodeModelPart(jobs *job.Reader, b []byte) (*ModelPart, error) {
	o, file, err := readModelPart(b)
	if err != nil {
		return nil, err
	}
	if o.Job, err = jobs.Parse("model part", file); err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	o.Output = learner.OutputOf(o.Job, o.Output.Classes)
	return o, o.check()
}

// check refuses a model part whose fields contradict each other.
func (o *ModelPart) check() error {
	if n := len(o.Columns); n > 0 && n != o.Width {
		return fmt.Errorf("columns: the model part has %d column names for %d columns", n, o.Width)
	}
	if c := o.Coefficients; c.Rows > 0 {
		if c.Cols != 2*o.Job.Protocol.Limit("directions") {
			return fmt.Errorf("columns: the model part has %d coefficients for each output and %d directions; each direction needs two coefficients", c.Cols, o.Job.Protocol.Limit("directions"))
		}
		if err := o.Output.Check(c.Rows); err != nil {
			return fmt.Errorf("columns: model part: %w", err)
		}
	}
	if o.Rows.Rows != o.Basis.Rows || o.Rows.Rows > 0 && o.Rows.Cols != o.Width {
		return fmt.Errorf("columns: the model part has a matrix of %d x %d values, but %d rows and %d columns", o.Rows.Rows, o.Rows.Cols, o.Basis.Rows, o.Width)
	}
	return nil
}

// Erase overwrites the secrets of the model part; it implements [method.Erasable].
func (o *ModelPart) Erase() {
	clear(o.Directions.Key[:])
	clear(o.Coefficients.Data)
	clear(o.Rows.Data)
}

// clone returns a copy that stays valid after o has been erased.
func (o *ModelPart) clone() *ModelPart {
	c := *o
	c.Coefficients.Data, c.Rows.Data = slices.Clone(o.Coefficients.Data), slices.Clone(o.Rows.Data)
	return &c
}

func writeMatrix(w *wire.Writer, m linalg.Matrix[float64]) {
	w.Uint32(uint32(m.Rows))
	w.Uint32(uint32(m.Cols))
	for i := range m.Rows {
		w.Float64s(m.Row(i))
	}
}

// readMatrix decodes a matrix of finite numbers with at most the given numbers of rows and columns.
func readMatrix(r *wire.Reader, rows, cols int) linalg.Matrix[float64] {
	n, width := int(r.Uint32()), int(r.Uint32())
	if r.Err() == nil && (n > rows || width > cols || uint64(n)*uint64(width) > uint64(r.Len())/8) {
		r.Fail(fmt.Errorf("the matrix of %d x %d numbers is too large", n, width))
	}
	if r.Err() != nil {
		return linalg.Matrix[float64]{}
	}
	m := linalg.New[float64](n, width)
	r.Float64s(m.Data)
	if slices.ContainsFunc(m.Data, func(v float64) bool { return math.IsNaN(v - v) }) {
		r.Fail(errors.New("the matrix has a number that is not finite"))
	}
	return m
}
