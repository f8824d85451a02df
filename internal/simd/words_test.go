package simd_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Sums and differences of words equal a loop's, wrap, and touch nothing beyond their
// end.
func TestWords(t *testing.T) {
	onEachPath(t, func(t *testing.T, p simd.Path) {
		src := rand.New(rand.NewPCG(7, 7))
		for _, n := range []int{0, 1, 3, 15, 16, 17, 31, 32, 33, 64, 95, 1000, 4099} {
			room := make([]uint64, n+8)
			for i := range room {
				room[i] = src.Uint64()
			}
			key, words := make([]byte, 8*n+1)[1:], make([]uint64, n) // not aligned
			sum := slices.Clone(room)
			for i := range words {
				words[i] = src.Uint64()
				binary.LittleEndian.PutUint64(key[8*i:], words[i])
				sum[i] += words[i]
			}
			got := slices.Clone(room)
			simd.AddWords(p, got[:n], key)
			if !slices.Equal(got, sum) {
				t.Errorf("%d words are added wrongly", n)
			}
			simd.SubtractWords(p, got[:n], key)
			if !slices.Equal(got, room) {
				t.Errorf("%d words are taken off wrongly", n)
			}
		}
	})
}
