package nats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/transport"
)

// Messages that a member may not send, whatever client it uses.
func TestMayNotSay(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		f.send(f.join("east"), "south", "precious")
		nc, complaints := f.raw("north")
		for what, subj := range map[string]string{
			"speak under another's name":     subject(transport.Bulk, "south", "east"),
			"speak under no name":            "mercer.msg.south",
			"ask for another's deliveries":   askSubject(transport.Bulk, "south", "x"),
			"ask a queue directly":           "$JS.API.CONSUMER.MSG.NEXT.MERCER.north",
			"ask another's queue directly":   "$JS.API.CONSUMER.MSG.NEXT.MERCER.south",
			"put into a box":                 boxSubject("north", "x"),
			"reset another's queue":          resetSubject(transport.Bulk, "south"),
			"acknowledge for another":        ackPrefix(transport.Bulk, "south") + "1.1.1.0.0",
			"command under another's name":   subject(transport.Control, "south", "east"),
			"ask for another's commands":     askSubject(transport.Control, "south", "x"),
			"ask its control queue directly": "$JS.API.CONSUMER.MSG.NEXT.CONTROL.north",
			"reset another's control queue":  resetSubject(transport.Control, "south"),
			"acknowledge another's commands": ackPrefix(transport.Control, "south") + "1.1.1.0.0",
			"purge the control stream":       "$JS.API.STREAM.PURGE.CONTROL",
			"create a control queue":         "$JS.API.CONSUMER.CREATE.CONTROL.spy",
			"create a stream":                "$JS.API.STREAM.CREATE.OWN",
			"change the stream":              "$JS.API.STREAM.UPDATE.MERCER",
			"delete the stream":              "$JS.API.STREAM.DELETE.MERCER",
			"purge the stream":               "$JS.API.STREAM.PURGE.MERCER",
			"look at the stream":             "$JS.API.STREAM.INFO.MERCER",
			"read a message out of turn":     "$JS.API.STREAM.MSG.GET.MERCER",
			"read a message directly":        "$JS.API.DIRECT.GET.MERCER",
			"delete a message":               "$JS.API.STREAM.MSG.DELETE.MERCER",
			"create a queue":                 "$JS.API.CONSUMER.CREATE.MERCER.spy",
			"create a queue, the old way":    "$JS.API.CONSUMER.DURABLE.CREATE.MERCER.spy",
			"delete another's queue":         "$JS.API.CONSUMER.DELETE.MERCER.south",
			"look at another's queue":        "$JS.API.CONSUMER.INFO.MERCER.south",
			"look at the account":            "$JS.API.INFO",
			"ask the system":                 "$SYS.REQ.SERVER.PING",
			"answer another's request":       replyPrefix("south") + ".x",
			"pass for another's process":     twinSubject("south"),
			"speak where nobody should hear": "chat",
		} {
			if err := nc.PublishRequest(subj, replyPrefix("north")+".x", nil); err != nil {
				t.Fatal(err)
			}
			expectViolation(t, complaints, what)
		}
		want := map[string]uint64{subject(transport.Bulk, "east", "south"): 1}
		if diff := cmp.Diff(want, f.stored()); diff != "" {
			t.Errorf("the stream changed (-want +got):\n%s", diff)
		}
	})
}

// Subjects that a member may not read.
func TestMayNotHear(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		nc, complaints := f.raw("north")
		for what, subj := range map[string]string{
			"everything":           ">",
			"messages":             "mercer.msg.>",
			"its own messages":     subject(transport.Bulk, "*", "north"), // they come through its queue only
			"commands":             "mercer.ctl.>",
			"its own commands":     subject(transport.Control, "*", "north"),
			"another's deliveries": boxSubject("south", ">"),
			"all deliveries":       "mercer.box.>",
			"requests":             askSubject(transport.Bulk, "south", ">"),
			"another's answers":    replyPrefix("south") + ".>",
			"another's processes":  twinSubject("south"),
			"all answers":          "_INBOX.>",
			"advisories":           "$JS.>",
			"the system":           "$SYS.>",
		} {
			if _, err := nc.SubscribeSync(subj); err != nil {
				t.Fatal(err)
			}
			expectViolation(t, complaints, "hear "+what)
		}
	})
}

func expectViolation(t *testing.T, complaints <-chan error, what string) {
	t.Helper()
	select {
	case err := <-complaints:
		if !errors.Is(err, natsgo.ErrPermissionViolation) {
			t.Errorf("%s: error %v, want a violation of permissions", what, err)
		}
	case <-time.After(2 * time.Second):
		t.Errorf("a member could %s", what)
	}
}

// A server answers a request in its own name, on any reply subject. This must not lend a
// member the server's authority. The steward, which shares an account with the stream,
// shows that each of these attacks works without isolation.
func TestAnswersStayAtHome(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for what, reply := range map[string]string{
		"speak under another's name":   subject(transport.Bulk, "south", "east"),
		"reset another's queue":        resetSubject(transport.Bulk, "south"),
		"ask for another's deliveries": "$JS.API.CONSUMER.MSG.NEXT.MERCER.south",
	} {
		t.Run(what, func(t *testing.T) {
			f := newFederation(t, nil)
			if !f.harmedBy(f.server.steward, reply) {
				t.Fatal("the attack fails even without isolation: this test shows nothing")
			}
			f = newFederation(t, nil)
			north, _ := f.raw("north")
			if f.harmedBy(north, reply) {
				t.Errorf("a member could %s by way of an answer", what)
			}
		})
	}
}

// harmedBy has the server send two things to the subject reply, on behalf of
// nc: the receipt for a message from north to itself, and that message, whose
// body is a request. It reports whether anybody but north noticed.
func (f *federation) harmedBy(nc *natsgo.Conn, reply string) bool {
	f.Helper()
	f.send(f.join("east"), "south", "precious")
	if err := nc.PublishRequest(subject(transport.Bulk, "north", "north"), reply, []byte(`{"batch": 1, "seq": 100}`)); err != nil {
		f.Fatal(err)
	}
	if err := nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.MERCER.north", reply, []byte(`{"batch": 1}`)); err != nil {
		f.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		f.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // the server's answers come after the flush
	stored := f.stored()
	delete(stored, subject(transport.Bulk, "north", "north"))
	return !maps.Equal(stored, map[string]uint64{subject(transport.Bulk, "east", "south"): 1}) || f.waiting("south") != 1
}

// Empty messages end a stream of answers between NATS accounts; deliveries
// must not be such answers, or one member could stop another's.
func TestEmptyMessagesStopNobody(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		south := f.join("south")
		nc, _ := f.raw("north")
		for i := range 50 {
			if err := nc.Publish(subject(transport.Bulk, "north", "south"), nil); err != nil {
				t.Fatal(err)
			}
			if err := nc.Publish(subject(transport.Bulk, "north", "south"), []byte(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			if err := f.receive(south).Ack(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The server itself refuses messages that are too long, whatever client sends them.
func TestServerRefusesTooLong(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		nc, _ := f.raw("north")
		m, err := nc.Request(subject(transport.Bulk, "north", "south"), make([]byte, transport.MaxMessageBytes+1), 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(m.Data), "message size exceeds maximum allowed") {
			t.Errorf("the server answered %s", m.Data)
		}
	})
}

func TestUnknownKey(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		stranger, _ := newKey(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := Dial(ctx, f.url(), "north", stranger, Options{TLS: f.pin()})
		var refused *CredentialError
		if !errors.As(err, &refused) || refused.Member != "north" || !errors.Is(err, natsgo.ErrAuthorization) {
			t.Fatalf("error %v, want that the key is unknown", err)
		}
		if want := "the server does not know the key U"; !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	})
}

func TestKeyOfAnother(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := Dial(ctx, f.url(), "south", f.keys["north"], Options{TLS: f.pin()})
		var refused *PermissionError
		if !errors.As(err, &refused) || refused.Member != "south" || !errors.Is(err, natsgo.ErrPermissionViolation) {
			t.Fatalf("error %v, want that the key is not allowed to act as south", err)
		}
		if want := `this key is not allowed to act as "south"`; !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	})
}

// The login that owns the queues opens nothing from outside this process, and it is the
// only one of its kind.
func TestStewardStaysInside(t *testing.T) {
	f := &federation{TB: t, keys: make(map[string]nkeys.KeyPair)}
	steward := f.newMember("steward")
	s := &Server{cfg: Config{Members: []Member{f.newMember("north"), f.newMember("south")}}.withDefaults()}
	s.key = f.keys["steward"]
	opts, err := s.options(s.cfg, server.NewAccount(hubName))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range opts.Nkeys {
		_, inside := u.AllowedConnectionTypes["IN_PROCESS"]
		inside = inside && len(u.AllowedConnectionTypes) == 1
		bound := u.Permissions != nil && u.Account.Name != hubName
		if u.Nkey == steward.Key && !inside || u.Nkey != steward.Key && !bound {
			t.Errorf("login %s of account %s: inside only %v, bound by permissions %v", u.Nkey, u.Account.Name, inside, bound)
		}
	}
}
