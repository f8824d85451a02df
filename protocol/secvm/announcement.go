package secvm

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/wire"
)

// What devices ask a gateway for, all through the relay, in requests of
// RequestSize bytes before they are sealed.
const (
	ConfigurationPath = "/configuration" // GET: the signed configuration
	AnnouncementPath  = "/announcement"  // GET: history and weights
	PackagePath       = "/package"       // POST: a token and a package
	RequestSize       = 512
)

// Announcement is what the gateway tells all devices when a window is to open.
type Announcement struct {
	Chain   Chain
	Weights []byte // as [EncodeWeights] writes them
}

// spareLinks is for how many windows that have to be held again there is room
// before answers grow.
const spareLinks = 16

// Encode returns the announcement's bytes: always as many for a model, unless
// many windows had to be held again.
func (a Announcement) Encode(c *Configuration) []byte {
	links := (c.Iterations + spareLinks + len(a.Chain)) / (c.Iterations + spareLinks) * (c.Iterations + spareLinks)
	room := links*(linkSize+64) + 12 + 8*c.Params.Features()
	var w wire.Writer
	w.Grow(room)
	w.Bytes32(a.Chain.Encode())
	w.Bytes32(a.Weights)
	w.Fixed(make([]byte, max(0, room-len(w.Bytes()))))
	return w.Bytes()
}

// DecodeAnnouncement reads what Encode writes. It checks no signature: see
// [Follower].
func DecodeAnnouncement(p Params, b []byte) (Announcement, error) {
	r := wire.NewReader(b)
	chain := r.Bytes32(maxChain*(linkSize+64) + 4)
	a := Announcement{Weights: r.Bytes32(8 * p.Features())}
	for _, c := range r.Rest() {
		if c != 0 {
			r.Fail(errors.New("padding that is not zero"))
		}
	}
	err := r.Close("secvm: announcement")
	if err == nil {
		a.Chain, err = DecodeChain(chain)
	}
	return a, err
}

// Spent is a package with the token that pays for it.
type Spent struct {
	Token []byte
	Package
}

// Encode returns the content of a request.
func (s Spent) Encode() []byte { return s.Append(append([]byte(nil), s.Token...)) }

// ErrTokenless is a package without a token.
var ErrTokenless = errors.New("secvm: a package without a token")

// DecodeSpent reads a content whose token has so many bytes. The token shares
// b.
func DecodeSpent(b []byte, token int) (Spent, error) {
	switch {
	case len(b) == PackageSize:
		return Spent{}, ErrTokenless
	case len(b) != token+PackageSize:
		return Spent{}, fmt.Errorf("secvm: a content of %d bytes, where token and package have %d", len(b), token+PackageSize)
	}
	p, err := DecodePackage(b[token:])
	return Spent{b[:token], p}, err
}
