package secureboost

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// The rounds of a session.
const (
	roundHello uint16 = iota + 1
	roundGradients
	roundSums
	roundChoose
	roundBits
	roundDivide
	roundFinish
)

const (
	kindKey   = "Key"
	kindShape = "Shape"
)

// kindOf names the messages of a round from the second on.
func kindOf(round uint16) string {
	return [...]string{"", "", "Gradients", "Sums", "Choose", "Bits", "Divide", "Finish"}[round]
}

func encodeShape(bins []int) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(bins)))
	for _, b := range bins {
		w.Uint8(uint8(b - 1))
	}
	return w.Bytes()
}

func decodeShape(b []byte) ([]int, error) {
	r := wire.NewReader(b)
	bins := make([]int, r.Count(MaxColumns, 1))
	for i := range bins {
		bins[i] = int(r.Uint8()) + 1
	}
	if err := r.Close("secureboost: shape"); err != nil {
		return nil, err
	}
	return bins, checkShape(bins)
}

// choice is a split of a node of the level by a host's own column.
type choice struct{ node, column, bin int }

func encodeChoices(list []choice) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(list)))
	for _, c := range list {
		w.Uint16(uint16(c.node))
		w.Uint16(uint16(c.column))
		w.Uint8(uint8(c.bin))
	}
	return w.Bytes()
}

// decodeChoices decodes choices among so many nodes, in their order, by columns with
// these bins. No column is split after its last bin.
func decodeChoices(b []byte, nodes int, bins []int) ([]choice, error) {
	r := wire.NewReader(b)
	list := make([]choice, r.Count(nodes, 5))
	last := -1
	for i := range list {
		c := choice{int(r.Uint16()), int(r.Uint16()), int(r.Uint8())}
		if r.Err() == nil && (c.node <= last || c.node >= nodes || c.column >= len(bins) || c.bin+1 >= bins[c.column]) {
			r.Fail(fmt.Errorf("node %d is split by bin %d of column %d", c.node, c.bin, c.column))
		}
		list[i], last = c, c.node
	}
	return list, r.Close("secureboost: choices")
}

// encodeDivision writes the bits of each node of a level; nil for a leaf.
func encodeDivision(bits [][]byte) []byte {
	var b []byte
	for _, one := range bits {
		if one == nil {
			b = append(b, 0)
		} else {
			b = append(append(b, 1), one...)
		}
	}
	return b
}

func decodeDivision(b []byte, level []node) ([][]byte, error) {
	bits := make([][]byte, len(level))
	for k, n := range level {
		if len(b) == 0 || b[0] > 1 {
			return nil, fmt.Errorf("secureboost: division: node %d is neither a leaf nor split", k)
		}
		split := b[0] == 1
		if b = b[1:]; !split {
			continue
		}
		var err error
		if bits[k], b, err = n.cutBits(b); err != nil {
			return nil, fmt.Errorf("secureboost: division: node %d: %w", k, err)
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("secureboost: division: %d bytes too many", len(b))
	}
	return bits, nil
}
