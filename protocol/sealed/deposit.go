package sealed

import (
	"crypto/sha256"
	"hash"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// deposit takes the parts of one member's upload that a keeper gets. It keeps no masked words: it hashes each chunk
// for the commitment and adds it to the sum of all uploads.
type deposit struct {
	setting
	self        role
	party       string
	rows        int               // number of rows that the session's parameters state
	sequence    uint32            // sequence number of the messages: 0, or this keeper's generation if it has begun one
	digest      [sha256.Size]byte // digest of the document
	commitments [parts][sha256.Size]byte
	secrets
	known bool           // whether the document has arrived
	sum   []ring128.Word // sum of the masked words of all uploads; nil at the dealer
	next  int            // number of the next chunk of masked words
	hash  hash.Hash      // hash of the masked words before that chunk
}

func newDeposit(s setting, self role, party string, rows int, sum []ring128.Word) *deposit {
	return &deposit{setting: s, self: self, party: party, rows: rows, sum: sum}
}

// receive takes a message of the party. It refuses all that the session does not expect from the party, and names it.
// It returns [protocol.ErrLater] for masked words that come before the document or before earlier ones, and
// [protocol.ErrPast] for messages that were sent before this keeper lost its journal.
func (d *deposit) receive(m protocol.Message) error {
	if err := d.admit(m.Header, d.self); err != nil {
		return err
	}
	switch {
	case m.Sender != d.party || m.Round != 0:
		return m.Unexpected()
	case d.past(m.Header):
		return protocol.ErrPast
	case m.Sequence != d.sequence:
		return m.Unexpected()
	case m.Kind == kindMasked && d.self != dealerC:
		return d.takeMasked(m)
	case m.Kind != kindUpload || d.known || m.Chunks != 1:
		return m.Unexpected()
	}
	doc, own, err := decodeUpload(m.Body, d.self)
	if err != nil {
		return m.Malformed(err)
	}
	return d.take(m.Header, doc, own)
}

// past reports whether a message of the party was sent before this keeper lost its journal. The party sends such
// messages again.
func (d *deposit) past(h protocol.Header) bool {
	upload := h.Kind == kindUpload || h.Kind == kindMasked
	return upload && h.Sequence == 0 && d.sequence != 0 && h.Round == 0 && d.admit(h, d.self) == nil
}

func (d *deposit) take(h protocol.Header, doc document, own secrets) error {
	switch {
	case doc.session != d.session || doc.keepers != d.keepers || doc.party != d.party:
		return h.Inconsistent("the document names session %v, party %q and keepers %q, which are not those of the message and the session", doc.session, doc.party, doc.keepers)
	case int64(doc.rows) != int64(d.rows):
		return h.Inconsistent("the document declares %d rows, the session's parameters %d", doc.rows, d.rows)
	}
	for _, p := range d.self.parts() {
		if p != masked && commitment(d.session, d.party, p, own.salts[p], own.seeds[p][:]) != doc.parts[p] {
			return h.Inconsistent("the seed of %s is not the committed one", p.name())
		}
	}
	d.keep(doc, own)
	return nil
}

func (d *deposit) keep(doc document, own secrets) {
	var w wire.Writer
	doc.appendTo(&w)
	d.digest, d.commitments, d.secrets, d.known = sha256.Sum256(w.Bytes()), doc.parts, own, true
	d.hash = newCommitment(d.session, d.party, masked, own.salts[masked])
}

// takeMasked takes the chunks of masked words in order.
func (d *deposit) takeMasked(m protocol.Message) error {
	switch next := int64(d.next); {
	case int64(m.Chunks) != int64(chunks(len(d.sum))):
		return m.Inconsistent("the masked words have %d chunks; %d are expected", m.Chunks, chunks(len(d.sum)))
	case !d.known || int64(m.Chunk) > next:
		return protocol.ErrLater
	case int64(m.Chunk) < next:
		return m.Unexpected()
	}
	first := d.next * chunkWords
	to := d.sum[first:min(first+chunkWords, len(d.sum))]
	words := make([]ring128.Word, len(to))
	if err := ring128.Decode(words, m.Body); err != nil {
		return m.Malformed(err)
	}
	ring128.Add(to, words)
	_, _ = d.hash.Write(m.Body) // a hash never fails
	d.next++
	return nil
}

// own takes the keeper's parts of its own upload, which need no message.
func (d *deposit) own(u *upload) {
	d.keep(u.document, u.secrets)
	if d.self == dealerC {
		return
	}
	d.next = chunks(len(d.sum))
	ring128.Add(d.sum, u.masked)
}

// complete reports whether all messages of the party have arrived.
func (d *deposit) complete() bool { return d.known && d.next == chunks(len(d.sum)) }

// verify returns an error that names the party if the masked words are not the committed ones.
func (d *deposit) verify() error {
	if d.self == dealerC || d.party == d.keepers[d.self] || [sha256.Size]byte(d.hash.Sum(nil)) == d.commitments[masked] {
		return nil
	}
	h := protocol.Header{Session: d.session, Protocol: name, Kind: kindMasked, Sender: d.party, Receiver: d.keepers[d.self]}
	return h.Inconsistent("the masked words are not the committed ones")
}

// inputs are the sums of all uploads, as a keeper knows them.
type inputs struct {
	parts     [parts][]ring128.Word // sums of each part over all uploads; nil for the part that the keeper lacks
	documents []seen                // documents of the uploads, in the order of the uploaders
}

// seen holds the digest of the document of a party's upload.
type seen struct {
	party  string
	digest [sha256.Size]byte
}

// collection adds up all uploads at a keeper: masked words as they arrive, and the masks of each upload when it is
// complete, in the order of the uploaders.
type collection struct {
	inputs
	setting
	self     role
	deposits []*deposit
	streams  [masked]*prg.Stream // masks of the deposit that is being added; nil for the mask that the keeper lacks
	at       int                 // number of words of these masks that are added
}

// newCollection returns the collection for the given uploaders.
func newCollection(s setting, self role, of []uploader) *collection {
	c := &collection{setting: s, self: self}
	for _, p := range self.parts() {
		c.parts[p] = make([]ring128.Word, s.inputWords())
	}
	for _, u := range of {
		c.deposits = append(c.deposits, newDeposit(s, self, u.name, u.rows, c.parts[masked]))
	}
	return c
}

// expect sets the sequence number that the messages of uploads must have to the number of a generation.
func (c *collection) expect(generation uint32) {
	for _, d := range c.deposits {
		d.sequence = generation
	}
}

// of returns a party's deposit, or nil if the party uploads nothing.
func (c *collection) of(party string) *deposit {
	for _, d := range c.deposits {
		if d.party == party {
			return d
		}
	}
	return nil
}

// done reports whether the sums are complete.
func (c *collection) done() bool { return len(c.documents) == len(c.deposits) }

// work adds the next words of masks, and reports whether there were any. It returns an error that names a party whose
// masked words are not the committed ones.
func (c *collection) work() (bool, error) {
	if c.done() || !c.deposits[len(c.documents)].complete() {
		return false, nil
	}
	d := c.deposits[len(c.documents)]
	if c.at == 0 {
		if err := d.verify(); err != nil {
			return false, err
		}
		c.begin(d)
	}
	end := min(c.at+stepWords, c.inputWords())
	for p, s := range c.streams {
		if s != nil {
			inPieces(c.parts[p][c.at:end], s, ring128.Add)
		}
	}
	if c.at = end; c.at == c.inputWords() {
		c.documents, c.at = append(c.documents, seen{d.party, d.digest}), 0
	}
	return true, nil
}

// begin makes the streams of a deposit's masks.
func (c *collection) begin(d *deposit) {
	for _, p := range c.self.parts() {
		if p != masked {
			c.streams[p] = c.mask(d.party, d.seeds[p])
		}
	}
}

// waits returns the first party whose upload is not complete.
func (c *collection) waits() wait {
	for _, d := range c.deposits {
		if !d.complete() {
			return wait{TimerUpload, d.party, "the upload"}
		}
	}
	return wait{}
}
