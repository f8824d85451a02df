package crowd

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/protocol"
)

// That a session is over at the server ends nothing at the device: its mail is closed behind
// the messages that have come, with the server's words as the reason.
func TestMailIsClosedBehindItsMessages(t *testing.T) {
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	m := protocol.Message{Header: protocol.Header{Protocol: "secagg", Sender: Server, Receiver: Name(0), Kind: "Cohort", Chunks: 1}, Body: []byte("x")}
	asked := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 {
			http.Error(w, "gone on", http.StatusGone)
			return
		}
		_, _ = w.Write(bytes.Join(pieces([]protocol.Message{m}), nil))
	}))
	defer web.Close()
	d := &deviceMail{line: lineOf(e, web, 0), in: make(chan driver.Inbound, room)}
	if err := d.fetch(t.Context()); err != nil {
		t.Fatalf("a session that is over at the server: %v", err)
	}
	one, open := <-d.In()
	if !open || string(one.Message.Body) != "x" {
		t.Fatalf("%v, %v", one.Message, open)
	}
	if _, open := <-d.In(); open || d.why() == nil {
		t.Errorf("open %v, reason %v", open, d.why())
	}
	if err := one.Later(time.Millisecond); err != nil { // as a machine may ask, to no avail
		t.Error(err)
	}
}
