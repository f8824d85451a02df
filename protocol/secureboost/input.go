package secureboost

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Input is a party's private input to a session: columns in bins.
type Input struct {
	Codes [][]uint8 // of each column, the bin of each row
	Bins  []int     // of each column, how many bins it has
	// Hash is the SHA-256 of what the bins and, at the guest, the labels are computed
	// from, in the agreed order of rows.
	Hash [sha256.Size]byte
	// Alignment is the party's own commitment to the order of rows.
	Alignment [sha256.Size]byte
}

func (in Input) validate(p Params) error {
	switch {
	case in.Hash == [sha256.Size]byte{}:
		return errors.New("secureboost: a party brings the hash of what its bins are computed from")
	case in.Alignment != p.spec.Alignment:
		return fmt.Errorf("secureboost: the rows are in another order than was agreed; align them anew: %w", protocol.ErrInput)
	case len(in.Codes) != len(in.Bins):
		return fmt.Errorf("secureboost: %d columns and the bins of %d", len(in.Codes), len(in.Bins))
	}
	if err := checkShape(in.Bins); err != nil {
		return fmt.Errorf("secureboost: %w: %w", err, protocol.ErrInput)
	}
	for f, codes := range in.Codes {
		if len(codes) != p.spec.Rows {
			return fmt.Errorf("secureboost: column %d has %d rows where %d were agreed; align them anew: %w", f, len(codes), p.spec.Rows, protocol.ErrInput)
		}
		for _, c := range codes {
			if int(c) >= in.Bins[f] {
				return fmt.Errorf("secureboost: bin %d in column %d, which has %d", c, f, in.Bins[f])
			}
		}
	}
	return nil
}

// checkShape refuses more columns, or bins, than a party may have.
func checkShape(bins []int) error {
	cells := 0
	for _, b := range bins {
		if b < 1 || b > MaxBins {
			return fmt.Errorf("a column of %d bins; 1 to %d are possible", b, MaxBins)
		}
		cells += b
	}
	if len(bins) > MaxColumns || cells > MaxCells {
		return fmt.Errorf("%d columns of %d bins together; at most %d of %d are possible", len(bins), cells, MaxColumns, MaxCells)
	}
	return nil
}

// told counts the bins whose sums a host tells: all but the first of each column.
func told(bins []int) int {
	n := 0
	for _, b := range bins {
		n += b - 1
	}
	return n
}

// Split is a host's part of a node in a tree: the root is node 1 of its tree, and the
// children of node k are 2k and 2k+1. Rows in bins up to Bin of the column go left.
type Split struct{ Tree, Node, Column, Bin int }
