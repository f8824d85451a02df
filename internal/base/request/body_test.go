package request

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// clocked is an answer whose request has a clock.
type clocked struct {
	http.ResponseWriter
	deadlines []time.Time
}

func (c *clocked) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

// A body must arrive within the time for its length; later reads have no limit.
func TestABodyHasTimeByItsLength(t *testing.T) {
	w := &clocked{ResponseWriter: httptest.NewRecorder()}
	q := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 640<<10)))
	before := time.Now()
	body, err := ReadBody(w, q, 1<<20)
	if err != nil || len(body) != 640<<10 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	if len(w.deadlines) != 2 || w.deadlines[0].Before(before.Add(15*time.Second)) || w.deadlines[0].After(time.Now().Add(15*time.Second)) || !w.deadlines[1].IsZero() {
		t.Errorf("deadlines %v after %v", w.deadlines, before)
	}
	if short, long := BodyTime(0), BodyTime(64<<10); short != 5*time.Second || long != 6*time.Second {
		t.Errorf("nothing has %v, 64 KiB have %v", short, long)
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"no length":      func(q *http.Request) { q.ContentLength = -1 },
		"too long":       func(q *http.Request) { q.ContentLength = 9 },
		"cut off":        func(q *http.Request) { q.ContentLength = 7 },
		"slower than it": func(q *http.Request) { q.Body = slow{} },
	} {
		q := httptest.NewRequest("POST", "/", strings.NewReader("sixsix"))
		change(q)
		if b, err := ReadBody(&clocked{ResponseWriter: httptest.NewRecorder()}, q, 8); err == nil {
			t.Errorf("%s: %q", name, b)
		}
	}
	q := httptest.NewRequest("POST", "/", strings.NewReader("sixsix"))
	if b, err := ReadBody(httptest.NewRecorder(), q, 8); err == nil {
		t.Errorf("without a clock: %q", b)
	}
}

// slow is a body that does not arrive in time.
type slow struct{}

func (slow) Read(b []byte) (int, error) { return iotest.ErrReader(iotest.ErrTimeout).Read(b) }
func (slow) Close() error               { return nil }

// The server does not wait for a refused body.
func TestUnreadBodies(t *testing.T) {
	w := &clocked{ResponseWriter: httptest.NewRecorder()}
	Unread(w)
	if len(w.deadlines) != 1 || time.Until(w.deadlines[0]) > 0 || w.Header().Get("Connection") != "close" {
		t.Errorf("deadlines %v, %v", w.deadlines, w.Header())
	}
	Unread(httptest.NewRecorder())
}
