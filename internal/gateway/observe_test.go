package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mercer-fl/mercer/internal/eavesdrop"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
)

const observed = 24 // devices

// observe lets a crowd run to its end.
func observe(t *testing.T) *eavesdrop.Scene {
	s := &eavesdrop.Scene{Devices: observed}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, privacypass.BlindRSA, observed, nil)
		before, behind := w.net.tap(atRelay), w.net.tap(atGateway)
		w.expect(w.run(nil))
		var err error
		s.Relay, err = before.Seen()
		check(t, err)
		s.Gateway, err = behind.Seen()
		check(t, err)
		s.Opens, s.Window, s.Packages, s.TokenSize = w.gateway.Opens(), w.config.Window, w.job.Protocol.Packages, w.config.Tokens.Type.Size()
		seed := w.config.Identity.Derive("ohttp", 0)
		s.Key, err = ohttp.NewKey(1, seed[:])
		check(t, err)
	})
	s.Device = func(e eavesdrop.Exchange, _ *privacypass.Token) int {
		row, err := strconv.Atoi(strings.TrimPrefix(e.From, "device "))
		check(t, err)
		return row
	}
	check(t, s.Open())
	return s
}

// Attack: link packages of one device by what relay and gateway see, every byte
// of it, and by what the gateway finds when it opens them.
func TestAttackLink(t *testing.T) {
	t.Parallel()
	s := observe(t)
	for name, link := range map[string]func() error{
		"by size": s.BySize, "by bytes": s.ByBytes, "by id": s.ByID, "by connection": s.ByOwnConnection,
		"by time":  func() error { _, err := s.ByTime(); return err },
		"by order": func() error { _, err := s.ByOrder(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := link(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Attack: a relay that sends every request twice, or sends it again later, to
// see what changes. The gateway counts once, and the answers look alike.
func TestAttackReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, privacypass.BlindRSA, 20, nil)
		inner := w.atGateway
		w.atGateway = http.HandlerFunc(func(r http.ResponseWriter, q *http.Request) {
			b, err := io.ReadAll(q.Body)
			if err != nil {
				t.Error(err)
			}
			twice := [2]*httptest.ResponseRecorder{httptest.NewRecorder(), httptest.NewRecorder()}
			for _, answer := range twice {
				again := httptest.NewRequest(q.Method, "/", bytes.NewReader(b))
				again.Header.Set("Content-Type", ohttp.RequestType)
				inner.ServeHTTP(answer, again)
			}
			if twice[0].Body.Len() != twice[1].Body.Len() {
				t.Errorf("answers of %d and %d bytes", twice[0].Body.Len(), twice[1].Body.Len())
			}
			r.Header().Set("Content-Type", ohttp.ResponseType)
			r.WriteHeader(twice[0].Code)
			_, _ = r.Write(twice[0].Body.Bytes()) // a caller that has left asks again
		})
		w.expect(w.run(nil))
	})
}
