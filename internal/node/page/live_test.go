package page

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// follower is an open stream of a view.
type follower struct {
	t       *testing.T
	status  int
	regions chan map[string]string // closed at the stream's end
}

// follow opens the stream of a view.
func (s *served) follow(path string) *follower {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	f := &follower{s.t, res.StatusCode, make(chan map[string]string, 100)}
	go func() {
		defer close(f.regions)
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				var region map[string]string
				if json.Unmarshal([]byte(data), &region) != nil {
					return // the test has ended in the middle of a line
				}
				f.regions <- region
			}
		}
	}()
	return f
}

// next returns the next region, or nil at the stream's end.
func (f *follower) next() map[string]string {
	f.t.Helper()
	select {
	case r := <-f.regions:
		return r
	case <-time.After(10 * time.Second):
		f.t.Fatal("the stream says nothing")
	}
	return nil
}

// A stream begins with all regions of a view, and goes on with those that have changed. It ends when the person has no
// role any more, or leaves.
func TestStream(t *testing.T) {
	h := coordinatorHome(t)
	roles := []access.Role{access.Viewer}
	who := visitor()
	who.May = func(need access.Role) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		return granted(roles)(need)
	}
	s := open(t, h, nil, who)
	f := s.follow("/")
	for _, id := range regions() {
		if got := f.next(); got["id"] != id || got["html"] == "" {
			t.Errorf("%v, want %s", got, id)
		}
	}
	h.change(func(o *overview.Overview) { o.Members[1].Connected = true })
	if got := f.next(); got["id"] != "links" {
		t.Errorf("%v", got)
	}
	if got := f.next(); got["id"] != "said" || !strings.Contains(got["html"], "Nobody is missing") {
		t.Errorf("%v", got)
	}
	f.next()
	h.mu.Lock()
	roles = nil
	h.mu.Unlock()
	if got := f.next(); got != nil {
		t.Errorf("without a role the stream goes on: %v", got)
	}
	h.mu.Lock()
	roles = []access.Role{access.Viewer}
	h.mu.Unlock()
	f = s.follow("/jobs")
	for range regions() {
		f.next()
	}
	h.change(func(o *overview.Overview) { o.Jobs[1].Stage = "scoring" })
	if got := f.next(); got["id"] != "live" || !strings.Contains(got["html"], "scoring") {
		t.Errorf("a region that has not changed comes again: %v", got)
	}
	s.post("/leave", url.Values{"token": {s.token()}})
	if got := f.next(); got != nil {
		t.Errorf("after leaving the stream goes on: %v", got)
	}
}

// A session has few streams. One that ends makes room.
func TestStreamsAreFew(t *testing.T) {
	h := coordinatorHome(t)
	s := open(t, h, nil, visitor(access.Viewer))
	for range maxStreams {
		if f := s.follow("/"); f.status != http.StatusOK {
			t.Fatalf("%d", f.status)
		}
	}
	if f := s.follow("/"); f.status != http.StatusTooManyRequests {
		t.Errorf("one more stream: %d", f.status)
	}
	s.client.CloseIdleConnections()
	if status, _ := s.get(s.base + "/"); status != http.StatusOK {
		t.Errorf("the view itself: %d", status)
	}
	one := &session{streams: maxStreams - 1}
	done, ok := s.sessions.stream(one)
	if !ok {
		t.Fatal("no place")
	}
	if _, ok := s.sessions.stream(one); ok {
		t.Error("a place too many")
	}
	done()
	if _, ok := s.sessions.stream(one); !ok {
		t.Error("a stream that has ended keeps its place")
	}
}

// patient is an answer whose times have no effect.
type patient struct{ *httptest.ResponseRecorder }

func (patient) SetReadDeadline(time.Time) error  { return nil }
func (patient) SetWriteDeadline(time.Time) error { return nil }

// Attack: a person opens more sessions than a person may have. The stream of the oldest ends at once.
func TestAttackStreamOfAnEndedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(coordinatorHome(t), nil, Loopback, slog.New(slog.DiscardHandler))
		begin := func() *session {
			one, _, err := p.sessions.begin(visitor(access.Viewer), time.Now().Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return one
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", "text/event-stream")
		r = r.WithContext(context.WithValue(t.Context(), sessionKey{}, begin()))
		ended, w := make(chan bool), patient{httptest.NewRecorder()}
		go func() {
			p.shown("federation", p.federation).ServeHTTP(w, r)
			close(ended)
		}()
		synctest.Wait() // the stream waits for its next look
		for range ownSessions {
			begin()
		}
		began := time.Now()
		<-ended
		if took := time.Since(began); took != 0 || !strings.Contains(w.Body.String(), "event: region") {
			t.Errorf("the stream has gone on for %v: %s", took, w.Body)
		}
	})
}

// Views and streams share the lists for which files are parsed.
func TestListsAreShared(t *testing.T) {
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Approver))
	s.results.every, s.approved.every, s.held.every = time.Hour, time.Hour, time.Hour
	for range 5 {
		s.get(s.base + "/reports")
		s.get(s.base + "/dictionaries")
		s.get(s.base + "/dictionaries/" + strings.Repeat("ab", 32))
		s.get(s.base + "/releases/" + releaseID)
	}
	if h.reads != 3 {
		t.Errorf("three lists were read %d times", h.reads)
	}
	s.results.every, s.approved.every = 0, 0
	s.get(s.base + "/reports")
	s.get(s.base + "/dictionaries")
	if h.reads != 5 {
		t.Errorf("lists that are old are not read again: %d", h.reads)
	}
}
