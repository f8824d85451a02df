package secagg

import (
	"crypto/ed25519"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// takeKeys checks and stores the keys that a client sends in round AdvertiseKeys.
func (s *Server) takeKeys(m protocol.Message, from int) error {
	r := wire.NewReader(m.Body)
	k := readKeys(r)
	if err := r.Close("secagg: keys"); err != nil {
		return m.Malformed(err)
	}
	if err := k.verify(s.setup.Session.ID(), from, s.identities[from]); err != nil {
		return inconsistent(m.Sender, "%w", err)
	}
	if err := s.checkUsable(k); err != nil {
		return inconsistent(m.Sender, "%w", err)
	}
	s.peers[from].keys = k
	s.seen[k.encryption], s.seen[k.mask] = true, true
	s.cohort.add(from)
	return nil
}

// checkUsable refuses keys that every receiving client would refuse: keys of low order, and keys
// equal to another client's.
func (s *Server) checkUsable(k keys) error {
	probe, err := privateKey([32]byte{1})
	if err != nil {
		return err
	}
	for _, key := range [][keyBytes]byte{k.encryption, k.mask} {
		if _, err := agree(probe, key); err != nil {
			return err
		}
		if s.seen[key] {
			return errors.New("the client has advertised a key that another client has advertised before")
		}
	}
	return nil
}

// takeHolders checks and stores a client's list of its holders, and replies with the holders' keys.
func (s *Server) takeHolders(m protocol.Message, from int) error {
	p := s.peers[from]
	if p.holders != nil {
		return m.Unexpected()
	}
	list, err := decodeClients(m.Body, s.params.clients)
	if err != nil {
		return m.Malformed(err)
	}
	want := min(s.params.degree.Holders, s.cohort.count()-1)
	if s.params.degree.Complete {
		want = s.cohort.count()
	}
	if len(list) != want || s.cohort.countIn(list) != len(list) {
		return inconsistent(m.Sender, "the client names %d holders, %d of them in the cohort; it must name %d from the cohort", len(list), s.cohort.countIn(list), want)
	}
	members := make([]member, len(list))
	for i, h := range list {
		if s.peers[h].held == maxHeld(s.params.clients) {
			return inconsistent(m.Sender, "the client names %s, which already holds shares of as many clients as it can", s.name(h))
		}
		members[i] = member{h, s.peers[h].keys}
	}
	p.holders = list
	for _, h := range list {
		s.peers[h].held++
	}
	s.pending = append(s.pending, func() protocol.Message {
		return s.message(m.Sender, roundHolderKeys, encodeMembers(members))
	})
	return nil
}

// takeShares stores the encrypted shares that a client sends in round ShareKeys.
func (s *Server) takeShares(m protocol.Message, from int) error {
	p := s.peers[from]
	if p.holders == nil {
		return m.Unexpected()
	}
	shares, err := decodeShares(m.Body, len(p.holders))
	if err != nil {
		return m.Malformed(err)
	}
	p.shares = shares
	s.sharers.add(from)
	return nil
}

// assignOwners lists, for each client, the owners of the shares that the client holds.
func (s *Server) assignOwners() {
	s.owners = make([][]int, s.params.clients)
	for _, owner := range s.sharers.list() {
		for _, h := range s.peers[owner].holders {
			s.owners[h] = append(s.owners[h], owner)
		}
	}
}

// deliveries returns the message with the shares that a client will hold.
func (s *Server) deliveries(client int) deliveries {
	d := deliveries{sharers: s.sharers}
	for _, owner := range s.owners[client] {
		p := s.peers[owner]
		at, _ := slices.BinarySearch(p.holders, client)
		d.list = append(d.list, delivery{member{owner, p.keys}, p.shares[at]})
	}
	return d
}

// takeMasked stores one chunk of a masked vector. It adds the vector to the sum when all chunks
// have arrived, so that a client that vanishes midway does not change the sum. The memory for
// incomplete vectors is limited. If the memory is full, other clients wait, and expire drops the
// clients that occupy the memory but send nothing.
func (s *Server) takeMasked(m protocol.Message, from int) error {
	lo, hi := s.params.layout.chunk(int(m.Chunk))
	if len(m.Body) != 8*(hi-lo) {
		return inconsistent(m.Sender, "a piece of the vector has %d bytes; it must have %d", len(m.Body), 8*(hi-lo))
	}
	p := s.peers[from]
	if p.upload == nil {
		if s.uploads == s.limits.Uploads {
			return protocol.ErrLater
		}
		p.upload = s.newUpload()
	}
	u := p.upload
	if u.have[m.Chunk] {
		return m.Unexpected()
	}
	r := wire.NewReader(m.Body)
	for i := lo; i < hi; i++ {
		u.words[i] = r.Uint64()
	}
	u.have[m.Chunk] = true
	if u.missing--; u.missing == 0 {
		for i, w := range u.words {
			s.sum[i] += w
		}
		s.recycle(p)
		s.survivors.add(from)
	}
	return nil
}

func (s *Server) newUpload() *upload {
	s.uploads++
	chunks := s.params.layout.chunks()
	u := &upload{have: make([]bool, chunks), missing: chunks}
	if last := len(s.spare) - 1; last >= 0 {
		u.words, s.spare = s.spare[last], s.spare[:last]
	} else {
		u.words = make([]uint64, s.params.layout.Words())
	}
	return u
}

// recycle drops a client's vector, which has been added to the sum or stays incomplete, and keeps its memory for the
// vector of another client.
func (s *Server) recycle(p *peer) {
	s.spare = append(s.spare, p.upload.words)
	p.upload = nil
	s.uploads--
}

// dropIncomplete drops all clients whose vectors are incomplete, and keeps the memory of these
// vectors for those of other clients.
func (s *Server) dropIncomplete() {
	for _, p := range s.peers {
		if p.upload != nil {
			s.recycle(p)
			p.stalled = true
			s.stalled++
		}
	}
}

// dropUploads discards all incomplete vectors and the spare memory for vectors.
func (s *Server) dropUploads() {
	for _, p := range s.peers {
		if p.upload != nil {
			s.recycle(p)
		}
	}
	s.spare = nil
}

// takeSignature checks and stores a client's signature of the sets of clients, in round
// ConsistencyCheck.
func (s *Server) takeSignature(m protocol.Message, from int) error {
	told := statement(s.setup.Session.ID(), s.cohort, s.sharers, s.survivors)
	if len(m.Body) != ed25519.SignatureSize || !ed25519.Verify(s.identities[from], told, m.Body) {
		return inconsistent(m.Sender, "the client's signature is not valid for the sets of clients that the server sent")
	}
	s.peers[from].signature = signature{from, [ed25519.SignatureSize]byte(m.Body)}
	s.agreed.add(from)
	return nil
}

// signatures returns the signatures of a client's holders under the cohort, the sharers and the
// survivors.
func (s *Server) signatures(client int) []signature {
	var list []signature
	for _, h := range s.peers[client].holders {
		if s.agreed.has(h) {
			list = append(list, s.peers[h].signature)
		}
	}
	return list
}

// takeReleases stores the shares that a client releases in round Unmask. A client that releases no
// share of an owner reports that the owner's shares did not decrypt.
func (s *Server) takeReleases(m protocol.Message, from int) error {
	list, err := decodeReleases(m.Body, s.params.clients)
	if err != nil {
		return m.Malformed(err)
	}
	for _, r := range list {
		if _, holds := slices.BinarySearch(s.owners[from], r.owner); !holds {
			return inconsistent(m.Sender, "the client released a share of a client whose shares it does not hold")
		}
	}
	s.peers[from].releases = list
	s.released.add(from)
	return nil
}
