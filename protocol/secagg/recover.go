package secagg

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/protocol"
)

// recovery is the state of the removal of masks from the sum. The server first reconstructs the
// secrets. From the secrets it then expands the masks and removes them, in steps.
type recovery struct {
	owners  []int // clients whose secrets are needed
	solved  int
	masks   []Mask
	removed int // number of masks removed from the sum
}

// newRecovery lists the clients whose secrets the server must reconstruct. The secret is the self
// mask for a client in the sum, and the mask key for a client that vanished after it had shared its
// secrets.
func (s *Server) newRecovery() *recovery {
	r := &recovery{}
	for _, owner := range s.sharers.list() {
		if s.survivors.has(owner) || len(s.partners(owner)) > 0 {
			r.owners = append(r.owners, owner)
		}
	}
	return r
}

// partners returns the clients in the sum that share a pairwise mask with the given client.
func (s *Server) partners(client int) []int {
	partners := newSet(s.params.clients)
	for _, list := range [][]int{s.peers[client].holders, s.owners[client]} {
		for _, other := range list {
			if other != client && s.survivors.has(other) {
				partners.add(other)
			}
		}
	}
	return partners.list()
}

// stepProducts limits one step of reconstruction to about a tenth of a second. The unit is one
// multiplication of a share by a number. The server's computation of a pairwise mask takes as long
// as agreementProducts multiplications.
const (
	stepProducts      = 1 << 20
	agreementProducts = 1000
)

// stepSecrets returns how many secrets the server reconstructs in one step.
func (p Params) stepSecrets() int {
	k, t := p.degree.Holders, p.degree.Threshold
	return max(1, stepProducts/(k*t+k*agreementProducts))
}

func (s *Server) unmask() (protocol.Effects, error) {
	r := s.recovery
	switch {
	case r.solved < len(r.owners):
		if err := s.solve(r.owners[r.solved:min(r.solved+s.params.stepSecrets(), len(r.owners))]); err != nil {
			return protocol.Finish(protocol.Effects{}, err)
		}
	case r.removed < len(r.masks):
		n := min(max(1, stepKeystream/(8*len(s.sum))), len(r.masks)-r.removed)
		s.params.masker.Add(s.sum, 0, r.masks[r.removed:r.removed+n])
		r.removed += n
	default:
		s.result = s.params.layout.Sums(s.sum, s.survivors.count())
		s.sum, r.masks = nil, nil
		return protocol.Finish(protocol.Effects{}, nil)
	}
	return protocol.Effects{Resume: true, Progress: protocol.Progress{Stage: "unmask", Done: int64(r.solved + r.removed), Total: int64(len(r.owners) + len(r.masks))}}, nil
}

// solve reconstructs the secrets of some owners, on all cores.
func (s *Server) solve(owners []int) error {
	masks := make([][]Mask, len(owners))
	err := forAll(len(owners), func(i int) (err error) {
		masks[i], err = s.masksOf(owners[i])
		return err
	})
	if err != nil {
		return err
	}
	s.recovery.masks = append(s.recovery.masks, slices.Concat(masks...)...)
	s.recovery.solved += len(owners)
	return nil
}

// masksOf reconstructs a client's secret and returns the masks that correct the sum for this
// client. For a client in the sum this is its self mask, negated. For a vanished client these are
// the pairwise masks that the client would have added.
func (s *Server) masksOf(owner int) ([]Mask, error) {
	secret, err := s.combine(owner)
	if err != nil {
		return nil, fmt.Errorf("secagg: %s: %w", s.name(owner), err)
	}
	id := s.setup.Session.ID()
	if s.survivors.has(owner) {
		return []Mask{selfMask(id, secret).negated()}, nil
	}
	key, err := privateKey(secret)
	if err != nil {
		return nil, err
	}
	if [keyBytes]byte(key.PublicKey().Bytes()) != s.peers[owner].keys.mask {
		return nil, fmt.Errorf("secagg: the released shares of %s give a mask key that the client has not advertised: %w", s.name(owner), shamir.ErrInconsistent)
	}
	var masks []Mask
	for _, other := range s.partners(owner) { // these masks cancel the masks that the partners have added
		mask, err := pairMask(id, key, owner, other, s.peers[other].keys.mask)
		if err != nil {
			return nil, err
		}
		masks = append(masks, mask)
	}
	return masks, nil
}

// combine reconstructs a secret of a client from the shares that its holders have released. All
// holders have seen the same survivors, so all shares are of the same secret.
func (s *Server) combine(owner int) ([shamir.Size]byte, error) {
	var points []uint16
	var shares []shamir.Share
	missing, complaints := owner, 0
	for i, h := range s.peers[owner].holders {
		if !s.released.has(h) {
			missing = h
			continue
		}
		at, opened := slices.BinarySearchFunc(s.peers[h].releases, owner, func(r release, owner int) int { return r.owner - owner })
		if !opened {
			complaints++
			continue
		}
		points, shares = append(points, uint16(i+1)), append(shares, s.peers[h].releases[at].share)
	}
	switch t := s.params.degree.Threshold; {
	case len(shares) < t && complaints > 0:
		return [shamir.Size]byte{}, inconsistent(s.name(owner), "%d of the client's holders report that its shares do not decrypt; %d shares arrived, but %d are needed", complaints, len(shares), t)
	case len(shares) < t:
		return [shamir.Size]byte{}, silent(s.name(missing), fmt.Sprintf("%s messages of %d holders of %s arrived, but %d are needed; this holder's message", kindUnmask, len(shares), s.name(owner), t))
	}
	return shamir.Combine(s.params.degree.Threshold, points, shares)
}

// Mask is a long vector of words that is expanded from a key. A key serves one mask in one session.
type Mask struct {
	Key      [32]byte
	Subtract bool // the mask is subtracted instead of added
}

// negated returns the mask that cancels m.
func (m Mask) negated() Mask { return Mask{m.Key, !m.Subtract} }

// A Masker expands masks from their keys and adds them to a vector. It must be safe for concurrent
// use. Clients and server use masks only through a Masker, so that a caller can replace it, for
// example to count calls. All members of a session need the same masks, word for word; the masks of
// [Version] are those of [AESCTR].
type Masker interface {
	// Add adds the words of all masks, from word first on, to dst modulo 2^64. It subtracts masks
	// with Subtract set. first is even.
	Add(dst []uint64, first int, masks []Mask)
}

// WithMasker returns a copy of p that uses another Masker. The Masker is not part of the agreed and
// encoded parameters.
func (p Params) WithMasker(m Masker) Params {
	p.masker = m
	return p
}
