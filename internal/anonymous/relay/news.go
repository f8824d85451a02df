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

// fresh is the time for which the relay reuses the gateway's last answer, even a failure, before
// the relay sends the next request.
const fresh = time.Second / 2

// news caches the gateway's announcement, which is public and equal for all devices. Many
// requests of devices cause one request to the gateway.
type news struct {
	client *http.Client
	url    string

	mu   sync.Mutex
	last *issue // the latest request to the gateway, which might not be answered yet
}

// issue holds the answer to one request to the gateway, or its error.
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
	case <-q.Context().Done(): // the client has disconnected
		return
	}
	if i.err != nil {
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
		return
	}
	endpoint.Answer(w, i.body)
}

// newest returns the latest issue. If that issue is old, newest starts a new request to the
// gateway. It does not wait for the answer, and starts at most one request at a time.
func (n *news) newest() *issue {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil || n.last.old() {
		n.last = &issue{done: make(chan struct{})}
		go n.fetch(n.last)
	}
	return n.last
}

// old reports whether the answer is too old for reuse. The limit is the constant fresh.
func (i *issue) old() bool {
	select {
	case <-i.done:
		return time.Since(i.at) >= fresh
	default:
		return false
	}
}

// fetch requests the announcement from the gateway and stores the result in i. The client's
// timeout limits the request.
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
		return nil, fmt.Errorf("relay: the gateway's answer has status %s and %d bytes; the status must be 200 and the size within the limit", r.Status, len(b))
	}
	return b, nil
}

// maxAnnouncement is the largest accepted size of an announcement in bytes. It allows weights of
// 2^20 bins and a long history.
const maxAnnouncement = 2 * ohttp.MaxMessage
