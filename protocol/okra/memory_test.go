package okra

import (
	"errors"
	"runtime"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// uploads plays parties with rows of f features, n in all, which are not really encoded. It holds
// at most a chunk, so that a measurement shows the server's memory.
type uploads struct {
	session *protocol.Session
	server  *Server
	layout  layout
}

const uploaders = 4

func newUploads(t testing.TB, spec Spec, n, f int) *uploads {
	t.Helper()
	p := mustParams(t, spec)
	members := append(append([]protocol.Member(nil), hospitals...), protocol.Member{Name: "west", Role: protocol.RoleParty})
	u := &uploads{session: newSession(t, p, members...), layout: layout{n / uploaders, f + Padding(f), p.wordBytes()}}
	var err error
	if u.server, err = NewServer(protocol.Setup{Session: u.session, Self: "hub"}, p, Limits{}); err == nil {
		_, err = u.server.Step(protocol.Start{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// send hands one message from each party to the server.
func (u *uploads) send(round uint16, kind string, chunk, chunks int, body []byte, from ...string) error {
	for _, name := range from {
		m := protocol.Message{Header: u.session.Header(name, "hub", round, kind), Body: body}
		m.Chunk, m.Chunks = uint32(chunk), uint32(chunks)
		if _, err := u.server.Step(protocol.Received{Message: m}); err != nil {
			return err
		}
	}
	return nil
}

func (u *uploads) parties() []string { return u.server.parties() }

func (u *uploads) announce(from ...string) error {
	a := announce{rows: u.layout.rows, width: u.layout.width, wire: u.layout.word}
	return u.send(roundAnnounce, kindAnnounce, 0, 1, a.encode(), from...)
}

// rows sends a chunk of every party's rows, all zeros.
func (u *uploads) rows(chunk int) error {
	body := make([]byte, u.layout.bytes(u.layout.span(chunk)))
	return u.send(roundRows, kindRows, chunk, u.layout.chunks(), body, u.parties()...)
}

// run plays everything after the announcements, and calls after behind every
// chunk and every step of the multiplication.
func (u *uploads) run(t testing.TB, after func()) {
	t.Helper()
	in := Input{Rows: randomRows("labels", u.layout.rows, 1)}
	err := u.send(roundRows, kindLabels, 0, 1, encodeLabels(in, 0), u.parties()...)
	for chunk := 0; chunk < u.layout.chunks() && err == nil; chunk++ {
		err = u.rows(chunk)
		after()
	}
	for effects := (protocol.Effects{Resume: true}); effects.Resume && err == nil; after() {
		effects, err = u.server.Step(protocol.Resumed{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// holds returns the memory that a server of n rows must hold: the rows as they came, and the
// Gram matrix.
func (u *uploads) holds() int64 {
	n := int64(uploaders * u.layout.rows)
	return n*int64(u.layout.width)*int64(u.layout.word) + 8*n*n
}

// Before all have announced, rows are refused and nothing is stored. After that,
// at no moment is there more than the encoded rows, the Gram matrix and small
// change: one tile, one chunk.
func TestServerMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const small = 4 << 20
	for _, spec := range []Spec{{}, {Wire: Float64}} {
		u := newUploads(t, spec, 1200, 3000)
		before := heap()
		for i, name := range u.parties() {
			for range 20 {
				var blame *protocol.BlameError
				if err := u.rows(0); !errors.As(err, &blame) || blame.Kind != protocol.KindUnexpected {
					t.Fatalf("rows while %d have announced: %v", i, err)
				}
			}
			if grown := heap() - before; grown > 1<<20 {
				t.Errorf("%d bytes held while %d have announced", grown, i)
			}
			if err := u.announce(name); err != nil {
				t.Fatal(err)
			}
		}
		peak, samples := int64(0), 0
		u.run(t, func() {
			if samples++; samples%4 == 0 {
				peak = max(peak, heap()-before)
			}
		})
		if peak = max(peak, heap()-before); peak > u.holds()+small {
			t.Errorf("%v: %d bytes held at the peak, %d are rows and Gram matrix", spec, peak, u.holds())
		}
		if peak < u.holds() {
			t.Errorf("%v: %d bytes held at the peak, less than the %d of rows and Gram matrix: the test does not measure", spec, peak, u.holds())
		}
	}
}

// A party with float32 rows never holds all of them in float64, nor all encodings: besides the rows
// it holds panels, and the messages of a step.
func TestPartyMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n, f = 400, 30_000
	single := linalg.New[float32](n, f)
	for i := range single.Data {
		single.Data[i] = float32(i % 251)
	}
	p := mustParams(t, Spec{})
	s := newSession(t, p, hospitals...)
	before := heap()
	party, err := NewParty(protocol.Setup{Session: s, Self: "north"}, p, Input{Rows: single})
	if err != nil {
		t.Fatal(err)
	}
	e, err := party.Step(protocol.Start{InputHash: party.InputHash()})
	if err != nil {
		t.Fatal(err)
	}
	width := f + Padding(f)
	panels := int64(8 * (f + width) * party.upload.rowsAtOnce())
	layers := int64(5 * 4 * width)
	if e.Resume {
		t.Fatal("a party begins its upload without the server's word")
	}
	grant := protocol.Message{Header: s.Header("hub", "north", roundAnnounce, kindGrant)}
	if e, err = party.Step(protocol.Received{Message: grant}); err != nil {
		t.Fatal(err)
	}
	peak, steps := int64(0), 0
	for ; e.Resume; steps++ {
		if e, err = party.Step(protocol.Resumed{}); err != nil {
			t.Fatal(err)
		}
		if steps%4 == 0 {
			peak = max(peak, heap()-before)
		}
	}
	if most := panels + layers + protocol.MaxStepBytes + 2<<20; peak > most || most > 8*n*f/2 {
		t.Errorf("%d bytes held while %d rows were encoded, want at most %d, and far less than the %d of all in float64", peak, n, most, 8*n*f)
	}
	if steps < n/party.upload.rowsAtOnce() || peak < panels {
		t.Errorf("%d steps, %d bytes at the peak: the test does not measure", steps, peak)
	}
	if left := heap() - before; left > layers+1<<20 {
		t.Errorf("%d bytes held after everything was sent", left)
	}
	runtime.KeepAlive(party)
}

// heap returns the reachable memory. A single collection would leave the memory that a sync.Pool of
// linalg still holds after its product.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	return allocated()
}

// allocated also counts memory that is not yet collected.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkServerMemory reports the peak megabytes of a server of 2,000 rows of 16,384 features,
// the megabytes of rows and Gram matrix, the peak including garbage, and the allocations during the
// multiplication.
func BenchmarkServerMemory(b *testing.B) {
	for b.Loop() {
		u := newUploads(b, Spec{}, 2000, 16384)
		before := heap()
		if err := u.announce(u.parties()...); err != nil {
			b.Fatal(err)
		}
		var held, peak, chunks, steps int64
		var first, last runtime.MemStats
		u.run(b, func() {
			peak = max(peak, allocated()-before)
			if u.server.gram == nil {
				chunks++
				return
			}
			if steps++; steps == 1 {
				runtime.ReadMemStats(&first)
			}
			runtime.ReadMemStats(&last)
			if steps%16 == 0 || u.server.gram.done() {
				held = max(held, heap()-before)
			}
		})
		const mb = 1e6
		b.ReportMetric(float64(u.holds())/mb, "MB-needed")
		b.ReportMetric(float64(held)/mb, "MB-held")
		b.ReportMetric(float64(peak)/mb, "MB-peak")
		b.ReportMetric(float64(last.TotalAlloc-first.TotalAlloc)/mb/float64(steps-1), "MB-allocated/step")
	}
}
