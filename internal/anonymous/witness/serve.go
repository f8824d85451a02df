package witness

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Serve adds a witness's doors to a server: gateways show their history, and
// everybody may ask for a statement, which devices are told of by count.
func (w *Witness) Serve(mux *http.ServeMux, log *slog.Logger, count func(Standing) int) {
	mux.HandleFunc("POST "+secvm.HistoryPath, func(a http.ResponseWriter, q *http.Request) {
		status, err := w.take(a, q)
		switch {
		case status == http.StatusServiceUnavailable:
			log.Error("cannot countersign", "error", err)
		case err != nil:
			log.Warn("a history was not countersigned", "error", err)
		}
		if status != http.StatusOK {
			http.Error(a, http.StatusText(status), status)
		}
	})
	mux.HandleFunc("GET "+secvm.StatementPath, func(a http.ResponseWriter, _ *http.Request) {
		s := w.Standing()
		if s.Configuration == nil {
			http.Error(a, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
			return
		}
		Answer(a, w.State(s, count(s)))
	})
}

// take reads a history and countersigns it.
func (w *Witness) take(a http.ResponseWriter, q *http.Request) (status int, err error) {
	b, err := io.ReadAll(http.MaxBytesReader(a, q.Body, secvm.MaxHistory))
	if err != nil {
		return http.StatusBadRequest, err
	}
	h, err := secvm.DecodeHistory(b)
	if err != nil {
		return http.StatusBadRequest, err
	}
	switch err := w.Countersign(h); {
	case err == nil:
		return http.StatusOK, nil
	case errors.Is(err, ErrMemory):
		return http.StatusServiceUnavailable, err
	case errors.Is(err, secvm.ErrConfiguration), errors.Is(err, secvm.ErrForked):
		return http.StatusConflict, err
	default:
		return http.StatusBadRequest, err
	}
}

// Answer writes bytes whose length the head tells.
func Answer(a http.ResponseWriter, b []byte) {
	a.Header().Set("Content-Type", "application/octet-stream")
	a.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = a.Write(b) // a client that has left asks again
}
