package prg

import (
	"bytes"
	"fmt"
	"testing"
)

// The machine's fastest keystream is the standard library's, from any block on.
func TestKeystreamEqualsStandardLibrary(t *testing.T) {
	for k := range 20 {
		key := Derive([32]byte{byte(k)}, "keystream")
		want, got := keystream(newCounterMode(&key)), newKeystream(&key)
		for _, block := range []uint64{0, 1, 255, 1<<32 - 3, 1<<40 | 7<<20, 1<<63 + 5, 1<<64 - 17} {
			want.seek(block)
			got.seek(block)
			for _, n := range []int{1, 3, 0} { // one after the other
				a, b := make([]byte, n*atOnce), make([]byte, n*atOnce+1)
				want.fill(a)
				got.fill(b[:n*atOnce])
				if !bytes.Equal(a, b[:n*atOnce]) || b[n*atOnce] != 0 {
					t.Fatalf("key %d, %d bytes from block %d differ (%T)", k, n*atOnce, block, got)
				}
			}
		}
	}
}

func BenchmarkKeystream(b *testing.B) {
	key := Derive([32]byte{}, "keystream")
	for _, k := range []keystream{newCounterMode(&key), newKeystream(&key)} {
		b.Run(fmt.Sprintf("%T", k), func(b *testing.B) {
			at := make([]byte, 2*atOnce)
			b.SetBytes(int64(len(at)))
			for i := uint64(0); b.Loop(); i++ {
				k.seek(i << 20)
				k.fill(at)
			}
		})
	}
}
