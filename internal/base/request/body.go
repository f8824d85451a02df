package request

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// These constants bound the time for reading a body.
const (
	bodyTime  = 5 * time.Second // the time that every body gets, even an empty one
	bodySpeed = 64 << 10        // the number of bytes for which a body gets one more second
)

// BodyTime returns the time within which a body of the given length must arrive.
func BodyTime(length int64) time.Duration {
	return bodyTime + time.Duration(length)*time.Second/bodySpeed
}

// ReadBody reads the body of a request within the time of [BodyTime]. The request's header must
// give the body's length, which is at most limit bytes.
func ReadBody(w http.ResponseWriter, q *http.Request, limit int64) ([]byte, error) {
	length := q.ContentLength
	switch {
	case length < 0:
		return nil, errors.New("request: the header does not give the length of the body")
	case length > limit:
		return nil, fmt.Errorf("request: the body has %d bytes; at most %d are allowed", length, limit)
	}
	clock := http.NewResponseController(w)
	if err := clock.SetReadDeadline(time.Now().Add(BodyTime(length))); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(q.Body, length)) // memory grows only as bytes arrive
	if err == nil && int64(len(body)) < length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("request: the body of %d bytes did not arrive within %v: %w", length, BodyTime(length), err)
	}
	if err := clock.SetReadDeadline(time.Time{}); err != nil { // remove the deadline before the handler goes on
		return nil, fmt.Errorf("request: %w", err)
	}
	return body, nil
}

// Unread makes the server close the connection after its answer, without reading the request's
// body. Otherwise the server would wait for a body that it has refused.
func Unread(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // fails only if the connection is closed
}
