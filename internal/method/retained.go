package method

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// RetainedState holds the secret that a member keeps after a job.
type RetainedState struct {
	Method   string
	Version  uint16 // of the body, by the method's own count
	Body     []byte
	Prepared []byte // the preparation of a table with a schema, nil for none
}

// retainedMagic begins every retained state, except those of earlier programs, which did not name
// the method. With the second magic a preparation precedes the body.
const (
	retainedMagic = "mercer/v1/keepsake"
	preparedMagic = "mercer/v1/prepared-keepsake"
)

// FitMagic begins the state that a job of kind Fit leaves at a party for later jobs.
const FitMagic = "mercer/v1/fit"

// IsFit reports whether a job of kind Fit has left the state.
func IsFit(kept []byte) bool {
	return wire.NewReader(kept).String(len(FitMagic)) == FitMagic
}

// Encode returns the canonical encoding.
func (k RetainedState) Encode() []byte {
	var w wire.Writer
	if k.Prepared != nil {
		w.String(preparedMagic)
		w.Bytes32(k.Prepared)
	} else {
		w.String(retainedMagic)
	}
	w.String(k.Method)
	w.Uint16(k.Version)
	return append(w.Bytes(), k.Body...)
}

// DecodeRetained decodes the output of Encode. A retained state of an earlier program has no name:
// it is the body alone.
func DecodeRetained(b []byte) (RetainedState, error) {
	r := wire.NewReader(b)
	magic := r.String(len(preparedMagic)) // "" where the body begins otherwise
	if magic != retainedMagic && magic != preparedMagic {
		return RetainedState{Body: b}, nil
	}
	var k RetainedState
	if magic == preparedMagic {
		k.Prepared = r.Bytes32(len(b))
	}
	k.Method, k.Version, k.Body = r.String(protocol.MaxNameBytes), r.Uint16(), r.Rest()
	return k, r.Close("method: retained state")
}

// Opener returns the protocol that opens a retained state.
func Opener(list []job.Protocol, k RetainedState) (*Protocol, error) {
	for _, one := range list {
		m, federated := one.(*Protocol)
		if federated && m.answers != nil && (k.Method == m.Name() || k.Method == "" && m.answers.left(k.Body)) {
			return m, nil
		}
	}
	if k.Method == "" {
		return nil, errors.New("method: no method of this program wrote the state that the job left here; predict with the program that trained the model, or submit the job again")
	}
	return nil, fmt.Errorf("method: the state that the job left here is of protocol %s, which this program cannot predict with; predict with the program that trained the model, or submit the job again", k.Method)
}

// Erasable is an opened retained state.
type Erasable interface {
	// Erase overwrites the secrets.
	Erase()
}

// Local answers queries without other members.
type Local interface {
	Erasable
	Predict(*dataset.Set) (*Prediction, error)
}

// Inquirer answers queries in sessions, which are planned like the sessions of a job.
type Inquirer interface {
	Erasable
	// Among returns the parties that take part in a query, including the querying party. A query
	// that needs no other party takes a single session.
	Among(q Question) []string
	// Fits returns the reason why the querying party cannot query these rows; the job of q is not
	// known yet.
	Fits(q Question, set *dataset.Set) error
	Plan(q Question) ([]Step, error)
	// Party prepares a party: the querying party with the queried rows, another party with its own
	// table of these rows.
	Party(q Question, self string, t Table) (*PartySide, error)
	Server(q Question) (*CoordinatorSide, error)
}

// Question is a query about new rows. Its parties are the members that take part.
type Question struct {
	Instance
	Asker string
	Tag   [16]byte // drawn for every question
}

// Closing describes the model of a finished job to a party, which keeps its part for queries about
// new rows.
type Closing struct {
	Classes []string // the model's; nil where it has none, or where the job keeps predictions closed
}

// Prediction is the answer to a query about new rows.
type Prediction struct {
	model.Output
	// Rows lists the table's rows that have an answer, ascending; some party with columns does not
	// have the other rows. Nil means all rows.
	Rows      []int
	Predicted []string               // one for each row; nil where the learner predicts nothing
	Decisions linalg.Matrix[float64] // rows x outputs, see model.Output
}

// Take computes the predictions from the decisions.
func (a *Prediction) Take(decisions linalg.Matrix[float64]) error {
	if err := a.Check(decisions.Cols); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	a.Decisions, a.Predicted = decisions, a.Predict(decisions)
	return nil
}
