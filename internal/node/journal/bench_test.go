package journal

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// BenchmarkAppend appends received messages; with sync, it waits for the disk
// after each, or after each batch of 64.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name        string
		size, batch int
	}{
		{"inline", 200, 0}, {"inline", 200, 64}, {"inline", 200, 1},
		{"inline", inlineBytes, 64},
		{"side", protocol.MaxChunkBytes, 64}, {"side", protocol.MaxChunkBytes, 1},
	} {
		b.Run(c.name+"/"+strconv.Itoa(c.size)+"/batch"+strconv.Itoa(c.batch), func(b *testing.B) {
			j := create(b, openStore(b, b.TempDir()), idOf(1))
			r := Record{Event: protocol.Received{Message: message(pattern(1, c.size))}, Sent: [][32]byte{{1}}}
			b.SetBytes(int64(c.size))
			for b.Loop() {
				must(b, j.Append(r))
				if c.batch > 0 && j.Len()%c.batch == 0 {
					must(b, j.Sync())
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{200, protocol.MaxChunkBytes} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			j := create(b, s, idOf(1))
			const records = 100
			for range records {
				must(b, j.Append(Record{Event: protocol.Received{Message: message(pattern(1, size))}}))
			}
			must(b, j.Sync())
			b.SetBytes(int64(size * records))
			for b.Loop() {
				must(b, j.Close())
				j, _ = reopen(b, s, idOf(1))
				if list, err := contents(j); err != nil || len(list) != records {
					b.Fatal(len(list), err)
				}
			}
			b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkSessionLife(b *testing.B) {
	s := openStore(b, b.TempDir())
	var id protocol.SessionID
	for b.Loop() {
		id[0]++
		if id[0] == 0 {
			id[1]++
		}
		j, err := s.Create(id, seedOf(1), build)
		must(b, err)
		must(b, j.Destroy([]byte("done")))
	}
}

func BenchmarkClaim(b *testing.B) {
	l := openLedger(b, filepath.Join(b.TempDir(), "claims"))
	n := 0
	for b.Loop() {
		n++
		must(b, l.Claim(idOf(1), "okra/epoch/"+strconv.Itoa(n)))
	}
}
