package witness

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Serve adds a witness's doors to a server: the gateway shows its history, and
// everybody may ask for a statement, which devices are told of by count.
func (w *Witness) Serve(mux *http.ServeMux, log *slog.Logger, count func(Standing) int) {
	mux.HandleFunc("POST "+secvm.HistoryPath, func(a http.ResponseWriter, q *http.Request) {
		status, err := w.take(a, q)
		switch {
		case errors.Is(err, ErrStranger): // as many as like to
			log.Debug("a history of somebody else was not read", "error", err)
		case status == http.StatusServiceUnavailable:
			log.Error("cannot countersign", "error", err)
		case err != nil:
			log.Warn("a history was not countersigned", "error", err)
		}
		if status != http.StatusOK {
			endpoint.Refuse(a, status)
		}
	})
	mux.HandleFunc("GET "+secvm.StatementPath, func(a http.ResponseWriter, _ *http.Request) {
		s := w.Standing()
		if s.Configuration == nil {
			http.Error(a, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
			return
		}
		endpoint.Answer(a, w.State(s, count(s)))
	})
}

// maxShown bounds the histories that are read at a time. The gateway shows one; a few more,
// since the header of an earlier request may come again from somebody who has seen it.
const maxShown = 4

// take reads a history, whose header its gateway has signed, and countersigns it.
func (w *Witness) take(a http.ResponseWriter, q *http.Request) (status int, err error) {
	signer := request.Signer{Purpose: secvm.HistoryPurpose, Of: w.gateway}
	by, err := signer.Verify(q, func(name string) ed25519.PublicKey {
		if name == request.NameOf(w.gateway) {
			return w.gateway
		}
		return nil
	})
	if err != nil {
		return http.StatusForbidden, errors.Join(ErrStranger, err)
	}
	endpoint.Admit(q, by.Name)
	select {
	case w.shown <- struct{}{}:
		defer func() { <-w.shown }()
	default:
		return http.StatusServiceUnavailable, errors.New("witness: too many histories at a time")
	}
	b, err := by.Read(a, q, secvm.MaxHistory)
	switch {
	case errors.Is(err, request.ErrOtherBody):
		return http.StatusForbidden, errors.Join(ErrStranger, err)
	case err != nil:
		return endpoint.StatusOf(q, secvm.MaxHistory, err), err
	}
	h, err := secvm.DecodeHistory(b)
	if err != nil {
		return http.StatusBadRequest, err
	}
	return verdict(w.Countersign(h))
}

// verdict returns the status that tells the gateway what has become of its history.
func verdict(err error) (int, error) {
	switch {
	case err == nil:
		return http.StatusOK, nil
	case errors.Is(err, ErrMemory):
		return http.StatusServiceUnavailable, err
	case errors.Is(err, ErrStranger):
		return http.StatusForbidden, err
	case errors.Is(err, secvm.ErrConfiguration), errors.Is(err, secvm.ErrForked):
		return http.StatusConflict, err
	default:
		return http.StatusBadRequest, err
	}
}
