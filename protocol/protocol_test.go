package protocol

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func descriptor() Descriptor {
	return Descriptor{
		Protocol: "okra", Version: 1, Params: []byte{1, 2}, Purpose: "train", Attempt: 1, Nonce: [32]byte{7},
		Members: []Member{{"coordinator", RoleServer}, {"north", RoleLeader}, {"south", RoleParty}},
	}
}

func open(t testing.TB, d Descriptor) *Session {
	t.Helper()
	s, err := NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDescriptorRoundTrip(t *testing.T) {
	d := descriptor()
	back, err := DecodeDescriptor(d.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&d, back); diff != "" {
		t.Fatal(diff)
	}
}

// Everything public is part of the session's name: any change gives another session.
func TestSessionIDCoversEveryField(t *testing.T) {
	changes := map[string]func(*Descriptor){
		"protocol": func(d *Descriptor) { d.Protocol = "scale" },
		"version":  func(d *Descriptor) { d.Version++ },
		"params":   func(d *Descriptor) { d.Params = []byte{1, 3} },
		"roster":   func(d *Descriptor) { d.Roster[0]++ },
		"members":  func(d *Descriptor) { d.Members = d.Members[:2] },
		"role":     func(d *Descriptor) { d.Members = append([]Member{{"coordinator", RoleParty}}, d.Members[1:]...) },
		"purpose":  func(d *Descriptor) { d.Purpose = "predict" },
		"attempt":  func(d *Descriptor) { d.Attempt++ },
		"nonce":    func(d *Descriptor) { d.Nonce[31]++ },
		"parent":   func(d *Descriptor) { d.Parent[0]++ },
	}
	id := open(t, descriptor()).ID()
	for name, change := range changes {
		d := descriptor()
		change(&d)
		if open(t, d).ID() == id {
			t.Errorf("another %s gives the same session id", name)
		}
	}
}

func TestDescriptorRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Descriptor)
		want   string
	}{
		{"no protocol", func(d *Descriptor) { d.Protocol = "" }, "protocol: the descriptor names no protocol"},
		{"nobody", func(d *Descriptor) { d.Members = nil }, "protocol: the descriptor names no members"},
		{"twice", func(d *Descriptor) { d.Members[1].Name = "south" }, `protocol: two members are called "south"; give each its own name`},
		{"no name", func(d *Descriptor) { d.Members[1].Name = "" }, `protocol: member name "" has a wrong length; use 1 to 64 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := descriptor()
			tt.change(&d)
			if _, err := NewSession(d); err == nil || err.Error() != tt.want {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if _, err := DecodeDescriptor(d.Encode()); err == nil {
				t.Fatal("decoded")
			}
		})
	}
}

func TestCheck(t *testing.T) {
	s := open(t, descriptor())
	good := s.Header("north", "coordinator", 1, "Rows")
	if err := s.Check(good, "coordinator"); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Header){
		"session":  func(h *Header) { h.Session[0]++ },
		"protocol": func(h *Header) { h.Protocol = "scale" },
		"receiver": func(h *Header) { h.Receiver = "south" },
		"sender":   func(h *Header) { h.Sender = "mallory" },
	} {
		h := good
		change(&h)
		var blame *BlameError
		if err := s.Check(h, "coordinator"); !errors.As(err, &blame) || blame.Kind != KindForeign {
			t.Errorf("another %s: %v, want a BlameError of kind foreign", name, err)
		}
	}
}

func TestInbox(t *testing.T) {
	s := open(t, descriptor())
	m := Message{s.Header("north", "coordinator", 1, "Rows"), []byte("a")}
	var in Inbox
	for i, want := range []bool{true, true, false} {
		if i == 2 {
			in.Accept(m)
		}
		if fresh, err := in.Fresh(m); err != nil || fresh != want {
			t.Fatalf("look %d: fresh %v, %v; want %v", i, fresh, err, want)
		}
	}
	m.Body = []byte("b")
	var blame *BlameError
	if _, err := in.Fresh(m); !errors.As(err, &blame) || blame.Kind != KindEquivocation || blame.Party != "north" {
		t.Fatalf("another body under the same header: %v, want equivocation by north", err)
	}
}

func TestDigestBindsHeaderAndBody(t *testing.T) {
	s := open(t, descriptor())
	m := Message{s.Header("north", "coordinator", 1, "Rows"), []byte("a")}
	other := m
	other.Chunk, other.Chunks = 1, 2
	body := m
	body.Body = []byte("b")
	if m.Digest() == other.Digest() || m.Digest() == body.Digest() {
		t.Fatal("the digest does not cover header and body")
	}
}

func TestHeaderString(t *testing.T) {
	s := open(t, descriptor())
	h := s.Header("north", "coordinator", 3, "Rows")
	h.Sequence, h.Chunk, h.Chunks = 2, 0, 4
	if got, want := h.String(), "north>coordinator okra.3 Rows #2 1/4"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestCutHeaderLeavesTheRest(t *testing.T) {
	h := open(t, descriptor()).Header("north", "coordinator", 1, "Rows")
	b := append(h.Encode(), "the body"...)
	if got, rest, err := CutHeader(b); err != nil || got != h || string(rest) != "the body" {
		t.Errorf("%v, %q left, error %v", got, rest, err)
	}
	for n := range len(h.Encode()) {
		if got, rest, err := CutHeader(b[:n]); err == nil || got != (Header{}) || rest != nil || !strings.HasPrefix(err.Error(), "protocol: header: ") {
			t.Errorf("%d bytes: %v, %q left, error %v", n, got, rest, err)
		}
	}
}

func TestMembersHaveOneRole(t *testing.T) {
	if got := Members(RoleParty, "a", "b"); !slices.Equal(got, []Member{{"a", RoleParty}, {"b", RoleParty}}) {
		t.Errorf("%v", got)
	}
	if got := Members(RoleServer); len(got) != 0 {
		t.Errorf("no names give %v", got)
	}
}

func FuzzDecodeHeader(f *testing.F) {
	s := open(f, descriptor())
	h := s.Header("north", "coordinator", 1, "Rows")
	f.Add(h.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHeader(b)
		if err == nil && !bytes.Equal(h.Encode(), b) {
			t.Fatalf("%x decodes to a header that encodes to %x", b, h.Encode())
		}
		if err != nil && !strings.HasPrefix(err.Error(), "protocol: ") {
			t.Fatalf("error %q does not name its package", err)
		}
	})
}

func FuzzDecodeDescriptor(f *testing.F) {
	d := descriptor()
	f.Add(d.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := DecodeDescriptor(b)
		if err == nil && !bytes.Equal(d.Encode(), b) {
			t.Fatalf("%x decodes to a descriptor that encodes to %x", b, d.Encode())
		}
	})
}
