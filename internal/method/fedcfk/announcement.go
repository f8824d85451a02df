package fedcfk

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
)

// encodeCounts returns what is announced of the first sum, from which the second
// follows.
func encodeCounts(likes []int64) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(likes)))
	for _, n := range likes {
		w.Uint64(uint64(n))
	}
	return w.Bytes()
}

// decodeCounts decodes what encodeCounts wrote.
func decodeCounts(b []byte) ([]int64, error) {
	r := wire.NewReader(b)
	likes := make([]int64, r.Count(MaxItems, 8))
	for i := range likes {
		n := r.Uint64()
		if n > math.MaxInt64 {
			r.Fail(fmt.Errorf("a count of %d", n))
		}
		likes[i] = int64(n)
	}
	return likes, r.Close("stage: proposal of a second sum")
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
