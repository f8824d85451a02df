package gateway_test

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// stall sends a request's header and a byte of its body. It returns the status of the
// answer and the time until it.
func (w *testbed) stall(to, path string, length int) (status int, took time.Duration) {
	w.t.Helper()
	began := time.Now()
	c, err := w.net.dial("stranger", to)
	check(w.t, err)
	defer func() { check(w.t, c.Close()) }()
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", path, to, ohttp.RequestType, length)
	check(w.t, err)
	go func() { _, _ = c.Write([]byte{0}) }() // the server may not read it
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(w.t, err)
	return r.StatusCode, time.Since(began)
}

// Attack: a stranger sends a byte of a body and no more, to each server. If senders sign
// the header the stranger is refused at once; if they must not, after the time for the
// body's length.
func TestAttackBodyThatDoesNotCome(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 1, nil)
		const sealed = secvm.RequestSize + ohttp.Overhead
		for _, door := range []struct {
			at, path string
			length   int
			status   int
			most     time.Duration
		}{
			{atRelay, "/", sealed, http.StatusRequestTimeout, request.BodyTime(sealed)},
			{atRelay, "/", sealed + 1, http.StatusRequestEntityTooLarge, 0},
			{atRelay, secvm.PresencePath, 300, http.StatusRequestTimeout, request.BodyTime(300)},
			{atRelay, secvm.HistoryPath, 300, http.StatusForbidden, 0},
			{atGateway, "/", sealed, http.StatusRequestTimeout, request.BodyTime(sealed)},
			{atGateway, "/", sealed + 1, http.StatusRequestEntityTooLarge, 0},
			{atIssuer, "/?iteration=0", 300, http.StatusForbidden, 0},
			{atIssuer, secvm.HistoryPath, 300, http.StatusForbidden, 0},
		} {
			status, took := w.stall(door.at, door.path, door.length)
			if status != door.status || took > door.most {
				t.Errorf("%s%s, %d bytes: %d after %v, want %d within %v", door.at, door.path, door.length, status, took, door.status, door.most)
			}
		}
	})
}
