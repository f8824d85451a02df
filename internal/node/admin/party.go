package admin

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Prediction is the answer to a question about new rows.
type Prediction struct {
	Learner model.Kind `json:"learner"`
	Classes []string   `json:"classes,omitempty"`
	// Rows lists the table's predicted rows, ascending, if other rows are not
	// known to all parties that hold their columns; none stands for all rows.
	Rows      []int       `json:"rows,omitempty"`
	Predicted []string    `json:"predicted"` // null where the learner predicts nothing
	Decisions [][]float64 `json:"decisions"` // for each row the decisions that model.Reading describes
	// Probabilities holds the classes' probabilities, if the model is calibrated;
	// Deviations holds a Gaussian process's deviations.
	Probabilities [][]float64 `json:"probabilities,omitempty"`
	Deviations    []float64   `json:"deviations,omitempty"`
}

// Forgotten lists what was erased of a job, and where.
type Forgotten struct {
	Everywhere bool                `json:"everywhere"`        // the coordinator was asked, else this party alone
	Erased     []string            `json:"erased"`            // here, now
	Parties    map[string][]string `json:"parties,omitempty"` // erased by those that have confirmed
	Silent     []string            `json:"silent,omitempty"`  // parties that have not confirmed
}

// The states of a job at a party.
const (
	Open coordinator.State = "open" // not closed yet
	Left coordinator.State = "left" // over, and has left something here
)

func held(h party.Holding) Job {
	j := Job{ID: h.Job.String(), Name: h.Name, State: Left}
	if h.Open {
		j.State = Open
	}
	return j
}

// NewPrediction reads a model's outputs, rows x outputs.
func NewPrediction(r model.Reading, outputs linalg.Matrix[float64]) Prediction {
	p := Prediction{Learner: r.Kind, Classes: r.Classes, Predicted: r.Predict(outputs)}
	probabilities, own := r.Probabilities(outputs), r.Decisions(outputs)
	for i := range outputs.Rows {
		p.Decisions = append(p.Decisions, own.Row(i))
		if probabilities.Cols > 0 {
			p.Probabilities = append(p.Probabilities, probabilities.Row(i))
		}
		if r.Kind.Shape() == model.Deviation {
			p.Deviations = append(p.Deviations, outputs.Row(i)[1])
		}
	}
	return p
}

// Party returns the handler of a party's socket.
func Party(p *party.Party, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	ofJob := func(pattern string, f func(r *http.Request, id job.ID) (any, error)) {
		mux.Handle(pattern, handler(log, withJob(f)))
	}
	ofJob("POST /jobs/{id}/prediction", func(r *http.Request, id job.ID) (any, error) { return predict(p, r, id) })
	ofJob("DELETE /jobs/{id}/keepsake", func(_ *http.Request, id job.ID) (any, error) {
		gone, err := p.Forget(id)
		return Forgotten{Erased: append([]string{}, gone...)}, err
	})
	ofJob("DELETE /jobs/{id}/sessions", func(r *http.Request, id job.ID) (any, error) { return struct{}{}, p.Drop(r.Context(), id) })
	mux.Handle("GET /jobs", handler(log, func(r *http.Request) (any, error) {
		holdings, err := p.Holdings(r.Context())
		list := []Job{}
		for _, h := range holdings {
			list = append(list, held(h))
		}
		return list, err
	}))
	mux.Handle("/", handler(log, func(*http.Request) (any, error) {
		return nil, fault.BadInputf("this is a party's home, which cannot do that; give the coordinator's")
	}))
	return mux
}

// predict reads the rows from the request's body.
func predict(p *party.Party, r *http.Request, id job.ID) (any, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRows))
	if err != nil {
		return nil, fault.BadInputf("control: rows to predict: %w", err)
	}
	set, err := decodeRows(body)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	a, err := p.Predict(r.Context(), id, set, r.URL.Query().Get("source"))
	if err != nil {
		return nil, err
	}
	answer := NewPrediction(a.Reading, a.Decisions)
	answer.Rows = a.Rows
	return answer, nil
}
