package devices

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// attacked is a server whose first sum has begun, as `mercer gateway sums` serves it.
type attacked struct {
	*Enrolment
	t       *testing.T
	server  *Service
	address string
	session *protocol.Session
	log     *diary
	devices *http.Client
}

// diary is a log that can be read.
type diary struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *diary) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *diary) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func underAttack(t *testing.T) *attacked {
	t.Helper()
	return underAttackBy(t, 30)
}

func underAttackBy(t *testing.T, devices int) *attacked {
	t.Helper()
	log := &diary{}
	e, s, web := servingWith(t, devices, slog.New(slog.NewTextHandler(log, nil)))
	web.Close()
	a := &attacked{Enrolment: e, t: t, server: s, log: log, devices: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 60}}}
	l, err := endpoint.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.address = l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Serve(ctx, l, s.Handler(), s.Logger) }()
	t.Cleanup(func() {
		a.devices.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if _, err := a.line(0).step(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.session = s.begun[0].box.session
	return a
}

func (a *attacked) line(device int) *line {
	return &line{enrolment: a.Enrolment, server: "http://" + a.address, name: Name(device), key: keyOf(device), http: a.devices, patience: time.Second}
}

// message returns a request by which a device posts a message, and its body. The machine
// refuses the message, which is all the same to the server.
func (a *attacked) message(device, n int) (q *http.Request, body []byte) {
	a.t.Helper()
	h := a.session.Header(Name(device), Server, 0, "AdvertiseKeys")
	h.Sequence = uint32(n)
	body = encode(protocol.Message{Header: h, Body: fmt.Appendf(nil, "message %d", n)})
	q, err := http.NewRequestWithContext(a.t.Context(), "POST", "http://"+a.address+messagesPath+"?"+sessionQuery(0, a.session.ID()).Encode(), bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	a.signer().Sign(q, Name(device), keyOf(device), body)
	return q, body
}

// post makes a request and returns its status.
func (a *attacked) post(q *http.Request) int {
	a.t.Helper()
	r, err := a.devices.Do(q)
	if err != nil {
		a.t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck
	return r.StatusCode
}

// open sends the header of a request and the first byte of its body, and no more.
func (a *attacked) open(q *http.Request) net.Conn {
	a.t.Helper()
	return a.begin(q, "x")
}

// begin sends the header of a request and the beginning of a body.
func (a *attacked) begin(q *http.Request, body string) net.Conn {
	a.t.Helper()
	c, err := net.Dial("tcp", a.address)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = c.Close() })
	var header bytes.Buffer
	fmt.Fprintf(&header, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", q.URL.RequestURI(), q.ContentLength)
	if err := q.Header.Write(&header); err != nil {
		a.t.Fatal(err)
	}
	_, _ = io.WriteString(c, header.String()+"\r\n"+body) // the server may have closed it already
	return c
}

// said returns what a server has answered on a connection.
func said(c net.Conn, within time.Duration) string {
	_ = c.SetReadDeadline(time.Now().Add(within))
	b, _ := io.ReadAll(c)
	return string(b)
}

// Strangers who begin as many messages as they like, in the names of enrolled devices, hold no
// place: they are refused by their headers, and every device's message is taken at once.
func TestStrangersHoldNoPlace(t *testing.T) {
	a := underAttack(t)
	var strangers []net.Conn
	for i := range 300 {
		q, body := a.message(i%30, 0)
		switch i % 3 {
		case 0:
			q.Header.Set("Mercer-Signature", "AAAA")
		case 1:
			a.signer().Sign(q, Name(i%30), keyOf(99), body) // another's key
		case 2:
			q.ContentLength++ // a header that was heard, with a longer body
		}
		strangers = append(strangers, a.open(q))
	}
	for device := range 30 {
		q, _ := a.message(device, 0)
		if got := a.post(q); got != http.StatusOK {
			t.Errorf("%s: status %d", Name(device), got)
		}
	}
	began := time.Now()
	for i, c := range strangers {
		if answer := said(c, 5*time.Second); !strings.HasPrefix(answer, "HTTP/1.1 403") {
			t.Errorf("stranger %d is told %.40q", i, answer)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("strangers are waited for: %v", took)
	}
}

// Thousands of connections of a stranger, who says nothing or half a header on them, keep no
// device out, nor one that comes only then.
func TestManyConnectionsOfAStranger(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	a := underAttack(t)
	for i := range 3000 {
		c, err := net.Dial("tcp", a.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck
		_, _ = io.WriteString(c, "POST /crowd/messages HTTP/1.1\r\nMercer-Device: device-1\r\n"[:i%56])
		if i%150 == 0 {
			q, _ := a.message(i/150, 0)
			if got := a.post(q); got != http.StatusOK {
				t.Errorf("%s beside %d connections: status %d", Name(i/150), i, got)
			}
		}
	}
	a.devices.CloseIdleConnections()
	q, _ := a.message(29, 0)
	if got := a.post(q); got != http.StatusOK {
		t.Errorf("a device that comes late: status %d", got)
	}
	if !strings.Contains(a.log.String(), "strangers open too many connections") {
		t.Error("the operator is not told")
	}
}

// Whoever repeats an overheard header gets the answer that the device got, and holds no place of the
// device: also without the body, and with another one.
func TestAHeaderThatIsRepeated(t *testing.T) {
	a := underAttack(t)
	heard, _ := a.message(0, 0)
	if got := a.post(heard); got != http.StatusOK {
		t.Fatalf("status %d", got)
	}
	c := a.open(heard)
	next, _ := a.message(0, 1)
	if got := a.post(next); got != http.StatusOK {
		t.Errorf("the device's next message beside a header that is repeated: status %d", got)
	}
	if answer := said(c, 2*time.Second); !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("a message that the server has: %.40q", answer)
	}
	other, _ := a.message(0, 2)
	forged := bytes.Repeat([]byte("x"), int(other.ContentLength))
	other.Body, other.GetBody = io.NopCloser(bytes.NewReader(forged)), nil
	if got := a.post(other); got != http.StatusBadRequest || !strings.Contains(a.log.String(), "device=device-1") {
		t.Errorf("another body under a header: status %d, log %s", got, a.log)
	}
}

// A body that does not come in the time of its length is cut off, its device is named, and
// nobody else is delayed.
func TestASlowBodyIsItsDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	a := underAttack(t)
	q, _ := a.message(0, 0)
	c := a.open(q)
	began := time.Now()
	for device := 1; device < 30; device++ {
		other, _ := a.message(device, 0)
		if got := a.post(other); got != http.StatusOK {
			t.Errorf("%s: status %d", Name(device), got)
		}
	}
	again, _ := a.message(0, 0)
	if got := a.post(again); got != http.StatusServiceUnavailable {
		t.Errorf("a second message of the device: status %d", got)
	}
	if answer := said(c, 20*time.Second); !strings.HasPrefix(answer, "HTTP/1.1 400") || time.Since(began) < request.BodyTime(0) {
		t.Errorf("after %v: %.40q", time.Since(began), answer)
	}
	if log := a.log.String(); !strings.Contains(log, "device=device-1 ") || strings.Contains(log, "device=device-2 ") {
		t.Errorf("log %s", log)
	}
}

// A server that has ended its job waits for the devices that went through it, until each has
// said that it needs nothing more, and a new process does not wait for the same devices again.
func TestLingering(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := vault.OpenDisk(filepath.Join(t.TempDir(), "vault"), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close() //nolint:errcheck
	session, err := kept.Create(protocol.SessionID{1}, [32]byte{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lingers := func(finishing ...string) bool {
		b := newBox(&protocol.Session{}, session)
		if err := b.recall(); err != nil {
			t.Fatal(err)
		}
		b.recordStayed([]string{"device-1", "device-3"})
		for _, name := range finishing {
			b.finish(name)
		}
		s := &Service{Config: Config{Enrolment: e, Logger: slog.New(slog.DiscardHandler)}, begun: []*stage{{box: b}}}
		ctx, stop := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer stop()
		if err := s.linger(ctx); err != nil {
			t.Fatal(err)
		}
		return ctx.Err() != nil
	}
	for i, tt := range []struct {
		finishing []string
		want      bool
	}{{nil, true}, {[]string{"device-2"}, true}, {[]string{"device-1"}, true}, {nil, true}, {[]string{"device-3"}, false}, {nil, false}} {
		if got := lingers(tt.finishing...); got != tt.want {
			t.Errorf("process %d, in which %q finish, lingers: %v", i+1, tt.finishing, got)
		}
	}
}

// A farewell of a device is its own.
func TestFarewellsAreSigned(t *testing.T) {
	e, s, web := serving(t)
	b := firstBox(t, lineOf(e, web, 0), s)
	if err := lineOf(e, web, 0).farewell(t.Context(), 0, b.session.ID()); err != nil {
		t.Error(err)
	}
	stranger := lineOf(e, web, 1)
	stranger.key = keyOf(99)
	if err := stranger.farewell(t.Context(), 0, b.session.ID()); err == nil {
		t.Error("a stranger says farewell in the name of a device")
	}
	if finished, _ := b.finishedAndMissing(); len(finished) != 1 || finished[0] != "device-1" {
		t.Errorf("finished: %q", finished)
	}
}
