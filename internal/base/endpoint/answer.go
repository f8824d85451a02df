package endpoint

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
)

// Timely returns a handler that calls h only after the whole body of a request has arrived in time.
// A body can have at most limit bytes. Timely is for senders that stay anonymous to the server:
// until its body has arrived, a request occupies only a connection and the memory of the bytes so far.
func Timely(limit int64, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := request.ReadBody(w, q, limit)
		if err != nil {
			Refuse(w, StatusOf(q, limit, err))
			return
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, q)
	})
}

// StatusOf returns the HTTP status for a request whose body could not be read. The number most is the
// limit on the body's bytes, and err is the error of [request.ReadBody].
func StatusOf(q *http.Request, most int64, err error) int {
	switch {
	case q.ContentLength > most:
		return http.StatusRequestEntityTooLarge
	case q.ContentLength < 0:
		return http.StatusLengthRequired
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// Refuse answers with a status and closes the connection. It does not wait for the rest of the body.
func Refuse(w http.ResponseWriter, status int) {
	request.Unread(w)
	http.Error(w, http.StatusText(status), status)
}

// Answer writes the pieces one after the other, so that several answers can share a piece in
// memory. The header gives the total length. The client must read the answer within a time that
// depends on this length. Otherwise the connection is closed, and the client repeats the request.
func Answer(w http.ResponseWriter, pieces ...[]byte) {
	length := 0
	for _, b := range pieces {
		length += len(b)
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(request.BodyTime(int64(length)))); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(length))
	for _, b := range pieces {
		if _, err := w.Write(b); err != nil {
			return
		}
	} // the server removes the deadline before the next request of the connection
}
