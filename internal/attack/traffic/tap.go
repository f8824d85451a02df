package traffic

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tap forwards connections to an HTTP/1.1 server, byte for byte, and records their content.
type Tap struct {
	dial func() (net.Conn, error) // connects to the server

	mu          sync.Mutex
	seen        []Exchange
	connections int
	errs        error
}

// Exchange holds one request and its answer as they were on the wire.
type Exchange struct {
	At         time.Time // time at which the whole request had arrived
	Connection int       // number of the connection, counted from 1
	From       string    // network address of the sender
	Request    Message
	Answer     Message // empty if the server did not answer
}

// Message holds the bytes of a request or of an answer.
type Message struct {
	Head string // first line and header fields, including the empty line
	Body []byte
}

// NewTap returns a tap that forwards to the server that dial connects to.
func NewTap(dial func() (net.Conn, error)) *Tap { return &Tap{dial: dial} }

// Serve forwards the connections that a listener accepts, until the listener is closed.
func (t *Tap) Serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go t.pass(client)
	}
}

// Seen returns all recorded exchanges in the order in which the requests arrived. The error
// names the messages that could not be read.
func (t *Tap) Seen() ([]Exchange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Exchange(nil), t.seen...), t.errs
}

func (t *Tap) pass(client net.Conn) {
	defer client.Close() //nolint:errcheck // the process at the other end notices
	server, err := t.dial()
	if err != nil { // the client sees a closed connection, as from a missing server
		return
	}
	defer server.Close() //nolint:errcheck
	t.mu.Lock()
	t.connections++
	number := t.connections
	t.mu.Unlock()
	asking, answering := bufio.NewReader(client), bufio.NewReader(server)
	for {
		request, err := read(asking)
		if err != nil {
			t.note(err)
			return
		}
		at := t.begin(Exchange{At: time.Now(), Connection: number, From: client.RemoteAddr().String(), Request: request})
		if request.write(server) != nil {
			return
		}
		answer, err := read(answering)
		if err != nil {
			t.note(err)
			return
		}
		t.mu.Lock()
		t.seen[at].Answer = answer
		t.mu.Unlock()
		if answer.write(client) != nil {
			return
		}
	}
}

// begin records a request, and returns its index in seen.
func (t *Tap) begin(e Exchange) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, e)
	return len(t.seen) - 1
}

// note records the error of a malformed message. The end of a connection is not an error.
func (t *Tap) note(err error) {
	if !errors.Is(err, errShape) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errs = errors.Join(t.errs, err)
}

func (m Message) write(to io.Writer) error {
	_, err := io.WriteString(to, m.Head+string(m.Body))
	return err
}

// errShape is returned for a message whose header does not give the message's length. No program
// in these tests sends such a message.
var errShape = errors.New("traffic: the header of the message does not give the message's length")

const maxMessage = 16 << 20

// read reads one message. Its header must give the length of the body.
func read(r *bufio.Reader) (Message, error) {
	var head bytes.Buffer
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return Message{}, err
		}
		head.Write(line)
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			break
		}
	}
	m := Message{Head: head.String()}
	fields := textproto.NewReader(bufio.NewReader(&head))
	if _, err := fields.ReadLine(); err != nil {
		return m, err
	}
	h, err := fields.ReadMIMEHeader()
	if err != nil {
		return m, fmt.Errorf("%w: %w", errShape, err)
	}
	length := h.Get("Content-Length")
	if length == "" && strings.HasPrefix(m.Head, "GET ") {
		length = "0"
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > maxMessage || h.Get("Transfer-Encoding") != "" {
		return m, fmt.Errorf("%w:\n%s", errShape, m.Head)
	}
	m.Body = make([]byte, n)
	_, err = io.ReadFull(r, m.Body)
	return m, err
}
