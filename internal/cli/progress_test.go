package cli

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// screen returns what a terminal of one line shows after the output: a carriage return goes to its
// beginning, and characters overwrite.
func screen(output string) string {
	var line []byte
	at := 0
	for _, c := range []byte(output) {
		switch {
		case c == '\r':
			at = 0
			continue
		case at < len(line):
			line[at] = c
		default:
			line = append(line, c)
		}
		at++
	}
	return strings.TrimRight(string(line), " ")
}

// A terminal shows the stage, its part and the time that is left, always in one line.
func TestStatusLine(t *testing.T) {
	defer goleak.VerifyNone(t)
	var out bytes.Buffer
	c := &clock{now: time.Unix(1e9, 0)}
	l := newStatusLine(&out, "", c.read)
	shows := func(want string) {
		t.Helper()
		l.draw()
		if got := screen(out.String()); got != want {
			t.Errorf("the screen shows %q, want %q", got, want)
		}
	}
	shows("")
	l.Step(protocol.Progress{Stage: "protocol"})
	c.pass(12 * time.Second)
	shows("protocol: 12 s so far")
	l.Step(protocol.Progress{Stage: "encode", Total: 40})
	shows("protocol, encode: 0 %")
	c.pass(10 * time.Second)
	l.Step(protocol.Progress{Stage: "encode", Done: 10, Total: 40})
	shows("protocol, encode: 25 %, about 30 s left")
	c.pass(10 * time.Second) // the part is slower than it was
	shows("protocol, encode: 25 %, about 60 s left")
	l.Step(protocol.Progress{Stage: "encode", Done: 40, Total: 40})
	shows("protocol, encode: 100 %")
	l.Step(protocol.Progress{})
	shows("protocol, encode: 100 %")
	l.Step(protocol.Progress{Stage: "learn"})
	l.Step(protocol.Progress{Stage: "learn", Done: 0, Total: 2})
	c.pass(300 * time.Second)
	l.Step(protocol.Progress{Stage: "learn", Done: 1, Total: 2})
	shows("learn: 50 %, about 5 min left")
	l.Close()
	if got := screen(out.String()); got != "" {
		t.Errorf("after Close the screen shows %q", got)
	}
	if strings.ContainsAny(out.String(), "\n\x1b") {
		t.Errorf("more than one line: %q", out.String())
	}
}

// The line names the run of a repeated job, and estimates the time from the steps that it has seen.
func TestStatusLineOfARunSeenLate(t *testing.T) {
	c := &clock{now: time.Unix(1e9, 0)}
	l := &statusLine{w: io.Discard, task: "repeat 2 of 5", now: c.read}
	shows := func(want string) {
		t.Helper()
		if got := l.text(); got != want {
			t.Errorf("the line is %q, want %q", got, want)
		}
	}
	shows("")
	l.Step(protocol.Progress{Stage: "gram"})
	l.Step(protocol.Progress{Stage: "gram", Done: 50, Total: 100})
	c.pass(10 * time.Second)
	shows("repeat 2 of 5, gram: 50 %") // it is unknown how long the first half took
	l.Step(protocol.Progress{Stage: "gram", Done: 60, Total: 100})
	shows("repeat 2 of 5, gram: 60 %, about 40 s left")
}

// steps is a Progress that remembers all steps.
type steps struct{ list []protocol.Progress }

func (s *steps) Step(p protocol.Progress) { s.list = append(s.list, p) }
func (*steps) Close()                     {}

// A deployed job shows its stages once each, with the parts that its daemon reports, until it ends.
func TestProgressOfADeployedJob(t *testing.T) {
	var seen steps
	d := deployed{shown: &seen}
	for _, j := range []struct {
		state overview.State
		stage string
		part  *admin.Part
	}{
		{overview.Queued, "", nil},
		{overview.Running, "protocol", nil},
		{overview.Running, "protocol", &admin.Part{Name: "gram", Done: 1, Total: 4}},
		{overview.Running, "protocol", &admin.Part{Name: "gram", Done: 3, Total: 4}},
		{overview.Closing, "", nil},
		{overview.Done, "", nil},
		{overview.Failed, "", nil},
	} {
		d.show(admin.Job{Job: overview.Job{State: j.state, Stage: j.stage}, Part: j.part})
	}
	want := []protocol.Progress{{Stage: "queued"}, {Stage: "protocol"}, {Stage: "gram", Done: 1, Total: 4}, {Stage: "gram", Done: 3, Total: 4}, {Stage: "closing"}}
	if !slices.Equal(seen.list, want) {
		t.Errorf("steps %v, want %v", seen.list, want)
	}
}

// The display names each run of a repeated job, and each party that is held out.
func TestRunTask(t *testing.T) {
	repeats := &job.Job{Repeats: 5}
	sites := &job.Job{Data: job.Data{Partition: job.Partition{Parties: []string{"north", "south"}}, Test: job.Test{Parties: "each"}}}
	for want, got := range map[string]string{
		"":                                   runTask("", repeats, 0, 1),
		"repeat 2 of 5":                      runTask("", repeats, 1, 5),
		"gu figure3 (1 of 4), repeat 5 of 5": runTask("gu figure3 (1 of 4)", repeats, 4, 5),
		"without south (2 of 2)":             runTask("", sites, 1, 2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A command that ends within a second writes nothing on the terminal.
func TestStatusLineOfAShortCommand(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 20 {
		var out bytes.Buffer
		l := newStatusLine(&out, "", time.Now)
		l.Step(protocol.Progress{Stage: "learn", Done: 1, Total: 2})
		l.Close()
		if out.Len() > 0 {
			t.Fatalf("%q", out.String())
		}
	}
}

// The line is redrawn while nothing is reported.
func TestStatusLineTicks(t *testing.T) {
	if testing.Short() {
		t.Skip("waits a second")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l := newStatusLine(w, "", time.Now)
	l.Step(protocol.Progress{Stage: "learn"})
	text := make([]byte, 64)
	n, err := r.Read(text)
	if got := screen(string(text[:n])); !strings.HasPrefix(got, "learn: ") || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
	l.Close()
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}

// A log of level info gets one entry for each stage, and none for parts.
func TestStageLog(t *testing.T) {
	var out bytes.Buffer
	a := testApp(nil, &out)
	a.log = slog.New(slog.NewTextHandler(&out, nil))
	p := a.progress()
	for _, step := range []protocol.Progress{
		{Stage: "scale"}, {Stage: "scale", Done: 1, Total: 2}, {Stage: "tune", Done: 1, Total: 9}, {Stage: "learn"}, {Stage: "learn"}, {},
	} {
		p.Step(step)
	}
	p.Close()
	if err := a.during("compare", func() error { return os.ErrClosed }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
	p = a.progress() // a command that announces no stages
	p.Step(protocol.Progress{Stage: "windows", Done: 1, Total: 2})
	p.Step(protocol.Progress{Stage: "windows", Done: 2, Total: 2})
	p.Close()
	var names []string
	for line := range strings.Lines(out.String()) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "level=INFO msg=stage name=")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "scale learn compare windows" {
		t.Errorf("%q: %s", got, out.String())
	}
}

func TestNoProgressOffTheTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	json := testApp(nil, os.Stderr)
	json.json = true
	for name, a := range map[string]*app{"file": testApp(nil, file), "buffer": testApp(nil, &bytes.Buffer{}), "json": json} {
		p := a.progress()
		if _, quiet := p.(noProgress); !quiet {
			t.Errorf("%s: %T", name, p)
		}
		p.Step(protocol.Progress{Stage: "encode", Done: 1, Total: 2})
		p.Close()
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1400 * time.Millisecond: "1 s", 119 * time.Second: "119 s", 170 * time.Second: "3 min", 7300 * time.Second: "2 h 1 min",
	} {
		if got := humanize.Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
