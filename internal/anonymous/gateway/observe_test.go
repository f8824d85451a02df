package gateway_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/attack/traffic"
	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
)

const observed = 24 // devices

// observe runs the devices to the end.
func observe(t *testing.T) *traffic.Scene {
	s := &traffic.Scene{Devices: observed}
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, observed, nil)
		before, behind := w.net.tap(atRelay), w.net.tap(atGateway)
		r, said := w.run(func(ctx context.Context) { s.Keys = w.keys(ctx) })
		w.expect(r, said)
		var err error
		s.Relay, err = before.Seen()
		check(t, err)
		s.Gateway, err = behind.Seen()
		check(t, err)
		s.Window, s.Packages, s.TokenSize = w.config.Window, w.settings().Packages, w.config.Tokens.Type.Size()
		for _, l := range w.gateway.History() {
			s.Opens = append(s.Opens, time.UnixMilli(l.Opens))
		}
	})
	s.Device = func(e traffic.Exchange, _ *privacypass.Token) int {
		row, err := strconv.Atoi(strings.TrimPrefix(e.From, "device "))
		check(t, err)
		return row
	}
	check(t, s.Open())
	return s
}

// keys collects the keys with which the gateway opens requests, one for each window. They
// are in its home only while their windows are open.
func (w *testbed) keys(ctx context.Context) (keys []*ohttp.Key) {
	known := map[string]bool{}
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(w.config.Home, "model")); err == nil {
			break
		}
		files, err := filepath.Glob(filepath.Join(w.config.Home, "key-*"))
		check(w.t, err)
		for _, f := range files {
			if known[f] {
				continue
			}
			known[f] = true
			seed, err := os.ReadFile(f)
			check(w.t, err)
			k, err := ohttp.NewKey(1, seed)
			check(w.t, err)
			keys = append(keys, k)
		}
		time.Sleep(time.Second)
	}
	return keys
}

// Attack: link packages of one device by every byte that relay and gateway see, and by the
// contents that the gateway finds when it opens them.
func TestAttackLink(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
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

// Attack: a relay that sends every request twice, or again later, to see what changes. The
// gateway counts once, and the answers look the same.
func TestAttackReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 20, nil)
		inner := w.atGateway
		w.atGateway = http.HandlerFunc(func(r http.ResponseWriter, q *http.Request) {
			b, err := io.ReadAll(q.Body)
			if err != nil {
				t.Error(err)
			}
			twice := [2]endpointtest.Recorder{endpointtest.NewRecorder(), endpointtest.NewRecorder()}
			for _, answer := range twice {
				again := httptest.NewRequest(q.Method, q.URL.Path, bytes.NewReader(b))
				again.Header = q.Header
				inner.ServeHTTP(answer, again)
			}
			if twice[0].Body.Len() != twice[1].Body.Len() {
				t.Errorf("answers of %d and %d bytes", twice[0].Body.Len(), twice[1].Body.Len())
			}
			r.Header().Set("Content-Type", twice[0].Header().Get("Content-Type"))
			r.WriteHeader(twice[0].Code)
			_, _ = r.Write(twice[0].Body.Bytes()) // a client that has left asks again
		})
		w.expect(w.run(nil))
	})
}
