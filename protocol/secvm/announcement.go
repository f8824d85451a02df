package secvm

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// What is asked of whom. All but packages is public, and asked in the open.
const (
	ConfigurationPath = "/configuration" // GET of the gateway: the signed configuration
	AnnouncementPath  = "/announcement"  // GET of the relay, and by it of the gateway: history and weights
	HistoryPath       = "/history"       // POST by the gateway to a witness
	StatementPath     = "/statement"     // GET of a witness: a [Statement]
	PresencePath      = "/presence"      // POST to the relay: a token
	PackagePath       = "/package"       // POST to the gateway, sealed through the relay: a token and a package
	RequestSize       = 512              // bytes of a package's request before it is sealed
)

// Announcement is the gateway's message to all devices before a window opens.
type Announcement struct {
	Chain   Chain
	Weights []byte // as [EncodeWeights] writes them
}

// Encode returns the announcement's bytes.
func (a Announcement) Encode() []byte {
	var w wire.Writer
	w.Bytes32(a.Chain.Encode())
	w.Bytes32(a.Weights)
	return w.Bytes()
}

// AnnouncementLimit bounds an announcement of a model in bytes.
func AnnouncementLimit(p Params) int { return maxChainBytes + 8*p.Features() + 8 }

// DecodeAnnouncement reads what Encode writes. It checks no signature: see
// [Follower].
func DecodeAnnouncement(p Params, b []byte) (Announcement, error) {
	r := wire.NewReader(b)
	chain := r.Bytes32(maxChainBytes)
	a := Announcement{Weights: r.Bytes32(8 * p.Features())}
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

// DecodeSpent reads a content whose token has that number of bytes. The token shares
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
