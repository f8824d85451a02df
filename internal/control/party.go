package control

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/party"
	"github.com/mercer-fl/mercer/internal/session"
)

// maxTable is how long a table of rows to predict may be.
const maxTable = 1 << 30

// Prediction is the answer to a question about new rows.
type Prediction struct {
	Classes   []string    `json:"classes"`
	IDs       []string    `json:"ids,omitempty"`
	Predicted []string    `json:"predicted"`
	Decisions [][]float64 `json:"decisions"`
	// Labels are those that the table has, if any, for comparison.
	Labels []string `json:"labels,omitempty"`
}

// Party returns the handler of a party's socket.
func Party(p *party.Party, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /jobs/{id}/prediction", handler(log, func(r *http.Request) (any, error) { return predict(p, r) }))
	mux.Handle("DELETE /jobs/{id}/keepsake", handler(log, func(r *http.Request) (any, error) {
		id, err := jobID(r)
		if err != nil {
			return nil, err
		}
		return struct{}{}, p.Forget(id)
	}))
	mux.Handle("/", handler(log, func(*http.Request) (any, error) {
		return nil, session.BadInput(errors.New("this is a party's home, which cannot do that; give the coordinator's"))
	}))
	return mux
}

// predict reads the table from the request's body.
func predict(p *party.Party, r *http.Request) (any, error) {
	id, err := jobID(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	body := http.MaxBytesReader(nil, r.Body, maxTable)
	set, err := dataset.Read(q.Get("name"), body, dataset.Options{
		CSV: dataset.CSVOptions{Label: q.Get("label"), ID: q.Get("id")},
	})
	if err == nil {
		err = set.Validate()
	}
	if err != nil {
		return nil, session.BadInput(err)
	}
	a, err := p.Predict(r.Context(), id, set)
	if err != nil {
		return nil, err
	}
	answer := Prediction{Classes: a.Classes, IDs: set.IDs, Predicted: a.Predicted, Labels: set.Labels}
	for i := range a.Decisions.Rows {
		answer.Decisions = append(answer.Decisions, a.Decisions.Row(i))
	}
	return answer, nil
}
