package relay

import (
	"io"
	"net/http"
	"sync"

	"github.com/mercer-fl/mercer/internal/anonymous/witness"
	"github.com/mercer-fl/mercer/privacypass"
)

// presence records which tokens devices have shown for one window. It is kept in memory
// only: a device shows its token again while it waits for others.
type presence struct {
	mu     sync.Mutex
	links  int // of the history, the last of which is the window's
	nonces map[[32]byte]struct{}
}

// add notes a token for a window, and forgets those for another one.
func (p *presence) add(links int, nonce [32]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links != links || p.nonces == nil {
		p.links, p.nonces = links, map[[32]byte]struct{}{}
	}
	p.nonces[nonce] = struct{}{}
}

// count returns the number of tokens that have been shown for the last window.
func (p *presence) count(s witness.Standing) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links != s.Links {
		return 0
	}
	return len(p.nonces)
}

// maxToken bounds a token in bytes.
const maxToken = 1 << 10

// greet takes a device's token for the last window. The relay learns nothing by
// it: the token is blind.
func (r *Relay) greet(w http.ResponseWriter, q *http.Request) {
	s := r.witness.Standing()
	var status int
	b, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxToken))
	switch {
	case err != nil:
		status = http.StatusBadRequest
	case s.Configuration == nil || s.Links == 0:
		status = http.StatusServiceUnavailable
	default:
		var nonce [32]byte
		if nonce, status = check(s, b); status == http.StatusOK {
			r.presence.add(s.Links, nonce)
		}
	}
	if status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
	}
}

// check checks a token of a device for the last window's iteration.
func check(s witness.Standing, b []byte) (nonce [32]byte, status int) {
	t, err := privacypass.ParseToken(b)
	if err != nil {
		return nonce, http.StatusForbidden
	}
	want := s.Configuration.PresenceToken(s.Iteration).Digest()
	if t.Challenge != want {
		return nonce, http.StatusConflict
	}
	v, err := privacypass.NewRSAVerifier(s.Configuration.TokenKeys[s.Iteration])
	if err != nil || v.Verify(t, want) != nil {
		return nonce, http.StatusForbidden
	}
	return t.Nonce, http.StatusOK
}
