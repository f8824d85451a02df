package protocol

import (
	"errors"
	"strings"
	"testing"
)

// parrot is a machine that answers one message with the same body.
type parrot struct {
	setup    Setup
	life     Life
	handlers Handlers
}

func newParrot(t testing.TB) *parrot {
	p := &parrot{setup: Setup{Session: open(t, descriptor()), Self: "north"}}
	p.handlers = Handlers{
		Start: func(s Start) (Effects, error) {
			if s.InputHash != [32]byte{} {
				return Effects{}, errors.New("other input")
			}
			return Effects{Sync: true}, nil
		},
		Receive: func(m Message) (Effects, error) {
			return Finish(Effects{Send: []Message{p.setup.Message(m.Sender, 2, "Echo", m.Body).Piece(1, 3)}}, nil)
		},
	}
	return p
}

func (p *parrot) Step(e Event) (Effects, error) { return p.life.Step(p.setup, e, p.handlers) }

func (p *parrot) hello(to string) Received {
	return Received{Message{p.setup.Session.Header("south", to, 1, "Hello"), []byte("hello")}}
}

// A life has an order: one start, then all other events, then none. A refused event changes
// no state.
func TestLifeHasAnOrder(t *testing.T) {
	p := newParrot(t)
	refuse := func(e Event, want string) {
		t.Helper()
		if _, err := p.Step(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: error %v, want %q", e, err, want)
		}
	}
	refuse(p.hello("north"), "okra: the session has not started")
	refuse(Resumed{}, "okra: the session has not started")
	refuse(Start{InputHash: [32]byte{1}}, "other input")
	if e, err := p.Step(Start{}); err != nil || !e.Sync {
		t.Fatalf("%+v, %v", e, err)
	}
	refuse(Start{}, "okra: the session has started already")
	refuse(p.hello("south"), `a message for "south" was delivered to "north"`)
	refuse(Resumed{}, "okra: north has nothing to resume")
	refuse(Expired{"okra/other"}, `okra: north has no timer "okra/other"`)
	refuse(nil, "okra: unknown event <nil>")
	e, err := p.Step(p.hello("north"))
	if err != nil || !e.Sync || e.End == nil || e.End.Err != nil || len(e.Send) != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	if h := e.Send[0].Header; h.Sender != "north" || h.Receiver != "south" || h.Round != 2 || h.Chunk != 1 || h.Chunks != 3 {
		t.Errorf("the answer is %v", h)
	}
	refuse(p.hello("north"), "okra: the session is over")
	refuse(Start{}, "okra: the session is over")
}

// A machine that takes no messages blames every sender of one.
func TestLifeWithoutMessages(t *testing.T) {
	p := newParrot(t)
	p.handlers.Receive = nil
	if _, err := p.Step(Start{}); err != nil {
		t.Fatal(err)
	}
	_, err := p.Step(p.hello("north"))
	if blame, ok := errors.AsType[*BlameError](err); !ok || blame.Party != "south" || blame.Kind != KindUnexpected {
		t.Errorf("error %v", err)
	}
}

func TestSetupCheck(t *testing.T) {
	s := newParrot(t).setup
	for name, try := range map[string]func() error{
		"no session":       func() error { return Setup{}.Check("okra", 1, RoleLeader) },
		"another protocol": func() error { return s.Check("scale", 1, RoleLeader) },
		"another version":  func() error { return s.Check("okra", 2, RoleLeader) },
		"another role":     func() error { return s.Check("okra", 1, RoleServer, RoleParty) },
		"a stranger":       func() error { return Setup{Session: s.Session, Self: "west"}.Check("okra", 1, RoleLeader) },
	} {
		if try() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := s.Check("okra", 1, RoleParty, RoleLeader); err != nil {
		t.Error(err)
	}
}

func TestBlameOfHeader(t *testing.T) {
	h := newParrot(t).hello("north").Message.Header
	cause := errors.New("cause")
	for err, kind := range map[error]Kind{
		h.Unexpected():                        KindUnexpected,
		h.Malformed(cause):                    KindMalformed,
		h.Inconsistent("of %d: %w", 1, cause): KindInconsistent,
	} {
		blame, ok := errors.AsType[*BlameError](err)
		if !ok || blame.Party != "south" || blame.Kind != kind || kind != KindUnexpected && !errors.Is(err, cause) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
