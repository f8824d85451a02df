package nats

import (
	"fmt"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/transport"
)

// BenchmarkDeliver sends from one member and receives and acknowledges at
// another, over loopback, with every message flushed to disk.
func BenchmarkDeliver(b *testing.B) { benchSizes(b, nil) }

// BenchmarkDeliverByTLS is BenchmarkDeliver with TLS.
func BenchmarkDeliverByTLS(b *testing.B) {
	key, _ := tlsKey(1)
	benchSizes(b, func(c *Config) { c.TLS = key })
}

func benchSizes(b *testing.B, change func(*Config)) {
	for _, size := range []int{1 << 10, 512 << 10} {
		for _, senders := range []int{1, 8} {
			b.Run(fmt.Sprintf("%dKiB/%dsenders", size>>10, senders), func(b *testing.B) {
				benchDeliver(b, newFederation(b, change), size, senders)
			})
		}
	}
}

func benchDeliver(b *testing.B, f *federation, size, senders int) {
	north, south := f.join("north"), f.join("south")
	data := make([]byte, size)
	b.SetBytes(int64(size))
	b.ResetTimer()
	var wg sync.WaitGroup
	for lane := range senders {
		wg.Go(func() {
			for range (b.N + lane) / senders {
				if err := north.Send(b.Context(), "south", transport.Bulk, data); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	for range b.N {
		if err := f.receive(south).Ack(); err != nil {
			b.Fatal(err)
		}
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}
