package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
)

// Progress shows the progress of a command on stderr. It is safe for concurrent use.
type Progress interface {
	// Step shows the progress of one part of the current stage. A step without a total begins a
	// stage.
	Step(p protocol.Progress)
	// Close ends the display.
	Close()
}

// progress returns a display of progress. If the log includes level info, the display writes one
// log entry for each stage. Otherwise it rewrites a line of the terminal, or shows nothing if there
// is no terminal or --json is given.
func (a *app) progress() Progress {
	switch {
	case a.log.Enabled(context.Background(), slog.LevelInfo):
		return newStageLog(a.log, a.task)
	case a.json || !isTerminal(a.stderr):
		return noProgress{}
	}
	return newStatusLine(a.stderr, a.task, time.Now)
}

// during shows a stage while f runs.
func (a *app) during(stage string, f func() error) error {
	p := a.progress()
	defer p.Close()
	p.Step(protocol.Progress{Stage: stage})
	return f()
}

// waitShowing waits until a job ends. Meanwhile it shows the stages and parts that the daemon
// reports.
func (a *app) waitShowing(ctx context.Context, c *admin.Client, id string) (admin.Job, error) {
	shown := a.progress()
	defer shown.Close()
	if shown == (noProgress{}) {
		return c.Wait(ctx, id)
	}
	polling, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { pollProgress(polling, c, id, shown) })
	j, err := c.Wait(ctx, id)
	stop()
	done.Wait()
	return j, err
}

// pollProgress shows a job's progress every second until ctx ends. It ignores errors, because waitShowing gets them,
// too, when it waits for the job.
func pollProgress(ctx context.Context, c *admin.Client, id string, shown Progress) {
	every := time.NewTicker(redraw)
	defer every.Stop()
	for on := (deployed{shown: shown}); ; {
		if j, err := c.Job(ctx, id); err == nil && ctx.Err() == nil {
			on.show(j)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// deployed shows the progress of a job that daemons run, from snapshots of the job.
type deployed struct {
	shown Progress
	stage string // stage or state of the last snapshot
}

// show passes on a stage that is new, and the part of it that is under way.
func (d *deployed) show(j admin.Job) {
	if j.State == overview.Done || j.State == overview.Failed || j.State == overview.Unreadable {
		return
	}
	if stage := cmp.Or(j.Stage, string(j.State)); stage != d.stage {
		d.shown.Step(protocol.Progress{Stage: stage})
		d.stage = stage
	}
	if p := j.Part; p != nil {
		d.shown.Step(protocol.Progress{Stage: p.Name, Done: p.Done, Total: p.Total})
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// noProgress is a Progress that shows nothing.
type noProgress struct{}

func (noProgress) Step(protocol.Progress) {}
func (noProgress) Close()                 {}

// stageLog is a Progress that writes one log entry when a stage begins.
type stageLog struct {
	log   *slog.Logger
	mu    sync.Mutex
	whole bool   // whether a stage has been announced; then parts of stages are not logged
	last  string // stage of the last entry
}

// newStageLog returns a log of stages whose entries name the task, unless it is "".
func newStageLog(log *slog.Logger, task string) *stageLog {
	if task != "" {
		log = log.With("run", task)
	}
	return &stageLog{log: log}
}

// Step logs a stage that is new. Parts are logged only if their command announces no stages.
func (l *stageLog) Step(p protocol.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.whole = l.whole || p.Total == 0
	if p.Stage == "" || p.Stage == l.last || l.whole && p.Total > 0 {
		return
	}
	l.last = p.Stage
	l.log.Info("stage", "name", p.Stage)
}

// Close does nothing.
func (*stageLog) Close() {}

// redraw is the time between two drawings of a status line, and between two questions for a job's progress.
const redraw = time.Second

// statusLine is a Progress that rewrites one line of a terminal. It draws at most once a second, so
// that short commands stay quiet.
type statusLine struct {
	w    io.Writer
	task string // named before the stage, or ""
	now  func() time.Time
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex
	stage string
	part  protocol.Progress // last progress of a part; zero if the stage has reported none
	first int64             // progress at the part's first step; more than 0 if earlier steps were missed
	began time.Time         // start of the part, or of the stage if the stage has no part
	width int               // characters on the screen
}

func newStatusLine(w io.Writer, task string, now func() time.Time) *statusLine {
	l := &statusLine{w: w, task: task, now: now, stop: make(chan struct{}), began: now()}
	l.done.Go(func() {
		every := time.NewTicker(redraw)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				l.draw()
			case <-l.stop:
				return
			}
		}
	})
	return l
}

// Step records progress for the next drawing.
func (l *statusLine) Step(p protocol.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case p.Stage == "":
		return
	case p.Total == 0:
		l.stage, l.part, l.began = p.Stage, protocol.Progress{}, l.now()
		return
	case p.Stage != l.part.Stage || p.Done < l.part.Done: // a new part, or the same one once more
		l.began, l.first = l.now(), p.Done
	}
	l.part = p
}

// draw replaces the line on the screen by the current one.
func (l *statusLine) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(l.text())
}

// write replaces the line on the screen. Blanks overwrite what a longer line left.
func (l *statusLine) write(text string) {
	blanks := max(l.width-len(text), 0)
	_, _ = fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", blanks))
	if l.width = len(text); blanks > 0 {
		_, _ = fmt.Fprintf(l.w, "\r%s", text)
	}
}

// text returns the stage, its part, and the time that is left or has passed.
func (l *statusLine) text() string {
	if l.stage == "" && l.part.Stage == "" {
		return ""
	}
	names := slices.DeleteFunc(slices.Compact([]string{l.task, l.stage, l.part.Stage}), func(name string) bool { return name == "" })
	name, passed := strings.Join(names, ", "), l.now().Sub(l.began)
	done, total := l.part.Done, l.part.Total
	if total == 0 {
		return fmt.Sprintf("%s: %s so far", name, humanize.Duration(passed))
	}
	text := fmt.Sprintf("%s: %d %%", name, min(done, total)*100/total)
	if done <= l.first || done >= total {
		return text
	}
	left := time.Duration(float64(passed) * float64(total-done) / float64(done-l.first))
	return text + ", about " + humanize.Duration(left) + " left"
}

// Close removes the line from the screen.
func (l *statusLine) Close() {
	close(l.stop)
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.width > 0 {
		l.write("")
	}
}
