package control

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/internal/party"
	"github.com/mercer-fl/mercer/internal/session"
)

// Prediction is the answer to a question about new rows.
type Prediction struct {
	Classes   []string    `json:"classes"`
	Predicted []string    `json:"predicted"`
	Decisions [][]float64 `json:"decisions"`
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

// predict reads the rows from the request's body.
func predict(p *party.Party, r *http.Request) (any, error) {
	id, err := jobID(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRows))
	if err != nil {
		return nil, session.BadInput(fmt.Errorf("control: rows to predict: %w", err))
	}
	set, err := decodeRows(body)
	if err != nil {
		return nil, session.BadInput(err)
	}
	a, err := p.Predict(r.Context(), id, set)
	if err != nil {
		return nil, err
	}
	answer := Prediction{Classes: a.Classes, Predicted: a.Predicted}
	for i := range a.Decisions.Rows {
		answer.Decisions = append(answer.Decisions, a.Decisions.Row(i))
	}
	return answer, nil
}
