package ppsvmv

import (
	"encoding/binary"

	"github.com/mercer-fl/mercer/protocol"
)

const wordBytes = 8

// tile is a piece of a group's entries: what one message holds.
type tile struct{ group, first, entries int }

// tiles cuts the groups into pieces of at most that many entries.
func (p Params) tiles(most int) []tile {
	var list []tile
	for group, n := range p.groups {
		for first := 0; first < n; first += most {
			list = append(list, tile{group, first, min(most, n-first)})
		}
	}
	return list
}

// mostEntries is the number of entries of the largest message.
const mostEntries = protocol.MaxChunkBytes / wordBytes

// add adds numbers to words modulo 2^64.
func add(words []byte, numbers []int64) {
	for i, v := range numbers {
		at := words[wordBytes*i:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(v))
	}
}
