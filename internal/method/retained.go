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

// RetainedState holds the secret that a member retains after a job to answer queries, or for a job that
// continues it.
type RetainedState struct {
	Method   string
	Version  uint16 // version of the body's format; each method counts its own
	Body     []byte
	Prepared []byte // the preparation of a table with a schema; nil for none
}

// Each encoded RetainedState begins with one of these strings, except states of earlier programs, which
// did not name the method. After preparedMagic, a preparation precedes the body.
const (
	retainedMagic = "mercer/v1/keepsake"
	preparedMagic = "mercer/v1/prepared-keepsake"
)

// FitMagic is the prefix of the state that a job of kind Fit leaves at a party for later jobs.
const FitMagic = "mercer/v1/fit"

// IsFit reports whether a job of kind Fit left the retained state.
func IsFit(kept []byte) bool {
	return wire.NewReader(kept).String(len(FitMagic)) == FitMagic
}

// IsFitFor reports whether a job of kind Fit left the retained state, and job j can use it, because both
// have the same table, dictionary and scaling.
func IsFitFor(kept []byte, j *job.Job) bool {
	r := wire.NewReader(kept)
	if r.String(len(FitMagic)) != FitMagic || j.Data.Dictionary == nil {
		return false
	}
	table, dictionary, scale := string(r.Bytes32(len(kept))), r.String(len(kept)), r.String(len(kept))
	return r.Err() == nil && table == j.Data.Source && dictionary == j.Data.Dictionary.Hash() && scale == string(j.Data.Scale)
}

// Encode returns the canonical encoding of the retained state.
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

// DecodeRetained decodes the output of Encode. A retained state of an earlier program has no method
// name and consists of the body alone.
func DecodeRetained(b []byte) (RetainedState, error) {
	r := wire.NewReader(b)
	magic := r.String(len(preparedMagic)) // another value in a state of an earlier program
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

// Opener returns the protocol of the list that opens a retained state.
func Opener(list []job.Protocol, k RetainedState) (*Protocol, error) {
	for _, one := range list {
		m, federated := one.(*Protocol)
		if federated && m.answers != nil && (k.Method == m.Name() || k.Method == "" && m.answers.left(k.Body)) {
			return m, nil
		}
	}
	if k.Method == "" {
		return nil, errors.New("method: the job's retained state belongs to no method of this program; predict with the program that trained the model, or submit the job again")
	}
	return nil, fmt.Errorf("method: this program cannot predict with the job's retained state, which belongs to protocol %s; predict with the program that trained the model, or submit the job again", k.Method)
}

// Erasable is an opened retained state, whose secrets a caller can erase.
type Erasable interface {
	// Erase overwrites the secrets in memory.
	Erase()
}

// Local answers queries without other members.
type Local interface {
	Erasable
	Predict(*dataset.Set) (*Prediction, error)
}

// Inquirer answers queries in sessions with other members.
type Inquirer interface {
	Erasable
	// Among returns the parties that take part in a query, including the querying party.
	Among(q Question) []string
	// Fits returns an error if the querying party cannot query the rows of the data set. The field
	// Job of q is still nil.
	Fits(q Question, set *dataset.Set) error
	Plan(q Question) ([]Step, error)
	// Party returns a party's side of the query. t holds the queried rows at the querying party,
	// and another party's own table of these rows.
	Party(q Question, self string, t Table) (*PartySide, error)
	Server(q Question) (*CoordinatorSide, error)
}

// Question is a query about new rows. Its parties are those that take part in the query.
type Question struct {
	Instance
	Asker string
	Tag   [16]byte // random value, new for every question
}

// Closing describes the model of a finished job to a member that retains state for queries about
// new rows.
type Closing struct {
	Classes []string // the model's classes; nil if it has none, or if the job does not reveal predictions
}

// Prediction is the answer to a query about new rows.
type Prediction struct {
	model.Output
	// Rows lists, in ascending order, the table's rows that have an answer. For every other row, at
	// least one party lacks its part of the columns. Nil means all rows.
	Rows      []int
	Predicted []string               // one prediction for each row; nil if the learner predicts nothing
	Decisions linalg.Matrix[float64] // rows x outputs, see model.Output
}

// Take stores the decisions and computes the predictions from them.
func (a *Prediction) Take(decisions linalg.Matrix[float64]) error {
	if err := a.Check(decisions.Cols); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	a.Decisions, a.Predicted = decisions, a.Predict(decisions)
	return nil
}
