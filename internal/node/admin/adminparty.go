package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Prediction is the answer to a query for predictions of new rows.
type Prediction struct {
	Learner model.Kind `json:"learner"`
	Classes []string   `json:"classes,omitempty"`
	// Rows lists the indices of the predicted rows, ascending. It is empty if all rows are
	// predicted. A row has no prediction if a party lacks its columns of that row.
	Rows      []int       `json:"rows,omitempty"`
	Predicted []string    `json:"predicted"` // label or number for each row; null if the learner predicts none
	Decisions [][]float64 `json:"decisions"` // decisions for each row, as model.Output describes them
	// Probabilities holds the classes' probabilities, if the model is calibrated. Deviations holds
	// the standard deviations of a Gaussian process.
	Probabilities [][]float64 `json:"probabilities,omitempty"`
	Deviations    []float64   `json:"deviations,omitempty"`
}

// Forgotten lists the items of a job that were erased, here and at the parties.
type Forgotten struct {
	Everywhere bool                `json:"everywhere"`        // true if all members were asked to erase, false if only this party
	Erased     []string            `json:"erased"`            // items that this party or coordinator has now erased
	Parties    map[string][]string `json:"parties,omitempty"` // items that each confirming party has erased, by the party's name
	Silent     []string            `json:"silent,omitempty"`  // names of the parties that have not confirmed
}

// NewPrediction converts a model's outputs into an answer. The outputs have one row for each row of
// data.
func NewPrediction(r model.Output, outputs linalg.Matrix[float64]) Prediction {
	p := Prediction{Learner: r.Kind, Classes: r.Classes, Predicted: r.Predict(outputs)}
	probabilities, own := r.Probabilities(outputs), r.Decisions(outputs)
	for i := range outputs.Rows {
		row := own.Row(i)
		for k, v := range row {
			row[k] = v + 0 // turns -0 into 0
		}
		p.Decisions = append(p.Decisions, row)
		if probabilities.Cols > 0 {
			p.Probabilities = append(p.Probabilities, probabilities.Row(i))
		}
		if r.Kind.OutputShape() == model.Deviation {
			p.Deviations = append(p.Deviations, outputs.Row(i)[1])
		}
	}
	return p
}

// Checked is a party's answer to a job that nobody has proposed. It is for the party's operator only.
type Checked struct {
	Job     string     `json:"job"`
	Party   string     `json:"party"`
	Code    fault.Code `json:"exit_code"`         // 0 if the party would accept the job
	Message string     `json:"message,omitempty"` // text of the refusal
	Where   *Place     `json:"where,omitempty"`   // key or folder of the party because of which it refuses the job; nil if there is none
	// Undecided lists what depends on other parties.
	Undecided []string `json:"undecided,omitempty"`
	Notes     []string `json:"notes,omitempty"` // other sentences for the operator
}

// Place is a key of a party's file, or a folder of the party.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 0 for a folder
	Key  string `json:"key,omitempty"`
}

// Checker checks a job file, whose name is for messages.
type Checker func(ctx context.Context, name string, file []byte) (*Checked, error)

// PartyDaemon is the daemon of a party.
type PartyDaemon interface {
	overview.Source
	// Party returns the party, or an error that says why it does not run now.
	Party() (*party.Party, error)
}

// Party returns the handler for requests on a party's socket.
func Party(d PartyDaemon, check Checker, gate access.Gate, log *slog.Logger) *Requests {
	q := newRequests(gate, log)
	ofJob := func(pattern string, f func(p *party.Party, r *http.Request, id job.ID) (any, error)) {
		q.add(pattern, withJob(func(r *http.Request, id job.ID) (any, error) {
			p, err := d.Party()
			if err != nil {
				return nil, err
			}
			return f(p, r, id)
		}))
	}
	ofJob("POST /jobs/{id}/prediction", func(p *party.Party, r *http.Request, id job.ID) (any, error) { return predict(p, r, id) })
	ofJob("GET /jobs/{id}/preparation", func(p *party.Party, _ *http.Request, id job.ID) (any, error) { return p.Preparation(id) })
	ofJob("DELETE /jobs/{id}/keepsake", func(p *party.Party, _ *http.Request, id job.ID) (any, error) {
		gone, err := p.Forget(id)
		return Forgotten{Erased: append([]string{}, gone...)}, err
	})
	ofJob("DELETE /jobs/{id}/sessions", func(p *party.Party, r *http.Request, id job.ID) (any, error) {
		return struct{}{}, p.Drop(r.Context(), id)
	})
	ofJob("POST /jobs/{id}/approve", func(p *party.Party, r *http.Request, id job.ID) (any, error) {
		return struct{}{}, p.Approve(r.Context(), id, q.person(r))
	})
	ofJob("POST /jobs/{id}/reject", func(p *party.Party, r *http.Request, id job.ID) (any, error) {
		return struct{}{}, p.Reject(r.Context(), id, q.person(r), r.URL.Query().Get("reason"))
	})
	q.serveOverview(d)
	q.add("GET /jobs", func(*http.Request) (any, error) {
		if _, err := d.Party(); err != nil {
			return nil, err // an empty list would say that there are no jobs
		}
		o, err := d.Overview()
		list := []Job{}
		for _, j := range o.Jobs {
			list = append(list, Job{Job: j, File: fileOf(d, j)})
		}
		return list, err
	})
	q.add("POST /check", func(r *http.Request) (any, error) {
		file, err := readJobFile(r)
		if err != nil {
			return nil, err
		}
		return check(r.Context(), r.URL.Query().Get("name"), file)
	})
	q.add(unknown, func(*http.Request) (any, error) {
		return nil, fault.BadInputf("a party's home cannot carry out this command; use the coordinator's home")
	})
	return q
}

// fileOf returns the job file of a job that awaits approval, because the operator reads it before the
// decision. For other jobs it returns "".
func fileOf(d PartyDaemon, j overview.Job) string {
	if p, err := d.Party(); err == nil && j.State == overview.AwaitsApproval {
		return p.AwaitingFile(j.ID)
	}
	return ""
}

// predict answers a request that carries rows to predict in its body.
func predict(p *party.Party, r *http.Request, id job.ID) (any, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRows))
	if err != nil {
		return nil, fault.BadInputf("admin: the rows to predict cannot be read: %w", err)
	}
	set, err := decodeRows(body)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	a, err := p.Predict(r.Context(), id, set, r.URL.Query().Get("source"))
	if err != nil {
		return nil, err
	}
	answer := NewPrediction(a.Output, a.Decisions)
	answer.Rows = a.Rows
	return answer, nil
}

const (
	maxRows    = 1 << 30 // maximum size in bytes of the rows in one query
	maxName    = 1 << 12 // maximum length in bytes of the name of a table, a column or a row
	rowsFormat = 2
)

// encodeRows encodes the parts of a table that are needed for predictions: the numbers, the names
// of the columns, the table's name in messages, and the ids of the rows, by which other parties
// match the rows. It omits labels.
func encodeRows(set *dataset.Set) ([]byte, error) {
	narrow, isNarrow := set.X.(*dataset.Dense32)
	size := sizeOf(isNarrow)
	for j, name := range set.Columns {
		if len(name) > maxName {
			return nil, fmt.Errorf("%s: the name of column %d (from 0) has %d bytes, more than the %d allowed; rename it", set.Name, j, len(name), maxName)
		}
	}
	for i, id := range set.IDs {
		if len(id) > maxName {
			return nil, fmt.Errorf("%s the id has %d bytes, more than the %d allowed; shorten it", set.Place(i), len(id), maxName)
		}
	}
	rows, cols := set.X.Rows(), set.X.Cols()
	if rows > maxRows/size/cols {
		return nil, fmt.Errorf("%s has %d rows of %d columns, which exceed the %d bytes allowed in one query; query fewer rows at a time", set.Name, rows, cols, maxRows)
	}
	var w wire.Writer
	w.Grow(size*rows*cols + maxName)
	w.Uint8(rowsFormat)
	w.String(set.Name[:min(len(set.Name), maxName)])
	w.Strings(set.Columns)
	w.Strings(set.IDs)
	w.Uint32(uint32(rows))
	w.Uint32(uint32(cols))
	w.Bool(isNarrow)
	if isNarrow {
		for i := range rows {
			w.Float32s(narrow.Matrix().Row(i))
		}
		return w.Bytes(), nil
	}
	row := make([]float64, cols)
	for i := range rows {
		w.Float64s(set.X.Row(i, row))
	}
	return w.Bytes(), nil
}

// sizeOf returns 4 if numbers are stored as float32 (narrow), and 8 if as float64.
func sizeOf(narrow bool) int {
	if narrow {
		return 4
	}
	return 8
}

var errRows = errors.New("admin: the rows to predict cannot be decoded; use the same version of the daemon and the command")

// decodeRows decodes a table that encodeRows has encoded.
func decodeRows(b []byte) (*dataset.Set, error) {
	r := wire.NewReader(b)
	if v := r.Uint8(); r.Err() == nil && v != rowsFormat {
		return nil, errRows
	}
	set := &dataset.Set{Name: r.String(maxName)}
	set.Columns = r.Strings(dataset.MaxColumns, maxName)
	set.IDs = r.Strings(maxRows, maxName)
	rows, cols, narrow := int(r.Uint32()), int(r.Uint32()), r.Bool()
	size := sizeOf(narrow)
	if r.Err() != nil || rows < 1 || cols < 1 || cols > r.Len() || rows*cols != r.Len()/size || r.Len()%size != 0 || len(set.IDs) > 0 && len(set.IDs) != rows {
		return nil, errRows
	}
	if narrow {
		m := linalg.New[float32](rows, cols)
		r.Float32s(m.Data)
		set.X = dataset.NewDense32(m)
	} else {
		m := linalg.New[float64](rows, cols)
		r.Float64s(m.Data)
		set.X = dataset.NewDense(m)
	}
	if err := r.Close("admin: rows to predict"); err != nil {
		return nil, err
	}
	if err := set.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	return set, nil
}
