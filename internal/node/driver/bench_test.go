package driver

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// sink takes everything and remembers nothing.
type sink struct{ in chan Inbound }

func (s *sink) In() <-chan Inbound                           { return s.in }
func (s *sink) Send(context.Context, protocol.Message) error { return nil }

// nothing is a log that keeps nothing.
type nothing struct{}

func (nothing) Append(journal.Record) error { return nil }
func (nothing) Sync() error                 { return nil }

type quiet struct{}

func (quiet) Ack() error                { return nil }
func (quiet) Later(time.Duration) error { return nil }

// pour runs a session that receives n bodies, answering each or only the last.
func pour(b *testing.B, w *testbed, log Log, n, size int, answer bool) {
	b.Helper()
	seen := 0
	w.machine = func() protocol.Machine {
		return script(func(e protocol.Event) (protocol.Effects, error) {
			if kindOf(e) == "" {
				return protocol.Effects{}, nil
			}
			seen++
			var effects protocol.Effects
			if answer {
				effects.Send = []protocol.Message{numbered(w.session, self, peer, "Answer", seen, make([]byte, 32))}
			}
			if seen == n {
				effects.End = &protocol.End{}
			}
			return effects, nil
		})
	}
	config := w.config(log, (&memory{}).Records())
	config.Log = log
	mail := &sink{in: make(chan Inbound, 16)}
	config.Mail = mail
	go func() {
		for i := range n {
			mail.in <- Inbound{Message: numbered(w.session, peer, self, "Rows", i, make([]byte, size)), Receipt: quiet{}}
		}
	}()
	if _, err := Run(b.Context(), config); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkMessage(b *testing.B) {
	for _, size := range []int{1 << 10, protocol.MaxChunkBytes} {
		for _, answer := range []bool{false, true} {
			b.Run(fmt.Sprintf("memory/%d/answered=%v", size, answer), func(b *testing.B) {
				b.SetBytes(int64(size))
				pour(b, scriptedTestbed(b), nothing{}, b.N, size, answer)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			})
			b.Run(fmt.Sprintf("disk/%d/answered=%v", size, answer), func(b *testing.B) {
				v, err := vault.OpenDisk(filepath.Join(b.TempDir(), "vault"), "a build")
				if err != nil {
					b.Fatal(err)
				}
				w := scriptedTestbed(b)
				s, err := v.Create(w.session.ID(), [32]byte{1}, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				b.ResetTimer()
				pour(b, w, s, b.N, size, answer)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
				b.StopTimer()
				if err := s.Destroy("done"); err != nil {
					b.Fatal(err)
				}
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func scriptedTestbed(b *testing.B) *testbed { return newTestbed(b, newWorker, nil) }
