package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
)

// sighting is all that a server sees of one request, but for the address that
// it comes from.
type sighting struct {
	at       time.Time
	from     string
	method   string
	path     string
	header   string // sorted lines
	body     []byte
	answered int // bytes
}

// watcher notes what a handler sees.
type watcher struct {
	next http.Handler
	mu   sync.Mutex
	seen []sighting
}

func (o *watcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := sighting{at: time.Now(), from: r.RemoteAddr, method: r.Method, path: r.URL.String()}
	var lines []string
	for name, values := range r.Header {
		lines = append(lines, fmt.Sprint(name, values))
	}
	slices.Sort(lines)
	s.header = strings.Join(lines, "\n")
	s.body, _ = io.ReadAll(r.Body) // a request that ends early is refused below
	r.Body = io.NopCloser(bytes.NewReader(s.body))
	answer := httptest.NewRecorder()
	o.next.ServeHTTP(answer, r)
	s.answered = answer.Body.Len()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a caller that has left asks again
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, s)
}

// Attack: link packages by size, by what requests look like, by what their bytes
// have in common, or by when they come. Relay and gateway see every byte; the
// devices among them are the same in all of it.
func TestAttackLinkRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, privacypass.BlindRSA, 20, nil)
	atRelay, atGateway := &watcher{next: w.atRelay}, &watcher{next: w.atGateway}
	w.atRelay, w.atGateway = atRelay, atGateway
	w.expect(w.run(nil))
	for name, o := range map[string]*watcher{"relay": atRelay, "gateway": atGateway} {
		t.Run(name, func(t *testing.T) {
			alike(t, o.seen)
			share := nothingInCommon(t, o.seen)
			t.Logf("%d requests; bytes that all share: %d of %d", len(o.seen), share, len(o.seen[0].body))
		})
	}
	uniformOver(t, w, atRelay.seen)
}

// alike checks that requests differ in nothing but their sealed bytes, and
// answers in their kind only.
func alike(t *testing.T, seen []sighting) {
	t.Helper()
	answers := map[int]bool{}
	for _, s := range seen {
		first := seen[0]
		if s.method != first.method || s.path != first.path || s.header != first.header || len(s.body) != len(first.body) {
			t.Fatalf("a request of %d bytes, %s %s\n%s\nwhere another has %d, %s %s\n%s", len(s.body), s.method, s.path, s.header, len(first.body), first.method, first.path, first.header)
		}
		answers[s.answered] = true
	}
	// Packages, announcements, the configuration.
	if len(answers) != 3 {
		t.Errorf("answers of %v bytes", answers)
	}
	for _, name := range []string{"Cookie", "User-Agent", "X-Forwarded-For", "Forwarded", "Date", "Via"} {
		if strings.Contains(seen[0].header, name+"[") {
			t.Errorf("a header %s: %s", name, seen[0].header)
		}
	}
}

const ohttpHeader = 7

// nothingInCommon checks that no two requests share eight bytes in a row after
// the header that all have, and returns how long that is.
func nothingInCommon(t *testing.T, seen []sighting) int {
	t.Helper()
	shared := 0
	for slices.IndexFunc(seen, func(s sighting) bool { return s.body[shared] != seen[0].body[shared] }) < 0 {
		shared++
	}
	if shared != ohttpHeader { // key, algorithms: RFC 9458, section 4.3
		t.Errorf("the requests share %d bytes, where the header has %d", shared, ohttpHeader)
	}
	where := map[[8]byte]int{}
	for i, s := range seen {
		for at := shared; at+8 <= len(s.body); at++ {
			window := [8]byte(s.body[at:])
			if other, known := where[window]; known && other != i {
				t.Fatalf("requests %d and %d share %x", other, i, window)
			}
			where[window] = i
		}
	}
	return shared
}

// uniformOver checks by a test of Kolmogorov and Smirnov that packages reach the
// relay uniformly over the window.
func uniformOver(t *testing.T, w *world, seen []sighting) {
	t.Helper()
	const packages = 20 * 5
	// The fetches before a window and those after it are not in it.
	for i, opens := range w.gateway.Opens() {
		var times []float64
		for _, s := range seen {
			if at := s.at.Sub(opens).Seconds() / w.config.Window.Seconds(); at >= 0 && at < 1 {
				times = append(times, at)
			}
		}
		if len(times) < packages*9/10 {
			t.Errorf("window %d: %d requests, where %d packages were sent", i, len(times), packages)
			continue
		}
		slices.Sort(times)
		d := 0.
		for k, x := range times {
			d = max(d, x-float64(k)/float64(len(times)), float64(k+1)/float64(len(times))-x)
		}
		// 1.95: exceeded once in a thousand windows.
		if limit := 1.95 / math.Sqrt(float64(len(times))); d > limit {
			t.Errorf("window %d: the arrivals are %.3f from uniform, where %.3f is allowed", i, d, limit)
		}
	}
}

// Attack: a relay that sends every request twice, or sends it again later, to
// see what changes. The gateway counts once, and the answers look alike.
func TestAttackReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, privacypass.BlindRSA, 20, nil)
	inner := w.atGateway
	w.atGateway = http.HandlerFunc(func(r http.ResponseWriter, q *http.Request) {
		b, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		twice := [2]*httptest.ResponseRecorder{httptest.NewRecorder(), httptest.NewRecorder()}
		for _, answer := range twice {
			again := httptest.NewRequest(q.Method, "/", bytes.NewReader(b))
			again.Header.Set("Content-Type", ohttp.RequestType)
			inner.ServeHTTP(answer, again)
		}
		if twice[0].Body.Len() != twice[1].Body.Len() {
			t.Errorf("answers of %d and %d bytes", twice[0].Body.Len(), twice[1].Body.Len())
		}
		r.Header().Set("Content-Type", ohttp.ResponseType)
		r.WriteHeader(twice[0].Code)
		_, _ = r.Write(twice[0].Body.Bytes()) // a caller that has left asks again
	})
	w.expect(w.run(nil))
}
