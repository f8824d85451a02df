package okra

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 2, Announce: each party announces the number and the width of its rows to the server. The
// announcement also has a tag. Parties with the same seed, settings and number of features send
// equal tags. When all announcements agree, the server allows every party to send its rows. Without
// the grant, rows would wait in queues until the slowest party has announced.
const (
	roundAnnounce = 2
	kindAnnounce  = "Announce"
	kindGrant     = "Grant" // the message has no body
	// maxRows limits the rows that one party can announce.
	maxRows = 1 << 26
)

// Tag is the HMAC-SHA256, under the epoch's seed, of the settings on which all parties must agree:
// the parameters, the number f of features, the number k of extra dimensions, and a session's ID.
// The server only compares tags; they reveal nothing else to it.
type Tag [sha256.Size]byte

func newTag(p Params, epoch Seed, f int, session protocol.SessionID) (t Tag) {
	var w wire.Writer
	w.String("mercer/v1/okra/tag")
	w.Bytes32(p.Encode())
	w.Uint32(uint32(f))
	w.Uint32(uint32(Padding(f)))
	w.Fixed(session[:])
	h := hmac.New(sha256.New, epoch[:])
	h.Write(w.Bytes())
	return Tag(h.Sum(nil))
}

type announce struct {
	tag      Tag
	rows     int
	width    int // number of coordinates of an encoded row
	wire     int // bytes of an encoded number: 4 or 8
	grid     bool
	labelled bool
}

func (a announce) encode() []byte {
	var w wire.Writer
	w.Fixed(a.tag[:])
	w.Uint32(uint32(a.rows))
	w.Uint32(uint32(a.width))
	w.Uint8(uint8(a.wire))
	w.Bool(a.grid)
	w.Bool(a.labelled)
	return w.Bytes()
}

// readAnnounce decodes an announcement without checking its values.
func readAnnounce(r *wire.Reader) (a announce) {
	r.Fixed(a.tag[:])
	a.rows = int(r.Uint32())
	a.width = int(r.Uint32())
	a.wire = int(r.Uint8())
	a.grid = r.Bool()
	a.labelled = r.Bool()
	return a
}

func decodeAnnounce(body []byte) (announce, error) {
	r := wire.NewReader(body)
	a := readAnnounce(r)
	if r.Err() == nil {
		if err := checkShape(a.rows, a.width, a.wire); err != nil {
			r.Fail(err)
		}
	}
	return a, r.Close("okra: announcement")
}

// checkShape refuses an announced table that is too large or has numbers of an unknown size.
func checkShape(rows, width, word int) error {
	switch {
	case rows < 1 || rows > maxRows:
		return fmt.Errorf("the table has %d rows; 1 to %d are allowed", rows, maxRows)
	case width < 1 || width > 2*MaxFeatures:
		return fmt.Errorf("the encoded width is %d; 1 to %d are allowed", width, 2*MaxFeatures)
	case word != 4 && word != 8:
		return fmt.Errorf("each number has %d bytes; 4 or 8 are allowed", word)
	}
	return nil
}

// compareAnnouncements returns an error that names the parties whose announcements differ from the
// leader's. The tags are no secret from the server, so the comparison in constant time is only a
// precaution.
func compareAnnouncements(leader *source, sources []*source) error {
	var odd, unlabelled []string
	for _, s := range sources {
		if s.announce.width != leader.announce.width || !hmac.Equal(s.announce.tag[:], leader.announce.tag[:]) {
			odd = append(odd, s.name)
		}
		if s.announce.labelled != leader.announce.labelled {
			unlabelled = append(unlabelled, s.name)
		}
	}
	switch {
	case odd != nil:
		return &MismatchError{Parties: odd, Detail: fmt.Sprintf("%s encoding parameters differ from those of the leader (%s): features, seed or settings are not the same", possessive(odd), leader.name)}
	case unlabelled != nil:
		return &MismatchError{Parties: unlabelled, Detail: fmt.Sprintf("%s and the leader (%s) do not agree on whether rows have labels", joinNames(unlabelled), leader.name)}
	}
	return nil
}

// joinNames joins names: "south", "south and east", "south, east and west".
func joinNames(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func possessive(names []string) string { return joinNames(names) + "'s" }
