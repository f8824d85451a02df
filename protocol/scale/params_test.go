package scale

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestParams(t *testing.T) {
	for spec, want := range map[Spec]Method{{}: MinMax, {MinMax}: MinMax, {Standard}: Standard} {
		p, err := NewParams(spec)
		if err != nil || p.Spec().Method != want {
			t.Errorf("NewParams(%v) = %v, %v; want method %s", spec, p, err, want)
		}
		back, err := DecodeParams(p.Encode())
		if err != nil || back != p {
			t.Errorf("DecodeParams gives %v, %v; want %v", back, err, p)
		}
	}
	if _, err := NewParams(Spec{"log"}); err == nil || err.Error() != `scale: method "log" is unknown; choose "minmax" or "standard"` {
		t.Errorf("method log: %v", err)
	}
}

func TestConstructorsRefuse(t *testing.T) {
	good := Statistics{Method: MinMax, Rows: 2, First: []float64{1}, Second: []float64{2}}
	tests := []struct {
		name, want string
		change     func(d *protocol.Descriptor, self *string, s *Statistics)
	}{
		{"another protocol", "session runs okra version 1; this program runs scale version 1", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Protocol = "okra" }},
		{"another version", "session runs scale version 2", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Version = 2 }},
		{"parameters", "scale: parameters", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Params = []byte{1} }},
		{"other parameters", "the parameters are not for protocol scale", func(d *protocol.Descriptor, _ *string, _ *Statistics) {
			d.Params = bytes.Replace(d.Params, []byte("scale"), []byte("scald"), 1)
		}},
		{"unknown method", `method "minmix"`, func(d *protocol.Descriptor, _ *string, _ *Statistics) {
			d.Params = bytes.Replace(d.Params, []byte("minmax"), []byte("minmix"), 1)
		}},
		{"two leaders", "requires one leader", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Members[1].Role = protocol.RoleLeader }},
		{"no leader", "requires one leader", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Members[0].Role = protocol.RoleParty }},
		{"a server", "no other member; this session has 1 leaders, 1 parties and 1 others", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Members[2].Role = protocol.RoleServer }},
		{"alone", "at least one party", func(d *protocol.Descriptor, _ *string, _ *Statistics) { d.Members = d.Members[:1] }},
		{"a stranger", `"x" is not a leader`, func(_ *protocol.Descriptor, self *string, _ *Statistics) { *self = "x" }},
		{"another role", `"p1" is not a leader`, func(_ *protocol.Descriptor, self *string, _ *Statistics) { *self = "p1" }},
		{"another method", "the statistics are for method standard, but the session uses minmax", func(_ *protocol.Descriptor, _ *string, s *Statistics) { s.Method, s.Second = Standard, []float64{0} }},
		{"no statistics", "make them with Summarize", func(_ *protocol.Descriptor, _ *string, s *Statistics) { *s = Statistics{Method: MinMax} }},
		{"no rows", "statistics of a party without rows", func(_ *protocol.Descriptor, _ *string, s *Statistics) { s.Rows = 0 }},
		{"lengths", "statistics have 1 numbers in First and 2 in Second", func(_ *protocol.Descriptor, _ *string, s *Statistics) { s.Second = []float64{2, 3} }},
		{"upside down", "2 and 1 cannot be the minmax statistics", func(_ *protocol.Descriptor, _ *string, s *Statistics) { s.First, s.Second = s.Second, s.First }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, self, own := descriptor(MinMax, 3, 0), "p0", good
			tt.change(&d, &self, &own)
			if _, err := NewLeader(protocol.Setup{Session: session(t, d), Self: self}, own); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := NewParty(protocol.Setup{Session: session(t, descriptor(MinMax, 2, 0)), Self: "p0"}, good); err == nil || !strings.Contains(err.Error(), `"p0" is not a party`) {
		t.Errorf("the leader as a party: %v", err)
	}
}

func TestLayout(t *testing.T) {
	tests := []struct{ columns, width, chunks int }{
		{1, 64, 1}, {64, 64, 1}, {65, 128, 1}, {16384, 16384, 1}, {16385, 32768, 2}, {40000, 65536, 4}, {MaxColumns, MaxColumns, 1024},
	}
	for _, tt := range tests {
		l := newLayout(tt.columns, bulk())
		if l.width != tt.width || l.chunks() != tt.chunks {
			t.Errorf("%d columns: width %d in %d chunks, want %d in %d", tt.columns, l.width, l.chunks(), tt.width, tt.chunks)
		}
		body := headingBytes + columnBytes*l.chunk
		if body > protocol.MaxChunkBytes || l.batch*body > protocol.MaxStepBytes || l.batch < 1 {
			t.Errorf("%d columns: bodies of %d bytes, %d in a step", tt.columns, body, l.batch)
		}
		covered := 0
		for i := range l.chunks() {
			lo, hi := l.span(i)
			if lo != covered {
				t.Errorf("%d columns: chunk %d begins at %d, want %d", tt.columns, i, lo, covered)
			}
			covered = hi
		}
		if covered != tt.columns {
			t.Errorf("%d columns: %d are sent", tt.columns, covered)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add([]byte{})
	for _, m := range []Method{MinMax, Standard} {
		f.Add(Params{Spec{m}}.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeParams(b)
		if err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x decodes to %v, which encodes as %x", b, p, p.Encode())
		}
	})
}

// A machine refuses any message with blame, accepts it, or ends; every decoded message has
// one encoding.
func FuzzMessages(f *testing.F) {
	good := body(2, []float64{1, 4}, []float64{3, 5})
	f.Add(good, uint32(0), uint32(1))
	f.Add(body(0, []float64{1, 4}, []float64{0.5, 1}), uint32(0), uint32(1))
	f.Add(good[:20], uint32(0), uint32(1))
	f.Add(newLayout(100, sizing{64, 1}).encode(9, columns{make([]float64, 36), make([]float64, 36)}), uint32(1), uint32(2))
	f.Add([]byte{}, uint32(1<<31), uint32(1<<32-1))
	f.Fuzz(func(t *testing.T, b []byte, at, of uint32) {
		m := meet(t, MinMax)
		statistics := protocol.Message{Header: m.sent.Header, Body: b}
		statistics.Chunk, statistics.Chunks = at, of
		combined := protocol.Message{Header: m.session.Header("north", "south", roundCombined, kindCombined), Body: b}
		combined.Chunk, combined.Chunks = at, of
		for _, size := range []sizing{bulk(), {64, 1}} {
			c, err := decode(statistics, size)
			if err == nil && !bytes.Equal(c.layout.encode(c.rows, c.columns), b) {
				t.Errorf("%x decodes to %v, which encodes otherwise", b, c)
			}
		}
		if _, err := m.leader.Step(protocol.Received{Message: statistics}); err != nil {
			wantBlamed(t, err)
		}
		if _, err := m.party.Step(protocol.Received{Message: combined}); err != nil {
			wantBlamed(t, err)
		}
	})
}

func wantBlamed(t *testing.T, err error) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) {
		t.Errorf("refused without blame: %v", err)
	}
}
