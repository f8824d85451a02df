package psi

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// checkIDs refuses ids that cannot be aligned.
func checkIDs(ids [][]byte, p Params) error {
	if len(ids) == 0 || len(ids) > p.spec.MaxIDs {
		return fmt.Errorf("psi: %d ids; the session takes 1 to %d", len(ids), p.spec.MaxIDs)
	}
	for i, id := range ids {
		if len(id) == 0 {
			return &IDError{Rows: []int{i}, why: fmt.Sprintf("row %d has no id", i+1)}
		}
		if len(id) > MaxIDBytes {
			return &IDError{Rows: []int{i}, why: fmt.Sprintf("row %d has an id of %d bytes, at most %d are possible", i+1, len(id), MaxIDBytes)}
		}
	}
	return distinct(ids)
}

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

// hashIDs returns the input's hash, for protocol.Start.
func hashIDs(ids [][]byte) (sum [sha256.Size]byte) {
	var w wire.Writer
	w.String("mercer/v1/psi/ids")
	w.Uint64(uint64(len(ids)))
	h := sha256.New()
	h.Write(w.Bytes())
	for _, id := range ids {
		writeID(h, id)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// writeID adds an id to a hash, behind its length.
func writeID(h hash.Hash, id []byte) {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(id)))
	h.Write(length[:])
	h.Write(id)
}
