package page

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
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
	h := coordinatorHome()
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
	h := coordinatorHome()
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
	one := s.sessions.open[0]
	done, ok := s.sessions.stream(&session{streams: maxStreams - 1})
	if !ok {
		t.Fatal("no place")
	}
	done()
	if _, ok := s.sessions.stream(one); ok {
		t.Error("a place too many")
	}
}
