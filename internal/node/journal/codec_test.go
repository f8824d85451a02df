package journal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestEncodeDecode(t *testing.T) {
	for i, r := range append(story(), Record{Delivered: 1}) {
		e, body := split(r)
		got, err := decode(e.encode())
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		back := got.Record
		if (body != nil) != (got.side != nil) {
			t.Fatalf("record %d: a body on the side %v, decoded %v", i, body != nil, got.side != nil)
		}
		if got.side != nil {
			back = got.restore(body)
		}
		if diff := diffRecords([]Record{r}, []Record{back}); diff != "" {
			t.Errorf("record %d:\n%s", i, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	resumed := entry{Record: Record{Event: protocol.Resumed{}}}.encode()
	received, _ := split(Record{Event: protocol.Received{Message: message(make([]byte, inlineBytes+1))}})
	tooSmall, tooLarge := received, received
	tooSmall.side = &side{size: inlineBytes}
	tooLarge.side = &side{size: protocol.MaxChunkBytes + 1}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "end too early"},
		{"unknown kind", []byte{99}, "kind 99 is unknown"},
		{"tail", append(bytes.Clone(resumed), 0), "1 bytes are left over"},
		{"many digests", []byte{tagResumed, 0xff, 0xff, 0xff, 0xff}, "a count is 4294967295"},
		{"many claims", []byte{tagResumed, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, "a count is 4294967295"},
		{"empty claim", []byte{tagResumed, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}, "a claimed name has 0 bytes"},
		{"no deliveries", []byte{tagDelivered, 0, 0, 0, 0}, "the record must have an event, a count of deliveries or an outcome"},
		{"too many deliveries", []byte{tagDelivered, 0, 0, 0, 0x80}, "too large"},
		{"no outcome", []byte{tagEnded, 0, 0}, "the record must have an event, a count of deliveries or an outcome"},
		{"small body on the side", tooSmall.encode(), "the side file's body has 65536 bytes"},
		{"large body on the side", tooLarge.encode(), "the side file's body has 524289 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(c.b)
			if err == nil || !damaged(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want damage with %q", err, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range append(small(), story()[4]) {
		e, _ := split(r)
		f.Add(e.encode())
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decode(b)
		if err != nil {
			return
		}
		if again := e.encode(); !bytes.Equal(b, again) {
			t.Fatalf("%x decodes, and encodes to %x", b, again)
		}
	})
}

// FuzzFrames reads a log whose bytes after the header were changed. What comes
// out is a prefix of what was written, at worst a shorter one.
func FuzzFrames(f *testing.F) {
	log, err := newLog(Header{Session: idOf(1), Build: build}, seedOf(1))
	must(f, err)
	_, s, start, err := readHeader(bytes.NewReader(log), seedOf(1))
	must(f, err)
	var plain [][]byte
	for i, r := range small() {
		e, _ := split(r)
		plain = append(plain, e.encode())
		log = appendFrame(log, s, uint64(i), plain[i])
	}
	f.Add(log[start:])
	f.Add(log[start : len(log)-5])
	f.Add(append(bytes.Clone(log[start:]), make([]byte, 100)...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		fr := newFrames(bytes.NewReader(b), 0, int64(len(b)), s)
		for i := 0; ; i++ {
			got, err := fr.next()
			if errors.Is(err, io.EOF) || errors.Is(err, errTorn) || damaged(err) {
				return
			}
			if err != nil {
				t.Fatalf("neither an end nor damage: %v", err)
			}
			if i >= len(plain) || !bytes.Equal(got, plain[i]) {
				t.Fatalf("record %d is not what was written: %x", i, got)
			}
		}
	})
}

func FuzzHeader(f *testing.F) {
	log, err := newLog(Header{Session: idOf(1), Build: build}, seedOf(1))
	must(f, err)
	f.Add(log)
	f.Add(log[:40])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, _, end, err := readHeader(bytes.NewReader(b), seedOf(1))
		if err != nil {
			if !damaged(err) {
				t.Fatalf("not damage: %v", err)
			}
			return
		}
		if h.Session != idOf(1) || h.Build != build || end > int64(len(b)) {
			t.Fatalf("a forged header: %+v", h)
		}
	})
}

func FuzzMark(f *testing.F) {
	f.Add(state{}.String())
	f.Add(state{ended: true, records: 1 << 63}.String())
	f.Add(state{anew: true, records: 7}.String())
	f.Add("open  1\n")
	f.Fuzz(func(t *testing.T, line string) {
		if s, err := parseState(line); err == nil && s.String() != line {
			t.Fatalf("%q is read as %+v", line, s)
		}
	})
}
