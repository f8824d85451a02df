package mail

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// The keys of as many members as a roster may have, with the longest names, reach a
// party; so does the longest job file with a descriptor of all of them.
func TestControlMessagesOfTheLargestFederation(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	key := m.keys["north"].Public().Bytes()
	var d control.Directory
	proposal := &control.Proposal{Spec: bytes.Repeat([]byte{'#'}, 1<<20)}
	proposal.Descriptor = m.Descriptor
	for i := range roster.MaxMembers {
		name := fmt.Sprintf("%063d", i)
		d = append(d, control.Acceptance{Member: name, Key: key, Signature: make([]byte, 64)})
		proposal.Descriptor.Members = append(proposal.Descriptor.Members, protocol.Member{Name: name, Role: protocol.RoleParty})
	}
	for kind, body := range map[string][]byte{control.KindDirectory: d.Encode(), control.KindProposal: proposal.Encode()} {
		if len(body) <= protocol.MaxChunkBytes {
			t.Fatalf("%s: %d bytes fit into one chunk", kind, len(body))
		}
		if err := f.routers["hub"].Tell(t.Context(), "north", m.ID(), kind, body); err != nil {
			t.Fatal(err)
		}
		select {
		case in := <-f.routers["north"].Control():
			if in.Message.Kind != kind || in.Message.Chunks != 1 || !bytes.Equal(in.Message.Body, body) {
				t.Errorf("%s: %v with %d bytes", kind, in.Message.Header, len(in.Message.Body))
			}
			if err := in.Ack(); err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatalf("%s of %d bytes does not arrive", kind, len(body))
		}
	}
	if err := f.routers["hub"].Tell(t.Context(), "north", m.ID(), control.KindDirectory, make([]byte, maxPieces*pieceBytes+1)); err == nil {
		t.Error("a message was sent that no party takes")
	}
}

// counted counts how a delivery was settled.
type counted struct{ acks, laters int }

func (c *counted) Ack() error                { c.acks++; return nil }
func (c *counted) Later(time.Duration) error { c.laters++; return nil }

// pieces seals a message's pieces as a member might.
func (f *federation) pieces(from string, bodies ...[]byte) (sealed [][]byte) {
	f.t.Helper()
	north, _ := f.members.Lookup("north")
	key, err := north.KEMKey()
	if err != nil {
		f.t.Fatal(err)
	}
	for i, body := range bodies {
		h := protocol.Header{Protocol: Control, Kind: control.KindDirectory, Sender: from, Receiver: "north", Chunk: uint32(i), Chunks: uint32(len(bodies))}
		one, err := envelope.Seal(h, body, key, f.ids[from].SigningKey())
		if err != nil {
			f.t.Fatal(err)
		}
		sealed = append(sealed, one)
	}
	return sealed
}

// In any order of the pieces, and however often they come, nothing is settled before the
// whole is; then all are. A coordinator that is killed in the middle, and sends the
// whole again with other content, mixes nothing.
func TestPiecesAreSettledTogether(t *testing.T) {
	f := newIdleFederation(t)
	x := New("north", f.ids["north"], f.members, nil, slog.New(slog.NewTextHandler(f.log, nil)))
	long := bytes.Repeat([]byte("directory "), 120_000)
	bodies, err := split(long)
	if err != nil {
		t.Fatal(err)
	}
	other, err := split(append(slices.Clone(long), '!'))
	if err != nil {
		t.Fatal(err)
	}
	sealed, again := f.pieces("hub", bodies...), f.pieces("hub", other...)
	var receipts []*counted
	deliver := func(data []byte) {
		c := &counted{}
		receipts = append(receipts, c)
		x.routeControl(transport.Delivery{Data: data, From: "hub", Receipt: c})
	}
	deliver(again[0]) // and killed
	deliver(sealed[2])
	deliver(sealed[0])
	deliver(sealed[0])
	for _, c := range receipts {
		if c.acks+c.laters > 0 {
			t.Fatal("a piece was settled before the whole")
		}
	}
	deliver(sealed[1])
	in := <-x.Control()
	if !bytes.Equal(in.Message.Body, long) {
		t.Fatalf("%d bytes, want %d", len(in.Message.Body), len(long))
	}
	if err := in.Ack(); err != nil {
		t.Fatal(err)
	}
	acks := 0
	for _, c := range receipts {
		acks += c.acks
	}
	if acks != len(bodies) || receipts[0].acks > 0 {
		t.Errorf("%d of %d pieces are acknowledged", acks, len(bodies))
	}
}

// A hostile member sends pieces, which only the coordinator may; a hostile coordinator
// sends pieces that do not fit, or never ends what it begins. No memory is taken
// beyond a bound, and what is whole still comes through.
func TestHostilePieces(t *testing.T) {
	f := newIdleFederation(t)
	x := New("north", f.ids["north"], f.members, nil, slog.New(slog.NewTextHandler(f.log, nil)))
	deliver := func(data []byte) { x.routeControl(transport.Delivery{Data: data, Receipt: &counted{}}) }
	for _, from := range []string{"south", "hub"} {
		sum := sha256.Sum256([]byte(from))
		deliver(f.pieces(from, sum[:])[0]) // one piece is no matter of this
		<-x.Control()
	}
	sum := sha256.Sum256(nil)
	lie := slices.Concat(sum[:], []byte("not that"))
	for _, one := range f.pieces("south", lie, lie) {
		deliver(one)
	}
	for _, one := range f.pieces("hub", lie, lie) {
		deliver(one)
	}
	deliver(f.pieces("hub", make([][]byte, maxPieces+1)...)[maxPieces])
	deliver(f.pieces("hub", []byte("short"), nil)[0])
	if len(x.unfinished) > 0 || len(x.Control()) > 0 {
		t.Fatalf("%d unfinished, %d whole; want none", len(x.unfinished), len(x.Control()))
	}
	for i := range 2 * maxUnfinished {
		sum := sha256.Sum256([]byte{byte(i)})
		deliver(f.pieces("hub", append(sum[:], 0), nil)[0])
	}
	if len(x.unfinished) != maxUnfinished {
		t.Errorf("%d messages are unfinished, want at most %d", len(x.unfinished), maxUnfinished)
	}
	bodies, err := split(make([]byte, 2*pieceBytes))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range f.pieces("hub", bodies...) {
		deliver(one)
	}
	if len(x.Control()) != 1 {
		t.Error("after all that the coordinator cannot send a whole message")
	}
}
