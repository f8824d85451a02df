package sealed

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// The three parts of all uploads add up to the sums, and each keeper holds two.
func TestPartsAddUp(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	in := inputsOf(t, s, uploads(t, s, 3, sums.outer, sums.cross))
	want := append(ring128.FromInts(sums.outer), ring128.FromInts(sums.cross)...)
	got := slices.Clone(in[serverA].parts[maskA])
	ring128.Add(got, in[serverB].parts[maskB])
	ring128.Add(got, in[serverA].parts[masked])
	if !slices.Equal(got, want) {
		t.Error("the parts do not add up to the sums")
	}
	for p, holders := range [parts][2]role{{serverA, dealerC}, {serverB, dealerC}, {serverA, serverB}} {
		for r := range in {
			held := role(r) == holders[0] || role(r) == holders[1]
			if held && !slices.Equal(in[r].parts[p], in[holders[0]].parts[p]) || !held && in[r].parts[p] != nil {
				t.Errorf("keeper %d and %s", r, part(p).name())
			}
		}
	}
	if len(in[0].documents) != 3 || !slices.Equal(in[0].documents, in[1].documents) || !slices.Equal(in[1].documents, in[2].documents) {
		t.Error("the keepers have other documents")
	}
}

// No keeper gets a seed or a salt of the part that it lacks, and all get one document.
func TestUploadTellsTwoPartsOnly(t *testing.T) {
	p, sums, _ := small(t)
	u := uploads(t, settingOf(p), 1, sums.outer, sums.cross)[0]
	var doc wire.Writer
	u.document.appendTo(&doc)
	for m, ok := u.send(); ok; m, ok = u.send() {
		if m.Kind != kindUpload {
			if m.Kind != kindMasked || m.Receiver == u.setting.keepers[dealerC] {
				t.Errorf("%v", m.Header)
			}
			continue
		}
		to := role(slices.Index(u.setting.keepers[:], m.Receiver))
		if !bytes.HasPrefix(m.Body, doc.Bytes()) {
			t.Errorf("%s gets another document", m.Receiver)
		}
		for p := range part(parts) {
			held := slices.Contains(partsOf(to), p)
			if bytes.Contains(m.Body, u.salts[p][:]) != held || p != masked && bytes.Contains(m.Body, u.seeds[p][:]) != held {
				t.Errorf("%s and %s: held %v", m.Receiver, p.name(), held)
			}
		}
	}
	distinctBytes(t, u.salts[0][:], u.salts[1][:], u.salts[2][:], u.seeds[0][:], u.seeds[1][:])
}

func partsOf(r role) []part { p := r.parts(); return p[:] }

func distinctBytes(t *testing.T, list ...[]byte) {
	t.Helper()
	for i, b := range list {
		for _, other := range list[:i] {
			if bytes.Equal(b, other) {
				t.Errorf("%x twice", b)
			}
		}
	}
}

// A commitment depends on all that it names.
func TestCommitmentBindsEachName(t *testing.T) {
	salt, body := [32]byte{1}, []byte("words")
	sum := func(session byte, party string, of part, salt [32]byte, body []byte) []byte {
		c := commitment(protocol.SessionID{session}, party, of, salt, body)
		return c[:]
	}
	distinctBytes(t, sum(0, "p", maskA, salt, body), sum(1, "p", maskA, salt, body), sum(0, "q", maskA, salt, body),
		sum(0, "p", maskB, salt, body), sum(0, "p", masked, salt, body), sum(0, "p", maskA, [32]byte{2}, body), sum(0, "p", maskA, salt, []byte("word")))
}

// Parties with the same seed, and sessions, have other masks.
func TestMaskDependsOnPartyAndSession(t *testing.T) {
	p, _, _ := small(t)
	s := settingOf(p)
	other := s
	other.session[5]++
	var all []ring128.Word
	for _, m := range []*prg.Stream{s.mask("p", [32]byte{}), s.mask("q", [32]byte{}), other.mask("p", [32]byte{}), s.mask("p", [32]byte{1})} {
		words := make([]ring128.Word, s.inputWords())
		ring128.Draw(words, m)
		all = append(all, words...)
	}
	distinct(t, all)
}

// blames requires an error that names the sender with a kind.
func blames(t *testing.T, what string, err error, party string, kind protocol.Kind) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != party || blame.Kind != kind {
		t.Errorf("%s: %v; want one that names %s as %s", what, err, party, kind)
	}
}

// A keeper refuses what is not the party's, and names it.
func TestDepositRefuses(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	from := uploads(t, s, 1, sums.outer, sums.cross)
	var header wire.Writer
	from[0].document.appendTo(&header)
	flip := func(kind string, at int) func(protocol.Message) protocol.Message {
		return func(m protocol.Message) protocol.Message {
			if m.Kind == kind {
				m.Body = slices.Clone(m.Body)
				m.Body[(at+len(m.Body))%len(m.Body)] ^= 1
			}
			return m
		}
	}
	head := func(change func(*protocol.Message)) func(protocol.Message) protocol.Message {
		return func(m protocol.Message) protocol.Message { change(&m); return m }
	}
	n := len(header.Bytes())
	for what, c := range map[string]struct {
		to    role
		kind  protocol.Kind
		alter func(protocol.Message) protocol.Message
	}{
		"another session's document": {serverA, protocol.KindInconsistent, flip(kindUpload, 0)},
		"other keepers":              {serverB, protocol.KindInconsistent, flip(kindUpload, 32+2)},
		"another party":              {dealerC, protocol.KindInconsistent, flip(kindUpload, n-3*32-4-1)},
		"other rows":                 {serverA, protocol.KindInconsistent, flip(kindUpload, n-3*32-2)},
		"another commitment to a":    {serverA, protocol.KindInconsistent, flip(kindUpload, n-3*32)},
		"another commitment to b":    {serverB, protocol.KindInconsistent, flip(kindUpload, n-2*32)},
		"another salt of a":          {dealerC, protocol.KindInconsistent, flip(kindUpload, n)},
		"another seed of b":          {dealerC, protocol.KindInconsistent, flip(kindUpload, -1)},
		"a longer document": {serverA, protocol.KindMalformed, head(func(m *protocol.Message) {
			if m.Kind == kindUpload {
				m.Body = append(slices.Clone(m.Body), 0)
			}
		})},
		"fewer words": {serverA, protocol.KindMalformed, head(func(m *protocol.Message) {
			if m.Kind == kindMasked {
				m.Body = m.Body[16:]
			}
		})},
		"more chunks": {serverA, protocol.KindInconsistent, head(func(m *protocol.Message) {
			if m.Kind == kindMasked {
				m.Chunks = 2
			}
		})},
		"a foreign session":   {serverB, protocol.KindForeign, head(func(m *protocol.Message) { m.Session[0]++ })},
		"a foreign protocol":  {serverB, protocol.KindForeign, head(func(m *protocol.Message) { m.Protocol = "okra" })},
		"another receiver":    {serverB, protocol.KindForeign, head(func(m *protocol.Message) { m.Receiver = "x" })},
		"a round":             {serverB, protocol.KindUnexpected, head(func(m *protocol.Message) { m.Round = 1 })},
		"a generation":        {serverB, protocol.KindUnexpected, head(func(m *protocol.Message) { m.Sequence = 1 })},
		"a kind":              {serverB, protocol.KindUnexpected, head(func(m *protocol.Message) { m.Kind = kindOpening })},
		"words to the dealer": {dealerC, protocol.KindUnexpected, head(func(m *protocol.Message) { m.Kind = kindMasked })},
	} {
		_, err := deliver(t, s, c.to, from, c.alter)
		blames(t, what, err, "party 0", c.kind)
	}
	_, err := deliver(t, s, serverB, from, head(func(m *protocol.Message) { m.Sender = "party 1" }))
	blames(t, "another sender", err, "party 1", protocol.KindUnexpected)
	for what, alter := range map[string]func(protocol.Message) protocol.Message{
		"other words": flip(kindMasked, 40), "another commitment to them": flip(kindUpload, n-1), "another salt of them": flip(kindUpload, -1),
	} {
		c, err := deliver(t, s, serverA, from, alter)
		if err != nil {
			t.Fatal(err)
		}
		_, err = collect(c)
		blames(t, what, err, "party 0", protocol.KindInconsistent)
	}
}

// What a keeper has accepted stays: a second message of a kind is refused. An incomplete upload is not added up.
func TestDepositAcceptsOnce(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	u := uploads(t, s, 1, sums.outer, sums.cross)[0]
	c := emptyCollection(s, serverA, []*upload{u})
	d := c.deposits[0]
	for m, ok := u.send(); ok; m, ok = u.send() {
		if m.Receiver != s.keepers[serverA] {
			continue
		}
		if did, err := c.work(); did || err != nil || d.complete() || c.done() || c.waits().member != u.party {
			t.Errorf("an incomplete upload: work %v (%v), complete %v, done %v, waits for %+v", did, err, d.complete(), c.done(), c.waits())
		}
		if err := d.receive(m); err != nil {
			t.Fatal(err)
		}
		blames(t, m.Kind, d.receive(m), u.party, protocol.KindUnexpected)
	}
	if !d.complete() || c.waits() != (wait{}) || emptyCollection(s, dealerC, []*upload{u}).deposits[0].complete() {
		t.Error("not complete, or the dealer's before the document")
	}
}

// Masked words are taken in order and after the document; what comes earlier waits and changes nothing.
func TestDepositTakesChunksInOrder(t *testing.T) {
	p, err := NewProblem(300, 400, 2, .05)
	if err != nil {
		t.Fatal(err)
	}
	s := settingOf(p)
	sums := randomSums(p, 1)
	from := uploads(t, s, 2, sums.outer, sums.cross)
	if n := chunks(s.inputWords()); n != 3 {
		t.Fatalf("%d chunks", n)
	}
	in := inputsOf(t, s, from)
	got := slices.Clone(in[serverA].parts[maskA])
	ring128.Add(got, in[serverB].parts[maskB])
	ring128.Add(got, in[serverB].parts[masked])
	if !slices.Equal(got, append(ring128.FromInts(sums.outer), ring128.FromInts(sums.cross)...)) {
		t.Error("the parts do not add up to the sums")
	}
	d := emptyCollection(s, serverB, from[:1]).deposits[0]
	for m, ok := from[0].send(); ok; m, ok = from[0].send() {
		if m.Receiver != s.keepers[serverB] {
			continue
		}
		if m.Kind == kindMasked && m.Chunk == 0 {
			break
		}
		masked := protocol.Message{Header: from[0].header(serverB, kindMasked), Body: make([]byte, protocol.MaxChunkBytes)}
		for range 2 {
			if err := d.receive(masked.Piece(0, 3)); !errors.Is(err, protocol.ErrLater) {
				t.Errorf("before the document: %v", err)
			}
		}
		if err := d.receive(m); err != nil {
			t.Fatal(err)
		}
		if err := d.receive(masked.Piece(1, 3)); !errors.Is(err, protocol.ErrLater) {
			t.Errorf("the second chunk before the first: %v", err)
		}
		blames(t, "a fourth chunk", d.receive(masked.Piece(3, 4)), from[0].party, protocol.KindInconsistent)
	}
	if d.next != 0 || !slices.Equal(d.sum, make([]ring128.Word, s.inputWords())) {
		t.Error("words that came too early are in the sum")
	}
}

// Masks of more words than a step takes are added in pieces, and so are those of the next upload.
func TestCollectionInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p, err := NewProblem(300, 1500, 1, .05)
	if err != nil {
		t.Fatal(err)
	}
	s := settingOf(p)
	if s.inputWords() <= stepWords {
		t.Fatalf("%d words", s.inputWords())
	}
	from := uploads(t, s, 2, make([]int64, s.triangle()), make([]int64, s.vectors()))
	in := inputsOf(t, s, from)
	sum := slices.Clone(in[serverA].parts[maskA])
	ring128.Add(sum, in[dealerC].parts[maskB])
	ring128.Add(sum, in[serverB].parts[masked])
	if !slices.Equal(sum, make([]ring128.Word, len(sum))) || !slices.Equal(in[serverB].parts[maskB], in[dealerC].parts[maskB]) {
		t.Error("the parts do not add up to the sums")
	}
}

// A keeper that is a data party has the same of its own upload as another keeper of the same role would get, and sends
// itself nothing.
func TestOwnUploadNeedsNoMessage(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	for self, name := range s.keepers {
		u, err := newUpload(s, name, [32]byte{4}, 100, sums.outer, sums.cross)
		if err != nil {
			t.Fatal(err)
		}
		own := newCollection(s, role(self), []uploader{{name, 100}})
		own.of(name).own(u)
		in, err := collect(own)
		if err != nil {
			t.Fatal(err)
		}
		for m, ok := u.send(); ok; m, ok = u.send() {
			if m.Receiver == name {
				t.Errorf("%v", m.Header)
			}
		}
		if !u.sent() {
			t.Errorf("%s: not all is sent", name)
		}
		for _, p := range role(self).parts() {
			want := slices.Clone(u.masked)
			if p != masked {
				ring128.Draw(want, s.mask(name, u.seeds[p]))
			}
			if !slices.Equal(in.parts[p], want) {
				t.Errorf("%s: other words of %s", name, p.name())
			}
		}
		var w wire.Writer
		u.document.appendTo(&w)
		if len(in.documents) != 1 || in.documents[0] != (seen{name, sha256.Sum256(w.Bytes())}) {
			t.Errorf("%s: other documents %v", name, in.documents)
		}
	}
}

func TestNewUploadRefuses(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	same := s
	same.keepers[1] = same.keepers[0]
	for what, f := range map[string]func() (*upload, error){
		"no rows":        func() (*upload, error) { return newUpload(s, "p", [32]byte{}, 0, sums.outer, sums.cross) },
		"many rows":      func() (*upload, error) { return newUpload(s, "p", [32]byte{}, 101, sums.outer, sums.cross) },
		"few sums":       func() (*upload, error) { return newUpload(s, "p", [32]byte{}, 9, sums.outer[1:], sums.cross) },
		"a keeper twice": func() (*upload, error) { return newUpload(same, "p", [32]byte{}, 9, sums.outer, sums.cross) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// Words arrive in chunks in any order, each once; the last is shorter.
func TestFlow(t *testing.T) {
	words := make([]ring128.Word, 2*chunkWords+3)
	for i := range words {
		words[i].Lo = uint64(i)
	}
	out := newOutflow(protocol.Header{Sender: "a", Chunks: 1}, words)
	var list []protocol.Message
	for m, ok := out.take(); ok; m, ok = out.take() {
		if len(m.Body) > protocol.MaxChunkBytes {
			t.Errorf("a chunk of %d bytes", len(m.Body))
		}
		list = append(list, m)
	}
	if len(list) != 3 || len(list[2].Body) != 3*ring128.Bytes || !out.empty() {
		t.Fatalf("%d chunks", len(list))
	}
	in := newInflow(len(words))
	for _, i := range []int{2, 0, 1} {
		if in.complete() {
			t.Error("complete too early")
		}
		if err := in.accept(list[i]); err != nil {
			t.Fatal(err)
		}
		blames(t, "a chunk again", in.accept(list[i]), "a", protocol.KindUnexpected)
	}
	if !in.complete() || !slices.Equal(in.words, words) {
		t.Error("other words")
	}
	long := list[2]
	long.Body = append(slices.Clone(long.Body), make([]byte, ring128.Bytes)...)
	other := newInflow(len(words))
	blames(t, "a longer chunk", other.accept(long), "a", protocol.KindMalformed)
	beyond := list[2]
	beyond.Chunk, beyond.Chunks = 3, 4
	blames(t, "a fourth chunk", other.accept(beyond), "a", protocol.KindInconsistent)
	beyond.Chunks = 3
	blames(t, "a chunk beyond the last", other.accept(beyond), "a", protocol.KindInconsistent)
	if other.left != 3 || !slices.Equal(other.words, make([]ring128.Word, len(words))) {
		t.Error("a refused chunk leaves words")
	}
}

// A document that decodes encodes to the same bytes, for each keeper.
func FuzzUpload(f *testing.F) {
	f.Add(make([]byte, 32+2*4+4+3*32+4*32), 2)
	f.Add([]byte{}, 0)
	var w wire.Writer
	document{keepers: [3]string{"a", "b", "c"}, party: "p", rows: 7}.appendTo(&w)
	secrets{}.appendTo(&w, serverA)
	f.Add(w.Bytes(), 0)
	f.Fuzz(func(t *testing.T, b []byte, to int) {
		if to < int(serverA) || to > int(dealerC) {
			return
		}
		d, s, err := decodeUpload(b, role(to))
		if err != nil {
			return
		}
		var w wire.Writer
		d.appendTo(&w)
		s.appendTo(&w, role(to))
		if !bytes.Equal(w.Bytes(), b) {
			t.Errorf("%x becomes %x", b, w.Bytes())
		}
	})
}

// Digests of a problem and n documents are 32 (n + 1) bytes, all that are sent.
func FuzzInputs(f *testing.F) {
	f.Add(make([]byte, 32), 0)
	f.Add(make([]byte, 96), 2)
	f.Add(make([]byte, 97), 2)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 || n > 100 {
			return
		}
		problem, documents, err := decodeInputs(b, n)
		all := problem[:]
		for _, d := range documents {
			all = append(all, d[:]...)
		}
		if (err == nil) != (len(b) == 32*(n+1)) || err == nil && !bytes.Equal(all, b) {
			t.Errorf("%x becomes %x (%v)", b, all, err)
		}
	})
}

// A chunk of words is accepted exactly if its place is there and its length that of the place's words.
func FuzzInflow(f *testing.F) {
	f.Add(uint32(0), uint32(1), make([]byte, 48), 3)
	f.Add(uint32(1), uint32(2), make([]byte, 16), chunkWords+1)
	f.Add(uint32(1)<<31, uint32(1)<<31+1, make([]byte, 16), 1)
	f.Fuzz(func(t *testing.T, chunk, of uint32, body []byte, n int) {
		if n < 0 || n > 4*chunkWords {
			return
		}
		in := newInflow(n)
		err := in.accept(protocol.Message{Header: protocol.Header{Chunk: chunk, Chunks: of}, Body: body})
		size := min(chunkWords, n-int(chunk)*chunkWords) * ring128.Bytes
		if fits := int64(of) == int64(chunks(n)) && chunk < of && len(body) == size; fits != (err == nil) {
			t.Errorf("chunk %d of %d with %d bytes for %d words: %v", chunk, of, len(body), n, err)
		}
		if err == nil && !bytes.Equal(ring128.Append(nil, in.words[int(chunk)*chunkWords:][:len(body)/ring128.Bytes]), body) {
			t.Error("other words")
		}
	})
}
