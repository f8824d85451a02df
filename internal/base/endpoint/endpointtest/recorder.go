// Package endpointtest provides a recorder to test HTTP handlers without an endpoint.
package endpointtest

import (
	"net/http/httptest"
	"time"
)

// Recorder records an HTTP answer, like [httptest.ResponseRecorder]. It ignores the deadlines that
// handlers set on a connection.
type Recorder struct{ *httptest.ResponseRecorder }

// NewRecorder returns an empty recorder.
func NewRecorder() Recorder { return Recorder{httptest.NewRecorder()} }

// SetReadDeadline does nothing.
func (Recorder) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (Recorder) SetWriteDeadline(time.Time) error { return nil }
