package ohttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

func newKey(t testing.TB) *ohttp.Key {
	t.Helper()
	key, err := ohttp.NewKey(7, bytes.Repeat([]byte{3}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// echo answers with the request's content.
func echo(_ context.Context, q *bhttp.Request) *bhttp.Response {
	return &bhttp.Response{Status: 200, Content: []byte(q.Method + " " + q.Path + " " + string(q.Content))}
}

func ask(path, content string) *bhttp.Request {
	return &bhttp.Request{Method: "POST", Scheme: "https", Authority: "a.example", Path: path, Content: []byte(content)}
}

// seen is a gateway that records its requests.
type seen struct {
	http.Handler
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, b)
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(b))
	s.Handler.ServeHTTP(w, r)
}

// route is a client, a relay and a gateway on loopback.
func route(t *testing.T, gateway *ohttp.Gateway, relay *ohttp.Relay) (*ohttp.Client, *seen) {
	t.Helper()
	s := &seen{Handler: gateway}
	g := httptest.NewServer(s)
	t.Cleanup(g.Close)
	relay.Gateway = g.URL
	r := httptest.NewServer(relay)
	t.Cleanup(r.Close)
	return &ohttp.Client{Relay: r.URL, Config: gateway.Keys[0].Config(), Size: 256}, s
}

func TestRoute(t *testing.T) {
	c, s := route(t, &ohttp.Gateway{Keys: []*ohttp.Key{newKey(t)}, Serve: echo}, &ohttp.Relay{})
	for _, content := range []string{"", "yes", strings.Repeat("long", 20)} {
		p, err := c.Do(t.Context(), ask("/package", content))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(p.Content); p.Status != 200 || got != "POST /package "+content {
			t.Errorf("status %d, %q", p.Status, got)
		}
	}
	for i, r := range s.requests {
		if len(s.bodies[i]) != 256+ohttp.Overhead {
			t.Errorf("request %d has %d bytes", i, len(s.bodies[i]))
		}
		if bytes.Contains(s.bodies[i], []byte("package")) {
			t.Error("the request is readable")
		}
		for name := range r.Header {
			if !slices.Contains([]string{"Content-Type", "Content-Length", "Accept-Encoding"}, name) {
				t.Errorf("the relay passed on %s: %s", name, r.Header.Get(name))
			}
		}
	}
	if _, err := c.Do(t.Context(), ask("/package", strings.Repeat("x", 300))); err == nil {
		t.Error("a request above the agreed size was sent")
	}
}

// Fields that a client adds to its request stay at the relay.
func TestRelayStrips(t *testing.T) {
	c, s := route(t, &ohttp.Gateway{Keys: []*ohttp.Key{newKey(t)}, Serve: echo}, &ohttp.Relay{})
	sealed, _, err := c.Config.Encapsulate([]byte{0})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Relay+"/me?id=7", bytes.NewReader(sealed))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {ohttp.RequestType}, "Cookie": {"id=7"}, "User-Agent": {"me"}, "X-Forwarded-For": {"10.1.1.7"}}
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Body.Close()
	if len(s.requests) != 1 {
		t.Fatalf("%d requests", len(s.requests))
	}
	got := s.requests[0]
	for _, name := range []string{"Cookie", "User-Agent", "X-Forwarded-For", "Forwarded", "Via"} {
		if v := got.Header.Get(name); v != "" {
			t.Errorf("%s: %s reached the gateway", name, v)
		}
	}
	if got.URL.RequestURI() != "/" {
		t.Errorf("the gateway sees %s", got.URL)
	}
}

// moved returns how far numbers have moved from one order to another, over all together. Without a first
// order the numbers ascend.
func moved(order, before []int) (distance int) {
	for place, n := range order {
		was := n
		if before != nil {
			was = slices.Index(before, n)
		}
		distance += max(place-was, was-place)
	}
	return distance
}

// Requests of a batch are sent together, and not in the order of their arrival.
func TestRelayMixes(t *testing.T) {
	const batch = 40
	var order []int // order in which they reach the gateway, one at a time
	note := func(ctx context.Context, q *bhttp.Request) *bhttp.Response {
		n, err := strconv.Atoi(string(q.Content))
		if err != nil {
			t.Error(err)
		}
		order = append(order, n)
		return echo(ctx, q)
	}
	c, s := route(t, &ohttp.Gateway{Keys: []*ohttp.Key{newKey(t)}, Serve: note},
		&ohttp.Relay{Batch: batch, Wait: time.Minute, Lanes: 1})
	var before []int
	for round := range 2 {
		order = nil
		var done sync.WaitGroup
		for i := range batch {
			done.Go(func() {
				p, err := c.Do(t.Context(), ask("/", fmt.Sprint(i)))
				if err != nil || string(p.Content) != fmt.Sprint("POST / ", i) {
					t.Errorf("request %d was answered %v, %v", i, p, err)
				}
			})
			time.Sleep(3 * time.Millisecond) // so that the relay has it before the next
			s.mu.Lock()
			early := len(s.requests) - round*batch
			s.mu.Unlock()
			if i < batch-1 && early > 0 {
				t.Fatalf("%d requests left before the batch was full", early)
			}
		}
		done.Wait()
		if len(order) != batch || moved(order, nil) < 250 { // 533 on average in random order, with a deviation of 60
			t.Errorf("requests left in the order %v", order)
		}
		if round > 0 && moved(order, before) < 250 {
			t.Errorf("two batches left in one order, %v and %v", before, order)
		}
		before = order
	}
}

func TestRelayWaitsNoLonger(t *testing.T) {
	c, _ := route(t, &ohttp.Gateway{Keys: []*ohttp.Key{newKey(t)}, Serve: echo}, &ohttp.Relay{Batch: 10, Wait: 20 * time.Millisecond})
	if _, err := c.Do(t.Context(), ask("/", "alone")); err != nil {
		t.Fatal(err)
	}
}

func TestStatus(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{newKey(t)}, Serve: echo, Limit: 400}
	c, _ := route(t, gateway, &ohttp.Relay{Limit: 4096})
	status := func(c *ohttp.Client, q *bhttp.Request) int {
		_, err := c.Do(t.Context(), q)
		var s *ohttp.StatusError
		if !errors.As(err, &s) {
			t.Fatalf("%v", err)
		}
		return s.Status
	}
	large := *c
	large.Size = 1000
	if s := status(&large, ask("/", "")); s != http.StatusRequestEntityTooLarge {
		t.Errorf("the gateway answers a large request %d", s)
	}
	large.Size = 8000
	if s := status(&large, ask("/", "")); s != http.StatusRequestEntityTooLarge {
		t.Errorf("the relay answers a large request %d", s)
	}
	other, err := ohttp.NewKey(7, bytes.Repeat([]byte{4}, 32))
	if err != nil {
		t.Fatal(err)
	}
	wrong := *c
	wrong.Config = other.Config()
	if s := status(&wrong, ask("/", "")); s != http.StatusBadRequest {
		t.Errorf("a request for another key is answered %d", s)
	}
}

// Content that opens but is no request gets a sealed answer.
func TestNoRequest(t *testing.T) {
	key := newKey(t)
	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: echo, Pad: func(int) int { return 100 }}
	sealed, opener, err := key.Config().Encapsulate([]byte{9, 9, 9})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := gateway.Answer(t.Context(), sealed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := opener.Open(answer)
	if err != nil {
		t.Fatal(err)
	}
	p, err := bhttp.ParseResponse(b)
	if err != nil || p.Status != http.StatusBadRequest || len(b) != 100 {
		t.Errorf("%+v of %d bytes, %v", p, len(b), err)
	}
}

func TestReplay(t *testing.T) {
	cache, err := ohttp.NewReplayCache(time.Hour, 2)
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: echo, Replay: cache}
	message, err := ask("/", "once").Encode()
	if err != nil {
		t.Fatal(err)
	}
	seal := func() []byte {
		sealed, _, err := key.Config().Encapsulate(message)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	sealed := seal()
	for i, want := range []error{nil, ohttp.ErrReplayed, ohttp.ErrReplayed} {
		if _, err := gateway.Answer(t.Context(), sealed); !errors.Is(err, want) {
			t.Errorf("time %d: %v", i+1, err)
		}
	}
	if _, err := gateway.Answer(t.Context(), seal()); err != nil {
		t.Errorf("sealed anew: %v", err)
	}
	if _, err := gateway.Answer(t.Context(), seal()); !errors.Is(err, ohttp.ErrCrowded) {
		t.Errorf("beyond the capacity: %v", err)
	}
}

func TestReplayCacheWithoutRoom(t *testing.T) {
	if _, err := ohttp.NewReplayCache(0, 1); err == nil {
		t.Error("a cache that forgets at once")
	}
	if _, err := ohttp.NewReplayCache(time.Hour, 0); err == nil {
		t.Error("a cache that holds nothing")
	}
}

func TestReplayWindows(t *testing.T) {
	cache, err := ohttp.NewReplayCache(time.Minute, 100)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after time.Duration
		want  error
	}{{0, nil}, {59 * time.Second, ohttp.ErrReplayed}, {61 * time.Second, ohttp.ErrReplayed}, {5 * time.Minute, nil}} {
		if err := cache.Admit([]byte("a"), start.Add(c.after)); !errors.Is(err, c.want) {
			t.Errorf("after %v: %v", c.after, err)
		}
	}
}

func TestKeysOverHTTP(t *testing.T) {
	key := newKey(t)
	g := httptest.NewServer(&ohttp.Gateway{Keys: []*ohttp.Key{key}})
	defer g.Close()
	p, err := http.Get(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Body.Close() }()
	b, err := io.ReadAll(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	configs, err := ohttp.ParseKeys(b)
	if err != nil || len(configs) != 1 || !bytes.Equal(configs[0].Encode(), key.Config().Encode()) {
		t.Errorf("%v, %v", configs, err)
	}
}

func TestDial(t *testing.T) {
	for _, proxy := range []string{"http://a:1", "127.0.0.1:9050", "socks5://"} {
		if _, err := ohttp.Dial(proxy, nil, time.Second); err == nil {
			t.Errorf("proxy %s was taken", proxy)
		}
	}
	if _, err := ohttp.Dial("socks5h://127.0.0.1:9050", nil, time.Second); err != nil {
		t.Error(err)
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add(ohttp.EncodeKeys(newKey(f).Config()))
	f.Fuzz(func(t *testing.T, b []byte) {
		configs, err := ohttp.ParseKeys(b)
		if err != nil {
			return
		}
		again, err := ohttp.ParseKeys(ohttp.EncodeKeys(configs...))
		if err != nil || len(again) != len(configs) {
			t.Fatalf("%d configurations, then %d, %v", len(configs), len(again), err)
		}
	})
}

// A configuration that a client accepts has one encoding, and can be used for sealing.
func FuzzParseKeyConfig(f *testing.F) {
	f.Add(newKey(f).Config().Encode())
	f.Add(ohttp.EncodeKeys(newKey(f).Config()))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ohttp.ParseKeyConfig(b)
		if err != nil {
			return
		}
		if again, err := ohttp.ParseKeyConfig(c.Encode()); err != nil || !bytes.Equal(again.Encode(), c.Encode()) {
			t.Errorf("%x is %x, and then %v", b, c.Encode(), err)
		}
		_, _, _ = c.Encapsulate([]byte("0")) // a key that is no point is refused, not more
	})
}

// Only content that was sealed to the key is answered. (Not compared by bytes: every
// fuzzing process seals with new randomness.)
func FuzzAnswer(f *testing.F) {
	key := newKey(f)
	sealed, _, err := key.Config().Encapsulate([]byte("0"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:20])
	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: echo}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := gateway.Answer(t.Context(), b); err != nil {
			return
		}
		if request, _, err := key.Decapsulate(b); err != nil || string(request) != "0" {
			t.Errorf("%x was answered: %q, %v", b, request, err)
		}
	})
}

// Among all answers only the gateway's opens.
func FuzzOpenAnswer(f *testing.F) {
	key := newKey(f)
	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: echo}
	sealed, opener, err := key.Config().Encapsulate([]byte("0"))
	if err != nil {
		f.Fatal(err)
	}
	answer, err := gateway.Answer(f.Context(), sealed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer)
	f.Add(answer[:10])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := opener.Open(b); err == nil && !bytes.Equal(b, answer) {
			t.Errorf("%x was opened", b)
		}
	})
}
