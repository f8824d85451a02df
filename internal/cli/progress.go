package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"

	"github.com/mercer-fl/mercer/protocol"
)

// Progress shows the progress of a command. It is safe for concurrent use.
type Progress interface {
	// Step shows the progress of a stage for one party. If party is "", the stage is that of the
	// whole command.
	Step(party string, p protocol.Progress)
	// Close leaves the last state on the screen and releases the terminal.
	Close()
}

// progress returns bars for a terminal. For a pipe or with --json it shows nothing.
func (a *app) progress() Progress {
	if a.json || !isTerminal(a.stderr) {
		return noBars{}
	}
	return newBars(a.stderr)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// noBars is a Progress that shows nothing.
type noBars struct{}

func (noBars) Step(string, protocol.Progress) {}
func (noBars) Close()                         {}

// bars shows one bar for each stage and party.
type bars struct {
	writer progress.Writer
	ended  chan struct{}

	mu       sync.Mutex
	trackers map[barKey]*progress.Tracker
}

type barKey struct{ party, stage string }

const redraw = 100 * time.Millisecond

func newBars(w io.Writer) *bars {
	b := &bars{writer: progress.NewWriter(), ended: make(chan struct{}), trackers: make(map[barKey]*progress.Tracker)}
	b.writer.SetOutputWriter(w)
	b.writer.SetUpdateFrequency(redraw)
	b.writer.SetTrackerLength(24)
	b.writer.SetMessageLength(28)
	b.writer.Style().Visibility.Value = false
	go func() {
		defer close(b.ended)
		b.writer.Render()
	}()
	return b
}

// Step moves the bar of a stage. The first call for a stage draws the bar.
func (b *bars) Step(party string, p protocol.Progress) {
	if p.Stage == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := barKey{party, p.Stage}
	t := b.trackers[key]
	if t == nil {
		t = &progress.Tracker{Message: label(party, p.Stage)}
		b.trackers[key] = t
		b.writer.AppendTracker(t)
	}
	t.UpdateTotal(p.Total)
	t.SetValue(p.Done)
	if p.Total > 0 && p.Done >= p.Total {
		t.MarkAsDone()
	}
}

func label(party, stage string) string {
	if party == "" {
		return stage
	}
	return party + " " + stage
}

// Close draws the bars for the last time. It repeats Stop, because a Stop before the first drawing
// has no effect.
func (b *bars) Close() {
	for {
		b.writer.Stop()
		select {
		case <-b.ended:
			return
		case <-time.After(redraw / 10):
		}
	}
}
