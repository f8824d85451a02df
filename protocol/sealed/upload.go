package sealed

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// These are the kinds of the messages of an upload.
const (
	kindUpload = "Upload" // to all keepers: the document, and what the keeper needs for its parts
	kindMasked = "Masked" // to the servers: the words that are left
)

// document holds the number of a member's rows and the commitments to its parts. The number is 0 for a keeper that
// uploads noise alone. The member sends the same document to all keepers, in an envelope that it signs.
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
func commitment(session protocol.SessionID, party string, of part, salt [32]byte, encoded []byte) [sha256.Size]byte {
	h := newCommitment(session, party, of, salt)
	_, _ = h.Write(encoded) // a hash never fails
	return [sha256.Size]byte(h.Sum(nil))
}

// newCommitment returns the hash of a commitment before the encoded part, which follows in pieces.
func newCommitment(session protocol.SessionID, party string, of part, salt [32]byte) hash.Hash {
	var w wire.Writer
	w.String("mercer/v1/sealed/commitment")
	w.Fixed(session[:])
	w.String(party)
	w.String(of.name())
	w.Fixed(salt[:])
	h := sha256.New()
	_, _ = h.Write(w.Bytes())
	return h
}

// secrets are the salts of all parts and the seeds of the two masks. A keeper knows only the salts and seeds of its own
// parts; the others are zero.
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

// mask returns the stream of a mask's words: A's upper triangle, then B as targets x features.
func (s setting) mask(party string, seed [32]byte) *prg.Stream {
	return prg.New(seed, "mercer/v1/sealed/upload", s.session[:], []byte(party))
}

// upload sends one member's sums in three parts, of which each keeper gets two. If the problem is private, a keeper's
// own upload includes its noise.
type upload struct {
	setting
	document
	secrets
	masked  []ring128.Word
	waiting []outflow
	to      role // receiver of the next document
}

// newUpload divides a party's sums of its rows into three parts. The sums are those of [SolvePlain]. The seed is the
// party's for this session; all secrets of the upload, and a keeper's noise, derive from it. If the party is a keeper,
// its deposit takes the keeper's own parts (deposit.own). A keeper without rows has sums that are 0.
func newUpload(s setting, party string, seed [32]byte, rows int, outer, cross []int64) (*upload, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if rows < 0 || rows > s.problem.Rows || rows == 0 && !s.addsNoise(party) {
		return nil, fmt.Errorf("sealed: member %q has %d of the problem's %d rows; only a keeper that adds noise can have none", party, rows, s.problem.Rows)
	}
	if err := s.problem.checkSums(outer, cross); err != nil {
		return nil, err
	}
	u := &upload{setting: s, document: document{session: s.session, keepers: s.keepers, party: party, rows: uint32(rows)}}
	for p := range part(parts) {
		u.salts[p] = prg.Derive(seed, "sealed/salt", s.session[:], []byte(p.name()))
	}
	u.masked = append(ring128.FromInts(outer), ring128.FromInts(cross)...)
	if s.addsNoise(party) {
		if err := s.addNoise(u.masked, seed); err != nil {
			return nil, err
		}
	}
	for p := range u.seeds {
		u.seeds[p] = prg.Derive(seed, "sealed/mask", s.session[:], []byte(part(p).name()))
		u.parts[p] = commitment(s.session, party, part(p), u.salts[p], u.seeds[p][:])
		inPieces(u.masked, s.mask(party, u.seeds[p]), ring128.Sub)
	}
	u.commitMasked()
	for _, to := range []role{serverA, serverB} {
		if s.keepers[to] != party {
			u.waiting = append(u.waiting, newOutflow(u.header(to, kindMasked), u.masked))
		}
	}
	return u, nil
}

// inPieces applies a function to words and the next words of a stream.
func inPieces(words []ring128.Word, of *prg.Stream, apply func(words, drawn []ring128.Word)) {
	drawn := make([]ring128.Word, min(len(words), stepWords))
	for ; len(words) > 0; words = words[len(drawn):] {
		drawn = drawn[:min(len(drawn), len(words))]
		ring128.Draw(drawn, of)
		apply(words[:len(drawn)], drawn)
	}
}

func (u *upload) commitMasked() {
	h := newCommitment(u.setting.session, u.party, masked, u.salts[masked])
	for words := range slices.Chunk(u.masked, chunkWords) {
		_, _ = h.Write(ring128.Append(make([]byte, 0, len(words)*ring128.Bytes), words))
	}
	u.parts[masked] = [sha256.Size]byte(h.Sum(nil))
}

func (u *upload) header(to role, kind string) protocol.Header {
	return protocol.Header{Session: u.setting.session, Protocol: name, Kind: kind, Sender: u.party, Receiver: u.setting.keepers[to], Chunks: 1}
}

// send returns the next message to another member, or false if all are sent.
func (u *upload) send() (protocol.Message, bool) {
	if u.to <= dealerC && u.setting.keepers[u.to] == u.party {
		u.to++
	}
	if u.to <= dealerC {
		m := protocol.Message{Header: u.header(u.to, kindUpload), Body: u.encode(u.to)}
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

// sent reports whether all messages are sent.
func (u *upload) sent() bool {
	for i := range u.waiting {
		if !u.waiting[i].empty() {
			return false
		}
	}
	return u.to > dealerC || u.to == dealerC && u.setting.keepers[dealerC] == u.party
}

// free forgets the words of an upload that is sent. No keeper can ask for the upload again.
func (u *upload) free() { u.masked, u.waiting = nil, nil }

// encode returns the body of the kindUpload message to a keeper.
func (u *upload) encode(to role) []byte {
	var w wire.Writer
	u.document.appendTo(&w)
	u.secrets.appendTo(&w, to)
	return w.Bytes()
}

// decodeUpload decodes the body of a kindUpload message to a keeper.
func decodeUpload(body []byte, to role) (document, secrets, error) {
	r := wire.NewReader(body)
	d := readDocument(r)
	s := readSecrets(r, to)
	return d, s, r.Close("sealed: upload")
}
