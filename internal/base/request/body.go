package request

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// Bounds on the time that a body may take.
const (
	bodyTime  = 5 * time.Second // of any body
	bodySpeed = 64 << 10        // bytes in each further second
)

// BodyTime returns the time in which a body of a length must have come.
func BodyTime(length int64) time.Duration {
	return bodyTime + time.Duration(length)*time.Second/bodySpeed
}

// ReadBody reads the body of a request, of a length that the request's header has given and
// that is at most most. The body has [BodyTime].
func ReadBody(w http.ResponseWriter, q *http.Request, most int64) ([]byte, error) {
	length := q.ContentLength
	if length < 0 || length > most {
		return nil, fmt.Errorf("request: a body of %d bytes, up to %d are taken, and the header has to say how many", length, most)
	}
	clock := http.NewResponseController(w)
	if err := clock.SetReadDeadline(time.Now().Add(BodyTime(length))); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(q.Body, length)) // takes memory as bytes come
	if err == nil && int64(len(body)) < length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("request: a body of %d bytes did not come within %v: %w", length, BodyTime(length), err)
	}
	if err := clock.SetReadDeadline(time.Time{}); err != nil { // what the handler waits for is its own affair
		return nil, fmt.Errorf("request: %w", err)
	}
	return body, nil
}

// Unread leaves the body of a request where it is: the connection closes after the answer.
// Otherwise the server would wait for a body that it has refused.
func Unread(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // without a clock the body has come
}
