package relay

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/ohttp"
)

// fresh is the time for which the relay reuses the gateway's answer, or its failure to answer,
// before it asks the gateway again.
const fresh = time.Second / 2

// news keeps the gateway's announcement, which is public and equal for all devices. The
// gateway sees one request for many devices.
type news struct {
	client *http.Client
	url    string

	mu   sync.Mutex
	last *issue // the newest, which may not have arrived yet
}

// issue holds the outcome of one request to the gateway.
type issue struct {
	done chan struct{} // closed when the answer, or an error, has arrived
	at   time.Time
	body []byte
	err  error
}

func (n *news) serve(w http.ResponseWriter, q *http.Request) {
	i := n.newest()
	select {
	case <-i.done:
	case <-q.Context().Done(): // the client has left
		return
	}
	if i.err != nil {
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
		return
	}
	endpoint.Answer(w, i.body)
}

// newest returns the last issue, or a new one if the last is old. It does not wait, and the
// gateway has one request at a time, however many devices wait for its answer.
func (n *news) newest() *issue {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil || n.last.old() {
		n.last = &issue{done: make(chan struct{})}
		go n.fetch(n.last)
	}
	return n.last
}

// old reports whether an issue has arrived, and longer ago than fresh.
func (i *issue) old() bool {
	select {
	case <-i.done:
		return time.Since(i.at) >= fresh
	default:
		return false
	}
}

// fetch requests an issue from the gateway, within the client's timeout.
func (n *news) fetch(i *issue) {
	defer close(i.done)
	i.body, i.err = n.get()
	i.at = time.Now()
}

func (n *news) get() ([]byte, error) {
	r, err := n.client.Get(n.url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(r.Body, maxAnnouncement+1))
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode != http.StatusOK || len(b) > maxAnnouncement:
		return nil, fmt.Errorf("relay: the gateway's answer has status %s and %d bytes; it must have status 200 and not be too large", r.Status, len(b))
	}
	return b, nil
}

// maxAnnouncement bounds the bytes of an announcement: weights of 2^20 bins and a long
// history.
const maxAnnouncement = 2 * ohttp.MaxMessage
