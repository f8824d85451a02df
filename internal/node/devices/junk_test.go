package devices

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/protocol"
)

// junk begins a device's longest body, of which it leaves out the last byte. It is no message.
func (a *attacked) junk(device, n int) net.Conn {
	body := bytes.Repeat([]byte{0xff}, maxPostBytes)
	copy(body, fmt.Sprint("x", n)) // open sends an x
	c := a.open(a.request(device, body))
	_, _ = c.Write(body[1 : len(body)-1]) // where there is no place the server may have closed it
	return c
}

// request returns a request by which a device posts a body.
func (a *attacked) request(device int, body []byte) *http.Request {
	a.t.Helper()
	q, err := http.NewRequestWithContext(a.t.Context(), "POST", "http://"+a.address+messagesPath+"?"+sessionQuery(0, a.session.ID()).Encode(), bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	a.signer().Sign(q, Name(device), keyOf(device), body)
	return q
}

// underWay returns the bytes that may come of each kind of devices.
func (d *desks) underWay() [len(readLimits)]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reading
}

// times returns how often a device was late.
func (d *desks) times(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of[name] == nil {
		return 0
	}
	return d.of[name].late
}

// Adversary: as many enrolled devices as there is room for send bodies of junk that come whole and in
// time, again and again. They keep others out once, are named, and have less room each time.
func TestJunkThatComesInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	const liars = maxPrompt / maxPostBytes
	a := underAttackBy(t, liars+12)
	for round, want := range [][len(readLimits)]int64{{maxPrompt, 0, 0}, {0, maxLate, 0}} {
		var held []net.Conn
		for i := range liars {
			held = append(held, a.junk(i, round))
		}
		for began := time.Now(); a.server.desks.underWay() != want; time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("round %d: %d bytes may come, want %d", round, a.server.desks.underWay(), want)
			}
		}
		honest, status := liars+1, map[bool]int{true: http.StatusServiceUnavailable, false: http.StatusOK}[round == 0]
		q, _ := a.message(honest, round)
		if got := a.post(q); got != status {
			t.Errorf("round %d: an honest device is answered %d, want %d", round, got, status)
		}
		for _, c := range held {
			_, _ = c.Write([]byte{0xff})
		}
		for _, c := range held {
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, _ = io.ReadFull(c, make([]byte, len("HTTP/1.1 400")))
			_ = c.Close()
		}
	}
	log := a.log.String()
	for i := range liars {
		if !strings.Contains(log, "device="+Name(i)+" ") {
			t.Errorf("%s is not named", Name(i))
		}
	}
	if strings.Contains(log, "device="+Name(liars+1)+" ") {
		t.Error("an honest device is named")
	}
}

// Each body that is no message of its device, or comes slowly, makes the device late. A message that
// the machine refuses does not.
func TestWhatMakesADeviceLate(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	a := underAttack(t)
	ask := func(q *http.Request, want int) {
		t.Helper()
		if got := a.post(q); got != want {
			t.Errorf("status %d, want %d", got, want)
		}
	}
	message := func(sender int, body string) []byte {
		return encode(protocol.Message{Header: a.session.Header(Name(sender), Server, 0, "AdvertiseKeys"), Body: []byte(body)})
	}
	other, _ := a.message(0, 1)
	other.Body, other.GetBody = io.NopCloser(bytes.NewReader(make([]byte, other.ContentLength))), nil
	ask(other, http.StatusBadRequest)
	ask(a.request(1, []byte("none")), http.StatusBadRequest)
	ask(a.request(2, message(3, "in another's name")), http.StatusBadRequest)
	ask(a.request(3, message(3, "refused")), http.StatusOK)

	slow, body := a.message(4, 0)
	c := a.begin(slow, string(body[:1]))
	time.Sleep(request.BodyTime(slow.ContentLength)/2 + 50*time.Millisecond)
	if _, err := c.Write(body[1:]); err != nil {
		t.Fatal(err)
	}
	if answer := said(c, time.Second); !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("a slow message: %.40q", answer)
	}
	for device, want := range []int{1, 1, 1, 0, 1} {
		if got := a.server.desks.times(Name(device)); got != want {
			t.Errorf("%s was late %d times, want %d", Name(device), got, want)
		}
		if named := strings.Contains(a.log.String(), `malformed message" device=`+Name(device)+" "); named != (want > 0) {
			t.Errorf("%s is named: %v", Name(device), named)
		}
	}
}

// Adversary: one enrolled device that sends messages without end, which the machine refuses, and bodies
// of junk beside them. The server keeps and logs few of them, and hears the others.
func TestRefusedMessagesEnd(t *testing.T) {
	t.Parallel()
	a := underAttack(t)
	const many = 3 * maxRefused
	codes := make(map[int]int)
	for i := range many {
		q, _ := a.message(0, i)
		codes[a.post(q)]++
	}
	for range many {
		if got := a.post(a.request(1, []byte("none"))); got != http.StatusBadRequest {
			t.Fatalf("junk: status %d", got)
		}
	}
	if codes[http.StatusOK] != maxRefused || codes[http.StatusGone] != many-maxRefused {
		t.Errorf("statuses %v", codes)
	}
	q, _ := a.message(2, 0)
	if got := a.post(q); got != http.StatusOK {
		t.Errorf("another device: status %d", got)
	}
	a.server.mu.Lock()
	b := a.server.begun[0].box
	a.server.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.held) > maxRefused+1 {
		t.Errorf("%d messages are held that no journal has", len(b.held))
	}
	if lines := strings.Count(a.log.String(), "\n"); lines < 2*16 || lines > 2*16+10 {
		t.Errorf("the log has %d lines", lines)
	}
}
