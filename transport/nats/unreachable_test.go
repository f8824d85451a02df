package nats

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"
)

// Failed attempts give one line until the server answers.
func TestUnreachableServerIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	c := &conn{name: "north", url: "nats://host:4222", log: slog.New(slog.NewTextHandler(&log, nil)), link: newLink(), notify: func(bool) {}}
	refused := errors.New("connection refused")
	for range 3 {
		c.onFailure(nil, refused)
	}
	if lines := log.String(); strings.Count(lines, "unreachable") != 1 || !strings.Contains(lines, "server=nats://host:4222") || !strings.Contains(lines, refused.Error()) {
		t.Errorf("three failures are logged as %q", lines)
	}
	c.onConnect(nil)
	c.onFailure(nil, refused)
	if lines := log.String(); strings.Count(lines, "unreachable") != 2 {
		t.Errorf("a failure after a connection is logged as %q", lines)
	}
}

// The error of Dial says why the first attempt failed, also if there was no time for another.
func TestFirstFailureIsSaid(t *testing.T) {
	key, _ := newKey(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := Dial(ctx, "nats://127.0.0.1:1", "north", key, Options{})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Dial returns %v", err)
	}
}

// The NATS client says of some failures only that no server is available; the log says what the caller
// knows.
func TestFailuresSayWhatTheCallerKnows(t *testing.T) {
	var log bytes.Buffer
	call := newCaller(Address{Host: "127.0.0.1", Port: "1"}, Options{})
	if _, err := call.Dial("tcp", "127.0.0.1:1"); err == nil {
		t.Fatal("something listens")
	}
	c := &conn{name: "north", log: slog.New(slog.NewTextHandler(&log, nil)), link: newLink(), call: call}
	c.onFailure(nil, natsgo.ErrNoServers)
	if text := log.String(); !strings.Contains(text, "connection refused") || strings.Contains(text, "no servers") {
		t.Errorf("the log: %s", text)
	}
	if err := c.link.last; err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Dial would return %v", err)
	}
}
