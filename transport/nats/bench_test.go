package nats

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

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

// BenchmarkDeliverByWSS is BenchmarkDeliver by WebSocket.
func BenchmarkDeliverByWSS(b *testing.B) { benchSizes(b, byWSS) }

// BenchmarkLine delivers 100 MB in messages of 512 KiB, over each kind of line.
func BenchmarkLine(b *testing.B) {
	key, _ := tlsKey(1)
	for _, line := range []struct {
		name   string
		change func(*Config)
	}{{"tcp", nil}, {"tls", func(c *Config) { c.TLS = key }}, {"wss", byWSS}} {
		b.Run(line.name, func(b *testing.B) {
			const size, messages = 512 << 10, 191
			f := newFederation(b, line.change)
			north, south := f.join("north"), f.join("south")
			b.SetBytes(size * messages)
			before := processor(b)
			for b.Loop() {
				f.deliver(b, north, south, size, messages, 8)
			}
			b.ReportMetric((processor(b)-before).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// processor returns the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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
	b.SetBytes(int64(size))
	b.ResetTimer()
	f.deliver(b, north, south, size, b.N, senders)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

// deliver sends messages to the member south by a number of concurrent senders, until all have arrived.
func (f *federation) deliver(b *testing.B, north, south transport.Conn, size, messages, senders int) {
	data := make([]byte, size)
	var wg sync.WaitGroup
	for lane := range senders {
		wg.Go(func() {
			for range (messages + lane) / senders {
				if err := north.Send(b.Context(), "south", transport.Bulk, data); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	for range messages {
		if err := f.receive(south).Ack(); err != nil {
			b.Fatal(err)
		}
	}
	wg.Wait()
}
