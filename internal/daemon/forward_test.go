package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/audit/syslog"
)

// watching is a syslog server of a test.
type watching struct {
	t    *testing.T
	conn *net.UnixConn
}

func watchAt(t *testing.T, path string) *watching {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	return &watching{t, conn}
}

// next returns the number and the hash of the next line that comes.
func (w *watching) next() (m audit.Mark) {
	w.t.Helper()
	b := make([]byte, 4096)
	if err := w.conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	n, err := w.conn.Read(b)
	if err != nil {
		w.t.Fatal(err)
	}
	parsed, err := rfc5424.NewParser().Parse(b[:n])
	if err != nil {
		w.t.Fatalf("%s: %v", b[:n], err)
	}
	data := (*parsed.(*rfc5424.SyslogMessage).StructuredData)["mercer@32473"]
	if _, err := fmt.Sscan(data["number"], &m.Number); err != nil {
		w.t.Fatal(err)
	}
	m.Hash = data["hash"]
	return m
}

func (w *watching) stop() {
	w.t.Helper()
	path := w.conn.LocalAddr().String()
	if err := w.conn.Close(); err != nil {
		w.t.Error(err)
	}
	_ = os.Remove(path)
}

// Each line of the record reaches the syslog server, also those that were written while the server or the daemon was
// away. No line waits for the server.
func TestTheRecordIsForwarded(t *testing.T) {
	dir := t.TempDir()
	record, at := filepath.Join(dir, "audit"), filepath.Join(dir, "log")
	l, err := audit.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	add := func() {
		t.Helper()
		if err := l.Append(audit.Event{Kind: audit.Closed}); err != nil {
			t.Fatal(err)
		}
	}
	server, err := syslog.ParseServer("unix://" + at)
	if err != nil {
		t.Fatal(err)
	}
	var f *forwarder
	start := func() (stop func()) {
		f = &forwarder{record: record, mark: filepath.Join(dir, "audit.sent"), line: &syslog.Line{Server: server}, log: slog.New(slog.NewTextHandler(io.Discard, nil)), often: 5 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { f.run(ctx); close(ended) }()
		return func() { cancel(); <-ended }
	}
	end := func() audit.Mark {
		t.Helper()
		s, err := audit.Verify(record, nil)
		if err != nil {
			t.Fatal(err)
		}
		return audit.Mark{Number: s.Lines, Hash: s.Head}
	}
	expect := func(w *watching, numbers ...int) {
		t.Helper()
		for _, n := range numbers {
			if m, last := w.next(), end(); m.Number != n || n == last.Number && m.Hash != last.Hash {
				t.Fatalf("%+v, want line %d", m, n)
			}
		}
	}
	add()
	stop := start()
	within(t, 10*time.Second, "sending fails", func() bool { return f.failing.Load() })
	add()
	w := watchAt(t, at)
	expect(w, 1, 2)
	within(t, 10*time.Second, "sending works", func() bool { return !f.failing.Load() && f.sent.Load() == 2 })
	add()
	expect(w, 3)
	within(t, 10*time.Second, "the mark is written", func() bool {
		b, err := os.ReadFile(f.mark)
		return err == nil && strings.Contains(string(b), `"number":3`)
	})
	stop()
	add()
	stop = start()
	expect(w, 4)
	within(t, 10*time.Second, "the mark is written", func() bool {
		b, err := os.ReadFile(f.mark)
		return err == nil && strings.Contains(string(b), `"number":4`)
	})
	stop()
	// The oldest lines are removed while the forwarder reads.
	stop = start()
	within(t, 10*time.Second, "it has read", func() bool { add(); return f.sent.Load() > 0 })
	if n, err := l.Cut(time.Now().Add(time.Hour)); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	add()
	last := end()
	within(t, 10*time.Second, "the last line is sent", func() bool { return w.next() == last })
	stop()
	// Another record is sent as a whole.
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	if l, err = audit.Open(record); err != nil {
		t.Fatal(err)
	}
	add()
	stop = start()
	expect(w, 1)
	stop()
	w.stop()
}

// A daemon sends its record to the server of its configuration, and says in its metrics whether that works.
func TestADaemonForwards(t *testing.T) {
	s := sites(t, "north", "south")["boss"]
	at := filepath.Join(filepath.Dir(s.home.folder), "log")
	w := watchAt(t, at)
	s.configure(t, "audit: {syslog: \"unix://"+at+"\"}\n")
	s.start()
	if m := w.next(); m.Number != 1 {
		t.Errorf("%+v", m)
	}
	within(t, noticed, "the metrics say so", func() bool {
		return s.metric("mercer_audit_forwarded_total") == "1" && s.metric("mercer_audit_forwarding_failing") == "0"
	})
	w.stop()
	s.submit([]byte(smallJob)) // no line waits for the server
	within(t, 10*time.Second, "the metrics say so", func() bool { return s.metric("mercer_audit_forwarding_failing") == "1" })
	s.says("the audit record does not reach the syslog server")
	if _, err := config(t, "name: boss\naudit: {syslog: tcp://log}\n"); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), `config.yaml:2: "syslog" in "audit" is "tcp://log"; write unix:///dev/log`) {
		t.Errorf("%v", err)
	}
}
