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

// fresh is for how long an announcement is passed on before the gateway is asked
// again.
const fresh = time.Second / 2

// news keeps the gateway's announcement, which is public and equal for all devices. The
// gateway sees one request for many devices.
type news struct {
	client *http.Client
	url    string

	mu   sync.Mutex
	at   time.Time
	last []byte
}

func (n *news) serve(w http.ResponseWriter, _ *http.Request) {
	b, err := n.get()
	if err != nil {
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
		return
	}
	endpoint.Answer(w, b)
}

// get asks the gateway, unless that was done just now.
func (n *news) get() ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last != nil && time.Since(n.at) < fresh {
		return n.last, nil
	}
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
		return nil, fmt.Errorf("relay: the gateway answers %s with %d bytes", r.Status, len(b))
	}
	n.last, n.at = b, time.Now()
	return b, nil
}

// maxAnnouncement bounds the announcement that is passed on, in bytes: weights of 2^20 bins and
// a long history.
const maxAnnouncement = 2 * ohttp.MaxMessage
