package fdskl

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// BenchmarkChunk measures a worker's work for one chunk beside its own phases: three
// masks and one child's sum. Bytes are the bytes of the chunk.
func BenchmarkChunk(b *testing.B) {
	for _, r := range []ring{8, 16, 32} {
		b.Run(fmt.Sprint(int(r), "bits"), func(b *testing.B) {
			masks := []mask{newMask([32]byte{1}, false), newMask([32]byte{2}, true), newMask([32]byte{3}, true)}
			words, child := make([]byte, protocol.MaxChunkBytes), make([]byte, protocol.MaxChunkBytes)
			b.SetBytes(int64(len(words)))
			for b.Loop() {
				r.apply(masks, 1, words)
				r.add(words, child)
			}
		})
	}
}
