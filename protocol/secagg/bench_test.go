package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"runtime"
	"testing"
	"time"
)

// BenchmarkMasks measures the expansion of masks onto a vector beside the
// cipher alone, in turns on one core, and reports the best of each.
func BenchmarkMasks(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const streams, words = 32, 1 << 17
	masks := make([]Mask, streams)
	for i := range masks {
		masks[i] = Mask{[32]byte{byte(i)}, i%2 == 0}
	}
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		b.Fatal(err)
	}
	dst, zeros, key := make([]uint64, words), make([]byte, 16<<10), make([]byte, 16<<10)
	const bytes = 8 * streams * words
	alone, both := 0.0, 0.0
	for b.Loop() {
		begin := time.Now()
		ctr := cipher.NewCTR(block, make([]byte, aes.BlockSize))
		for range bytes / len(key) {
			ctr.XORKeyStream(key, zeros)
		}
		alone = max(alone, bytes/time.Since(begin).Seconds())
		begin = time.Now()
		AESCTR{}.Add(dst, 0, masks)
		both = max(both, bytes/time.Since(begin).Seconds())
	}
	b.ReportMetric(both/1e9, "GB/s")
	b.ReportMetric(alone/1e9, "AES-CTR-GB/s")
	b.ReportMetric(both/alone, "of-AES-CTR")
}
