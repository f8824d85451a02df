package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// A coordinator's overview names its jobs and, since it knows no broker here, no member.
func TestOverviewOfACoordinator(t *testing.T) {
	c := serve(t, Coordinator(hub(t), owner(), quiet()))
	j, err := c.Submit(t.Context(), "job.yaml", []byte(jobFile))
	if err != nil {
		t.Fatal(err)
	}
	o, err := c.Overview(t.Context())
	if err != nil || o.Name != "hub" || o.Role != roster.Coordinator || len(o.Jobs) != 1 || o.Jobs[0].ID != j.ID || o.Jobs[0].Submitted.IsZero() || o.Broker != nil {
		t.Errorf("%+v, %v", o, err)
	}
}

// A list of events ends, or goes on with further events, of one job or of all.
func TestEvents(t *testing.T) {
	boss := hub(t)
	c := serve(t, Coordinator(boss, owner(), quiet()))
	j, err := c.Submit(t.Context(), "job.yaml", []byte(jobFile))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []overview.Kind
	note := func(e overview.Event) error {
		kinds = append(kinds, e.Kind)
		return nil
	}
	if err := c.Events(t.Context(), j.ID, note); err != nil || len(kinds) != 1 || kinds[0] != overview.Submitted {
		t.Errorf("%v, %v", kinds, err)
	}
	if err := c.Events(t.Context(), strings.Repeat("0", 32), note); err != nil || len(kinds) != 1 {
		t.Errorf("the events of another job: %v, %v", kinds, err)
	}
	if err := c.Events(t.Context(), "../x", note); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "is not a job id") {
		t.Errorf("a bad id: %v", err)
	}
	enough := errors.New("enough")
	err = c.Follow(t.Context(), j.ID, func(e overview.Event) error {
		if e.Kind == overview.Submitted {
			return c.Abort(t.Context(), j.ID)
		}
		if e.Kind == overview.Aborted {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("following: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Follow(ctx, "", note); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("following without an end: %v", err)
	}
}

// A reader that does not read is dropped. When it reads on, the last line says so.
func TestASlowReaderOfEvents(t *testing.T) {
	boss := hub(t)
	path := filepath.Join(short(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, Coordinator(boss, owner(), quiet())) }()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET /events?follow=1 HTTP/1.1\r\nHost: mercer\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 250)
	for range 20_000 { // more than the buffers of the socket hold
		boss.Events().Add(overview.Event{Kind: overview.HasFailed, Name: text})
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	b := make([]byte, 1<<16)
	for !strings.Contains(got.String(), `"dropped"`) {
		n, err := conn.Read(b)
		got.Write(b[:n])
		if err != nil {
			t.Fatalf("the stream ended after %d bytes without a word: %v", got.Len(), err)
		}
	}
	stop()
	if err := errors.Join(conn.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// One user's readers of events leave places for others, and a list of events takes none.
func TestReadersOfOneUser(t *testing.T) {
	q := newRequests(gate(ofEachRole()), quiet())
	q.serveOverview(histories{overview.NewHistory()})
	var peer atomic.Int64
	peer.Store(viewer)
	c := serveAs(t, q, func(net.Conn) int { return int(peer.Load()) })
	follow := func() *http.Response {
		res, err := c.send(t.Context(), http.MethodGet, "/events?follow=1", nil)
		if err != nil {
			t.Log(err)
			return nil
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	n := 0
	for ; n < 100 && follow() != nil; n++ {
	}
	if n == 0 || n > 10 {
		t.Errorf("a viewer has %d readers", n)
	}
	if err := c.Events(t.Context(), "", func(overview.Event) error { return nil }); err != nil {
		t.Errorf("a list of events: %v", err)
	}
	c.Close() // a connection is of one user
	peer.Store(administrator)
	if follow() == nil {
		t.Error("an administrator has no place")
	}
}

// histories is a source of events.
type histories struct{ h *overview.History }

func (s histories) Overview() (overview.Overview, error) { return overview.Overview{}, nil }
func (s histories) Events() *overview.History            { return s.h }
