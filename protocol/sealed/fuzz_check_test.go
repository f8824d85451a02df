package sealed

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// A check survives any body, in any round and in any number of chunks.
func FuzzCheck(f *testing.F) {
	k, in, _ := solvedSmall(f)
	whole := judgesOf(f, k, in)
	whole.opened()
	for i, m := range whole.all {
		if i%7 == 0 {
			f.Add(m.Round, m.Kind, m.Chunk, m.Chunks, m.Body)
		}
	}
	f.Add(uint16(0), kindPart, uint32(1), uint32(1), []byte{1})
	f.Fuzz(func(t *testing.T, round uint16, kind string, chunk, chunks uint32, body []byte) {
		j := judgesOf(t, k, in)
		h := k.header(serverB, serverA, int(round), kind)
		h.Chunk, h.Chunks = chunk, chunks
		for at := range 30 {
			j.boxes[serverA] = append(j.boxes[serverA], protocol.Message{Header: h, Body: body})
			if at%3 == 0 {
				j.run()
			}
		}
		if j.run(); j.failed[serverA] == nil && j.keepers[serverA].done() && len(j.refused) == 0 && len(body) > 0 {
			t.Logf("%d messages were taken", len(j.all))
		}
	})
}
