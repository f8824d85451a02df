package nats

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// Failed attempts give one line until the server answers.
func TestUnreachableServerIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	c := &conn{name: "north", url: "nats://host:4222", log: slog.New(slog.NewTextHandler(&log, nil)), link: newLink()}
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
