package okra

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Digest is a hash of all data that a party has sent in the sessions of an epoch. Each session
// hashes the previous digest, the labels and the encoded rows as sent. The digest reveals nothing
// that the server does not hold.
type Digest [sha256.Size]byte

// segment returns the bytes with which the hash of one session's data begins. The labels and the
// rows of the session follow.
func (d Digest) segment(rows, width int) []byte {
	var w wire.Writer
	w.String("mercer/v1/okra/sent")
	w.Fixed(d[:])
	w.Uint32(uint32(rows))
	w.Uint32(uint32(width))
	return w.Bytes()
}

// Part describes the rows that a server keeps from one party.
type Part struct {
	Party string
	Rows  int
	Sent  Digest
	Grid  bool // the party has stated that its values lie on a grid
	first int  // index of the party's first row in the Gram matrix
}

// Base holds the data that a server keeps of a session so that a later session can continue it: the
// encoded rows, their labels and their Gram matrix. Anyone with a Base and the epoch's seed can
// read every row.
type Base struct {
	Origin  protocol.SessionID // the session with which the epoch began
	Session protocol.SessionID // the last session of the epoch
	Tag     Tag
	Width   int
	Parts   []Part // one for each party, in the row order of the Gram matrix

	labelled bool
	rows     store
	labels   []string
	test     []bool
	gram     linalg.Matrix[float64]
}

// Base returns the data from which a later session can continue this one. It is valid once this
// session has ended without error. The data share memory with the server.
func (s *Server) Base() *Base {
	b := &Base{
		Origin: s.setup.Session.ID(), Session: s.setup.Session.ID(), Tag: s.Tag(), Width: s.Width(),
		labelled: s.labelled(), rows: s.store, labels: s.labels, test: s.test, gram: s.Gram(),
	}
	if s.base != nil {
		b.Origin = s.base.Origin
	}
	for _, from := range s.sources {
		b.Parts = append(b.Parts, s.keptPart(from))
	}
	return b
}

// keptPart returns the description of one party's rows in the new base.
func (s *Server) keptPart(from *source) Part {
	part := Part{Party: from.name, Rows: from.kept + from.announce.rows, Grid: from.announce.grid, first: from.first}
	if s.base != nil {
		old := s.base.partOf(from.name)
		part.Sent, part.Grid = old.Sent, part.Grid || old.Grid
	}
	if from.announce.rows > 0 {
		part.Sent = s.digest(part.Sent, from)
	}
	return part
}

// digest extends a party's Digest by the data that the party has sent in this session.
func (s *Server) digest(before Digest, from *source) Digest {
	h := sha256.New()
	h.Write(before.segment(from.announce.rows, s.Width()))
	var w wire.Writer
	for i := from.firstNew(); i < from.end(); i++ {
		w.String(s.labels[i])
		w.Bool(s.test[i])
	}
	h.Write(w.Bytes())
	for i := from.firstNew(); i < from.end(); i++ {
		w.Reset()
		s.store.write(&w, i, i+1)
		h.Write(w.Bytes())
	}
	return Digest(h.Sum(nil))
}

// partOf returns the description of a party's kept rows. For an unknown party it describes 0 rows.
func (b *Base) partOf(party string) Part {
	for _, p := range b.Parts {
		if p.Party == party {
			return p
		}
	}
	return Part{Party: party}
}

// memoryBound returns an upper bound on the size in memory of the base's rows and Gram matrix, in bytes.
func (b *Base) memoryBound() (n int64) {
	if b == nil {
		return 0
	}
	for _, p := range b.Parts {
		n += int64(p.Rows)
	}
	return 8*n*n + 8*n*int64(b.Width)
}

// Find returns the description of a party's kept rows, or false if the base has no rows of the
// party.
func (b *Base) Find(party string) (Part, bool) {
	p := b.partOf(party)
	return p, p.Rows > 0
}

// Emptied returns a copy of the base without rows, so that the parties send all rows again under
// the epoch's seed. A session that continues the copy costs as much as a first session. Its results
// equal, bit for bit, those of a session with the same rows that continues the base itself.
func (b *Base) Emptied() *Base {
	empty := *b
	empty.Parts, empty.rows, empty.labels, empty.test, empty.gram = nil, nil, nil, nil, linalg.Matrix[float64]{}
	return &empty
}

// NewContinuingServer returns the machine of a server that continues an epoch from the kept data in
// b. Parties of the base confirm the rows that they have sent, and send only new rows. Rows of
// parties that are not members of this session are ignored. It refuses a session whose parent is
// not b.Session.
func NewContinuingServer(s protocol.Setup, p Params, b *Base, l Limits) (*Server, error) {
	server, err := NewServer(s, p, l)
	switch {
	case err != nil:
		return nil, err
	case s.Session.Parent != b.Session:
		return nil, errors.New("okra: the session's parent is not the session that the server has kept; name the kept session as the parent")
	}
	server.base = b
	for _, from := range server.sources {
		from.kept = b.partOf(from.name).Rows
	}
	return server, nil
}

func (s *Server) receiveConfirm(m protocol.Message, from *source) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	c, err := decodeConfirm(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if c.wire != s.params.wordBytes() {
		return protocol.Effects{}, m.Inconsistent("numbers have %d bytes; the session's have %d", c.wire, s.params.wordBytes())
	}
	if err := s.checkConfirm(from, c); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	from.announce = &c.announce
	if s.partiesWhere(func(from *source) bool { return from.announce == nil }) != nil {
		return protocol.Effects{Arm: []protocol.Timer{TimerAnnounce}}, nil
	}
	if s.rowless() {
		return protocol.Finish(protocol.Effects{}, &MismatchError{Parties: s.parties(), Detail: "the session has no rows: no kept rows are left and no party brings new ones"})
	}
	return s.grantUpload()
}

func decodeConfirm(body []byte) (confirm, error) {
	r := wire.NewReader(body)
	c := confirm{announce: readAnnounce(r)}
	c.kept = int(r.Uint32())
	r.Fixed(c.sent[:])
	if r.Err() == nil {
		err := checkShape(max(1, c.rows), c.width, c.wire)
		if err == nil && c.kept > maxRows {
			err = fmt.Errorf("the party confirms %d kept rows; at most %d are allowed", c.kept, maxRows)
		}
		if err != nil {
			r.Fail(err)
		}
	}
	return c, r.Close("okra: confirmation")
}

// checkConfirm returns an error if a party's confirmation does not match the rows that the server
// has kept.
func (s *Server) checkConfirm(from *source, c confirm) error {
	kept := s.base.partOf(from.name)
	detail := ""
	switch {
	case c.width != s.base.Width || c.tag != s.base.Tag:
		detail = "encoding parameters differ from the earlier session's: features, seed or settings are not the same"
	case c.kept != kept.Rows:
		detail = fmt.Sprintf("confirmation covers %d rows, but the server has kept %d; continue with the same parties, or start a new session", c.kept, kept.Rows)
	case c.sent != kept.Sent:
		detail = "confirmation does not match the rows that the server has kept; start a new session"
	case c.labelled != s.base.labelled:
		detail = "new rows and kept rows do not agree on labels: either all rows have labels or none"
	default:
		return nil
	}
	return &MismatchError{Parties: []string{from.name}, Detail: possessive([]string{from.name}) + " " + detail}
}

// rowless reports whether the session has neither kept nor new rows.
func (s *Server) rowless() bool {
	return s.partiesWhere(func(from *source) bool { return from.kept+from.announce.rows > 0 }) == nil
}
