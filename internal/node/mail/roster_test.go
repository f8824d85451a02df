package mail

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/protocol"
)

// A router drops the messages of a member whom another roster has removed, or has with other keys, although
// they were sent before. It sends nothing to whom it does not have. A newcomer's messages arrive.
func TestChangedRoster(t *testing.T) {
	f := newFederation(t)
	tell := func(from string) error {
		return f.routers[from].Tell(t.Context(), "hub", protocol.SessionID{1}, control.KindClosed, []byte(from))
	}
	heard := func(want string) {
		t.Helper()
		if in := f.receive(f.routers["hub"].Control()); in.Message.Sender != want {
			t.Errorf("heard %s, want %s", in.Message.Sender, want)
		}
	}
	if err := tell("south"); err != nil {
		t.Fatal(err)
	}
	heard("south")
	other, _ := f.members.Lookup("west")
	other.Public = f.ids["south"].Public()
	f.routers["hub"].SetRoster(f.members.Without("south").With(roster.Member{Name: "west", Role: roster.Party, Public: other.Public}))
	for _, from := range []string{"south", "west", "north"} {
		if err := tell(from); err != nil {
			t.Fatal(err)
		}
	}
	heard("north") // neither south nor west
	f.logged("sender=south")
	f.logged("sender=west")
	if err := f.routers["hub"].Tell(t.Context(), "south", protocol.SessionID{1}, control.KindClosing, nil); err == nil {
		t.Error("a message to a removed member was sent")
	}
	f.routers["hub"].SetRoster(f.members)
	if err := tell("west"); err != nil {
		t.Fatal(err)
	}
	heard("west")
}
