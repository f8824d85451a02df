package counter

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// sumSize is the number of bytes that a sum takes in a record.
const sumSize = 4 + 3 + 8

// encodeRecord writes nonces and sums, both sorted, so that no order tells which
// package came with which token.
func encodeRecord(nonces []Nonce, all sums) []byte {
	slices.SortFunc(nonces, func(a, b Nonce) int { return slices.Compare(a[:], b[:]) })
	packages := slices.SortedFunc(maps.Keys(all), func(a, b secvm.Package) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Guess, b.Guess))
	})
	var w wire.Writer
	w.Grow(8 + NonceSize*len(nonces) + sumSize*len(packages))
	w.Uint32(uint32(len(nonces)))
	for _, n := range nonces {
		w.Fixed(n[:])
	}
	w.Uint32(uint32(len(packages)))
	for _, p := range packages {
		w.Uint32(p.Index)
		w.Uint8(uint8(p.Kind))
		w.Uint8(uint8(p.Value))
		w.Uint8(uint8(p.Guess))
		w.Uint64(all[p])
	}
	return w.Bytes()
}

// decodeRecord reads what encodeRecord writes.
func decodeRecord(b []byte) ([]Nonce, sums, error) {
	r := wire.NewReader(b)
	nonces := make([]Nonce, r.Count(disk.MaxLogRecord/NonceSize, NonceSize))
	for i := range nonces {
		r.Fixed(nonces[i][:])
	}
	n := r.Count(disk.MaxLogRecord/sumSize, sumSize)
	all, total := make(sums, n), uint64(0)
	for range n {
		p := secvm.Package{Index: r.Uint32(), Kind: secvm.Kind(r.Uint8()), Value: int8(r.Uint8()), Guess: int8(r.Uint8())}
		all[p] = r.Uint64()
		total += all[p]
	}
	if r.Err() == nil && (total != uint64(len(nonces)) || len(all) != n) {
		r.Fail(errors.New("the packages are not as many as the tokens"))
	}
	return nonces, all, r.Close("counter: a record of packages")
}
