package stage

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
)

// encode returns what is announced of a proposal; its session is named beside.
func (p Proposal) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(len(p.Sums)))
	for _, n := range p.Sums {
		w.Uint64(uint64(n))
	}
	return w.Bytes()
}

// decodeProposal decodes what encode wrote.
func decodeProposal(b []byte) (Proposal, error) {
	r := wire.NewReader(b)
	p := Proposal{Sums: make([]int64, r.Count(MaxCatalogue, 8))}
	for i := range p.Sums {
		n := r.Uint64()
		if n > math.MaxInt64 {
			r.Fail(fmt.Errorf("a count of %d", n))
		}
		p.Sums[i] = int64(n)
	}
	return p, r.Close("stage: proposal of a second sum")
}

// readNames reads names of members, each once.
func readNames(r *wire.Reader) []string {
	names := make([]string, r.Count(protocol.MaxMembers, 2))
	known := make(map[string]bool, len(names))
	for i := range names {
		names[i] = r.String(protocol.MaxNameBytes)
		if r.Err() == nil && known[names[i]] {
			r.Fail(fmt.Errorf("%q is named twice", names[i]))
		}
		known[names[i]] = true
	}
	return names
}

// notice is what is announced of a kernel before it is told.
type notice struct {
	clients []string // who are told
	bytes   int
	hash    [sha256.Size]byte
}

func (n notice) encode() []byte {
	var w wire.Writer
	w.Strings(n.clients)
	w.Uint32(uint32(n.bytes))
	w.Fixed(n.hash[:])
	return w.Bytes()
}

// decodeNotice decodes what encode wrote.
func decodeNotice(b []byte) (notice, error) {
	r := wire.NewReader(b)
	n := notice{clients: readNames(r), bytes: int(r.Uint32())}
	r.Fixed(n.hash[:])
	if r.Err() == nil && (n.bytes < 1 || n.bytes > broadcast.MaxBytes) {
		r.Fail(fmt.Errorf("a kernel of %d bytes", n.bytes))
	}
	return n, r.Close("stage: notice of a kernel")
}
