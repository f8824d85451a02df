package sealed

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// These are the kinds of a data party's messages.
const (
	kindUpload = "Upload" // to all keepers: the document, and what the keeper needs for its parts
	kindMasked = "Masked" // to the servers: the words that are left
)

// document holds the number of a data party's rows and the commitments to its parts. The party sends the same to all
// keepers, in an envelope that it signs.
type document struct {
	session protocol.SessionID
	keepers [3]string
	party   string
	rows    uint32
	parts   [parts][sha256.Size]byte // commitments
}

func (d document) appendTo(w *wire.Writer) {
	w.Fixed(d.session[:])
	for _, k := range d.keepers {
		w.String(k)
	}
	w.String(d.party)
	w.Uint32(d.rows)
	for i := range d.parts {
		w.Fixed(d.parts[i][:])
	}
}

func readDocument(r *wire.Reader) (d document) {
	r.Fixed(d.session[:])
	for i := range d.keepers {
		d.keepers[i] = r.String(protocol.MaxNameBytes)
	}
	d.party = r.String(protocol.MaxNameBytes)
	d.rows = r.Uint32()
	for i := range d.parts {
		r.Fixed(d.parts[i][:])
	}
	return d
}

// commitment binds a party to a part without telling anything about it to those who lack the salt. The encoded part is
// the seed of a mask, which determines its words, or the masked words in the encoding of ring128.
func commitment(session protocol.SessionID, party string, of part, salt [32]byte, encoded []byte) (sum [sha256.Size]byte) {
	var w wire.Writer
	w.String("mercer/v1/sealed/commitment")
	w.Fixed(session[:])
	w.String(party)
	w.String(of.name())
	w.Fixed(salt[:])
	h := sha256.New()
	_, _ = h.Write(w.Bytes()) // a hash never fails
	_, _ = h.Write(encoded)
	h.Sum(sum[:0])
	return sum
}

// secrets are the salts of all parts and the seeds of the two masks. A keeper knows those of its parts, others are zero.
type secrets struct {
	salts [parts][32]byte
	seeds [masked][32]byte
}

// appendTo appends what a keeper needs for its two parts.
func (s secrets) appendTo(w *wire.Writer, to role) {
	for _, p := range to.parts() {
		w.Fixed(s.salts[p][:])
		if p != masked {
			w.Fixed(s.seeds[p][:])
		}
	}
}

func readSecrets(r *wire.Reader, to role) (s secrets) {
	for _, p := range to.parts() {
		r.Fixed(s.salts[p][:])
		if p != masked {
			r.Fixed(s.seeds[p][:])
		}
	}
	return s
}

// mask returns the words of a mask: A's upper triangle, then B as targets x features.
func (s setting) mask(party string, seed [32]byte) []ring128.Word {
	words := make([]ring128.Word, s.inputWords())
	ring128.Draw(words, prg.New(seed, "mercer/v1/sealed/upload", s.session[:], []byte(party)))
	return words
}

// upload sends one data party's sums in three parts, of which each keeper gets two.
type upload struct {
	setting
	document
	secrets
	masked  []ring128.Word
	waiting []outflow
	to      role // of the next document
}

// newUpload divides a party's sums of its rows, as those of [SolvePlain]. The seed is the party's for this session; all
// secrets of the upload derive from it.
func newUpload(s setting, party string, seed [32]byte, rows int, outer, cross []int64) (*upload, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if rows < 1 || rows > s.problem.Rows {
		return nil, fmt.Errorf("sealed: %d rows of %d", rows, s.problem.Rows)
	}
	if err := s.problem.checkSums(outer, cross); err != nil {
		return nil, err
	}
	u := &upload{setting: s, document: document{session: s.session, keepers: s.keepers, party: party, rows: uint32(rows)}}
	u.masked = append(ring128.FromInts(outer), ring128.FromInts(cross)...)
	for p := range u.seeds {
		u.seeds[p] = prg.Derive(seed, "sealed/mask", s.session[:], []byte(part(p).name()))
		ring128.Sub(u.masked, s.mask(party, u.seeds[p]))
	}
	u.commit(seed)
	for _, to := range []role{serverA, serverB} {
		u.waiting = append(u.waiting, newOutflow(u.header(to, kindMasked), u.masked))
	}
	return u, nil
}

func (u *upload) commit(seed [32]byte) {
	for p := range part(parts) {
		u.salts[p] = prg.Derive(seed, "sealed/salt", u.setting.session[:], []byte(p.name()))
		u.parts[p] = commitment(u.setting.session, u.party, p, u.salts[p], u.encoded(p))
	}
}

func (u *upload) encoded(p part) []byte {
	if p == masked {
		return ring128.Append(make([]byte, 0, len(u.masked)*ring128.Bytes), u.masked)
	}
	return u.seeds[p][:]
}

func (u *upload) header(to role, kind string) protocol.Header {
	return protocol.Header{Session: u.setting.session, Protocol: name, Kind: kind, Sender: u.party, Receiver: u.setting.keepers[to], Chunks: 1}
}

// send returns the next message, or false if all are sent.
func (u *upload) send() (protocol.Message, bool) {
	if u.to <= dealerC {
		var w wire.Writer
		u.document.appendTo(&w)
		u.secrets.appendTo(&w, u.to)
		m := protocol.Message{Header: u.header(u.to, kindUpload), Body: w.Bytes()}
		u.to++
		return m, true
	}
	for i := range u.waiting {
		if m, ok := u.waiting[i].take(); ok {
			return m, true
		}
	}
	return protocol.Message{}, false
}

// deposit collects the parts of one data party's upload that a keeper gets.
type deposit struct {
	setting
	self        role
	party       string
	rows        uint32
	digest      [sha256.Size]byte // of the document
	commitments [parts][sha256.Size]byte
	secrets
	known  bool // whether the document has arrived
	masked *inflow
}

func newDeposit(s setting, self role, party string) *deposit {
	d := &deposit{setting: s, self: self, party: party, masked: &inflow{}}
	if self != dealerC {
		d.masked = newInflow(s.inputWords())
	}
	return d
}

// receive takes a message of the party. It refuses all that the session does not expect from it, and names it.
func (d *deposit) receive(m protocol.Message) error {
	if err := d.admit(m.Header, d.self); err != nil {
		return err
	}
	switch {
	case m.Sender != d.party || m.Round != 0 || m.Sequence != 0:
		return m.Unexpected()
	case m.Kind == kindMasked && d.self != dealerC:
		return d.masked.accept(m)
	case m.Kind != kindUpload || d.known || m.Chunks != 1:
		return m.Unexpected()
	}
	doc, own, err := decodeUpload(m.Body, d.self)
	if err != nil {
		return m.Malformed(err)
	}
	return d.take(m.Header, doc, own)
}

// decodeUpload decodes the body of a kindUpload message to a keeper.
func decodeUpload(body []byte, to role) (document, secrets, error) {
	r := wire.NewReader(body)
	d := readDocument(r)
	s := readSecrets(r, to)
	return d, s, r.Close("sealed: upload")
}

func (d *deposit) take(h protocol.Header, doc document, own secrets) error {
	switch {
	case doc.session != d.session || doc.keepers != d.keepers || doc.party != d.party:
		return h.Inconsistent("the document is of session %v, party %q and keepers %q", doc.session, doc.party, doc.keepers)
	case doc.rows < 1 || int64(doc.rows) > int64(d.problem.Rows):
		return h.Inconsistent("the document declares %d of %d rows", doc.rows, d.problem.Rows)
	}
	for _, p := range d.self.parts() {
		if p != masked && commitment(d.session, d.party, p, own.salts[p], own.seeds[p][:]) != doc.parts[p] {
			return h.Inconsistent("the seed of %s is not the committed one", p.name())
		}
	}
	var w wire.Writer
	doc.appendTo(&w)
	d.rows, d.digest, d.commitments, d.secrets, d.known = doc.rows, sha256.Sum256(w.Bytes()), doc.parts, own, true
	return nil
}

// complete reports whether all messages of the party have arrived.
func (d *deposit) complete() bool { return d.known && d.masked.complete() }

// words returns the words of a part that the keeper holds. It returns an error that names the party if they are not the
// committed ones.
func (d *deposit) words(of part) ([]ring128.Word, error) {
	if of != masked {
		return d.mask(d.party, d.seeds[of]), nil
	}
	encoded := ring128.Append(make([]byte, 0, len(d.masked.words)*ring128.Bytes), d.masked.words)
	if commitment(d.session, d.party, masked, d.salts[masked], encoded) != d.commitments[masked] {
		h := protocol.Header{Session: d.session, Protocol: name, Kind: kindMasked, Sender: d.party, Receiver: d.keepers[d.self]}
		return nil, h.Inconsistent("the masked words are not the committed ones")
	}
	return d.masked.words, nil
}

// inputs are the sums of all uploads, as a keeper knows them.
type inputs struct {
	parts     [parts][]ring128.Word // nil for the part that the keeper lacks
	documents []seen                // in the session's order of the data parties
}

// seen is the document that a keeper has of a party.
type seen struct {
	party  string
	digest [sha256.Size]byte
}

// collect adds up complete deposits of the same setting and keeper, in the session's order of the data parties.
func collect(s setting, self role, from []*deposit) (in inputs, err error) {
	rows := int64(0)
	for _, p := range self.parts() {
		in.parts[p] = make([]ring128.Word, s.inputWords())
	}
	for _, d := range from {
		if !d.complete() {
			return inputs{}, fmt.Errorf("sealed: the upload of %q is not complete", d.party)
		}
		rows += int64(d.rows)
		in.documents = append(in.documents, seen{d.party, d.digest})
		for _, p := range self.parts() {
			words, err := d.words(p)
			if err != nil {
				return inputs{}, err
			}
			ring128.Add(in.parts[p], words)
		}
	}
	if rows != int64(s.problem.Rows) {
		return inputs{}, fmt.Errorf("sealed: the parties declare %d rows; the session has %d", rows, s.problem.Rows)
	}
	return in, nil
}
