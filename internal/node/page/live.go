package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// Limits of streams.
const (
	lookEvery  = time.Second      // time between two looks at what a view shows
	listEvery  = 5 * time.Second  // time between two looks at lists for which files are parsed
	beatEvery  = 15 * time.Second // time without a change after which a stream says that it lives
	streamTime = 10 * time.Minute // time after which a stream ends; the browser begins another one
	writeTime  = 10 * time.Second // time within which a browser must take a part of a stream
)

// shared keeps a value for all views and streams of a page. It reads the value anew if the last reading is older than
// the time every. Nobody must change the value that get returns.
type shared[T any] struct {
	every time.Duration
	from  func() (T, error)

	mu   sync.Mutex
	read time.Time
	last T
	err  error
}

func (s *shared[T]) get() (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.read) > s.every {
		s.last, s.err = s.from()
		s.read = time.Now()
	}
	return s.last, s.err
}

// regions lists the parts of a page that a stream replaces. Each is a template and the id of an element.
func regions() []string { return []string{"links", "said", "live"} }

// stream sends a view's regions whenever they change, until the browser goes away, the session ends, the person is no
// viewer any more, or streamTime is over.
func (p *Page) stream(w http.ResponseWriter, r *http.Request, name string, b build) {
	done, ok := p.sessions.stream(sessionOf(r))
	if !ok {
		p.fail(w, r, http.StatusTooManyRequests, "As many views as allowed are kept up to date in this session. Close one of them.")
		return
	}
	defer done()
	out := &events{w: w, control: http.NewResponseController(w), sent: make(map[string][]byte)}
	until := time.Now().Add(streamTime)
	if err := out.control.SetReadDeadline(until); err != nil {
		p.log.Debug("a stream cannot begin", "error", err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for time.Now().Before(until) && p.sessions.lasts(sessionOf(r)) && sessionOf(r).who.May(access.Viewer) == nil {
		if err := p.sendChanges(out, r, name, b); err != nil {
			p.log.Debug("a stream has ended", "view", name, "error", err)
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-sessionOf(r).over:
			return
		case <-look.C:
		}
	}
}

// sendChanges sends the regions that have changed.
func (p *Page) sendChanges(out *events, r *http.Request, name string, b build) error {
	f, err := p.framed(r, b)
	if err != nil {
		return err // the browser asks again, and gets the error as a page
	}
	for _, region := range regions() {
		html, err := p.render(name, region, f)
		if err == nil {
			err = out.send(region, html)
		}
		if err != nil {
			return err
		}
	}
	return out.flush()
}

// events writes server-sent events.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    map[string][]byte // the HTML text that was sent last for each region
	last    time.Time
	pending bool
}

// send writes a region, if it has changed.
func (e *events) send(region string, html []byte) error {
	if bytes.Equal(e.sent[region], html) {
		return nil
	}
	e.sent[region] = html
	line, err := json.Marshal(map[string]string{"id": region, "html": string(html)})
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return e.write("event: region\ndata: " + string(line) + "\n\n")
}

func (e *events) write(text string) error {
	e.pending, e.last = true, time.Now()
	if err := e.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err := e.w.Write([]byte(text))
	return err
}

// flush passes on what was written. If nothing was written for beatEvery, it sends a sign of life.
func (e *events) flush() error {
	if !e.pending && time.Since(e.last) > beatEvery {
		if err := e.write(": the stream lives\n\n"); err != nil {
			return err
		}
	}
	if !e.pending {
		return nil
	}
	e.pending = false
	return e.control.Flush()
}
