package method

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Outcome holds a job's decisions on its held-out rows. In a job by rows, the rows are ordered by party,
// and within a party as in its table. In a job by columns, they have the job's order of rows. The
// launching process compares the decisions with decisions that it computes on pooled data.
type Outcome struct {
	Classes   []string               // nil: the learner has no classes
	Predicted []string               // nil: the learner predicts nothing
	Decisions linalg.Matrix[float64] // held-out rows x outputs, see model.Output
	// Rows lists the ids of all rows of a job by columns. It has the job's order of rows, with the
	// held-out rows last. Only parties, and a process that owns their data, know the ids. Encode
	// does not write them.
	Rows []string
	// The list Held has the ids of the rows of Decisions, at a party that knows the ids and has the
	// labels. Nil means the last ids of Rows. Encode does not write the list.
	Held []string
	// Kind defines the meaning of Decisions. It is "" if the maker of the result has no labels.
	Kind model.Kind
	// Truth holds the labels of the held-out rows. It is nil if the maker of the result has none.
	Truth []string
}

// Judged holds a party's own results on the held-out rows of a job. Its JSON form is the stored
// form.
type Judged struct {
	Result  *Result  `json:"result"` // without costs and comparisons
	Outcome *Outcome `json:"outcome"`
}

// NewOutcome returns the outcome of a fitted learner.
func NewOutcome(f *learner.Fitted) *Outcome {
	o := &Outcome{Classes: f.Head.Classes, Predicted: f.Predicted, Decisions: f.Decisions}
	if len(f.Truth) > 0 {
		o.Kind, o.Truth = f.Head.Kind, f.Truth
	}
	return o
}

// Upper limits that decoding checks.
const (
	MaxClasses    = 1 << 16
	MaxLabelBytes = 1 << 10
	maxHeldOut    = 1 << 28
)

// Encode returns the canonical encoding of the outcome, without Rows and Held.
func (o *Outcome) Encode() []byte {
	var w wire.Writer
	w.Strings(o.Classes)
	w.Strings(o.Predicted)
	w.Uint32(uint32(o.Decisions.Rows))
	w.Uint32(uint32(o.Decisions.Cols))
	for i := range o.Decisions.Rows {
		w.Float64s(o.Decisions.Row(i))
	}
	if o.Kind != "" {
		w.String(string(o.Kind))
		w.Strings(o.Truth)
	}
	return w.Bytes()
}

// DecodeOutcome decodes the output of Encode.
func DecodeOutcome(b []byte) (*Outcome, error) {
	r := wire.NewReader(b)
	o := &Outcome{Classes: r.Strings(MaxClasses, MaxLabelBytes), Predicted: r.Strings(maxHeldOut, MaxLabelBytes)}
	rows, cols := int(r.Uint32()), int(r.Uint32())
	if r.Err() == nil && uint64(rows)*uint64(cols) > uint64(r.Len())/8 {
		r.Fail(fmt.Errorf("the outcome declares %d x %d decisions, but only %d bytes follow", rows, cols, r.Len()))
	}
	if r.Err() == nil {
		o.Decisions = linalg.New[float64](rows, cols)
		r.Float64s(o.Decisions.Data)
	}
	if r.Err() == nil && r.Len() > 0 { // only an outcome with labels has more bytes
		o.Kind, o.Truth = model.Kind(r.String(MaxLabelBytes)), r.Strings(rows, MaxLabelBytes)
		switch {
		case r.Err() != nil:
		case o.Kind == "":
			r.Fail(errors.New("the outcome has labels but no kind"))
		case len(o.Truth) != rows:
			r.Fail(fmt.Errorf("the outcome has %d labels for %d rows; it needs one label for each row", len(o.Truth), rows))
		}
	}
	return o, r.Close("method: outcome")
}

// NewResult returns the result of a job whose learner was fitted on a Gram matrix.
func NewResult(j *job.Job, w *learner.Work) *Result {
	r := &Result{
		Job: j.Name, Metrics: w.Metrics, Grid: append([]learner.Cell{}, w.Choice.Grid...), Support: len(w.Fitted.Support), Eigenvalues: w.Fitted.Eigenvalues,
	}
	r.Outside = w.Choice.Outside
	r.Figures, r.Parameters, r.Warnings = w.Assessment, w.Choice.Parameters(), w.Fitted.Warnings()
	train, test := w.Problem.Rows()
	r.Training, r.HeldOut = learner.Examples(j.Learner, len(train)), len(test)
	return r
}
