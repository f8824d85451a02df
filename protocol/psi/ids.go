package psi

import (
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// distinct refuses ids that stand in two rows.
func distinct(ids [][]byte) error {
	sorted := make([]int, len(ids))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int { return strings.Compare(string(ids[a]), string(ids[b])) })
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; string(ids[a]) == string(ids[b]) {
			rows := []int{min(a, b), max(a, b)}
			return &IDError{ID: string(ids[a]), Rows: rows, why: fmt.Sprintf("rows %d and %d have the same id %q", rows[0]+1, rows[1]+1, ids[a])}
		}
	}
	return nil
}

// writeID adds an id to a hash, behind its length.
func writeID(h hash.Hash, id []byte) {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(id)))
	h.Write(length[:])
	h.Write(id)
}
